"""Places of the characters of an edited row that has right-to-left letters. Pure; offsets stay those of the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import groupby

import msgspec

from gui.markdown.reading_order import leftwards, paragraph_levels, shaped, visual_order


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
        """Where the caret stands before a character, at the side from which that is read; behind the last, at the row's end."""
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
    """What is drawn: characters of one level in one text; a tab is a gap."""
    for (level, is_tab), places in groupby(order, lambda place: (levels[place], row[place] == "\t")):
        held = sorted(places)
        text = "".join(row[place] for place in held)
        if not is_tab and not text.isspace():
            yield min(lefts[place] for place in held), leftwards(text) if level % 2 else text
