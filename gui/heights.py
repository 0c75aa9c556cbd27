"""Prefix sums of row heights: a Fenwick tree, so that one row's change costs a few steps among 100,000."""

from __future__ import annotations

from collections.abc import Iterable


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
