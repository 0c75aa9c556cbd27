"""Buttons of the rail: an icon with its words under it, where there is room for them."""

from __future__ import annotations

from gui.canvas import Canvas
from gui.elements.base import Spec
from gui.elements.controls import Button, Spot
from gui.elements.text import filled
from gui.metrics import Measure

WORDS_FROM_PX = 60.0
"""Width from which the words are shown; the tip says them at every width."""
TALL_PX, LOW_PX, SMALL_PX, LEAST_PX = 50.0, 40.0, 26.0, 21.0
SMALL_TO_PX, LEAST_TO_PX = 34.0, 30.0
"""Widths up to which a button is lower, for a window that has no height."""
TOP_PX, GAP_PX = 7.0, 4.0


class RailButton(Button):
    """A place to go to. `props` as a button's; its kind says whether one is there."""

    __slots__ = ("words",)

    @property
    def has_words(self) -> bool:
        """True if the words stand under the icon."""
        return bool(self.props[1]) and (self.wide or 0.0) >= WORDS_FROM_PX

    def text(self) -> str:
        return str(self.props[0])

    def style(self) -> str:
        return "icon_large"

    def height(self, m: Measure) -> float:
        if 0 < (self.wide or 0.0) <= SMALL_TO_PX:
            return m.px(LEAST_PX if (self.wide or 0.0) <= LEAST_TO_PX else SMALL_PX)
        return m.px(TALL_PX if self.has_words else LOW_PX)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = self.height(m)
        self.is_collapsed = not self.has_words
        self.shown = ""
        self.words = m.ellipsized(str(self.props[1]), "small", w)

    @property
    def is_cut(self) -> bool:
        return self.has_words and self.words != self.props[1]

    def tooltip(self) -> str:
        return self.tip

    def patch(self, c: Canvas) -> None:
        self.bind(c, "hit.card")

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        x0, y0, x1, y1 = spot
        is_on = self.props[2] == "rail_active"
        color = c.color("accent" if is_on else "muted")
        m, glyph = c.m, self.props[0]
        specs = [filled(x0, y0, x1, y1, c.color("accent_tint"), m.px(8))] if is_on else []
        icon_x = x0 + (x1 - x0 - m.width(glyph, "icon_large")) / 2
        if not self.has_words:
            icon_y = y0 + (y1 - y0 - m.sizes["icon_large"]) / 2
            return [*specs, ("text", round(icon_x), round(icon_y), glyph, "icon_large", color)]
        icon_y = y0 + m.px(TOP_PX)
        words_x = x0 + (x1 - x0 - m.width(self.words, "small")) / 2
        words_y = icon_y + m.sizes["icon_large"] + m.px(GAP_PX)
        return [
            *specs,
            ("text", round(icon_x), round(icon_y), glyph, "icon_large", color),
            ("text", round(words_x), round(words_y), self.words, "small", color),
        ]
