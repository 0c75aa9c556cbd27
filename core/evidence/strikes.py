"""Items that another has replaced: struck through in their file, with a dated pointer, and known no more."""

from __future__ import annotations

import re

POINTER_CHARS = 80
"""Of the new item's words in the pointer."""

_STRUCK = re.compile(r"~~(.+)~~(?: \(replaced \d{4}-\d{2}-\d{2}: .*\))?", re.DOTALL)


def is_struck(text: str) -> bool:
    """True if an item's words are struck through as a whole, by a harvest or by hand."""
    return text.startswith("~~") and _STRUCK.fullmatch(text.rstrip()) is not None


def struck(text: str, by: str, day: str) -> str:
    """The words of an item once another has replaced it, on one line.

    Args:
        text: without provenance; by: words of the new item; day: `YYYY-MM-DD`.
    """
    words = " ".join(by.split())
    pointer = words if len(words) <= POINTER_CHARS else words[: POINTER_CHARS - 1].rstrip() + "…"
    return f"~~{' '.join(text.split()).replace('~~', '~')}~~ (replaced {day}: {pointer})"


def unstruck(text: str) -> str:
    """The words of an item before it was struck through."""
    found = _STRUCK.fullmatch(text.rstrip()) if text.startswith("~~") else None
    return text if found is None else found[1]
