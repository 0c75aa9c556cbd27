"""The scrolling list on the screen: live rows, each a pane of its own, and a scrollbar."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas, Pane, Press
from gui.elements.base import ColumnBox, Element, RowBox, Spec, place_column
from gui.elements.controls import Button, Hit
from gui.elements.popups import anchor_of
from gui.elements.surfaces import SCROLLBAR_PX, Surface
from gui.keyboard import Keyboard
from gui.metrics import Measure
from gui.virtual_list import ScrollState
from panels.base.ui import Column as TableColumn

WHEEL_PX = 84.0
THUMB_PX = 6.0
LEAST_THUMB_PX = 28.0
MOST_CARRIED_PX = 4000.0
"""Height up to which a list stands whole inside what scrolls around it: all its rows are drawn."""


class RowPane(Surface):
    """One row. `props` as a surface's (`clear`), then its number and its key.

    `drawn_from`: what it was described from, None where it is described in every frame.
    """

    __slots__ = ("drawn_from",)

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.drawn_from: Hashable | None = None

    def is_current(self, drawn_from: Hashable | None) -> bool:
        """True if it stands as it would be described: from the same, and nothing happened to it or is over it."""
        is_same = drawn_from is not None and drawn_from == self.drawn_from
        return is_same and not (self.touched or self.stale or self.is_hovered)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = self.inner_h = place_column(self.order, m, w, None, m.px(8))


class TableRow(RowPane):
    """A row of a table: its kids stand in the columns."""

    __slots__ = ()

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        widths = column_widths(self.props[6], w / m.scale)
        x, tallest = 0.0, 0.0
        pad = m.px(CELL_PAD_PX)
        kids = [kid for kid in self.order if not kid.is_ghost]
        for kid, width in zip(kids, widths, strict=False):
            room = max(1.0, m.px(width) - 2 * pad)
            kid.layout(m, room if kid.grows()[0] else min(room, kid.natural(m)), None)
            tallest = max(tallest, kid.h)
        self.h = self.inner_h = max(m.px(ROW_PX), tallest + m.px(10))
        for kid, width, column in zip(kids, widths, self.props[6], strict=False):
            kid.x = x + pad if not column.is_number else x + m.px(width) - pad - kid.w
            kid.y = (self.h - kid.h) / 2
            x += m.px(width)
        for extra in kids[len(widths) :]:
            extra.layout(m, 1.0, None)

    def draw_lines(self, c: Canvas, inner: Pane) -> None:
        """A hairline under the row."""
        w, h = inner.size
        c.sync(inner, self, [("line", 0, h - 1, w, h - 1, c.color("border"), 1)])

    def paint_inside(self, c: Canvas, inner: Pane) -> None:
        super().paint_inside(c, inner)
        self.draw_lines(c, inner)


ROW_PX = 32.0
CELL_PAD_PX = 10.0


def column_widths(columns: Sequence[TableColumn], width: float) -> list[float]:
    """Widths of a table's columns in design px: fixed ones first, the rest by weight."""
    fixed = sum(column.width for column in columns)
    weights = sum(column.weight for column in columns if not column.width)
    free = max(0.0, width - fixed)
    return [column.width or free * column.weight / (weights or 1) for column in columns]


