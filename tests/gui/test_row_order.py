"""An edited row with right-to-left letters: each character is 10 wide. Hebrew letters stand for those read leftwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.elements.text import TextRows
from gui.text_layout import TextLayout
from tests.gui.test_text_layout import WIDTHS, laid

MIXED = st.text(st.sampled_from("ab אבג1(.\u0301"), min_size=1, max_size=40)
WHITE = (255, 255, 255, 255)


def shown(layout: TextLayout, row: int = 0) -> list[tuple[float, str]]:
    order = layout.order_of(row)
    return [] if order is None else list(order.runs)


def test_a_row_that_is_read_to_the_right_has_no_order_of_its_own() -> None:
    assert laid("abc é 漢").order_of(0) is None


def test_a_word_in_a_line_that_is_read_to_the_right_is_turned() -> None:
    layout = laid("ab אבג c", 200.0)

    assert shown(layout) == [(0.0, "ab "), (25.0, "גבא"), (55.0, " c")]
    assert layout.x_of(2) == 20
    assert layout.x_of(3) == 55  # before the first letter: at its right
    assert layout.x_of(5) == 35
    assert layout.offset_at(0, 34.0) == 5


def test_a_line_that_begins_rightmost_stands_right_and_its_caret_goes_left() -> None:
    layout = laid("אבג", 100.0)

    assert shown(layout) == [(70.0, "גבא")]
    assert [layout.x_of(at) for at in range(4)] == [100.0, 90.0, 80.0, 70.0]


def test_numbers_in_it_stay_in_their_order_and_brackets_turn() -> None:
    assert shown(laid("(אב) 12", 100.0)) == [(35.0, "12"), (55.0, " (בא)")]


def test_what_is_selected_over_two_directions_has_two_boxes() -> None:
    layout = laid("ab אבג", 200.0)
    rows = TextRows(layout=layout, first=0, last=0, x=0.0, y=0.0, row_px=20)

    boxes = rows.boxes((1, 4), 200.0, 5.0, WHITE)

    assert [(box[1], box[3]) for box in boxes] == [(10, 25), (45, 55)]


def test_marks_that_turn_text_are_shown_and_turn_nothing() -> None:
    rows = TextRows(layout=laid("a\u202ebא", 900.0), first=0, last=0, x=0.0, y=0.0, row_px=20)

    assert "".join(str(spec[3]) for spec in rows.texts(0, "body", WHITE)) == "a‹RLO›b\u05d0"


@given(MIXED, st.sampled_from([45.0, 95.0, 500.0]))
def test_each_place_is_found_again_where_its_caret_stands(text: str, width: float) -> None:
    layout = laid(text, width)
    for row in range(layout.rows):
        order = layout.order_of(row)
        start, end = layout.span(row)
        if order is None:
            continue
        drawn = "".join(text for _, text in order.runs)
        assert sorted(char for char in drawn if char.isalpha()) == sorted(
            char for char in text[start:end] if char.isalpha()
        )
        assert sum(order.widths) == pytest.approx(sum(WIDTHS[char] for char in text[start:end]))
        for at in range(start, end):
            x = order.x_of(at - start)
            assert order.x_of(order.place_at(x)) == pytest.approx(x)
