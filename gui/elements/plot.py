"""A plot, drawn on the pane's drawlist: hairline grid, bars, areas, lines, a legend, and values on hover."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

import dearpygui.dearpygui as dpg
import msgspec

from gui.canvas import CLEAR, Canvas
from gui.elements.base import Element, Spec
from gui.elements.text import filled
from gui.metrics import Measure
from gui.plot_scale import (
    Axis,
    Point,
    highest,
    nearest,
    place_axis,
    runs,
    thinned,
    tick_text,
    value_axis,
    value_text,
)
from gui.theme import Color, faded
from panels.base.ui import Series, Unit

Spot = tuple[int, int, int, int]
STYLE, STRONG = "small", "small_strong"
TICK_GAP_PX = 34.0
PLACE_GAP_PX = 34.0
LINE_PX = 2.0
AREA_ALPHA = 0.16
BAR_ALPHA = 0.72
WIDEST_BAR_PX = 18.0
DOTS_FROM_PX = 14.0
JOINED_POINTS = 200
"""Up to here the corners of a line are rounded; a denser one shows no corners."""


class Frame(msgspec.Struct, frozen=True):
    """Frame of the curves, in pixels of the pane, and their scales. `axes` by unit, the first at the left."""

    x0: float
    y0: float
    x1: float
    y1: float
    places: Axis
    axes: dict[Unit, Axis]

    def x(self, value: float) -> float:
        """Pixel of a place."""
        return self.x0 + self.places.share(value) * (self.x1 - self.x0)

    def y(self, value: float, unit: Unit) -> float:
        """Pixel of a value."""
        return self.y1 - self.axes[unit].share(value) * (self.y1 - self.y0)

    def place_at(self, x: float) -> float:
        """The place under a pixel."""
        share = (x - self.x0) / max(1.0, self.x1 - self.x0)
        return self.places.low + share * (self.places.high - self.places.low)


class Plot(Element):
    """A plot. `props`: series, height in design px, label of the places, label of the values."""

    __slots__ = ("at", "frame", "xs")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.at: int | None = None
        self.frame: Frame | None = None
        self.xs: tuple[float, ...] = ()

    @property
    def series(self) -> tuple[Series, ...]:
        """The curves."""
        return self.props[0]  # type: ignore[no-any-return]

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def measure(self, m: Measure) -> float:
        return m.px(240)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.px(self.props[1])
        self.xs = tuple(sorted({x for one in self.series for x in one.xs}))
        self.at = None

    # hover
    def poll(self, c: Canvas) -> None:
        at = self._under_mouse() if self.is_hovered else None
        if at != self.at:
            self.at = at
            self.touch()

    def _under_mouse(self) -> int | None:
        if self.frame is None or self.pane is None:
            return None
        x, y = dpg.get_mouse_pos(local=False)
        left, top = self.pane.origin()
        if not self.frame.y0 <= y - top <= self.frame.y1:
            return None
        return nearest(self.xs, self.frame.place_at(x - left))

    # looks
    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        frame = self.frame = self._frame(c.m, spot)
        specs = [*self._legend(c, spot, frame), *self._scales(c, spot, frame)]
        for kind in ("bars", "area", "line"):
            for one in self.series:
                if one.kind == kind:
                    specs += _bars(c, frame, one) if kind == "bars" else _curve(c, frame, one)
        if self.at is not None and self.at < len(self.xs):
            specs += self._pointed(c, spot, frame, self.xs[self.at])
        return specs

    def _frame(self, m: Measure, spot: Spot) -> Frame:
        line, gap = m.sizes[STYLE], m.px(8)
        top = spot[1] + line + m.px(10)
        bottom = spot[3] - line - m.px(6) - (line + m.px(2) if self.props[2] else 0)
        most = max(2, int((bottom - top) / m.px(TICK_GAP_PX)))
        axes = {unit: value_axis(_values(self.series, unit), unit, most) for unit in _units(self.series)}
        sides = [_widest(m, axis, unit) + gap for unit, axis in axes.items()]
        left, right = sides[0] if sides else gap, sides[1] if len(sides) > 1 else m.px(4)
        x0, x1 = round(spot[0] + left), round(spot[2] - right)
        places = place_axis(self.xs, max(2, int((x1 - x0) / m.px(PLACE_GAP_PX))))
        return Frame(x0, round(top), x1, round(bottom), places, axes)

    def _legend(self, c: Canvas, spot: Spot, frame: Frame) -> Iterator[Spec]:
        m, left, top = c.m, spot[0], spot[1]
        square = round(m.px(9))
        x = float(frame.x0)
        if self.props[3]:
            yield ("text", left, top, self.props[3], STYLE, c.color("muted"))
            widths = [square + m.px(6) + m.width(one.label, STYLE) for one in self.series]
            x = max(
                left + m.width(self.props[3], STYLE) + m.px(16),
                frame.x1 - sum(widths) - m.px(14) * (len(widths) - 1),
            )
        for one in self.series:
            y = top + (m.sizes[STYLE] - square) // 2 + round(m.px(1))
            yield filled(round(x), y, round(x) + square, y + square, curve_color(c, one), m.px(2))
            x += square + m.px(6)
            text = m.ellipsized(one.label, STYLE, spot[2] - x)
            yield ("text", round(x), top, text, STYLE, c.color("muted"))
            x += m.width(text, STYLE) + m.px(14)

    def _scales(self, c: Canvas, spot: Spot, frame: Frame) -> Iterator[Spec]:
        m, tone = c.m, c.palette.plot["axis"]
        size = m.sizes[STYLE]
        for number, (unit, axis) in enumerate(frame.axes.items()):
            for tick in axis.ticks:
                y = round(frame.y(tick, unit))
                if number == 0:
                    color = c.color("border_strong") if tick == 0 else c.palette.plot["grid"]
                    yield filled(frame.x0, y, frame.x1, y + 1, color, 0)
                text = tick_text(tick, axis.step, unit)
                x = frame.x0 - m.px(8) - m.width(text, STYLE) if number == 0 else frame.x1 + m.px(8)
                yield ("text", round(x), y - size // 2, text, STYLE, tone)
        yield from self._places(c, spot, frame)

    def _places(self, c: Canvas, spot: Spot, frame: Frame) -> Iterator[Spec]:
        m, tone, y = c.m, c.palette.plot["axis"], round(frame.y1 + c.m.px(6))
        for tick in frame.places.ticks:
            text = tick_text(tick, frame.places.step, "")
            x = frame.x(tick) - m.width(text, STYLE) / 2
            yield ("text", round(min(x, spot[2] - m.width(text, STYLE))), y, text, STYLE, tone)
        if self.props[2]:
            x = (frame.x0 + frame.x1 - m.width(self.props[2], STYLE)) / 2
            below = y + m.sizes[STYLE] + round(m.px(2))
            yield ("text", round(x), below, self.props[2], STYLE, tone)

    def _pointed(self, c: Canvas, spot: Spot, frame: Frame, place: float) -> Iterator[Spec]:
        """A line through the place under the mouse, its values, and a small card that reads them."""
        x = round(frame.x(place))
        yield filled(x, frame.y0, x + 1, frame.y1, c.color("border_strong"), 0)
        for one in self.series:
            value = value_of(one, place)
            if value is not None:
                yield _dot(
                    c, x + 0.5, frame.y(value, one.unit), curve_color(c, one), 4.0, ring=c.color("card")
                )
        yield from self._card(c, spot, frame, x, place)

    def _card(self, c: Canvas, spot: Spot, frame: Frame, x: int, place: float) -> Iterator[Spec]:
        m, size = c.m, c.m.sizes[STYLE]
        title, rows = self.reading(place)
        pad, step, square = m.px(9), round(size * 1.3), round(m.px(8))
        named = square + m.px(6) + max(m.width(label, STYLE) for label, _ in rows)
        worth = max(m.width(text, STRONG) for _, text in rows)
        w = max(m.width(title, STRONG), named + m.px(16) + worth) + 2 * pad
        h = step * len(rows) + size + 2 * pad
        left = x + m.px(10) if x + m.px(10) + w <= frame.x1 else x - m.px(10) - w
        left = round(max(spot[0], min(left, spot[2] - w)))
        top = round(frame.y0 + m.px(2))
        right = round(left + w)
        yield ("rect", left, top, right, round(top + h), c.color("raised"), c.color("border_strong"), m.px(6))
        y = round(top + pad)
        yield ("text", round(left + pad), y, title, STRONG, c.color("text"))
        for one, (label, text) in zip(self.series, rows, strict=True):
            y += step
            mark = y + (size - square) // 2 + round(m.px(1))
            at = round(left + pad)
            yield filled(at, mark, at + square, mark + square, curve_color(c, one), m.px(2))
            yield ("text", round(at + square + m.px(6)), y, label, STYLE, c.color("muted"))
            yield ("text", round(right - pad - m.width(text, STRONG)), y, text, STRONG, c.color("text"))

    def reading(self, place: float) -> tuple[str, list[tuple[str, str]]]:
        """Words of a place on hover: its name, then each curve's label and value."""
        name = tick_text(place, 1.0 if float(place).is_integer() else 0.01, "")
        title = f"{self.props[2].capitalize()} {name}".strip()
        return title, [(one.label, value_text(value_of(one, place), one.unit)) for one in self.series]

    def label(self) -> str:
        return " · ".join(one.label for one in self.series)


