"""Line ranges as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.curation import LineRange
from panels.context.preset_item import format_lines, parse_lines


@pytest.mark.parametrize(
    ("typed", "ranges"),
    [
        ("10-40, 55", ((10, 40), (55, 55))),
        ("55; 10 – 40", ((10, 40), (55, 55))),
        ("1-5, 4-9, 10", ((1, 10),)),
        ("3:4 \n 7..9", ((3, 4), (7, 9))),
        ("", ()),
        (" , ", ()),
    ],
)
def test_ranges_are_read_as_people_write_them(typed: str, ranges: tuple[tuple[int, int], ...]) -> None:
    assert parse_lines(typed) == (tuple(LineRange(*r) for r in ranges), "")


@pytest.mark.parametrize("typed", ["ten", "40-10", "0", "-3", "1-", "1.5", "99999999999"])
def test_what_is_no_range_is_named_with_the_remedy(typed: str) -> None:
    ranges, error = parse_lines(f"1-2, {typed}")

    assert ranges == ()
    assert repr(typed) in error


ranges_of = st.lists(st.tuples(st.integers(1, 500), st.integers(0, 50)), max_size=8)


@given(ranges_of)
def test_what_is_shown_reads_back_as_the_same_lines(pairs: list[tuple[int, int]]) -> None:
    text = ", ".join(f"{first}-{first + more}" for first, more in pairs)
    ranges, _ = parse_lines(text)

    assert parse_lines(format_lines(ranges)) == (ranges, "")
    assert {n for r in ranges for n in range(r.first, r.last + 1)} == {
        n for first, more in pairs for n in range(first, first + more + 1)
    }
