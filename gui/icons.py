"""Icon names to glyphs, from `assets/icons.toml`."""

from __future__ import annotations

import tomllib
from functools import cache

from gui.theme import ASSETS


@cache
def _table() -> dict[str, str]:
    data = tomllib.loads((ASSETS / "icons.toml").read_text("utf-8"))
    return {name: chr(code) for name, code in data.items()}


def glyph(name: str) -> str:
    """The character of an icon, empty for an empty name.

    Raises:
        KeyError: the program does not have that icon.
    """
    return _table()[name] if name else ""