def value_of(series: Series, place: float) -> float | None:
    """The value of a curve at a place, None where it has none."""
    index = nearest(series.xs, place)
    return series.ys[index] if index is not None and series.xs[index] == place else None


def curve_color(c: Canvas, series: Series) -> Color:
    """The colour of a curve: brighter than text of the same tone."""
    return c.palette.plot.get(series.tone) or c.color(series.tone)


def _units(series: Sequence[Series]) -> tuple[Unit, ...]:
    return tuple(dict.fromkeys(one.unit for one in series))


def _values(series: Sequence[Series], unit: Unit) -> list[float]:
    return [y for one in series if one.unit == unit for y in one.ys if y is not None]


def _widest(m: Measure, axis: Axis, unit: Unit) -> float:
    return max((m.width(tick_text(tick, axis.step, unit), STYLE) for tick in axis.ticks), default=0.0)


def _bars(c: Canvas, frame: Frame, series: Series) -> Iterator[Spec]:
    known = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if y is not None]
    shown = highest(known, frame.x1 - frame.x0)
    span = frame.places.high - frame.places.low
    room = (frame.x1 - frame.x0) / max(1.0, span if len(known) == len(shown) else len(shown))
    width = max(1, round(min(c.m.px(WIDEST_BAR_PX), room * 0.62)))
    color, base = faded(curve_color(c, series), BAR_ALPHA), round(frame.y(0.0, series.unit))
    for x, y in shown:
        left, top = round(frame.x(x) - width / 2), round(frame.y(y, series.unit))
        if y > 0:
            top = min(top, base - 1)
        if top != base:
            yield filled(left, min(top, base), left + width, max(top, base), color, min(c.m.px(2), width / 3))


