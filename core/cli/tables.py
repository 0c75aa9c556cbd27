"""Tables of the command line: columns that line up for any script, and give way where a terminal is narrow. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from core.cli.output import harmless

GAP = "  "
LEAST = 6
"""Columns that a text keeps before ids and numbers give way too."""

SOFT_HYPHEN = "\u00ad"
"""Of its kind the one that terminals draw."""


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: frozenset[int] = frozenset(),
    kept: frozenset[int] = frozenset(),
    columns: int | None = None,
) -> str:
    """Rows in columns, two spaces apart; the last column is not padded.

    Args:
        head: titles, or empty for none; numbers: indexes of columns that are set to the right.
        kept: indexes of columns that people copy (ids), which give way last; columns: of the terminal, None without end.
    """
    lines = [*([head] if head else []), *rows]
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    if columns is not None:
        widths = _fitted(widths, columns - len(GAP) * (len(widths) - 1), numbers, kept)
    return "".join(
        GAP.join(
            _padded(cut(cell, widths[index]), widths[index], is_right=index in numbers)
            for index, cell in enumerate(row)
        ).rstrip()
        + "\n"
        for row in lines
    )


def _fitted(widths: Sequence[int], room: int, numbers: frozenset[int], kept: frozenset[int]) -> list[int]:
    """Widths that fit a room: the widest text gives way first, then ids, then numbers."""
    fitted = list(widths)
    texts = [index for index in range(len(fitted)) if index not in numbers | kept]
    for group, least in ((texts, LEAST), (sorted(kept), LEAST), (range(len(fitted)), 1)):
        while sum(fitted) > room and (wide := max((fitted[index] for index in group), default=0)) > least:
            fitted[max(group, key=fitted.__getitem__)] = wide - 1
    return fitted


def cut(text: str, columns: int) -> str:
    """A line of a terminal's text, cut with an ellipsis where it takes more than so many columns."""
    if width(text) <= columns:
        return text
    taken = 0
    for index, mark in enumerate(text):
        taken += width(mark)
        if taken > columns - 1:
            return f"{text[:index].rstrip()}…"
    return text


def folded(text: str, columns: int | None, indent: str) -> str:
    """A line broken at spaces where it is wider than a terminal, what follows indented; long words are not broken."""
    if columns is None or width(text) <= columns:
        return text
    words = text.lstrip(" ").split(" ")
    lines, line = [], text[: len(text) - len(text.lstrip(" "))] + words[0]
    for word in words[1:]:
        if word and width(line) + 1 + width(word) > columns:
            lines.append(line.rstrip())
            line = indent + word
        else:
            line = f"{line} {word}"
    return "\n".join((*lines, line.rstrip()))


def _padded(cell: str, size: int, *, is_right: bool) -> str:
    gap = " " * (size - width(cell))
    return gap + cell if is_right else cell + gap


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(mark: str) -> int:
    category = unicodedata.category(mark)
    if category in {"Mn", "Me"} or (category == "Cf" and mark != SOFT_HYPHEN and harmless(mark) == mark):
        return 0  # drawn over the mark before, or not at all
    return 2 if unicodedata.east_asian_width(mark) in "WF" else 1
