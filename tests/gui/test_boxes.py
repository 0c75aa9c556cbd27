"""The layout: nothing overlaps, nothing leaves its container, and the free width goes where it should."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.elements.base import ColumnBox, Element, Gap, RowBox, Spring
from gui.elements.controls import Button, Combo
from gui.elements.surfaces import Surface
from gui.elements.tabs import dragged_widths, split_widths
from gui.elements.text import Progress, Text
from gui.metrics import Measure


def text(value: str, *, wraps: bool = False, width: float | None = None) -> Element:
    element = Text("t", None)
    element.wide = width
    element.props = (value, "text", "body", wraps, width)
    return element


def button(label: str) -> Element:
    element = Button("b", None)
    element.props = ("", label, "plain", True, False, "", None)
    return element


def combo(label: str, width: float) -> Combo:
    element = Combo("c", None)
    element.wide = width
    element.props = ("", label, "combo", True, False, "", width)
    return element


def progress(width: float) -> Element:
    element = Progress("p", None)
    element.wide = width
    element.props = (0.5, "accent", 6, width, None, ())
    return element


def spring() -> Element:
    return Spring("s", None)


def gap(px: float) -> Element:
    element = Gap("g", None)
    element.props = (px,)
    return element


def box(cls: type[ColumnBox | RowBox], *kids: Element, space: float = 8) -> Element:
    element = cls("box", None)
    element.props = (space, None) if cls is RowBox else (space,)
    element.order = list(kids)
    for kid in kids:
        kid.parent = element
    return element


def card(
    *kids: Element, width: float | None = 0, height: float | None = None, scrolls: bool = False
) -> Element:
    element = Surface("card", None)
    element.wide, element.tall = width, height
    element.props = ("card", None, scrolls, 8.0, width, height)
    element.order = list(kids)
    for kid in kids:
        kid.parent = element
    return element


def test_what_follows_a_push_ends_at_the_right_edge(measure: Measure) -> None:
    row = box(RowBox, text("left"), spring(), button("Right"))
    row.layout(measure, 500, None)
    last = row.order[-1]
    assert last.x + last.w == pytest.approx(500)
    assert row.order[0].x == 0


def test_rows_centre_their_kids(measure: Measure) -> None:
    row = box(RowBox, text("low"), button("High"))
    row.layout(measure, 500, None)
    low, high = row.order
    assert low.y + low.h / 2 == pytest.approx(high.y + high.h / 2)


def test_filling_kids_share_what_is_left(measure: Measure) -> None:
    row = box(RowBox, button("Go"), progress(0), progress(0))
    row.layout(measure, 500, None)
    go, one, two = row.order
    assert one.w == pytest.approx(two.w)
    assert go.w + one.w + two.w + 16 == pytest.approx(500)


def test_negative_width_leaves_room(measure: Measure) -> None:
    column = box(ColumnBox, progress(-120))
    column.layout(measure, 500, None)
    assert column.order[0].w == 380


@pytest.mark.parametrize("cls", [RowBox, ColumnBox])
def test_a_choice_grows_up_to_half_for_a_longer_word_where_there_is_room(
    measure: Measure, cls: type[ColumnBox | RowBox]
) -> None:
    words = ("Any", "Alle Bereiche", "A name that goes on and on and on, as no choice should")
    short, long, longest = (combo(label, 110) for label in words)
    for one in (short, long, longest):
        box(cls, one).layout(measure, 500, None)

    assert (short.w, longest.w) == (110, 165)
    assert 110 < long.w < 165
    assert long.shown == words[1]

    narrow = combo(words[1], 110)
    box(cls, narrow).layout(measure, 90, None)
    assert narrow.w == pytest.approx(90, abs=0.1)


def test_cards_in_a_row_are_as_high_as_the_highest(measure: Measure) -> None:
    row = box(RowBox, card(text("one")), card(text("one"), text("two")))
    row.layout(measure, 500, None)
    assert row.order[0].h == row.order[1].h == row.h


def test_a_card_is_as_high_as_its_content(measure: Measure) -> None:
    wrapped = text("many words " * 40, wraps=True)
    surface = card(wrapped)
    surface.layout(measure, 300, None)
    assert surface.h == pytest.approx(wrapped.y + wrapped.h + 12)


def test_a_scrolling_surface_narrows_its_content_only_when_it_overflows(measure: Measure) -> None:
    little, much = (card(*(progress(0) for _ in range(n)), height=100, scrolls=True) for n in (2, 40))
    little.layout(measure, 300, None)
    much.layout(measure, 300, None)
    assert little.order[0].w > much.order[0].w
    assert (little.h, much.h) == (100, 100)


def test_filling_heights_share_what_is_left(measure: Measure) -> None:
    column = box(ColumnBox, button("head"), card(height=0), button("foot"))
    column.layout(measure, 300, 600)
    head, middle, foot = column.order
    assert foot.y + foot.h == pytest.approx(600)
    assert middle.h == pytest.approx(600 - head.h - foot.h - 16)


def test_negative_height_leaves_room(measure: Measure) -> None:
    column = box(ColumnBox, card(height=-28), card(height=28), space=0)
    column.layout(measure, 300, 600)
    assert [kid.h for kid in column.order] == [572, 28]


def test_explicit_gaps_replace_the_containers(measure: Measure) -> None:
    column = box(ColumnBox, button("a"), gap(40), button("b"))
    column.layout(measure, 300, None)
    assert column.order[2].y - column.order[0].h == 40


def test_long_texts_give_way_before_buttons(measure: Measure) -> None:
    row = box(RowBox, text("a title that is far too long for this place " * 3), spring(), button("Delete"))
    row.layout(measure, 260, None)
    title, _, delete = row.order
    assert delete.w == pytest.approx(delete.natural(measure))
    assert isinstance(title, Text)
    assert title.lines[0].endswith("…")
    assert title.tooltip().startswith("a title that is far too long")


def test_lengths_grow_with_the_scale(measure: Measure) -> None:
    other = Measure(measure._fonts, measure._directory, 1.5)
    heights = []
    for m in (measure, other):
        surface = card(button("x"), height=None)
        surface.layout(m, 300, None)
        heights.append(surface.h)
    assert heights[1] == pytest.approx(1.5 * heights[0], abs=2)


LEAVES: dict[str, Callable[[], Element]] = {
    "text": lambda: text("some words of text"),
    "wrap": lambda: text("some words that wrap " * 5, wraps=True),
    "button": lambda: button("Press"),
    "progress": lambda: progress(0),
    "spring": spring,
    "fixed": lambda: progress(90),
}


@given(
    st.lists(st.sampled_from(sorted(LEAVES)), min_size=1, max_size=7), st.integers(160, 900), st.booleans()
)
def test_no_row_overlaps_or_overflows(measure: Measure, names: list[str], width: int, is_row: bool) -> None:
    """As long as it has room for every kid at its smallest."""
    holder = box(RowBox if is_row else ColumnBox, *(LEAVES[name]() for name in names))
    holder.layout(measure, width, None)
    needed = sum({"fixed": 98, "button": 80}.get(name, 48) for name in names)
    if is_row and needed > width:
        return
    kids = holder.order
    for kid in kids:
        assert kid.x >= 0
        assert kid.x + kid.w <= width + 0.6
        assert kid.y >= 0
        assert kid.y + kid.h <= holder.h + 0.6
    for kid, following in pairwise(kids):
        if is_row:
            assert kid.x + kid.w <= following.x + 0.6
        else:
            assert kid.y + kid.h <= following.y + 0.6


@given(st.lists(st.sampled_from([0, 120, 300, 470]), min_size=1, max_size=4), st.integers(300, 2000))
def test_panes_fill_the_width_and_keep_their_least(widths: list[float], total: int) -> None:
    sizes = split_widths(widths, 60, total)
    assert sum(sizes) == pytest.approx(total)
    assert all(size >= 59 for size in sizes)


def test_the_main_pane_keeps_its_share_of_a_small_window() -> None:
    left, main, right = split_widths((300, 0, 470), 160, 900)
    assert main == pytest.approx(900 * 0.42, abs=1)
    assert min(left, right) >= 160


def test_a_dragged_edge_takes_from_its_neighbour() -> None:
    assert dragged_widths((300, 0, 400), (300, 700, 400), 0, 50, 160) == (350, 0, 400)
    assert dragged_widths((300, 0, 400), (300, 700, 400), 1, 50, 160) == (300, 0, 350)
    assert dragged_widths((300, 0, 400), (300, 700, 400), 0, -900, 160) == (160, 0, 400)
    assert dragged_widths((300, 0, 400), (300, 700, 400), 1, -9000, 160) == (300, 0, 940)


def test_quiet_buttons_of_a_narrow_row_lose_their_words_before_the_others(measure: Measure) -> None:
    row = box(RowBox, *(button("Choose files") for _ in range(3)))
    for kid, kind in zip(row.order, ("plain", "plain", "ghost"), strict=True):
        kid.props = ("\uf013", "Choose files", kind, True, False, "", None)
    whole = sum(kid.natural(measure) for kid in row.order) + 16
    for room, lost in ((whole, [False, False, False]), (whole - 20, [False, False, True]), (whole - 120, [True, False, True])):  # fmt: skip
        row.layout(measure, room, None)
        assert [kid.w < kid.natural(measure) - 1 for kid in row.order] == lost
