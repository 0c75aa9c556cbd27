"""Popups: cards at an anchor in a layer, with their menus and lists of options."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas
from gui.elements.base import Element, Spec, place_column
from gui.elements.controls import Button
from gui.elements.surfaces import Root, Surface, SurfaceLayer, bare_window
from gui.metrics import Measure

Spot = tuple[int, int, int, int]
MARGIN_PX = 8.0
GAP_PX = 4.0


class Popup(Surface):
    """A card at an anchor. `props` as a surface's, then the anchor in viewport pixels and the side."""

    __slots__ = ()

    @property
    def anchor(self) -> tuple[float, float, float, float]:
        """Left, top, width, height of what it belongs to."""
        x, y, w, h = self.props[4]
        return x, y, w, h

    @property
    def side(self) -> str:
        """`below` or `right` of the anchor."""
        return str(self.props[5])


class PopupLayer(SurfaceLayer):
    """A layer whose kids are popups, each placed at its own anchor."""

    __slots__ = ("is_closing",)

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.is_closing = False

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = h or 0.0
        for kid in self.order:
            if isinstance(kid, Popup):
                place_popup(kid, m, w, self.h)


def place_popup(card: Popup, m: Measure, w: float, h: float) -> None:
    """Below the anchor where there is room, else above; beside it for submenus; always inside the window."""
    margin, gap = m.px(MARGIN_PX), m.px(GAP_PX)
    ax, ay, aw, ah = card.anchor
    is_below = card.side == "below"
    width = min(max(card.natural(m), aw if is_below else 0.0), w - 2 * margin)
    card.layout(m, width, None)
    below, above = h - margin - (ay + ah + gap), ay - gap - margin
    room = max(below, above) if is_below else h - 2 * margin
    if card.h > room:
        card.layout(m, width, room)
    if is_below:
        card.x = ax
        card.y = ay + ah + gap if card.h <= below or below >= above else ay - gap - card.h
    else:
        card.x = ax + aw + gap if ax + aw + gap + width <= w - margin else ax - gap - width
        card.y = ay - m.px(6)
    card.x = max(margin, min(card.x, w - margin - card.w))
    card.y = max(margin, min(card.y, h - margin - card.h))


class PopupItem(Button):
    """A row of a menu or list. `props` as a button's; then check mark, text at the right, tone, has submenu."""

    __slots__ = ("cut", "right_x")
    HEIGHT_PX: ClassVar[float] = 30.0

    def style(self) -> str:
        return "body"

    def text(self) -> str:
        return str(self.props[1])

    def measure(self, m: Measure) -> float:
        right = str(self.props[8])
        extra = m.width(right, "small") + m.px(32) if right else 0.0
        return m.width(self.props[1], "body") + m.px(32 + 20) + extra + (m.px(20) if self.props[10] else 0)

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.px(self.HEIGHT_PX)
        right = str(self.props[8])
        taken = m.px(32 + 12) + (m.width(right, "small") + m.px(16) if right else 0.0)
        self.shown = ""
        self.right_x = w - m.px(10) - m.width(right, "small")
        self.cut = m.ellipsized(self.props[1], "body", w - taken)

    @property
    def is_cut(self) -> bool:
        return bool(self.cut != self.props[1])

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        glyph, _, _, is_enabled, *_ = self.props
        is_checked, right, tone, has_more = self.props[7:11]
        x0, y0, x1, y1 = spot
        body, small = c.m.sizes["body"], c.m.sizes["small"]
        y, y_small = y0 + (y1 - y0 - body) // 2, y0 + (y1 - y0 - small) // 2
        main = c.color(tone if is_enabled else "disabled")
        mark = "\uf00c" if is_checked else glyph
        mark_color = c.color("accent" if is_checked else "muted" if is_enabled else "disabled")
        specs: list[Spec] = []
        if mark:
            width = c.m.width(mark, "small")
            middle = x0 + c.m.px(18) - width / 2
            specs.append(("text", round(middle), y_small, mark, "small", mark_color))
        specs.append(("text", x0 + round(c.m.px(34)), y, self.cut, "body", main))
        if right:
            specs.append(
                (
                    "text",
                    x0 + round(self.right_x),
                    y_small,
                    right,
                    "small",
                    c.color("faint" if is_enabled else "disabled"),
                )
            )
        if has_more:
            glyph_x = x1 - round(c.m.px(18))
            specs.append(("text", glyph_x, y_small, "\uf054", "small", c.color("muted")))
        return specs


class MenuButton(Button):
    """A button that opens a menu. `props` as a button's."""

    __slots__ = ("is_open",)

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.is_open = False


class Submenu(PopupItem):
    """An item of a menu that opens another menu beside it."""

    __slots__ = ("is_open",)

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.is_open = False


class DialogOwner(Element):
    """Stands for a dialog where it was described; takes no space there."""

    __slots__ = ("is_closing",)
    is_ghost: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.is_closing = False


class MenuPoint(Element):
    """Stands for the context menu of its container; takes no space."""

    __slots__ = ("asked_at", "at", "is_open")
    is_ghost: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.asked_at: tuple[float, float] | None = None
        self.at = (0.0, 0.0)
        self.is_open = False


def anchor_of(element: Element) -> tuple[float, float, float, float]:
    """Place of an element in the viewport, as of the last paint."""
    if element.spot is None or element.pane is None:
        return 0.0, 0.0, 0.0, 0.0
    x0, y0, x1, y1 = element.spot
    ox, oy = element.pane.origin()
    return ox + x0, oy + y0, float(x1 - x0), float(y1 - y0)


# Floats: content over the page that takes no space in it.

FLOAT_MARGIN_PX = 12.0
FLOAT_GAP_PX = 8.0
MOVED_PX = 3.0


class FloatOwner(Element):
    """Stands for a float where it was described; takes no space there."""

    __slots__ = ()
    is_ghost: ClassVar[bool] = True


class FloatLayer(Root):
    """A separate toolkit window that is exactly as large as its content.

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
        margin = m.px(FLOAT_MARGIN_PX)
        was = (self.x, self.y, self.w, self.h)
        wanted = m.px(width) if over is None else max((kid.natural(m) for kid in self.order), default=0.0)
        self.w = min(wanted, w - m.px(left) - 2 * margin)
        self.h = min(place_column(self.order, m, self.w, None, m.px(FLOAT_GAP_PX)), (h or 0.0) - 2 * margin)
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
