"""Drawing of many of a kind: lists, tables, tabs, rows to sort."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

import dearpygui.dearpygui as dpg

from core.kernel.language import tr
from gui.canvas import glyph
from gui.describe import Tree
from gui.elements.base import ColumnBox, Element
from gui.elements.controls import Combo
from gui.elements.lists import Handle, RowPane, SortBox, SortRow, TableHead, TableRow, VirtualList
from gui.elements.popups import (
    DialogOwner,
    FloatLayer,
    FloatOwner,
    MenuButton,
    MenuPoint,
    Popup,
    PopupItem,
    PopupLayer,
    Submenu,
    anchor_of,
)
from gui.elements.surfaces import Dim, Surface
from gui.elements.tabs import Tab, TabStrip
from gui.elements.text import Text
from gui.keys import GATE
from gui.text_buffer import visible
from gui.ui_input import Labelled
from panels.base import widgets as w
from panels.base.ui import KeptRows, ListWidget, TableWidget, VirtualRows
from panels.base.widgets import Clicks, ListView, Option

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
    return ListView(first=view.first, is_at_end=left <= 1.0, left_px=max(0.0, left) / tree.m.scale)


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
    handle.tip = tr("Drag to reorder")
    is_held = box.is_dragging and box.grabbed is not None and box.grabbed[0] == index
    handle.wide = 24
    handle.update((glyph("grip-vertical"), "", "rail_active" if is_held else "ghost", True, True, "", 24))


HANDLERS = w.table(
    ListWidget.handled_by(_virtual_list),
    TableWidget.handled_by(_table),
    w.TabsWidget.handled_by(_tabs),
    w.SortableWidget.handled_by(_sortable),
)


# Drawing of what opens above the window: menus, lists of options, dialogs.

FILTER_FROM = 13
"""A combo with so many options has a filter box."""
PAGE_OPTIONS = 200
"""Options that an open list shows at first, and that a press of its last line adds: of 10,000 each would be described,
placed and painted at every key of the filter."""


@contextmanager
def _menu(tree: Tree, it: w.MenuWidget) -> Iterator[bool]:
    if _popup_layer(tree) is not None:
        with _submenu(tree, it) as is_open:
            yield is_open
        return
    button = tree.take(MenuButton, it.key)
    button.tip = it.tip
    kind = "ghost" if not it.label or it.icon else "menu"
    button.update((glyph(it.icon), visible(it.label), kind, True, it.is_small, ""))
    if button.is_clicked:
        button.is_clicked = False
        button.is_open = not button.is_open
    if not button.is_open:
        yield False
        return
    with _popup(tree, button, "menu", anchor_of(button)) as layer:
        yield True
        if _is_dismissed(tree, layer, button):
            button.is_open = False


@contextmanager
def _context_menu(tree: Tree, it: w.ContextMenuWidget) -> Iterator[bool]:
    owner = tree.take(MenuPoint, it.key)
    if owner.asked_at is not None:
        owner.at, owner.asked_at, owner.is_open = owner.asked_at, None, True
    if not owner.is_open:
        yield False
        return
    with _popup(tree, owner, "menu", (*owner.at, 0.0, 0.0)) as layer:
        yield True
        if _is_dismissed(tree, layer, owner):
            owner.is_open = False


@contextmanager
def _popup(
    tree: Tree, owner: Element, key: str, anchor: tuple[float, float, float, float]
) -> Iterator[PopupLayer]:
    """A card below an element, in a layer of its own."""
    layer = tree.layer(PopupLayer, owner)
    assert isinstance(layer, PopupLayer)
    tree.enter(layer)
    card = tree.take(Popup, key)
    if not card.props:
        tree.opened = card
    card.update(("popup", None, True, 0.0, anchor, "below", None))
    tree.enter(card)
    try:
        yield layer
    finally:
        tree.leave()
        tree.leave()


def _popup_layer(tree: Tree) -> PopupLayer | None:
    node: Element | None = tree.at
    while node is not None and not isinstance(node, PopupLayer):
        node = node.parent
    return node


def _is_dismissed(tree: Tree, layer: PopupLayer, owner: Element) -> bool:
    is_escaped = tree.hears("Escape", while_typing=True)
    gone = layer.is_missed or layer.is_closing or is_escaped
    layer.is_missed = layer.is_closing = False
    if is_escaped and owner.parent is not None and not tree.gets_keyboard_back():
        tree.focus_wish = (owner.parent, owner.key)
    return gone


@contextmanager
def _submenu(tree: Tree, it: w.MenuWidget) -> Iterator[bool]:
    item = tree.take(Submenu, it.key)
    layer = _popup_layer(tree)
    assert layer is not None
    siblings = [kid for kid in tree.at.was if isinstance(kid, PopupItem)]
    if item.is_clicked or item.is_hovered:
        item.is_clicked = False
        item.is_open = True
    elif any(kid.is_hovered for kid in siblings if kid is not item):
        item.is_open = False
    kind = "item_on" if item.is_open else "item"
    item.update((glyph(it.icon), visible(it.label), kind, True, False, "", None, False, "", "text", True))
    if not item.is_open:
        yield False
        return
    here, tree.at = tree.at, layer
    card = tree.take(Popup, ("submenu", item.path()))
    tree.at = here
    card.update(("popup", None, True, 0.0, anchor_of(item), "right", None))
    tree.enter(card)
    try:
        yield True
    finally:
        tree.leave()


def _menu_item(tree: Tree, it: w.MenuItemWidget) -> bool:
    item = tree.take(PopupItem, it.key)
    kind = "item_danger" if it.tone == "error" else "item"
    about = (it.is_checked, it.shortcut, it.tone, False)
    item.update((glyph(it.icon), visible(it.label), kind, it.is_enabled, False, "", None, *about))
    was_clicked, item.is_clicked = item.is_clicked, False
    layer = _popup_layer(tree)
    if was_clicked and it.is_enabled and layer is not None:
        layer.is_closing = True
    return was_clicked and it.is_enabled


def _combo(tree: Tree, it: w.ComboWidget) -> str | None:
    with Labelled(tree, it.key, it.label):
        combo = tree.take(Combo, it.key)
        combo.wide, combo.tip, combo.name = it.width, it.tip, it.label or it.tip
        shown = next((option.label for option in it.options if option.value == it.value), it.value)
        combo.update(("", visible(shown), "combo", it.is_enabled, False, "", it.width))
    if combo.is_clicked:
        combo.is_clicked = False
        combo.is_open, combo.filter, combo.most = not combo.is_open, "", PAGE_OPTIONS
    return _choose(tree, combo, it) if combo.is_open and it.is_enabled else None


def _choose(tree: Tree, combo: Combo, it: w.ComboWidget) -> str | None:
    chosen: str | None = None
    with _popup(tree, combo, "options", anchor_of(combo)) as layer:
        found = it.options
        if len(it.options) >= FILTER_FROM:
            found = _filtered(tree, combo, it.options)
            if tree.hears("Enter", while_typing=True) and found:
                chosen = found[0].value
            tree.ui.gap(4)
        heading = ""
        for option in found[: combo.most]:
            if option.group != heading:
                heading = option.group
                _heading(tree, heading)
            if _option(tree, option, is_chosen=option.value == it.value):
                chosen = option.value
        if not found:
            tree.ui.text("none", tr("Nothing matches"), tone="faint")
        if (left := len(found) - combo.most) > 0 and _option(
            tree, Option(value="", label=tr("Show more ({rest} left)", rest=f"{left:,}")), key="more"
        ):
            combo.most += PAGE_OPTIONS
        if _is_dismissed(tree, layer, combo) or chosen is not None:
            combo.is_open = False
    return chosen if chosen != it.value else None


def _filtered(tree: Tree, combo: Combo, options: Sequence[Option]) -> Sequence[Option]:
    typed = tree.ui.text_input(
        "filter", combo.filter, hint=tr("Filter"), icon="magnifying-glass", is_focused=True
    )
    if typed is not None:
        combo.filter, combo.most = typed, PAGE_OPTIONS
    known, wanted, found = combo.found
    if known is not options or wanted != combo.filter:
        found = [option for option in options if matches(option, combo.filter)]
        combo.found = options, combo.filter, found
    return found


def _heading(tree: Tree, heading: str) -> None:
    with tree.ui.surface(("group", heading), "clear", padding=(10, 6)):
        tree.ui.text("name", heading, tone="faint", style="small_strong")


def _option(tree: Tree, option: Option, *, key: Hashable | None = None, is_chosen: bool = False) -> bool:
    item = tree.take(PopupItem, ("option", option.value) if key is None else key)
    props = (visible(option.label), "item_on" if is_chosen else "item", True, False, "", None)
    item.update(("", *props, is_chosen, visible(option.detail), "text", False))
    was_clicked, item.is_clicked = item.is_clicked, False
    return was_clicked


@contextmanager
def _dialog(tree: Tree, it: w.DialogWidget) -> Iterator[Clicks]:
    owner = tree.take(DialogOwner, it.key)
    layer = tree.layer(Dim, owner)
    layer.is_missed = False
    layer.is_summoned = it.is_summoned and GATE.is_in_use
    layer.clock, layer.is_held = tree.keyboard.clock, lambda: _is_press_held(tree)
    tree.enter(layer)
    card = tree.take(Surface, "card")
    card.wide, card.tall = it.width, it.height
    if not card.props:
        tree.opened = card
    card.update(("dialog", None, it.height is None, 12.0, it.width, it.height))
    tree.enter(card)
    clicks = Clicks(clicked=owner.is_closing)
    owner.is_closing = False
    ui = tree.ui
    try:
        with ui.row("title"):
            ui.text("title", it.title, style="h3")
            ui.push()
            if ui.button("close", "", icon="xmark", kind="ghost", tip=tr("Close"), is_small=True):
                clicks.clicked = True
        yield clicks
    finally:
        if tree.hears("Escape", while_typing=True):
            clicks.clicked = owner.is_closing = True
        tree.leave()
        tree.leave()


def _is_press_held(tree: Tree) -> bool:
    return tree.keys.holds_press or bool(dpg.is_mouse_button_down(0))


@contextmanager
def _float(tree: Tree, it: w.FloatWidget) -> Iterator[None]:
    owner = tree.take(FloatOwner, it.key)
    layer = tree.layer(FloatLayer, owner)
    over = anchor_of(owner.parent) if it.at_foot and owner.parent else None
    layer.update((it.width, it.left, it.foot, over))
    tree.enter(layer)
    try:
        yield
    finally:
        tree.leave()


def matches(option: Option, wanted: str) -> bool:
    """True if every word of `wanted` stands in the option's label or detail, in any case."""
    text = f"{option.label} {option.detail} {option.value}".casefold()
    return all(word in text for word in wanted.casefold().split())


POPUP_HANDLERS = w.table(
    w.MenuWidget.handled_by(_menu),
    w.ContextMenuWidget.handled_by(_context_menu),
    w.MenuItemWidget.handled_by(_menu_item),
    w.ComboWidget.handled_by(_combo),
    w.DialogWidget.handled_by(_dialog),
    w.FloatWidget.handled_by(_float),
)
