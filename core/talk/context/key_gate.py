"""The one gate before files of a project: those that hold keys are asked about by tools, and go into no index and no request."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import islice

from core.kernel.key_files import BY_LINK, HEAD_BYTES, FileMark, content_reasons, linked_keys
from core.kernel.key_names import name_reasons
from core.talk.context.globs import is_below, is_inside

MOST_FOLDERS = 20_000
"""Of a project, in which files of keys are looked for that have another name elsewhere."""
REMEDY = (
    "If it holds none, show it: Settings, Permissions, in this folder, Places that are shown (`shown` under [tools.folders] in the "
    "user settings)"
)
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages"})


class KeyGate:
    """Judges files of one folder. One instance serves one reading and is then dropped: links are looked for once.

    Args:
        root: absolute, links resolved; shown: places that a person said hold no keys, absolute, links resolved.
        folders: absolute, in which other names of a file are looked for; None: all below the root.
    """

    def __init__(self, root: str, shown: Collection[str] = (), folders: Iterable[str] | None = None) -> None:
        self._root, self._shown = root, shown
        self._folders = folders

    def place_reasons(self, path: str, mark: FileMark) -> tuple[str, ...]:
        """Reasons to keep a file out that need no look into it, a sentence each: its name, or that of another name of it.

        Args:
            path: absolute, links resolved.
        """
        if reasons := self.name_reasons(path):
            return reasons
        is_linked = mark.links > 1 and not self.is_shown(path) and mark.identity in self._linked
        return (BY_LINK,) if is_linked else ()

    def name_reasons(self, path: str) -> tuple[str, ...]:
        """Reasons to keep a file out by its name alone. Args as above."""
        if self.is_shown(path):
            return ()
        inside = os.path.relpath(path, self._root) if is_inside(path, self._root) else path
        return name_reasons(inside.replace(os.sep, "/"))

    def reasons(self, path: str, mark: FileMark, data: bytes) -> tuple[str, ...]:
        """As `place_reasons`, and by what stands in the file. `data`: all of it, or more than `HEAD_BYTES` of its beginning."""
        if found := self.place_reasons(path, mark):
            return found
        if self.is_shown(path):
            return ()
        return content_reasons(os.path.basename(path), data[: HEAD_BYTES + 1])

    def is_shown(self, path: str) -> bool:
        """True for a file of which a person said that it holds no keys."""
        return is_below(path, self._shown)

    @cached_property
    def _linked(self) -> frozenset[tuple[int, int]]:
        return linked_keys(
            islice(_below(self._root) if self._folders is None else self._folders, MOST_FOLDERS)
        )


def _below(root: str) -> Iterator[str]:
    for folder, folders, _ in os.walk(root):
        folders[:] = [name for name in folders if name not in _PASSED_OVER]
        yield folder
