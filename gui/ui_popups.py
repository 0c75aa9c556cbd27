"""Drawing of what opens above the window: menus, lists of options, dialogs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import dearpygui.dearpygui as dpg

from gui.describe import Tree
from gui.elements.base import Element
from gui.elements.controls import Combo
from gui.elements.floats import FloatLayer, FloatOwner
from gui.elements.popups import (
    DialogOwner,
    MenuButton,
    MenuPoint,
    Popup,
    PopupItem,
    PopupLayer,
    Submenu,
    anchor_of,
)
from gui.elements.surfaces import Dim, Surface
from gui.icons import glyph
from gui.ui_input import Labelled
from gui.visible_text import visible
from panels.base import widgets as w
from panels.base.parts import Clicks, Option

FILTER_FROM = 13
"""A combo with so many options has a filter box."""


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
        combo.is_open, combo.filter = not combo.is_open, ""
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
        for option in found:
            if option.group != heading:
                heading = option.group
                _heading(tree, heading)
            if _option(tree, option, is_chosen=option.value == it.value):
                chosen = option.value
        if not found:
            tree.ui.text("none", "Nothing matches", tone="faint")
        if _is_dismissed(tree, layer, combo) or chosen is not None:
            combo.is_open = False
    return chosen if chosen != it.value else None


def _filtered(tree: Tree, combo: Combo, options: Sequence[Option]) -> Sequence[Option]:
    typed = tree.ui.text_input(
        "filter", combo.filter, hint="Filter", icon="magnifying-glass", is_focused=True
    )
    combo.filter = combo.filter if typed is None else typed
    return [option for option in options if matches(option, combo.filter)]


def _heading(tree: Tree, heading: str) -> None:
    with tree.ui.surface(("group", heading), "clear", padding=(10, 6)):
        tree.ui.text("name", heading, tone="faint", style="small_strong")


def _option(tree: Tree, option: Option, *, is_chosen: bool) -> bool:
    item = tree.take(PopupItem, ("option", option.value))
    props = (visible(option.label), "item_on" if is_chosen else "item", True, False, "", None)
    item.update(("", *props, is_chosen, visible(option.detail), "text", False))
    was_clicked, item.is_clicked = item.is_clicked, False
    return was_clicked


@contextmanager
def _dialog(tree: Tree, it: w.DialogWidget) -> Iterator[Clicks]:
    owner = tree.take(DialogOwner, it.key)
    layer = tree.layer(Dim, owner)
    layer.is_missed = False
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
            if ui.button("close", "", icon="xmark", kind="ghost", tip="Close", is_small=True):
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


HANDLERS = w.table(
    w.MenuWidget.handled_by(_menu),
    w.ContextMenuWidget.handled_by(_context_menu),
    w.MenuItemWidget.handled_by(_menu_item),
    w.ComboWidget.handled_by(_combo),
    w.DialogWidget.handled_by(_dialog),
    w.FloatWidget.handled_by(_float),
)
