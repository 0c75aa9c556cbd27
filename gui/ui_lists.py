"""Drawing of many of a kind: lists, tables, tabs, rows to sort."""

from __future__ import annotations

from collections.abc import Callable

from gui.describe import Tree
from gui.elements.boxes import ColumnBox
from gui.elements.lists import RowPane, TableHead, TableRow, VirtualList
from gui.elements.sorting import Handle, SortBox, SortRow
from gui.elements.tabs import Tab, TabStrip
from gui.elements.text import Text
from gui.icons import glyph
from gui.visible_text import visible
from panels.base import widgets as w
from panels.base.parts import ListView
from panels.base.ui import KeptRows, ListWidget, TableWidget, VirtualRows

OVERSCAN_PX = 160.0
RowKind = tuple[type[RowPane], tuple[object, ...]]
"""The element of a row, and what it needs beside a surface's properties."""


def _virtual_list(tree: Tree, it: ListWidget) -> ListView:
    box = tree.take(VirtualList, it.key)
    box.update(("clear", (0, 0), False, 0.0))
    box.view.follows_end = it.follows_end
    if it.scroll_to is not None:
        box.wanted_row = it.scroll_to
    if it.reveal is not None:
        box.revealed_row = it.reveal
    _fill(tree, box, it.rows, (RowPane, ()))
    view = box.view
    left = view.most - view.scroll
    return ListView(view.first, left <= 1.0, max(0.0, left) / tree.m.scale)


def _fill(tree: Tree, box: VirtualList, rows: VirtualRows, make: RowKind) -> None:
    tree.assumed.append((box, box.w, box.h))
    view, places = box.view, box.places
    tree.enter(box)
    box.places = []
    box.rows = rows
    if box.w > 1 and box.h > 1:
        width = box.row_width(tree.m, box.w)
        view.sync(rows, rows.revision, width, box.h, tree.m.scale)
        wanted, box.wanted_row = box.wanted_row, None
        if wanted is not None:
            view.show_row(len(rows) if wanted < 0 else wanted)
        drawn: dict[int, RowPane] = {}
        draw = _row_drawer(tree, drawn, rows, width, make)
        margin = tree.m.px(OVERSCAN_PX)
        box.places = view.walk(rows, draw, margin)
        if wanted is not None and wanted >= 0:  # its place was guessed before it was measured
            view.show_row(wanted)
            box.places = view.walk(rows, draw, margin)
            box.led_row = wanted
        revealed, box.revealed_row = box.revealed_row, None
        for asked in () if revealed is None else (revealed, revealed):  # likewise
            view.reveal(asked)
            box.places = view.walk(rows, draw, margin)
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
    tree.leave()


def _row_drawer(
    tree: Tree, drawn: dict[int, RowPane], rows: VirtualRows, width: float, make: RowKind
) -> Callable[[int], float]:
    drawn_from = rows.drawn_from if isinstance(rows, KeptRows) else None
    with_layers = tree.layers_below(tree.at) if drawn_from is not None else frozenset()

    def draw(index: int) -> float:
        row = drawn.get(index)
        if row is None:
            row = drawn[index] = tree.take(make[0], index)
            row.update(("clear", (0, 0), False, 8.0, None, None, *make[1]))
            now = drawn_from(index) if drawn_from is not None else None
            if not row.is_current(now) or index in with_layers:
                tree.enter(row)
                rows.draw(index, tree.ui)
                tree.leave()
                row.drawn_from = None if row.is_hovered else now
            row.layout(tree.m, width, None)
        return row.h

    return draw


def _table(tree: Tree, it: TableWidget) -> None:
    with tree.ui.group(it.key, gap=0):
        fixed = tuple(it.columns)
        head = tree.take(TableHead, "head")
        head.update((fixed,))
        tree.enter(head)
        for index, column in enumerate(fixed):
            text = tree.take(Text, index)
            text.update((column.label, "muted", "small_strong", False, None, ()))
        tree.leave()
        tree.ui.divider("line")
        box = tree.take(VirtualList, "rows")
        box.tall = it.height
        box.update(("clear", (0, 0), False, 0.0, it.height))
        _fill(tree, box, it.rows, (TableRow, (fixed,)))


def _tabs(tree: Tree, it: w.TabsWidget) -> str | None:
    chosen = None
    with tree.ui.group(it.key, gap=0):
        row = tree.take(TabStrip, "strip")
        row.update((0.0, None))
        tree.enter(row)
        for option in it.tabs:
            tab = tree.take(Tab, option.value)
            tab.tip = option.detail
            is_open = option.value == it.active
            kind = "tab_on" if is_open else "tab"
            tab.update(
                (
                    glyph(option.icon),
                    visible(option.label),
                    kind,
                    True,
                    False,
                    "",
                    None,
                    is_open,
                    option.widest,
                )
            )
            if tab.is_clicked:
                chosen, tab.is_clicked = option.value, False
        tree.leave()
        tree.ui.divider("line")
    return chosen if chosen != it.active else None


def _sortable(tree: Tree, it: w.SortableWidget) -> tuple[int, int] | None:
    box = tree.take(SortBox, it.key)
    box.update((8.0,))
    tree.enter(box)
    for index in range(it.count):
        row = tree.take(SortRow, index)
        row.update((4.0, None))
        tree.enter(row)
        _handle(tree, box, index)
        body = tree.take(ColumnBox, "body")
        body.wide = 0
        body.update((8.0,))
        tree.enter(body)
        it.draw(index)
        tree.leave()
        tree.leave()
    tree.leave()
    dropped, box.dropped = box.dropped, None
    return dropped


def _handle(tree: Tree, box: SortBox, index: int) -> None:
    handle = tree.take(Handle, "handle")
    handle.tip = "Drag to reorder"
    is_held = box.is_dragging and box.grabbed is not None and box.grabbed[0] == index
    handle.wide = 24
    handle.update((glyph("grip-vertical"), "", "rail_active" if is_held else "ghost", True, True, "", 24))


HANDLERS = w.table(
    ListWidget.handled_by(_virtual_list),
    TableWidget.handled_by(_table),
    w.TabsWidget.handled_by(_tabs),
    w.SortableWidget.handled_by(_sortable),
)
