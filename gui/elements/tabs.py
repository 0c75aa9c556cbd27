"""Tabs: words with a line under the open one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas, Pane
from gui.elements.base import ColumnBox, Element, RowBox, Spec
from gui.elements.controls import Button, Hit
from gui.elements.controls import Spot as Spot_of_controls
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


# Buttons of the rail: an icon with its words under it, where there is room for them.

WORDS_FROM_PX = 60.0
"""Width from which the words are shown; the tip says them at every width."""
TALL_PX, RAIL_TIGHT_PX, LOW_PX, RAIL_SMALL_PX, LEAST_PX = 50.0, 45.0, 40.0, 26.0, 21.0
TIGHT_TO_PX, SMALL_TO_PX, LEAST_TO_PX = 82.0, 34.0, 30.0
"""Widths up to which a button is lower, for a window that has no height."""
TOP_PX, GAP_PX = 7.0, 4.0


class RailButton(Button):
    """A place to go to. `props` as a button's; its kind says whether one is there."""

    __slots__ = ("words",)

    @property
    def has_words(self) -> bool:
        """True if the words stand under the icon."""
        return bool(self.props[1]) and (self.wide or 0.0) >= WORDS_FROM_PX

    @property
    def is_tight(self) -> bool:
        """True if icon and words stand closer together."""
        return (self.wide or 0.0) <= TIGHT_TO_PX

    def text(self) -> str:
        return str(self.props[0])

    def style(self) -> str:
        return "icon_large"

    def height(self, m: Measure) -> float:
        if 0 < (self.wide or 0.0) <= SMALL_TO_PX:
            return m.px(LEAST_PX if (self.wide or 0.0) <= LEAST_TO_PX else RAIL_SMALL_PX)
        if not self.has_words:
            return m.px(LOW_PX)
        return m.px(RAIL_TIGHT_PX if self.is_tight else TALL_PX)

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

    def draw(self, c: Canvas, spot: Spot_of_controls) -> list[Spec]:
        x0, y0, x1, y1 = spot
        is_on = self.props[2] == "rail_active"
        color = c.color("accent" if is_on else "muted")
        m, glyph = c.m, self.props[0]
        specs = [filled(x0, y0, x1, y1, c.color("accent_tint"), m.px(8))] if is_on else []
        icon_x = x0 + (x1 - x0 - m.width(glyph, "icon_large")) / 2
        if not self.has_words:
            icon_y = y0 + (y1 - y0 - m.sizes["icon_large"]) / 2
            return [*specs, ("text", round(icon_x), round(icon_y), glyph, "icon_large", color)]
        icon_y = y0 + m.px(TOP_PX - 2 if self.is_tight else TOP_PX)
        words_x = x0 + (x1 - x0 - m.width(self.words, "small")) / 2
        words_y = icon_y + m.sizes["icon_large"] + m.px(GAP_PX - 1 if self.is_tight else GAP_PX)
        return [
            *specs,
            ("text", round(icon_x), round(icon_y), glyph, "icon_large", color),
            ("text", round(words_x), round(words_y), self.words, "small", color),
        ]


# Panes side by side with edges that can be dragged.

EDGE_PX = 7.0
"""Width of the strip between two panes that takes the mouse."""
MAIN_SHARE = 0.42
"""Share of the whole that panes without a width of their own keep before the others give way."""


class SplitBox(Element):
    """The panes. `props`: widths in design px (0 takes what is left), smallest width."""

    __slots__ = ("dragged", "grabbed", "sizes")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.dragged: tuple[float, ...] | None = None
        self.grabbed: tuple[int, float, tuple[float, ...]] | None = None
        self.sizes: tuple[float, ...] = ()

    def wants_space(self) -> tuple[bool, bool]:
        return True, True

    def panes(self) -> list[Element]:
        """The columns, without the edges."""
        return [kid for kid in self.order if isinstance(kid, ColumnBox)]

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        widths, least = self.props
        panes = self.panes()
        edges = [kid for kid in self.order if isinstance(kid, Hit)]
        self.sizes = split_widths(widths[: len(panes)], least, w / m.scale - EDGE_PX * len(edges))
        self.h = h or 0.0
        x = 0.0
        for index, (pane, size) in enumerate(zip(panes, self.sizes, strict=False)):
            pane.layout(m, m.px(size), self.h)
            pane.x, pane.y = x, 0.0
            x += m.px(size)
            if index < len(edges):
                edge = edges[index]
                edge.layout(m, m.px(EDGE_PX), self.h)
                edge.h = self.h
                edge.x, edge.y = x, 0.0
                x += m.px(EDGE_PX)

    def finish(self, c: Canvas, pane: Pane, spot: tuple[int, int, int, int]) -> None:
        c.sync(pane, self, self.lines(c, spot))

    def show(self, c: Canvas, pane: Pane, spot: tuple[int, int, int, int]) -> None:
        """Nothing before its kids: the hairlines come last."""

    def lines(self, c: Canvas, spot: tuple[int, int, int, int]) -> list[Spec]:
        """A hairline at each inner edge."""
        x, y0, _, y1 = spot
        at: list[Spec] = []
        for pane in self.panes()[1:]:
            left = x + round(pane.x - c.m.px(EDGE_PX) / 2)
            at.append(("line", left, y0, left, y1, c.color("border"), 1))
        return at

    def poll(self, c: Canvas) -> None:
        edges = [kid for kid in self.order if isinstance(kid, Hit)]
        held = next((index for index, edge in enumerate(edges) if edge.is_held()), None)
        if held is None:
            self.grabbed = None
            return
        mouse = dpg.get_mouse_pos(local=False)[0] / c.m.scale
        if self.grabbed is None or self.grabbed[0] != held:
            self.grabbed = (held, mouse, self.sizes)
            return
        index, start, sizes = self.grabbed
        moved = dragged_widths(self.props[0], sizes, index, mouse - start, self.props[1])
        if moved != self.props[0]:
            self.dragged = moved


def split_widths(widths: Sequence[float], least: float, total: float) -> tuple[float, ...]:
    """Widths that fill `total`: zeros share what is left; when there is too little, the widest give way."""
    sizes = [max(width, least) if width > 0 else 0.0 for width in widths]
    free = [index for index, width in enumerate(widths) if width <= 0]
    if not free:
        free = [len(sizes) - 1]
        sizes[-1] = 0.0
    excess = sum(sizes) + max(least, total * MAIN_SHARE / len(free)) * len(free) - total
    while excess > 0.5 and any(size > least for size in sizes):
        widest = max(range(len(sizes)), key=sizes.__getitem__)
        cut = min(excess, sizes[widest] - least, max(1.0, sizes[widest] * 0.1))
        sizes[widest] -= cut
        excess -= cut
    left = max(0.0, total - sum(sizes)) / len(free)
    for index in free:
        sizes[index] = left
    return tuple(sizes)


def dragged_widths(
    widths: Sequence[float], sizes: Sequence[float], edge: int, by: float, least: float
) -> tuple[float, ...]:
    """The widths after edge `edge` (between panes `edge` and `edge + 1`) moved by `by` design px."""
    by = max(least - sizes[edge], min(by, sizes[edge + 1] - least))
    new = list(widths)
    for index, change in ((edge, by), (edge + 1, -by)):
        if widths[index] > 0:
            new[index] = round(sizes[index] + change)
    return tuple(new)
