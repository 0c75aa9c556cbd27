"""Places of the rows of a long list: pure. Heights, scroll, the anchor that keeps the reader's place."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Protocol

import msgspec

# Prefix sums of row heights: a Fenwick tree, so that one row's change costs a few steps among 100,000.


class Heights:
    """Heights in pixels by row, with their running sums."""

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._rows: list[float] = list(values)
        self._tree: list[float] = [0.0]
        self._build()

    def _build(self) -> None:
        tree = [0.0, *self._rows]
        size = len(tree)
        for index in range(1, size):
            above = index + (index & -index)
            if above < size:
                tree[above] += tree[index]
        self._tree = tree

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, row: int) -> float:
        return self._rows[row]

    def set(self, row: int, height: float) -> float:
        """Give a row another height. Returns by how much it changed."""
        change = height - self._rows[row]
        if change:
            self._rows[row] = height
            index, size = row + 1, len(self._tree)
            while index < size:
                self._tree[index] += change
                index += index & -index
        return change

    def append(self, height: float) -> None:
        """Add a row at the end."""
        self._rows.append(height)
        index = len(self._rows)
        step, total = 1, height
        while step < index & -index:
            total += self._tree[index - step]
            step <<= 1
        self._tree.append(total)

    def truncate(self, count: int) -> None:
        """Drop the rows from `count` on."""
        del self._rows[count:]
        del self._tree[count + 1 :]

    def top(self, row: int) -> float:
        """The sum of the heights before `row`, 0 to the number of rows."""
        total = 0.0
        while row:
            total += self._tree[row]
            row &= row - 1
        return total

    @property
    def total(self) -> float:
        """The sum of all heights."""
        return self.top(len(self._rows))

    def row_at(self, y: float) -> int:
        """The row that covers `y`; the first or last where it is outside. 0 without rows."""
        index, size = 0, len(self._tree)
        step = 1 << size.bit_length()
        rest = y
        while step:
            following = index + step
            if following < size and self._tree[following] <= rest:
                index = following
                rest -= self._tree[following]
            step >>= 1
        return max(0, min(index, len(self._rows) - 1))


KEPT_HEIGHTS = 60_000
PROBES = 24


class RowSource(Protocol):
    """Rows as the list needs them: the rows of `panels.base.ui.VirtualRows` without the drawing."""

    def __len__(self) -> int: ...

    def key(self, index: int) -> Hashable:
        """Identity of a row's content."""
        ...

    def estimate_px(self, index: int, width: float) -> float:
        """A guess of its height in design pixels for a width in design pixels."""
        ...