class VirtualList(Surface):
    """The list. `props` as a surface's; its rows are placed by `view`."""

    __slots__ = ("grabbed", "led_row", "places", "revealed_row", "rows", "thumb", "view", "wanted_row")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.view = ScrollState()
        self.places: list[tuple[int, float]] = []
        self.thumb = Hit("thumb", self)
        self.thumb.props = ("thumb",)
        self.grabbed: tuple[float, float] | None = None
        self.wanted_row: int | None = None
        self.revealed_row: int | None = None
        self.led_row: int | None = None
        self.rows: object = None

    def wants_space(self) -> tuple[bool, bool]:
        return True, self.tall is None or self.tall <= 0

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.px(self.tall) if self.tall is not None and self.tall > 0 else h or 0.0
        if self.carrier() is not None and self.view.heights.total <= m.px(MOST_CARRIED_PX):
            self.h = max(self.h, self.view.heights.total)
        self.inner_h = self.h
        for kid, (_, top) in zip(self.order, self.places, strict=False):
            kid.x, kid.y = 0.0, top

    def row_width(self, m: Measure, w: float) -> float:
        """Pixels for a row: the scrollbar's strip is always kept free, so that nothing moves when it appears."""
        return max(1.0, w - m.px(SCROLLBAR_PX))

    def paint_inside(self, c: Canvas, inner: Pane) -> None:
        super().paint_inside(c, inner)
        top, length = self.view.thumb(self.h, c.m.px(LEAST_THUMB_PX))
        thumb = self.thumb
        thumb.w, thumb.h = (c.m.px(THUMB_PX), length) if length else (1.0, 1.0)
        thumb.touched = True
        thumb.paint(c, inner, self.w - c.m.px(THUMB_PX + 2), top)
        dpg.configure_item(thumb.item, show=bool(length))  # the keyboard would walk to one that nobody sees

    def items_after(self) -> list[int]:
        return self.thumb.items()

    def poll(self, c: Canvas) -> None:
        if self.inner is None:
            return
        self._lead_carrier()
        moved = dpg.get_y_scroll(self.inner.item)
        if moved:  # the toolkit brought a control with the keyboard into view: take that over
            dpg.set_y_scroll(self.inner.item, 0.0)
            self.scroll_by(moved)

    def _lead_carrier(self) -> None:
        """Bring the row that was asked for into view where what scrolls is around the list."""
        carrier, row = self.carrier(), self.led_row
        self.led_row = None
        if row is None or carrier is None or carrier.inner is None or self.inner is None or self.can_scroll():
            return
        item = carrier.inner.item
        above = self.inner.origin()[1] - carrier.inner.origin()[1]
        dpg.set_y_scroll(item, above + self.view.heights.top(max(0, row)))

    def on_press(self, press: Press, m: Measure) -> bool:
        """On the bar: beside the thumb it brings the thumb's middle there; either way it is dragged from then on."""
        if self.inner is None or not self.can_scroll():
            return False
        left, upper = self.inner.origin()
        if press.x - left < self.row_width(m, self.w):
            return False
        top, length = self.view.thumb(self.h, m.px(LEAST_THUMB_PX))
        is_on_thumb = top <= press.y - upper <= top + length
        self.grabbed = (press.y, top if is_on_thumb else press.y - upper - length / 2)
        self.on_drag(press.x, press.y, m)
        return True

    def on_drag(self, x: float, y: float, m: Measure) -> None:
        if self.grabbed is None:
            return
        start, at = self.grabbed
        _, length = self.view.thumb(self.h, m.px(LEAST_THUMB_PX))
        self.view.scroll_to(self.view.scroll_of_thumb(at + y - start, self.h, length))
        self.touch()

    def on_release(self) -> None:
        self.grabbed = None

    def can_scroll(self) -> bool:
        return self.view.most > 0

    def on_wheel(self, delta: float, m: Measure) -> bool:
        if self.view.most <= 0:
            return False
        self.scroll_by(-delta * m.px(WHEEL_PX))
        return True

    def scroll_by(self, change: float) -> None:
        """Scroll and paint anew."""
        self.view.scroll_by(change)
        self.touch()

    def forget(self) -> None:
        super().forget()
        self.thumb.forget()


class TableHead(RowBox):
    """The names of a table's columns, over them. `props`: the columns."""

    __slots__ = ()

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def measure(self, m: Measure) -> float:
        return m.px(200)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        columns = self.props[0]
        widths = column_widths(columns, (w - m.px(SCROLLBAR_PX)) / m.scale)
        pad, x = m.px(CELL_PAD_PX), 0.0
        self.h = m.px(30)
        for kid, width, column in zip(self.order, widths, columns, strict=True):
            kid.layout(m, min(kid.natural(m), max(1.0, m.px(width) - 2 * pad)), None)
            kid.x = x + m.px(width) - pad - kid.w if column.is_number else x + pad
            kid.y = (self.h - kid.h) / 2
            x += m.px(width)


# The keyboard of a list that is walked through: it stands for the list where it was described.

NEVER = float("inf")


class ListHand(Element):
    """Owner of the keyboard for the list of a chooser: keys walk through the entries, letters find one."""

    __slots__ = ("claims_at_s", "keyboard", "uppermost")
    is_ghost: ClassVar[bool] = True
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.keyboard: Keyboard | None = None
        self.uppermost: Callable[[], Element | None] = lambda: None
        self.claims_at_s = NEVER

    @property
    def has_keyboard(self) -> bool:
        """True if the list has the keyboard, and no field of the dialog."""
        return self.keyboard is not None and self.keyboard.owner is self

    def claim_later(self, wait_s: float) -> None:
        """Have the keyboard in so many seconds: the toolkit hands it over in frames in which it loses a click."""
        if self.keyboard is not None and not self.has_keyboard:
            self.claims_at_s = self.keyboard.clock() + wait_s

    def claim(self) -> None:
        """Have the keyboard now, also where a field has it still."""
        self.claims_at_s = NEVER
        if self.keyboard is not None:
            self.keyboard.call(self)

    def release(self) -> None:
        """Leave the keyboard to a field of the dialog."""
        self.claims_at_s = NEVER
        if self.keyboard is not None:
            self.keyboard.release(self)

    @property
    def is_waiting(self) -> bool:
        """True while the list is about to have the keyboard."""
        return self.claims_at_s < NEVER

    def poll(self, c: Canvas) -> None:
        if self.keyboard is not None and self.keyboard.clock() >= self.claims_at_s:
            self.claim()

    def rest_s(self) -> float:
        if self.keyboard is None or not self.is_waiting:
            return NEVER
        return max(0.0, self.claims_at_s - self.keyboard.clock())

    def is_hearing(self) -> bool:
        """True while its dialog is the uppermost layer."""
        return (
            self.spot is not None
            and self.parent is not None
            and any(node is self.uppermost() for node in self.holders())
        )

    def holders(self) -> Iterator[Element]:
        """The elements around it, the innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def keyboard_lost(self) -> None:
        """The keyboard went to a field."""


# Rows that a person drags into another order by their handle.

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
