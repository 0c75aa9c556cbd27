"""Tabs: words with a line under the open one."""

from __future__ import annotations

from gui.canvas import Canvas
from gui.elements.base import Element, Spec
from gui.elements.boxes import RowBox
from gui.elements.controls import Button
from gui.elements.text import filled
from gui.metrics import Measure

Spot = tuple[int, int, int, int]
TAB_PX = 34.0


class Tab(Button):
    """One tab. `props` as a button's, then whether it is open. Its icon stands for its words where there is no room."""

    __slots__ = ()

    def text(self) -> str:
        return str(self.props[1])

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


class TabStrip(RowBox):
    """Tabs side by side. Where they do not fit, all but the open one show their icons instead of their words; then that too."""

    __slots__ = ()

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        widths = [tab.natural(m) for tab in self.order]
        if sum(widths) > w:
            widths = [tab.natural(m) if _is_open(tab) else tab.collapsed(m) for tab in self.order]
        if sum(widths) > w:
            widths = [tab.collapsed(m) for tab in self.order]
        if sum(widths) > w:
            super().arrange(m, w, h)
            return
        x = self.h = 0.0
        for tab, width in zip(self.order, widths, strict=True):
            tab.layout(m, width, None)
            tab.x, tab.y = x, 0.0
            x += width
            self.h = max(self.h, tab.h)


def _is_open(tab: Element) -> bool:
    return bool(tab.props[7])
