"""Tabs: words with a line under the open one."""

from __future__ import annotations

from gui.canvas import Canvas
from gui.elements.base import Spec
from gui.elements.boxes import RowBox
from gui.elements.controls import Button
from gui.elements.text import filled
from gui.metrics import Measure

Spot = tuple[int, int, int, int]
TAB_PX = 34.0


TIGHT_PX = 14.0
"""Room between tabs that is given up before their words are."""


class Tab(Button):
    """One tab. `props` as a button's, then whether it is open, then the longest words that it is given room for.

    Its icon stands for its words where there is no room. Neither being opened nor a count in its words changes its width:
    the tabs beside it stay where they are.
    """

    __slots__ = ()

    def text(self) -> str:
        return str(self.props[1])

    def measure(self, m: Measure) -> float:
        return max(m.width(words, "strong") for words in (self.props[1], self.props[8])) + m.px(24) + 1

    def tight(self, m: Measure) -> float:
        """The least width with its words."""
        return self.natural(m) - m.px(TIGHT_PX)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = self.height(m)
        self.is_collapsed = bool(self.props[0] and self.props[1]) and w < self.tight(m) - 1
        text = self.props[0] if self.is_collapsed else self.text()
        self.shown = m.ellipsized(text, self.style(), w - m.px(6))

    def style(self) -> str:
        return "strong" if self.props[7] else "body"

    def height(self, m: Measure) -> float:
        return m.px(TAB_PX)

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        x0, _, x1, y1 = spot
        if not self.props[7]:
            return []
        inset = round(max(0.0, (x1 - x0 - c.m.width(self.shown, self.style())) / 2 - c.m.px(2)))
        return [filled(x0 + inset, y1 - round(c.m.px(2)), x1 - inset, y1, c.color("focus"), 1)]


class TabStrip(RowBox):
    """Tabs side by side. Where they do not fit they move together; then all but the open one show their icons instead of
    their words; then that too.
    """

    __slots__ = ()

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        tabs = [tab for tab in self.order if isinstance(tab, Tab)]
        for widths in (
            [tab.natural(m) for tab in tabs],
            [tab.tight(m) for tab in tabs],
            [tab.tight(m) if tab.props[7] else tab.collapsed(m) for tab in tabs],
            [tab.collapsed(m) for tab in tabs],
        ):
            if sum(widths) <= w:
                break
        if sum(widths) > w:
            super().arrange(m, w, h)
            return
        x = self.h = 0.0
        for tab, width in zip(tabs, widths, strict=True):
            tab.layout(m, width, None)
            tab.x, tab.y = x, 0.0
            x += width
            self.h = max(self.h, tab.h)