def _curve(c: Canvas, frame: Frame, series: Series) -> Iterator[Spec]:
    color, base = curve_color(c, series), frame.y(0.0, series.unit)
    width = frame.x1 - frame.x0
    pieces = runs(series.xs, series.ys)
    share = len(series.xs) or 1
    for piece in pieces:
        points = [
            (frame.x(x), frame.y(y, series.unit)) for x, y in thinned(piece, width * len(piece) / share)
        ]
        if series.kind == "area":
            yield from _fill(points, base, faded(color, AREA_ALPHA))
        yield from (("line", *start, *end, color, c.m.px(LINE_PX)) for start, end in pairwise(points))
        is_sparse = len(points) == 1 or width / len(series.xs) >= c.m.px(DOTS_FROM_PX)
        if is_sparse or len(points) <= JOINED_POINTS:
            radius = 2.5 if is_sparse else LINE_PX / 2
            yield from (_dot(c, x + 0.5, y + 0.5, color, radius) for x, y in points)


def _fill(points: Sequence[Point], base: float, color: Color) -> Iterator[Spec]:
    for (x0, y0), (x1, y1) in pairwise(points):
        yield ("quad", (x0, y0), (x1, y1), (x1, base), (x0, base), color)


def _dot(c: Canvas, x: float, y: float, color: Color, radius_px: float, ring: Color = CLEAR) -> Spec:
    radius = c.m.px(radius_px)
    return ("rect", x - radius, y - radius, x + radius, y + radius, color, ring, radius)
