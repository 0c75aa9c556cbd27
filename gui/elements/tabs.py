"""Tabs: words with a line under the open one."""

from __future__ import annotations

from gui.canvas import Canvas
from gui.elements.base import Spec
from gui.elements.controls import Button
from gui.elements.text import filled
from gui.metrics import Measure

Spot = tuple[int, int, int, int]
TAB_PX = 34.0


class Tab(Button):
    """One tab. `props` as a button's, then whether it is open."""

    __slots__ = ()

    def measure(self, m: Measure) -> float:
        return m.width(self.props[1], self.style()) + m.px(24) + 1

    def style(self) -> str:
        return "strong" if self.props[7] else "body"

    def height(self, m: Measure) -> float:
        return m.px(TAB_PX)

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        x0, _, x1, y1 = spot
        if not self.props[7]:
            return []
        inset = round(c.m.px(10))
        return [filled(x0 + inset, y1 - round(c.m.px(2)), x1 - inset, y1, c.color("focus"), 1)]
