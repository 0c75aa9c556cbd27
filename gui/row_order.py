"""Right-to-left letters: their levels, their joined shapes, and their places in an edited row. Pure; offsets stay those of the text.

Source: Unicode Standard Annex #9 (read 2026-11-29), by python-bidi; letters are joined by arabic-reshaper.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import groupby
from typing import Any

import msgspec

from core.kernel.patterns import late
from gui.text_buffer import has_rtl

_ARABIC = late("[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff]+")
_LAM_ALEF = late("[\ufef5-\ufefc]")
_FILLER = "\u200d"
"""Stands behind two letters that are drawn as one, so that offsets stay; fonts show nothing for it."""


@lru_cache(maxsize=256)
def paragraph_levels(line: str) -> tuple[int, tuple[int, ...]]:
    """Level that a paragraph (no line feeds) begins at, and that of each of its characters."""
    from bidi import algorithm

    if not has_rtl(line):
        return 0, (0,) * len(line)
    storage: dict[str, Any] = algorithm.get_empty_storage()
    base = int(algorithm.get_base_level(line))
    storage["base_level"], storage["base_dir"] = base, ("L", "R")[base]
    algorithm.get_embedding_levels(line, storage)
    algorithm.explicit_embed_and_overrides(storage)
    algorithm.resolve_weak_types(storage)
    algorithm.resolve_neutral_types(storage, False)
    algorithm.resolve_implicit_levels(storage, False)
    levels = tuple(int(char["level"]) for char in storage["chars"])
    return base, levels if len(levels) == len(line) else (base,) * len(line)


@cache
def _reshaper() -> Any:
    from arabic_reshaper import ArabicReshaper

    kept = {"delete_harakat": False, "delete_tatweel": False, "ARABIC LIGATURE ALLAH": False}
    return ArabicReshaper({**kept, "support_ligatures": True, "support_zwj": False})


@lru_cache(maxsize=256)
def shaped(text: str) -> str:
    """The text with its Arabic letters joined, as long as it was."""
    return _ARABIC.sub(lambda word: _joined(word[0]), text)


def _joined(word: str) -> str:
    whole = _LAM_ALEF.sub(rf"\g<0>{_FILLER}", _reshaper().reshape(word))
    return whole if len(whole) == len(word) else word


def leftwards(text: str) -> str:
    """Letters from right to left: marks stay behind their letter, brackets turn."""
    from bidi.mirror import MIRRORED

    clusters: list[str] = []
    for char in text:
        if clusters and (unicodedata.combining(char) or char == _FILLER):
            clusters[-1] += char
        else:
            clusters.append(MIRRORED.get(char, char))
    return "".join(reversed(clusters))


def visual_order(levels: Sequence[int]) -> list[int]:
    """Places of a line from left to right, by their levels (rule L2)."""
    order = list(range(len(levels)))
    for level in range(max(levels, default=0), 0, -1):
        at = 0
        while at < len(order):
            end = at
            while end < len(order) and levels[order[end]] >= level:
                end += 1
            order[at:end] = reversed(order[at:end])
            at = max(end, at + 1)
    return order


class RowOrder(msgspec.Struct, frozen=True):
    """A row as it stands on the screen.

    Args:
        lefts, widths: of each character, in pixels, by its place in the text; levels: odd ones are read leftwards.
        base: level of the paragraph; right: pixels at which the row ends.
        runs: pixels and text of what is drawn, from left to right.
    """

    lefts: tuple[float, ...]
    widths: tuple[float, ...]
    levels: tuple[int, ...]
    base: int
    left: float
    right: float
    runs: tuple[tuple[float, str], ...]

    def x_of(self, place: int) -> float:
        """Place of the caret before a character, at the side from which that is read; behind the last, at the row's end."""
        if place >= len(self.lefts):
            return self.left if self.base % 2 else self.right
        is_rtl = self.levels[place] % 2
        return self.lefts[place] + (self.widths[place] if is_rtl else 0.0)

    def place_at(self, x: float) -> int:
        """The place of the caret that is nearest to `x`."""
        return min(range(len(self.lefts) + 1), key=lambda place: abs(self.x_of(place) - x), default=0)

    def boxes(self, start: int, end: int) -> Iterator[tuple[float, float]]:
        """Left and right of the parts that the characters from `start` to `end` cover, from left to right."""
        spans = sorted((self.lefts[at], self.lefts[at] + self.widths[at]) for at in range(start, end))
        box: tuple[float, float] | None = None
        for left, right in spans:
            if box is not None and left <= box[1] + 0.5:
                box = box[0], max(box[1], right)
                continue
            if box is not None:
                yield box
            box = left, right
        if box is not None:
            yield box


def order_of(paragraph: str, start: int, end: int, advances: Mapping[str, float], width: float) -> RowOrder:
    """The order of a row, from `start` to `end` of a paragraph, in a field so wide."""
    return _ordered(paragraph, start, end, _Widths(advances), width)


class _Widths:
    """Widths of characters; one object's are always the same, so that rows are ordered once."""

    __slots__ = ("advances",)

    def __init__(self, advances: Mapping[str, float]) -> None:
        self.advances = advances

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Widths) and self.advances is other.advances

    def __hash__(self) -> int:
        return id(self.advances)


@lru_cache(maxsize=128)
def _ordered(paragraph: str, start: int, end: int, given: _Widths, width: float) -> RowOrder:
    base, levels = paragraph_levels(paragraph)
    row = shaped(paragraph)[start:end]
    own = list(levels[start:end])
    blanks = len(row) - len(row.rstrip())
    own[len(row) - blanks :] = [base] * blanks  # rule L1: blanks at a row's end have the paragraph's level
    widths = tuple(map(given.advances.__getitem__, row))
    lefts = [0.0] * len(row)
    left = x = max(0.0, width - sum(widths)) if base % 2 else 0.0
    order = visual_order(own)
    for place in order:
        lefts[place] = x
        x += widths[place]
    return RowOrder(
        lefts=tuple(lefts),
        widths=widths,
        levels=tuple(own),
        base=base,
        left=left,
        right=x,
        runs=tuple(_runs(row, own, order, lefts)),
    )


def _runs(row: str, levels: list[int], order: list[int], lefts: list[float]) -> Iterator[tuple[float, str]]:
    """Texts that are drawn: characters of one level in one; a tab is a gap."""
    for (level, is_tab), places in groupby(order, lambda place: (levels[place], row[place] == "\t")):
        held = sorted(places)
        text = "".join(row[place] for place in held)
        if not is_tab and not text.isspace():
            yield min(lefts[place] for place in held), leftwards(text) if level % 2 else text
