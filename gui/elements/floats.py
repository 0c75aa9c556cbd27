"""Floats: content over the page that takes no space in it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas
from gui.elements.base import Element
from gui.elements.boxes import place_column
from gui.elements.controls import Button
from gui.elements.surfaces import Root, bare_window
from gui.metrics import Measure

MARGIN_PX = 12.0
GAP_PX = 8.0
MOVED_PX = 3.0


class FloatOwner(Element):
    """Stands for a float where it was described; takes no space there."""

    __slots__ = ()
    is_ghost: ClassVar[bool] = True


class FloatLayer(Root):
    """A window of its own that covers what it holds and no more.

    `props`: width, left and foot in design px, for the window's bottom left; or the place, in pixels of the viewport,
    over the foot of which it stands in the middle.
    """

    __slots__ = ("held_at", "is_hidden")
    FILL: ClassVar[str] = ""
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.held_at: tuple[float, float] | None = None
        self.is_hidden = False

    def make_window(self) -> int:
        return bare_window(no_background=True, no_focus_on_appearing=True)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        width, left, foot, over = self.props
        margin = m.px(MARGIN_PX)
        was = (self.x, self.y, self.w, self.h)
        wanted = m.px(width) if over is None else max((kid.natural(m) for kid in self.order), default=0.0)
        self.w = min(wanted, w - m.px(left) - 2 * margin)
        self.h = min(place_column(self.order, m, self.w, None, m.px(GAP_PX)), (h or 0.0) - 2 * margin)
        self.x, self.y = m.px(left) + margin, max(margin, (h or 0.0) - m.px(foot) - self.h - margin)
        if over is not None:
            outer, upper, wide, high = over
            self.x, self.y = outer + (wide - self.w) / 2, upper + high - self.h - margin
        if (self.x, self.y, self.w, self.h) != was:
            self._hold()

    def give_way(self, cards: list[Element]) -> None:
        """Hide while it would cover a dialog or a menu: neither its looks nor a click there are wanted."""
        is_hidden = any(_overlaps(self, card) for card in cards)
        if is_hidden == self.is_hidden:
            return
        self.is_hidden = is_hidden
        self.touch()
        if not is_hidden:
            self._hold()

    def _hold(self) -> None:
        """It came, or grew, where the pointer may rest: a click that was meant for the page is not for it."""
        x, y = dpg.get_mouse_pos(local=False)
        self.held_at = (x, y) if self.holds(x, y) else None

    @property
    def is_of_page(self) -> bool:
        """True if it belongs to a part of the page, and lies under menus and dialogs."""
        return self.props[3] is not None

    def holds(self, x: float, y: float) -> bool:
        """True if a point of the viewport lies in it."""
        return not self.is_hidden and self.x <= x < self.x + self.w and self.y <= y < self.y + self.h

    def paint_all(self, c: Canvas) -> None:
        """Paint it at its place."""
        inner = self.open(c)
        c.place_pane(inner, round(self.x), round(self.y), round(self.w), round(self.h))
        c.set_content(inner, round(self.w), round(self.h))
        if self.touched:
            dpg.configure_item(inner.item, show=not self.is_hidden)
            for kid in self.order:
                kid.paint(c, inner, kid.x, kid.y)
        self.touched = False

    def poll(self, c: Canvas) -> None:
        if self.held_at is None:
            return
        x, y = dpg.get_mouse_pos(local=False)
        if abs(x - self.held_at[0]) + abs(y - self.held_at[1]) > c.m.px(MOVED_PX):
            self.held_at = None
            return
        for element in self.walk():
            if isinstance(element, Button):
                element.is_clicked = False


def _overlaps(one: Element, other: Element) -> bool:
    across = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    down = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    return across > 0 and down > 0
