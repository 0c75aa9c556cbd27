"""Rows that a person drags into another order by their handle."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas, Pane
from gui.elements.base import Element, Spec
from gui.elements.boxes import ColumnBox, RowBox
from gui.elements.controls import Button
from gui.elements.popups import anchor_of
from gui.metrics import Measure

THRESHOLD_PX = 4.0
FIRST_LINE_PX = 6.0
"""Space above the grip: that above the first line of a card."""


class Handle(Button):
    """The grip of a row."""

    __slots__ = ()

    def is_held(self) -> bool:
        """True while the mouse went down on it and is still down."""
        return bool(self.item) and bool(dpg.is_item_active(self.item))


class SortRow(RowBox):
    """A row that can be dragged: its grip stands beside the first line, however tall the row is."""

    __slots__ = ()

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        super().arrange(m, w, h)
        for kid in self.order:
            if isinstance(kid, Handle):
                kid.y = min(kid.y, m.px(FIRST_LINE_PX))


class SortBox(ColumnBox):
    """The rows. `props`: gap."""

    __slots__ = ("dropped", "grabbed", "is_dragging", "target")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.grabbed: tuple[int, float] | None = None
        self.is_dragging = False
        self.target = 0
        self.dropped: tuple[int, int] | None = None

    def handles(self) -> list[Handle]:
        """The grips, in the order of the rows."""
        rows = [kid for kid in self.order if isinstance(kid, RowBox)]
        return [grip for row in rows for grip in row.order if isinstance(grip, Handle)]

    def poll(self, c: Canvas) -> None:
        held = next((index for index, grip in enumerate(self.handles()) if grip.is_held()), None)
        y = dpg.get_mouse_pos(local=False)[1]
        if held is None:
            if self.grabbed is not None:
                self._drop()
            return
        if self.grabbed is None:
            self.grabbed = (held, y)
        if abs(y - self.grabbed[1]) > c.m.px(THRESHOLD_PX):
            self.is_dragging = True
            middles = [top + height / 2 for _, top, _, height in map(anchor_of, self.order)]
            self.target = sum(1 for middle in middles if y > middle)
            self.touch()

    def _drop(self) -> None:
        start = self.grabbed[0] if self.grabbed else 0
        end = self.target - 1 if self.target > start else self.target
        if self.is_dragging and end != start:
            self.dropped = (start, end)
        self.grabbed, self.is_dragging = None, False
        self.touch()

    def show(self, c: Canvas, pane: Pane, spot: tuple[int, int, int, int]) -> None:
        """Nothing before its kids."""

    def finish(self, c: Canvas, pane: Pane, spot: tuple[int, int, int, int]) -> None:
        specs: list[Spec] = []
        if self.is_dragging and self.order:
            if self.target < len(self.order):
                y = spot[1] + self.order[self.target].y - self.gap_px(c.m) / 2
            else:
                y = float(spot[3] + 1)
            specs.append(("line", spot[0], round(y), spot[2], round(y), c.color("focus"), 2))
        c.sync(pane, self, specs)
