"""Surfaces: filled areas that are panes of their own, clickable cards, scrolling areas, windows."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from typing import ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas, Pane
from gui.elements.base import ColumnBox, Element, place_column
from gui.metrics import Measure
from gui.skins import SURFACES
from panels.base.ui import Clicks

PADDING: dict[str, tuple[float, float]] = {
    "base": (0, 0),
    "clear": (0, 0),
    "pane": (16, 12),
    "card": (16, 12),
    "card_selected": (16, 12),
    "row_selected": (8, 3),
    "code": (12, 8),
    "inset": (12, 8),
    "popup": (6, 6),
    "dialog": (20, 16),
}
BORDERED = frozenset({"card", "card_selected", "inset", "popup", "dialog"})
SCROLLBAR_PX = 12.0


class Surface(ColumnBox):
    """A filled area. `props`: kind, padding, whether it scrolls, gap."""

    __slots__ = ("bound", "inner", "inner_h", "least_px", "most_px", "wanted_scroll")
    polls: ClassVar[bool] = True
    stretches: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.inner: Pane | None = None
        self.bound = ""
        self.inner_h = 0.0
        self.least_px = 0.0
        self.most_px: float | None = None
        self.wanted_scroll: float | None = None

    @property
    def kind(self) -> str:
        """Its look."""
        return str(self.props[0])

    @property
    def scrolls(self) -> bool:
        """True if content that is too high can be scrolled."""
        return bool(self.props[2])

    def pads(self, m: Measure) -> tuple[float, float]:
        """Padding in pixels, left and right, top and bottom."""
        given = self.props[1]
        x, y = given if given is not None else PADDING[self.kind]
        return m.px(x), m.px(y)

    def gap_px(self, m: Measure) -> float:
        return m.px(self.props[3])

    def wants_space(self) -> tuple[bool, bool]:
        wide, tall = Element.wants_space(self)
        if self.wide is None:
            wide = any(kid.grows()[0] for kid in self.order)
        if self.tall is None and not self.scrolls:
            tall = any(kid.grows()[1] for kid in self.order)
        return wide, tall

    def measure(self, m: Measure) -> float:
        return super().measure(m) + 2 * self.pads(m)[0]

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        pad_x, pad_y = self.pads(m)
        if self.tall is not None and self.tall > 0:
            h = min(m.px(self.tall), h or m.px(self.tall))
        if self.least_px:
            h = max(h or 0.0, m.px(self.least_px))
        room = h - 2 * pad_y if h is not None else None
        gap = self.gap_px(m)
        inner_h = place_column(self.order, m, w - 2 * pad_x, room, gap)
        if self.scrolls and room is not None and inner_h > room + 0.5 and self.carrier() is None:
            bar = m.px(SCROLLBAR_PX)
            inner_h = place_column(self.order, m, w - 2 * pad_x - max(0.0, bar - pad_x / 2), room, gap)
        self.inner_h = inner_h + 2 * pad_y
        if h is None and self.most_px is not None and self.inner_h > m.px(self.most_px):
            self.arrange(m, w, m.px(self.most_px))
            return
        has_own_height = h is not None and (self.scrolls or self.tall is not None) and self.carrier() is None
        self.h = h if h is not None and has_own_height else max(h or 0, self.inner_h)
        for kid in self.order:
            kid.x += pad_x
            kid.y += pad_y

    def carrier(self) -> Surface | None:
        """The scrolling surface whose remaining height it fills, so that it needs no scroll bar of its own."""
        node = self.parent if self.wants_space()[1] else None
        while node is not None:
            if isinstance(node, Surface) and node.scrolls:
                return node
            node = node.parent
        return None

    def can_scroll(self) -> bool:
        """True if its content is higher than itself."""
        return self.scrolls and self.inner_h > self.h + 1

    def skin(self) -> str:
        """Name of its theme. What has the colour of what lies beneath is not filled: software drawing pays by the pixel."""
        is_seen = self.kind in BORDERED or self.fill_token() != self._beneath()
        return f"surface.{self.kind if is_seen else 'clear'}"

    def fill_token(self) -> str:
        """The palette's token of its fill, empty for none."""
        return SURFACES[self.kind][0]

    def _beneath(self) -> str:
        node = self.parent
        while node is not None:
            if isinstance(node, Surface) and node.fill_token():
                return node.fill_token()
            if isinstance(node, Root):
                return node.FILL
            node = node.parent
        return ""

    def paint(self, c: Canvas, pane: Pane, x: float, y: float) -> None:
        spot = (round(x), round(y), round(x + self.w), round(y + self.h))
        if not self.touched and spot == self.spot:
            return
        if self.inner is None:
            self.inner = c.child_pane(self, pane, self.skin(), scrolls=self.scrolls)
            if self.wanted_scroll is not None:
                dpg.set_y_scroll(self.inner.item, self.wanted_scroll)
        if self.bound != self.skin():
            self.bound = self.skin()
            dpg.configure_item(self.inner.item, border=self.kind in BORDERED)
            dpg.bind_item_theme(self.inner.item, c.skins[self.bound])
        width, height = spot[2] - spot[0], spot[3] - spot[1]
        c.place_pane(self.inner, spot[0], spot[1], width, height)
        if self.touched:
            overflows = self.scrolls and self.inner_h > height + 1
            bar = round(c.m.px(SCROLLBAR_PX)) if overflows else 0
            c.set_content(self.inner, width - bar, round(self.inner_h) if overflows else height)
            self.paint_inside(c, self.inner)
        self.spot, self.pane, self.touched = spot, pane, False

    def paint_inside(self, c: Canvas, inner: Pane) -> None:
        """Paint its children, in its own pane."""
        for kid in self.order:
            kid.paint(c, inner, kid.x, kid.y)

    def poll(self, c: Canvas) -> None:
        if self.inner is not None and self.scrolls:
            item = self.inner.item
            self.inner.scroll = (0.0, dpg.get_y_scroll(item))
            self.wanted_scroll = self.inner.scroll[1]

    def drop(self, c: Canvas) -> None:
        self.drop_pane(c, self.inner)

    def forget(self) -> None:
        super().forget()
        self.inner = None
        self.bound = ""

    def inner_items(self) -> Iterator[int]:
        if self.inner is not None:
            yield self.inner.item

    def items_after(self) -> list[int]:
        """Items that come after everything inside, before the drawlist."""
        return []


