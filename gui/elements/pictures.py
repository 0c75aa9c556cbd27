"""Pictures from local files, made small off the frame loop."""

from __future__ import annotations

import math
import struct
import threading
from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import dearpygui.dearpygui as dpg
import msgspec

from core.kernel.figures import NOT_REPORTED, PRICE_UNKNOWN, dollars
from core.kernel.language import capital, tr
from core.kernel.opener import open_file
from gui.canvas import CLEAR, WHITE, Canvas
from gui.elements.base import Element, Spec
from gui.elements.text import filled
from gui.metrics import Color, Measure, faded
from panels.base.ui import Series, Unit

Spot = tuple[int, int, int, int]
MOST_PIXELS = 13_000_000
"""A picture is read as four floats a pixel: 200 MB while it is made small."""
LONGEST_SIDE = 1200


class PictureError(Exception):
    """Reason why a picture is not shown, in a few words."""


def picture_size(path: Path) -> tuple[int, int]:
    """Width and height from the head of a PNG, JPEG or GIF file.

    Raises:
        PictureError: it cannot be read, or has another format.
    """
    try:
        with open_file(path) as file:
            head = file.read(64)
            if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
                width, height = struct.unpack(">II", head[16:24])
                return int(width), int(height)
            if head[:6] in (b"GIF87a", b"GIF89a"):
                width, height = struct.unpack("<HH", head[6:10])
                return int(width), int(height)
            if head.startswith(b"\xff\xd8"):
                file.seek(0)
                return _jpeg_size(file.read(1_000_000))
    except OSError as error:
        raise PictureError((error.strerror or str(error)).lower()) from error
    raise PictureError(tr("not a PNG, JPEG or GIF picture"))


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return int(width), int(height)
        at += 2 + int(struct.unpack(">H", data[at + 2 : at + 4])[0])
    raise PictureError(tr("a damaged JPEG picture"))


