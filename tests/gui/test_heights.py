"""Running sums agree with plain addition, whatever is changed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gui.virtual_list import Heights

ROWS = st.lists(st.integers(1, 500), max_size=60)


@given(ROWS, st.lists(st.tuples(st.integers(0, 59), st.integers(1, 500)), max_size=20))
def test_tops_are_sums_after_any_changes(rows: list[int], changes: list[tuple[int, int]]) -> None:
    heights = Heights(map(float, rows))
    for row, height in changes:
        if row < len(rows):
            assert heights.set(row, float(height)) == height - rows[row]
            rows[row] = height
    assert [heights.top(row) for row in range(len(rows) + 1)] == [
        sum(rows[:row]) for row in range(len(rows) + 1)
    ]
    assert heights.total == sum(rows)


@given(ROWS, ROWS, st.integers(0, 60))
def test_appending_and_truncating_keep_the_sums(rows: list[int], more: list[int], keep: int) -> None:
    heights = Heights(map(float, rows))
    heights.truncate(min(keep, len(rows)))
    expected = rows[:keep]
    for height in more:
        heights.append(float(height))
        expected.append(height)
    assert [heights.top(row) for row in range(len(expected) + 1)] == [
        sum(expected[:row]) for row in range(len(expected) + 1)
    ]


@given(ROWS.filter(bool), st.floats(-50, 40_000))
def test_the_row_at_a_place_covers_it(rows: list[int], y: float) -> None:
    heights = Heights(map(float, rows))
    row = heights.row_at(y)
    if y < 0:
        assert row == 0
    elif y >= heights.total:
        assert row == len(rows) - 1
    else:
        assert heights.top(row) <= y < heights.top(row + 1)


def test_no_rows_are_fine() -> None:
    assert (Heights().total, Heights().row_at(10)) == (0.0, 0)