class Clickable(Surface):
    """A surface that is a button as a whole. `props`: as a surface, then the tip."""

    __slots__ = ("clicks", "hit")

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.clicks = Clicks()
        self.hit = 0

    def paint_inside(self, c: Canvas, inner: Pane) -> None:
        super().paint_inside(c, inner)
        size = {"width": max(1, inner.size[0]), "height": max(1, inner.size[1])}
        if not self.hit:
            self.hit = int(
                dpg.add_button(
                    parent=inner.item,
                    before=inner.last,
                    pos=(0, 0),
                    callback=self.on_click,
                    **size,
                )
            )
            dpg.bind_item_theme(self.hit, c.skins["hit.card"])
            c.created(inner)
        else:
            dpg.configure_item(self.hit, **size)

    def stop_item(self) -> int:
        return self.hit

    def press(self) -> None:
        super().press()
        self.clicks.clicked = True
        self.touch()

    def on_click(self, *_: object) -> None:
        """Handle a press that the toolkit reports."""
        if not self.quiet_frames:
            self.clicks.clicked = True
            self.touch()
        self.quiet_frames = 0

    def on_right_click(self) -> bool:
        self.clicks.right_clicked = True
        self.touch()
        return True

    def items_after(self) -> list[int]:
        return [self.hit] if self.hit else []

    def forget(self) -> None:
        super().forget()
        self.hit = 0

    def label(self) -> str:
        return next((text for kid in self.walk() if kid is not self and (text := kid.label())), "")


def bare_window(**flags: bool) -> int:
    """Create a Dear PyGui window of which nothing shows but what is inside."""
    return int(
        dpg.add_window(
            no_scrollbar=True,
            no_scroll_with_mouse=True,
            no_title_bar=True,
            no_move=True,
            no_resize=True,
            no_saved_settings=True,
            no_close=True,
            pos=(0, 0),
            **flags,
        )
    )


