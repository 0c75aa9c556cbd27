"""The `Ui` calls for many of a kind: lists, tables, tabs, rows to sort."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from gui.elements.boxes import Column as ColumnBox
from gui.elements.boxes import Row
from gui.elements.lists import RowPane, TableHead, TableRow, VirtualList
from gui.elements.sorting import Handle, SortBox
from gui.elements.tabs import Tab, TabStrip
from gui.elements.text import Text
from gui.icons import glyph
from gui.ui_popups import Popups
from gui.visible import visible
from panels.ui import Column, Length, ListView, Option, VirtualRows

OVERSCAN_PX = 160.0


class Lists(Popups):
    """Lists, tables, tabs, rows to sort."""

    def virtual_list(
        self, key: Hashable, rows: VirtualRows, *, follows_end: bool = False, scroll_to: int | None = None
    ) -> ListView:
        """A scrolling list that fills what is left. `follows_end` sticks to the end while the person is there."""
        box = self.take(VirtualList, key)
        box.update(("clear", (0, 0), False, 0.0))
        box.view.follows_end = follows_end
        if scroll_to is not None:
            box.wanted_row = scroll_to
        self._fill(box, rows, (RowPane, ()))
        view = box.view
        return ListView(view.first, view.scroll >= view.most - 1.0)

    def _fill(
        self,
        box: VirtualList,
        rows: VirtualRows,
        make: tuple[type[RowPane], tuple[object, ...]],
    ) -> None:
        self.assumed.append((box, box.w, box.h))
        view, places = box.view, box.places
        self.enter(box)
        box.places = []
        if box.w > 1 and box.h > 1:
            width = box.row_width(self.m, box.w)
            view.sync(rows, rows.revision, width, box.h, self.m.scale)
            if box.wanted_row is not None:
                view.show_row(len(rows) if box.wanted_row < 0 else box.wanted_row)
                box.wanted_row = None
            drawn: dict[int, RowPane] = {}
            draw = self._row_drawer(drawn, rows, width, make)
            box.places = view.walk(rows, draw, self.m.px(OVERSCAN_PX))
            kept = {index for index, _ in box.places}
            for index, stray in drawn.items():
                if index not in kept:
                    stray.seen = 0
            box.order = []
            for index, top in box.places:
                draw(index)  # where rows are far lower than guessed, more are in view than were measured
                row = drawn[index]
                row.x, row.y = 0.0, top
                box.order.append(row)
        if box.places != places:
            box.touch()
        self.leave()

    def _row_drawer(
        self,
        drawn: dict[int, RowPane],
        rows: VirtualRows,
        width: float,
        make: tuple[type[RowPane], tuple[object, ...]],
    ) -> Callable[[int], float]:
        def draw(index: int) -> float:
            row = drawn.get(index)
            if row is None:
                row = drawn[index] = self.take(make[0], index)
                row.update(("clear", (0, 0), False, 8.0, None, None, *make[1]))
                self.enter(row)
                rows.draw(index, self)  # type: ignore[arg-type]
                self.leave()
                row.layout(self.m, width, None)
            return row.h

        return draw

    def table(
        self, key: Hashable, columns: Sequence[Column], rows: VirtualRows, *, height: Length = 0
    ) -> None:
        """A table with a header; `rows.draw` draws one call of `ui.text` or control for each column."""
        with self.group(key, gap=0):
            fixed = tuple(columns)
            head = self.take(TableHead, "head")
            head.update((fixed,))
            self.enter(head)
            for index, column in enumerate(fixed):
                text = self.take(Text, index)
                text.update((column.label, "muted", "small_strong", False, None))
            self.leave()
            self.divider("line")
            box = self.take(VirtualList, "rows")
            box.tall = height
            box.update(("clear", (0, 0), False, 0.0, height))
            self._fill(box, rows, (TableRow, (fixed,)))

    def tabs(self, key: Hashable, tabs: Sequence[Option], active: str) -> str | None:
        """A tab strip. Returns the value of the tab that was clicked."""
        chosen = None
        with self.group(key, gap=0):
            row = self.take(TabStrip, "strip")
            row.update((0.0, None))
            self.enter(row)
            for option in tabs:
                tab = self.take(Tab, option.value)
                tab.tip = option.detail
                is_open = option.value == active
                kind = "tab_on" if is_open else "tab"
                icon = glyph(option.icon) if option.icon else ""
                tab.update((icon, visible(option.label), kind, True, False, "", None, is_open))
                if tab.is_clicked:
                    chosen, tab.is_clicked = option.value, False
            self.leave()
            self.divider("line")
        return chosen if chosen != active else None

    def sortable(self, key: Hashable, count: int, draw: Callable[[int], None]) -> tuple[int, int] | None:
        """Rows that can be dragged by their handle. Returns (from, to) when one was dropped elsewhere."""
        box = self.take(SortBox, key)
        box.update((8.0,))
        self.enter(box)
        for index in range(count):
            row = self.take(Row, index)
            row.update((4.0, None))
            self.enter(row)
            handle = self.take(Handle, "handle")
            handle.tip = "Drag to reorder"
            is_held = box.is_dragging and box.grabbed is not None and box.grabbed[0] == index
            kind = "rail_active" if is_held else "ghost"
            handle.wide = 24
            handle.update((glyph("grip-vertical"), "", kind, True, True, "", 24))
            body = self.take(ColumnBox, "body")
            body.wide = 0
            body.update((8.0,))
            self.enter(body)
            draw(index)
            self.leave()
            self.leave()
        self.leave()
        dropped, box.dropped = box.dropped, None
        return dropped
