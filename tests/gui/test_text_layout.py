"""Rows of a text that is edited, as data: each character is 10 wide, a space 5."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui import text_layout
from gui.metrics import Measure
from gui.text_layout import Advances, TextLayout, changed_span

TEXT = st.text(st.sampled_from("abw  \n漢。\u0301"), max_size=120)


class Widths(dict[str, float]):
    """Advances of a made-up font."""

    def __missing__(self, char: str) -> float:
        self[char] = 0.0 if char == "\u0301" else 5.0 if char == " " else 10.0
        return self[char]


WIDTHS: Mapping[str, float] = Widths()


def laid(text: str, width: float = 95.0) -> TextLayout:
    """The layout of a text, made anew."""
    layout = TextLayout()
    layout.update(text, width, WIDTHS)
    return layout


def rows(layout: TextLayout) -> list[str]:
    """The texts of all rows."""
    return [layout.text[slice(*layout.span(row))] for row in range(layout.rows)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("one two three", ["one two ", "three"]),
        ("one two   three", ["one two   ", "three"]),
        ("abcdefghijklm", ["abcdefghi", "jklm"]),
        ("a bcdefghijklm", ["a ", "bcdefghij", "klm"]),
        ("one\n\ntwo\n", ["one", "", "two", ""]),
        ("漢字漢字漢字漢字漢字漢字", ["漢字漢字漢字漢字漢", "字漢字"]),
        ("漢字漢字漢字漢字漢。字", ["漢字漢字漢字漢字", "漢。字"]),
        ("abcdefghi\u0301j", ["abcdefghi\u0301", "j"]),
    ],
)
def test_rows_break_at_spaces_between_wide_characters_and_else_inside_words(
    text: str, expected: list[str]
) -> None:
    assert rows(laid(text)) == expected


def test_one_character_wider_than_everything_stands_alone() -> None:
    assert rows(laid("漢e\u0301w", 4.0)) == ["漢", "e\u0301", "w"]


@given(st.lists(st.tuples(TEXT, st.integers(0, 200), st.integers(0, 9)), min_size=1, max_size=12))
def test_rows_after_any_change_are_those_of_a_new_layout(changes: list[tuple[str, int, int]]) -> None:
    layout, text = laid(""), ""
    for new, start, length in changes:
        at = min(start, len(text))
        text = text[:at] + new[:40] + text[at + length :]
        layout.update(text, 95.0, WIDTHS)
        fresh = laid(text)
        assert rows(layout) == rows(fresh)
        assert [layout.row_of(at) for at in range(len(text) + 1)] == [
            fresh.row_of(at) for at in range(len(text) + 1)
        ]


@given(TEXT, TEXT)
def test_the_changed_span_is_all_that_differs(old: str, new: str) -> None:
    start, old_end, new_end = changed_span(old, new)
    assert old[:start] + new[start:new_end] + old[old_end:] == new
    assert start <= old_end
    assert start <= new_end


@pytest.mark.parametrize("where", [0, 100_000, 200_000])
@pytest.mark.parametrize(
    "text",
    [
        "some words of prose " * 10_000,
        "x" * 200_000,
        "a line of words\n" * 12_500,
        "\n" * 200_000,
        "漢字" * 100_000,
    ],
    ids=["one paragraph", "no space", "lines", "empty lines", "wide"],
)
def test_a_key_in_two_hundred_kilobytes_lays_out_a_few_rows(text: str, where: int) -> None:
    layout = laid(text, 700.0)
    where = min(where, len(text))
    for step in range(1, 4):
        text = text[:where] + "a" + text[where:]
        layout.update(text, 700.0, WIDTHS)
        assert layout.laid_out <= text_layout.SETTLE_CHARS + 300, step
        start, end = layout.span(layout.row_of(where))
        assert start <= where <= end


def test_text_without_spaces_settles_soon_behind_a_change() -> None:
    layout, text = laid("x" * 100_000, 100.0), "x" * 100_000
    for _ in range(30):
        text = text[:50] + "y" + text[50:]
        layout.update(text, 100.0, WIDTHS)
    short = [row for row in rows(layout) if len(row) < 10]
    assert len(short) <= 3
    assert "".join(rows(layout)) == text


def test_a_place_is_found_from_a_point_and_never_inside_a_cluster() -> None:
    layout = laid("ae\u0301b one two three")
    assert [layout.offset_at(0, x) for x in (-5, 4, 6, 14, 16, 24, 26, 999)] == [0, 0, 1, 1, 3, 3, 4, 8]
    assert layout.offset_at(9, 999) == len(layout.text)
    assert layout.x_of(3) == 20


def test_up_and_down_keep_the_column_and_end_at_the_ends() -> None:
    layout = laid("abcdef\nab\nabcdef")
    assert layout.vertical(5, 1, 50.0) == 9
    assert layout.vertical(9, 1, 50.0) == 15
    assert layout.vertical(3, -1, 30.0) == 0
    assert layout.vertical(12, 1, 20.0) == 16


def test_the_end_of_a_wrapped_row_is_before_its_space() -> None:
    layout = laid("one two three")
    assert (layout.last_of(0), layout.last_of(1)) == (7, 13)


def test_widths_are_those_of_what_is_drawn(measure: Measure) -> None:
    """A tab is four spaces, a hidden character its mark."""
    advances = Advances(measure, "body")
    assert advances["\t"] == pytest.approx(4 * advances[" "])
    assert advances["\u202e"] == pytest.approx(measure.width("‹RLO›", "body"))
