"""Regular expressions that are compiled when they are first used: hundreds of them took a tenth of a command's start."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    """Stands for a compiled pattern. Its methods become attributes at the first use, so that later ones cost nothing more."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled: re.Pattern[Any] = re.compile(self.pattern, self._flags)
        for known in ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"):
            setattr(self, known, getattr(compiled, known))
        return getattr(compiled, name)


def late(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern for a module's table, compiled when it is first used. A wrong one raises re.error then.

    Args:
        pattern, flags: as `re.compile` takes them.
    """
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))