class ScrollState(msgspec.Struct):
    """Scroll state of one list. All lengths in pixels.

    Scrolling is our own, in doubles: a toolkit's scroll is a float32 that is off by pixels past 16 million.
    """

    width: float = 0.0
    height: float = 0.0
    scale: float = 1.0
    scroll: float = 0.0
    follows_end: bool = False
    is_at_end: bool = True
    heights: Heights = msgspec.field(default_factory=Heights)
    keys: list[Hashable] = msgspec.field(default_factory=list)
    revision: Hashable = None
    known: dict[tuple[Hashable, int], float] = msgspec.field(default_factory=dict)

    # rows
    def sync(self, rows: RowSource, revision: Hashable, width: float, height: float, scale: float) -> None:
        """Take the rows and the size of the view. O(1) when neither changed, else O(rows that changed)."""
        resized = (width, scale) != (self.width, self.scale)
        grew = height != self.height
        if resized or not self._is_continuation(rows, revision):
            place = self._place()
            self.width, self.scale, self.height = width, scale, height
            self._rebuild(rows)
            self._return_to(place)
        else:
            self.height = height
            self._extend(rows)
        self.revision = revision
        if grew or self.follows_end:
            self.settle()

    def _is_continuation(self, rows: RowSource, revision: Hashable) -> bool:
        """True if the rows known are still the first ones (others may follow). Probed, not compared in full:
        a row that changed unseen is measured when it comes into view.
        """
        known = len(self.keys)
        if revision == self.revision and len(rows) == known:
            return True
        if not known or len(rows) < known - 8:
            return False
        last = min(known, len(rows)) - 2
        step = max(1, last // PROBES)
        return all(rows.key(index) == self.keys[index] for index in range(0, max(0, last), step))

    def _extend(self, rows: RowSource) -> None:
        count = len(rows)
        if count < len(self.keys):
            self.heights.truncate(count)
            del self.keys[count:]
        first = len(self.keys)
        self.keys += [rows.key(index) for index in range(first, count)]
        for height in self._guesses(rows, first):
            self.heights.append(height)

    def _rebuild(self, rows: RowSource) -> None:
        self.keys = [rows.key(index) for index in range(len(rows))]
        self.heights = Heights(self._guesses(rows, 0))

    def _guesses(self, rows: RowSource, first: int) -> list[float]:
        """Heights of the rows from `first` on: known, else guessed. Called for every row of a long discussion."""
        known, whole, width, scale = self.known, round(self.width), self.width / self.scale, self.scale
        found = (
            [known.get((key, whole)) for key in self.keys[first:]]
            if known
            else [None] * len(self.keys[first:])
        )
        estimate = rows.estimate_px
        return [
            max(1.0, estimate(index, width) * scale) if height is None else height
            for index, height in enumerate(found, first)
        ]

    def _place(self) -> tuple[Hashable, int, float]:
        """The row at the top of the view, and how far it is above it."""
        if not self.keys:
            return None, 0, 0.0
        row = self.heights.row_at(self.scroll)
        return self.keys[row], row, self.scroll - self.heights.top(row)

    def _return_to(self, place: tuple[Hashable, int, float]) -> None:
        key, row, offset = place
        if self.keys:
            if row >= len(self.keys) or self.keys[row] != key:
                row = self.keys.index(key) if key in self.keys else min(row, len(self.keys) - 1)
            self.scroll = self.heights.top(row) + min(offset, self.heights[row])

    # scroll
    @property
    def first(self) -> int:
        """The first row in view."""
        return self.heights.row_at(self.scroll)

    @property
    def most(self) -> float:
        """The largest scroll position."""
        return max(0.0, self.heights.total - self.height)

    def settle(self) -> None:
        """Keep the scroll within the rows; stay at the end where the reader was there."""
        if self.follows_end and self.is_at_end:
            self.scroll = self.most
        self.scroll = min(max(0.0, self.scroll), self.most)

    def scroll_by(self, change: float) -> None:
        """Scroll as the wheel does."""
        self.scroll_to(self.scroll + change)

    def scroll_to(self, position: float) -> None:
        """Scroll to a position; from then on it follows the end only when it is there."""
        self.scroll = min(max(0.0, position), self.most)
        self.is_at_end = self.scroll >= self.most - 1.0

    def show_row(self, row: int) -> None:
        """Scroll so that a row's top is at the view's top, as far as there are rows below."""
        self.scroll_to(self.heights.top(max(0, min(row, len(self.keys)))))

    def reveal(self, row: int) -> None:
        """Scroll no farther than it takes to have a row in view."""
        top = self.heights.top(row)
        self.scroll_to(min(top, max(self.scroll, top + self.heights[row] - self.height)))

    # drawing
    def walk(
        self, rows: RowSource, measure: Callable[[int], float], margin: float
    ) -> list[tuple[int, float]]:
        """Measure the rows in view and `margin` pixels around it, and return them with their tops.

        The anchor is the first row that reaches into the view: it keeps its distance from the view's top
        whatever rows above it turn out to be, so nothing moves under the reader.

        Args:
            measure: draws a row and returns its height.
        """
        for _ in range(3):
            if not self.keys:
                return []
            anchor = self.heights.row_at(self.scroll)
            offset = self.scroll - self.heights.top(anchor)
            first, last = self._range(margin)
            changed = 0.0
            for row in range(first, last + 1):
                changed += abs(self._learn(rows, row, measure(row)))
            before = self.scroll
            if changed:
                self.scroll = self.heights.top(anchor) + min(offset, self.heights[anchor])
            self.settle()  # also where rows came back to a list that they all fit in
            if not changed and self.scroll == before:
                break
        first, last = self._range(margin)
        return [(row, self.heights.top(row) - self.scroll) for row in range(first, last + 1)]

    def _range(self, margin: float) -> tuple[int, int]:
        first = self.heights.row_at(self.scroll - margin)
        return first, self.heights.row_at(self.scroll + self.height + margin)

    def _learn(self, rows: RowSource, row: int, height: float) -> float:
        key = rows.key(row)
        self.keys[row] = key
        if len(self.known) > KEPT_HEIGHTS:
            self.known.clear()
        self.known[key, round(self.width)] = height
        return self.heights.set(row, height)

    def thumb(self, track: float, least: float) -> tuple[float, float]:
        """Top and length of the scrollbar's thumb on a track; length 0 when everything fits."""
        total = self.heights.total
        if total <= self.height + 0.5:
            return 0.0, 0.0
        length = max(least, track * self.height / total)
        return (track - length) * (self.scroll / self.most if self.most else 0.0), length

    def scroll_of_thumb(self, top: float, track: float, length: float) -> float:
        """The scroll that puts the thumb's top at `top`."""
        return self.most * min(1.0, max(0.0, top / max(1.0, track - length)))
