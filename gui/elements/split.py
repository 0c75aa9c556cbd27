"""Panes side by side with edges that can be dragged."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas, Pane
from gui.elements.base import Element, Spec
from gui.elements.boxes import ColumnBox
from gui.elements.controls import Hit
from gui.metrics import Measure

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