class Root(ColumnBox):
    """The primary window: everything that is not a layer above it. `props`: the size of the viewport."""

    __slots__ = ("inner", "sink")
    SKIN: ClassVar[str] = "window.clear"
    FILL: ClassVar[str] = "base"
    """Token of what is seen where it holds nothing: the viewport's own colour."""

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.inner: Pane | None = None
        self.sink = 0

    def gap_px(self, m: Measure) -> float:
        return 0.0

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        place_column(self.order, m, w, h, 0.0)
        self.h = h or 0.0

    def make_window(self) -> int:
        """Create the Dear PyGui window."""
        return bare_window(no_bring_to_front_on_focus=True, no_background=True)

    def open(self, c: Canvas) -> Pane:
        """Its pane, made when there is none."""
        if self.inner is None:
            self.inner = c.window_pane(self, self.make_window())
            dpg.bind_item_theme(self.inner.item, c.skins[self.SKIN])
            c.clear()
        return self.inner

    def paint_all(self, c: Canvas) -> None:
        """Paint the window and everything inside."""
        inner = self.open(c)
        size = (round(self.w), round(self.h))
        if size != inner.size:
            dpg.configure_item(inner.item, width=size[0], height=size[1], pos=(0, 0))
            inner.size = size
            c.set_content(inner, *size)
        if self.touched:
            for kid in self.order:
                kid.paint(c, inner, kid.x, kid.y)
            self.finish(c, inner, (0, 0, *size))
        self.touched = False

    def finish(self, c: Canvas, pane: Pane, spot: tuple[int, int, int, int]) -> None:
        if not self.sink:
            self.sink = c.focus_sink = int(
                dpg.add_button(parent=pane.item, before=pane.last, pos=(0, 0), width=1, height=1)
            )
            dpg.bind_item_theme(self.sink, c.skins["hit.none"])
            c.created(pane)

    def drop(self, c: Canvas) -> None:
        self.drop_pane(c, self.inner)

    def forget(self) -> None:
        super().forget()
        self.inner = None
        self.sink = 0

    def items_after(self) -> list[int]:
        """Items that come after everything inside, before the drawlist."""
        return [self.sink] if self.sink else []


class SurfaceLayer(Root):
    """A window over the whole viewport that keeps the mouse from what is below. Holds dialogs or menus."""

    __slots__ = ("catch", "is_missed")
    FILL: ClassVar[str] = ""

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.catch = 0
        self.is_missed = False

    def make_window(self) -> int:
        return bare_window(no_background=self.SKIN == "window.clear")

    def finish(self, c: Canvas, pane: Pane, spot: tuple[int, int, int, int]) -> None:
        if not self.catch:
            self.catch = int(
                dpg.add_button(parent=pane.item, before=pane.last, pos=(0, 0), callback=self.on_miss)
            )
            dpg.bind_item_theme(self.catch, c.skins["hit.none"])
            c.created(pane)
        dpg.configure_item(self.catch, width=spot[2], height=spot[3])

    def on_miss(self, *_: object) -> None:
        """A press beside everything it holds."""
        self.is_missed = True

    def items_after(self) -> list[int]:
        return [self.catch] if self.catch else []

    def forget(self) -> None:
        super().forget()
        self.catch = 0


STAND_S = 0.3
"""Time that a dialog must have stood before it takes a click or a key: nobody answers sooner what they have seen."""
MOST_HELD_S = 3.0
"""Longest that a button or key which is down puts this off: one whose release was never heard must not shut the dialog."""


class Dim(SurfaceLayer):
    """A layer that darkens what is below it: for dialogs. A click or key begun before it stood there is not meant for it.

    `clock`: seconds; `is_held`: a button of the mouse, or a key that presses buttons, is down.
    """

    __slots__ = ("clock", "has_stood", "is_held", "is_summoned", "since_s", "stands_since_s")
    SKIN: ClassVar[str] = "window.dim"
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.clock: Callable[[], float] = time.perf_counter
        self.is_held: Callable[[], bool] = lambda: False
        self.has_stood = self.is_summoned = False
        self.since_s = self.stands_since_s = float("inf")

    def poll(self, c: Canvas) -> None:
        if self.has_stood or not self.order or self.order[0].spot is None:
            return
        now_s = self.clock()
        if self.since_s == float("inf"):
            self.since_s = self.stands_since_s = now_s
        elif self.is_held() and now_s - self.since_s < MOST_HELD_S:
            self.stands_since_s = now_s
        self.has_stood = now_s - self.stands_since_s >= STAND_S

    def is_meant(self) -> bool:
        return self.has_stood

    def is_key_meant(self) -> bool:
        return self.has_stood or self.is_summoned

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        """Centre the one surface it holds, no higher than the window."""
        self.h = h or 0.0
        margin = m.px(24)
        for kid in self.order:
            width = min(kid.natural(m), w - 2 * margin)
            kid.layout(m, width, None)
            if kid.h > self.h - 2 * margin:
                kid.layout(m, width, self.h - 2 * margin)
            kid.x, kid.y = (w - kid.w) / 2, max(margin, (self.h - kid.h) * 0.42)
