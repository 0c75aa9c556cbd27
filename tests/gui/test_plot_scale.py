"""Scales of a plot: round ticks, words, and series thinned out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.elements.pictures import (
    MOST_POINTS,
    highest,
    nearest,
    place_axis,
    round_step,
    runs,
    thinned,
    tick_text,
    value_axis,
    value_text,
)
from panels.base.ui import Unit

VALUES = st.lists(st.floats(-1e9, 1e9), max_size=50)


def test_per_cent_span_the_whole_whatever_the_values() -> None:
    assert value_axis([20, 30], "%", 5).ticks == (0, 25, 50, 75, 100)
    assert value_axis([], "%", 3).ticks == (0, 50, 100)
    assert value_axis([1], "%", 2).ticks == (0, 100)


@given(VALUES, st.integers(2, 12))
def test_every_value_lies_on_the_scale_and_zero_does_too(values: list[float], most: int) -> None:
    axis = value_axis(values, "", most)

    for value in (0.0, *values):
        assert -1e-6 <= axis.share(value) <= 1 + 1e-6
    assert 2 <= len(axis.ticks) <= most + 2


@given(st.floats(1e-12, 1e12))
def test_steps_are_round_and_not_smaller_than_asked(least: float) -> None:
    step = round_step(least)

    assert least * (1 - 1e-6) <= step <= least * 2.5 * (1 + 1e-6)


def test_values_that_are_all_zero_have_a_scale() -> None:
    assert value_axis([0, 0], "$", 4).high > 0


def test_turns_are_counted_in_whole_numbers() -> None:
    assert place_axis([1, 2, 3], 8).ticks == (1, 2, 3)
    assert place_axis(list(range(1, 43)), 7).ticks == (10, 20, 30, 40)
    assert place_axis([7], 5).ticks == (7,)
    assert place_axis([], 5).ticks == ()


def test_a_single_place_stands_in_the_middle() -> None:
    assert place_axis([7], 5).share(7) == 0.5


@pytest.mark.parametrize(
    ("value", "step", "unit", "text"),
    [
        (40, 20, "%", "40 %"),
        (0, 0.02, "$", "$0"),
        (0.04, 0.02, "$", "$0.04"),
        (0.0005, 0.0005, "$", "$0.0005"),
        (2, 1, "$", "$2"),
        (0.1, 0.1, "$", "$0.10"),
        (2.5, 2.5, "$", "$2.50"),
        (15_000, 5_000, "", "15k"),
        (2_500, 500, "", "2.5k"),
        (1_500_000, 500_000, "", "1.5M"),
        (0, 500, "", "0"),
        (0.25, 0.25, "", "0.25"),
        (950, 50, "", "950"),
    ],
)
def test_ticks_are_short_and_can_be_told_apart(value: float, step: float, unit: Unit, text: str) -> None:
    assert tick_text(value, step, unit) == text


@given(st.floats(1e-5, 1e8), st.integers(2, 8), st.sampled_from(["", "$"]))
def test_no_two_ticks_read_the_same(top: float, most: int, unit: Unit) -> None:
    axis = value_axis([top], unit, most)
    texts = [tick_text(tick, axis.step, unit) for tick in axis.ticks]

    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "%", "not reported"),
        (None, "$", "price unknown"),
        (23.53, "%", "23 %"),
        (0.0114, "$", "$0.0114"),
        (1.94, "$", "$1.94"),
        (0, "$", "$0.00"),
        (18_400, "", "18,400"),
        (0.5, "", "0.50"),
    ],
)
def test_a_value_on_hover_is_read_in_full(value: float | None, unit: Unit, text: str) -> None:
    assert value_text(value, unit) == text


def test_a_curve_breaks_where_nothing_is_known() -> None:
    assert runs((1, 2, 3, 4, 5), (None, 1, 2, None, 3)) == [[(2, 1), (3, 2)], [(5, 3)]]
    assert runs((1, 2), (None, None)) == []


@given(st.integers(0, 20_000), st.floats(10, 4_000))
def test_thinned_points_are_few_in_order_and_keep_the_extremes(count: int, width: float) -> None:
    points = [(float(n), float((n * 7_919) % 1_009)) for n in range(count)]

    kept = thinned(points, width)

    assert len(kept) <= max(4, min(MOST_POINTS, int(width * 2)))
    assert all(left[0] <= right[0] for left, right in pairwise(kept))
    if points:
        heights = [y for _, y in kept]
        assert (min(heights), max(heights)) == (min(y for _, y in points), max(y for _, y in points))


def test_bars_that_share_a_place_show_the_highest() -> None:
    points = [(float(n), float(n % 10)) for n in range(1_000)]

    kept = highest(points, 400)

    assert len(kept) == 100
    assert {y for _, y in kept} == {9.0}
    assert highest(points[:5], 400) == points[:5]


@given(st.lists(st.integers(-100, 100), unique=True, max_size=30), st.floats(-150, 150))
def test_the_nearest_place_is_the_nearest(xs: list[int], x: float) -> None:
    places = sorted(map(float, xs))

    found = nearest(places, x)

    if not places:
        assert found is None
    else:
        assert found is not None
        assert abs(places[found] - x) == min(abs(place - x) for place in places)
