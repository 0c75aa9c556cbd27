"""A plot on the screen: what is drawn where, and what hover says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import dearpygui.dearpygui as dpg
import pytest

from gui.elements.pictures import Plot, value_of
from panels.base.ui import Series, Ui
from tests.gui.conftest import Screen

pytestmark = pytest.mark.gui
TURNS = tuple(float(turn) for turn in range(1, 25))
RATE = Series("hit rate", TURNS, tuple(None if t == 8 else 90.0 - t for t in TURNS), "area", "accent", "%")
COST = Series("cost", TURNS, tuple(0.01 * t for t in TURNS), "bars", "warn", "$")


def show(
    screen: Screen,
    *series: Series,
    scale: float = 1.0,
    width: float = 360,
    theme: str = "dark",
    y_label: str = "",
) -> Plot:
    """Show a plot in a card and return it."""

    def draw(ui: Ui) -> None:
        screen.ui.set_looks(theme, scale)
        with ui.surface("card", "card", width=width):
            ui.plot("plot", series, height=200, x_label="turn", y_label=y_label)

    screen.show(draw)
    screen.settle()
    (plot,) = [el for el in screen.ui.tree.root.walk() if isinstance(el, Plot)]
    return plot


def texts(plot: Plot) -> list[str]:
    return [spec[3] for spec in plot.prims if spec[0] == "text"]


def kinds(plot: Plot) -> list[str]:
    return [spec[0] for spec in plot.prims]


def color_of(plot: Plot, kind: str) -> Any:
    return next(spec[-1] if kind == "quad" else spec[5] for spec in plot.prims if spec[0] == kind)


def point_at(screen: Screen, plot: Plot, turn: float) -> None:
    """Put the mouse on a place of the plot, at half its height."""
    assert plot.frame is not None
    assert plot.pane is not None
    left, top = plot.pane.origin()
    x, y = dpg.get_viewport_pos()
    frame = plot.frame
    screen.driver.move(round(x + left + frame.x(turn)), round(y + top + (frame.y0 + frame.y1) / 2))
    screen.driver.step(4)


def test_legend_ticks_and_both_axes_can_be_read(screen: Screen) -> None:
    shown = texts(show(screen, RATE, COST))

    assert {"hit rate", "cost", "turn", "0 %", "100 %", "$0", "$0.10", "$0.20", "5", "10", "15", "20"} <= set(
        shown
    )


@pytest.mark.parametrize("scale", [0.75, 1.0, 1.5, 2.5])
@pytest.mark.parametrize("width", [200, 360, 480])
def test_nothing_is_drawn_outside_at_any_scale(screen: Screen, scale: float, width: float) -> None:
    plot = show(screen, RATE, COST, scale=scale, width=width, y_label="per turn")
    assert plot.spot is not None
    x0, y0, x1, y1 = plot.spot

    for spec in plot.prims:
        if spec[0] == "text":
            right = spec[1] + screen.ui.tree.m.width(spec[3], spec[4])
            assert x0 - 1 <= spec[1], spec
            assert right <= x1 + 1, spec
            assert y0 <= spec[2], spec
            assert spec[2] + screen.ui.tree.m.sizes[spec[4]] <= y1 + 1, spec
        elif spec[0] == "rect":
            assert x0 - 2 <= spec[1] <= spec[3] <= x1 + 2, spec
    screen.check()


def test_bars_stand_behind_areas_and_areas_behind_their_line(screen: Screen) -> None:
    plot = show(screen, RATE, COST)
    bar = screen.ui.canvas.palette.plot["warn"][:3]
    bars = [i for i, spec in enumerate(plot.prims) if spec[0] == "rect" and spec[5][:3] == bar]
    quads = [i for i, kind in enumerate(kinds(plot)) if kind == "quad"]
    lines = [i for i, kind in enumerate(kinds(plot)) if kind == "line"]

    assert len(bars) >= len(TURNS)
    assert max(bars) < min(quads)
    assert min(quads) < min(lines)


def test_a_value_that_is_not_known_leaves_a_gap(screen: Screen) -> None:
    whole = Series("hit rate", TURNS, tuple(90.0 - t for t in TURNS), "line", "accent", "%")
    broken = Series("hit rate", TURNS, RATE.ys, "line", "accent", "%")

    assert kinds(show(screen, whole)).count("line") == 23
    assert kinds(show(screen, broken)).count("line") == 21


def test_higher_values_stand_higher_and_later_ones_further_right(screen: Screen) -> None:
    plot = show(screen, Series("s", (1.0, 2.0), (10.0, 30.0)))
    (line,) = [spec for spec in plot.prims if spec[0] == "line"]

    assert line[1] < line[3]
    assert line[2] > line[4]


def test_hover_reads_the_values_of_the_nearest_turn_at_once(screen: Screen) -> None:
    plot = show(screen, RATE, COST)

    point_at(screen, plot, 12.2)
    assert {"Turn 12", "78 %", "$0.12"} <= set(texts(plot))
    point_at(screen, plot, 8)
    assert {"Turn 8", "not reported", "$0.0800"} <= set(texts(plot))
    screen.driver.move(1200, 790)
    screen.driver.step(4)
    assert not any(text.startswith("Turn") for text in texts(plot))


@pytest.mark.parametrize("turn", [1, 24])
def test_the_card_of_hover_stays_inside(screen: Screen, turn: float) -> None:
    plot = show(screen, RATE, COST)
    assert plot.spot is not None
    point_at(screen, plot, turn)
    (title,) = [spec for spec in plot.prims if spec[0] == "text" and spec[3] == f"Turn {turn}"]

    assert plot.spot[0] <= title[1] <= plot.spot[2]
    for spec in plot.prims:
        if spec[0] == "rect":
            assert spec[3] <= plot.spot[2] + 2


def test_a_plot_that_is_the_same_costs_nothing_to_draw_again(screen: Screen) -> None:
    plot = show(screen, RATE, COST)
    before, calls = plot.prims, screen.ui.canvas.calls

    screen.settle()

    assert plot.prims is before
    assert screen.ui.canvas.calls == calls


def test_a_hundred_thousand_points_become_what_the_pixels_can_show(screen: Screen) -> None:
    xs = tuple(float(n) for n in range(100_000))
    series = Series("s", xs, tuple(float(n % 977) for n in range(100_000)))

    plot = show(screen, series, width=700)

    assert kinds(plot).count("line") < 1_400
    assert len(plot.prims) < 1_500


def test_many_bars_never_overlap(screen: Screen) -> None:
    xs = tuple(float(n) for n in range(5_000))
    plot = show(screen, Series("s", xs, tuple(1.0 for _ in xs), "bars", "ok"))
    color = screen.ui.canvas.palette.plot["ok"][:3]
    bars = [spec for spec in plot.prims if spec[0] == "rect" and spec[5][:3] == color][1:]
    edges = sorted((spec[1], spec[3]) for spec in bars)

    assert len(bars) > 20
    assert all(left[1] <= right[0] for left, right in pairwise(edges))


@pytest.mark.parametrize(
    "series",
    [
        (),
        (Series("s", (), ()),),
        (Series("s", (1.0,), (None,), "bars", "ok", "$"),),
        (Series("s", (1.0,), (0.0,), "area", "ok", "%"),),
        (Series("s", (1.0, 2.0), (-3.0, 4.0), "bars", "error"),),
    ],
)
def test_little_or_nothing_to_show_draws_all_the_same(screen: Screen, series: Sequence[Series]) -> None:
    plot = show(screen, *series)

    assert "turn" in texts(plot)
    screen.check()


def test_one_point_is_a_dot(screen: Screen) -> None:
    plot = show(screen, Series("s", (1.0,), (40.0,), "line", "cyan", "%"))
    color = screen.ui.canvas.palette.plot["cyan"]

    dots = [spec for spec in plot.prims if spec[0] == "rect" and spec[5] == color]
    assert len(dots) == 2  # in the legend, and the point


def test_colours_follow_the_theme(screen: Screen) -> None:
    dark = color_of(show(screen, RATE), "quad")
    light = color_of(show(screen, RATE, theme="light"), "quad")

    assert dark != light
    assert 0 < dark[3] < 80


def test_a_plot_is_found_by_its_legend(screen: Screen) -> None:
    assert show(screen, RATE, COST) is screen.driver.find("hit rate · cost")


def test_a_place_without_a_value_of_its_own_has_none() -> None:
    assert value_of(Series("s", (1.0, 3.0), (5.0, 6.0)), 3.0) == 6.0
    assert value_of(Series("s", (1.0, 3.0), (5.0, 6.0)), 2.0) is None
    assert value_of(Series("s", (), ()), 2.0) is None
