"""Scales of a plot: round ticks, what they read, and series thinned out to what pixels can show. Pure."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from core.base.figures import NOT_REPORTED, PRICE_UNKNOWN, dollars
from panels.base.ui import Unit

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
        return Axis(0.0, 100.0, _ticks(0.0, 100.0, step), step)
    low, high = min(0.0, min(values, default=0.0)), max(0.0, max(values, default=0.0))
    if high - low <= 0:
        high = low + 1.0
    step = round_step((high - low) / max(1, most_ticks - 1))
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    return Axis(low, high, _ticks(low, high, step), step)


def place_axis(xs: Sequence[float], most_ticks: int) -> Axis:
    """The scale of the common x: from the first to the last, half a place free at both ends."""
    if not xs:
        return Axis(0.0, 1.0, (), 1.0)
    low, high = min(xs), max(xs)
    step = round_step((high - low) / max(1, most_ticks - 1))
    if all(float(x).is_integer() for x in xs):
        step = max(1.0, math.ceil(step))
    ticks = tuple(t for t in _ticks(math.ceil(low / step) * step, high, step) if low <= t <= high)
    if not ticks:
        ticks = (low,)
    return Axis(low - 0.5, high + 0.5, ticks, step)


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