def load_small(path: Path) -> tuple[int, int, Any]:
    """Pixels of a picture as floats, no side longer than `LONGEST_SIDE`.

    Raises:
        PictureError: it cannot be shown.
    """
    width, height = picture_size(path)
    if width < 1 or height < 1:
        raise PictureError(tr("an empty picture"))
    if width * height > MOST_PIXELS:
        raise PictureError(tr("{width} x {height} pixels, too large to preview", width=width, height=height))
    loaded = dpg.load_image(str(path))
    if loaded is None:
        raise PictureError(tr("a damaged picture"))
    import numpy as np

    width, height, _, data = loaded
    pixels = np.frombuffer(data, np.float32).reshape(height, width, 4)
    step = max(1, -(-max(width, height) // LONGEST_SIDE))
    small = np.ascontiguousarray(pixels[::step, ::step])
    return small.shape[1], small.shape[0], small.ravel()


class Picture(Element):
    """A picture. `props`: path, greatest height in design px, name."""

    __slots__ = ("found", "problem", "shown_path", "texture")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.found: list[tuple[int, int, Any] | PictureError] = []
        self.problem = self.shown_path = ""
        self.texture: tuple[int, int, int] | None = None

    def begin(self) -> None:
        """Load the file of `props`, on a thread."""
        self.found, self.problem, self.texture = [], "", None
        path, found = Path(self.props[0]), self.found

        def load() -> None:
            try:
                found.append(load_small(path))
            except PictureError as error:
                found.append(error)

        threading.Thread(target=load, name="picture", daemon=True).start()

    def poll(self, c: Canvas) -> None:
        if not self.found or self.texture or self.problem:
            return
        match self.found[0]:
            case PictureError() as error:
                self.problem = str(error)
            case (width, height, pixels):
                item = c.texture(width, height, pixels)
                self.texture = (item, width, height)
        self.invalidate()

    def caption(self) -> str:
        """Caption where no picture is."""
        name = self.props[2]
        return f"{name}: {self.problem}" if self.problem else name

    def _size(self, m: Measure) -> tuple[float, float]:
        if self.texture is None:
            return m.width(self.caption(), "small") + m.px(24), float(m.sizes["small"])
        _, width, height = self.texture
        share = min(1.0, m.px(self.props[1]) / height)
        return width * share, height * share

    def measure(self, m: Measure) -> float:
        return self._size(m)[0]

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        width, height = self._size(m)
        self.h = height * min(1.0, w / width) if self.texture else height

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        if self.texture is not None:
            return [("image", *spot, self.texture[0], WHITE)]
        caption = c.m.ellipsized(self.caption(), "small", self.w - c.m.px(24))
        tone = c.color("warn" if self.problem else "muted")
        text_x = spot[0] + round(c.m.px(24))
        return [
            ("text", spot[0], spot[1], "\uf03e", "small", tone),
            ("text", text_x, spot[1], caption, "small", tone),
        ]

    def drop(self, c: Canvas) -> None:
        super().drop(c)
        if self.texture is not None:
            c.delete(self.texture[0])
            self.texture = None

    def label(self) -> str:
        return self.caption()


# Scales of a plot: round ticks, what they read, and series thinned out to what pixels can show. Pure.

MOST_POINTS = 2_000
POINTS_PER_PX = 2
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
Point = tuple[float, float]


class Axis(msgspec.Struct, frozen=True):
    """A scale from `low` to `high` with its ticks, ascending."""

    low: float
    high: float
    ticks: tuple[float, ...]
    step: float

    def share(self, value: float) -> float:
        """Share of a value on the way from `low` (0) to `high` (1)."""
        return (value - self.low) / (self.high - self.low)


def value_axis(values: Sequence[float], unit: Unit, most_ticks: int) -> Axis:
    """A scale that begins at 0 (below it where values are negative) and ends on a tick.

    Args:
        values: all that is drawn on it, any length; most_ticks: how many fit, at least 2.
    """
    if unit == "%":
        step = next((s for s in (25.0, 50.0) if 100 / s + 1 <= most_ticks), 100.0)
        return Axis(low=0.0, high=100.0, ticks=_ticks(0.0, 100.0, step), step=step)
    low, high = min(0.0, min(values, default=0.0)), max(0.0, max(values, default=0.0))
    if high - low <= 0:
        high = low + 1.0
    step = round_step((high - low) / max(1, most_ticks - 1))
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return Axis(low=low, high=high, ticks=_ticks(low, high, step), step=step)


def place_axis(xs: Sequence[float], most_ticks: int) -> Axis:
    """The scale of the common x: from the first to the last, half a place free at both ends."""
    if not xs:
        return Axis(low=0.0, high=1.0, ticks=(), step=1.0)
    low, high = min(xs), max(xs)
    step = round_step((high - low) / max(1, most_ticks - 1))
    if all(float(x).is_integer() for x in xs):
        step = max(1.0, math.ceil(step))
    ticks = tuple(t for t in _ticks(math.ceil(low / step) * step, high, step) if low <= t <= high)
    if not ticks:
        ticks = (low,)
    return Axis(low=low - 0.5, high=high + 0.5, ticks=ticks, step=step)


def round_step(least: float) -> float:
    """The smallest 1, 2, 2.5 or 5 times a power of ten that is at least `least`."""
    if not least > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in STEPS if step * power >= least * (1 - 1e-9))


def _ticks(low: float, high: float, step: float) -> tuple[float, ...]:
    count = math.floor((high - low) / step + 1e-6) + 1
    return tuple(low + index * step for index in range(max(0, count)))


def tick_text(value: float, step: float, unit: Unit) -> str:
    """Text of a tick: `40 %`, `$0.02`, `15k`, `2.5`."""
    if unit == "%":
        return f"{value:.0f} %"
    if unit == "$":
        digits = _decimals(step)
        return "$0" if abs(value) < step / 1000 else dollars(value, 2 if digits == 1 else digits)
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size and step >= size / 1000:
            return f"{value / size:.{_decimals(step / size)}f}{letter}"
    return "0" if abs(value) < step / 1000 else f"{value:,.{_decimals(step)}f}"


def value_text(value: float | None, unit: Unit) -> str:
    """Text of a value on hover; what is not known says so."""
    if value is None:
        return PRICE_UNKNOWN if unit == "$" else NOT_REPORTED
    if unit == "%":
        return f"{math.floor(value)} %"
    if unit == "$":
        return dollars(value, 4 if 0 < value < 0.1 else 2)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def _decimals(step: float) -> int:
    """Digits after the point that tell ticks of a step apart."""
    for digits in range(7):
        if abs(step * 10**digits - round(step * 10**digits)) < 1e-6:
            return digits
    return 6


def runs(xs: Sequence[float], ys: Sequence[float | None]) -> list[list[Point]]:
    """The curve in pieces, broken where nothing is known."""
    found: list[list[Point]] = [[]]
    for x, y in zip(xs, ys, strict=True):
        if y is not None:
            found[-1].append((x, y))
        elif found[-1]:
            found.append([])
    return [run for run in found if run]


def thinned(points: Sequence[Point], width_px: float) -> Sequence[Point]:
    """At most two points a pixel and `MOST_POINTS` in all: of each bucket its lowest and its highest, in order.

    Args:
        points: ascending by x; width_px: what they are drawn on.
    """
    most = max(4, min(MOST_POINTS, int(width_px * POINTS_PER_PX)))
    if len(points) <= most:
        return points
    kept: list[Point] = []
    buckets = most // 2
    for index in range(buckets):
        part = points[len(points) * index // buckets : len(points) * (index + 1) // buckets]
        pair = {min(part, key=_height), max(part, key=_height)}
        kept += sorted(pair)
    return kept


def highest(points: Sequence[Point], width_px: float) -> Sequence[Point]:
    """Bars for a width: of those that would share a place of four pixels only the highest."""
    most = max(1, min(MOST_POINTS, int(width_px / 4)))
    if len(points) <= most:
        return points
    cuts = [len(points) * index // most for index in range(most + 1)]
    return [max(points[a:b], key=_height) for a, b in pairwise(cuts)]


def _height(point: Point) -> float:
    return point[1]


def nearest(xs: Sequence[float], x: float) -> int | None:
    """The index of the place nearest to `x`; None where there is none. `xs` ascends. O(log n)."""
    if not xs:
        return None
    after = bisect_left(xs, x)
    if after == 0:
        return 0
    if after == len(xs):
        return len(xs) - 1
    return after if xs[after] - x < x - xs[after - 1] else after - 1


# A plot, drawn on the pane's drawlist: hairline grid, bars, areas, lines, a legend, and values on hover.

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
        return Frame(x0=x0, y0=round(top), x1=x1, y1=round(bottom), places=places, axes=axes)

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
        title = f"{capital(self.props[2])} {name}".strip()
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
