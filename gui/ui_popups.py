"""The `Ui` calls that open something above the window: menus, lists of options, dialogs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from gui.elements.base import Element
from gui.elements.controls import Combo
from gui.elements.popups import (
    DialogOwner,
    Item,
    MenuButton,
    MenuPoint,
    Popup,
    PopupLayer,
    Submenu,
    anchor_of,
)
from gui.elements.surfaces import Dim, Surface
from gui.icons import glyph
from gui.ui_input import Input
from gui.visible import visible
from panels.ui import Clicks, Length, Option, Tone

FILTER_FROM = 13
"""A combo with so many options has a filter box."""


class Popups(Input):
    """Menus, combos, dialogs."""

    @contextmanager
    def menu(self, key: Hashable, label: str, *, icon: str = "", tip: str = "") -> Iterator[bool]:
        """A button that opens a menu; inside a menu, a submenu. Draw its items only when the result is True."""
        if self._popup_layer() is not None:
            with self._submenu(key, label, icon) as is_open:
                yield is_open
            return
        button = self.take(MenuButton, key)
        button.tip = tip
        button.update(
            (glyph(icon), visible(label), "ghost" if not label or icon else "menu", True, False, "")
        )
        if button.is_clicked:
            button.is_clicked = False
            button.is_open = not button.is_open
        if not button.is_open:
            yield False
            return
        with self.popup(button, "menu") as layer:
            yield True
            if self._is_dismissed(layer, button):
                button.is_open = False

    @contextmanager
    def context_menu(self, key: Hashable) -> Iterator[bool]:
        """A menu at the pointer, opened by a right click on the current container."""
        owner = self.take(MenuPoint, key)
        if owner.asked_at is not None:
            owner.at, owner.asked_at, owner.is_open = owner.asked_at, None, True
        if not owner.is_open:
            yield False
            return
        with self.popup(owner, "menu", anchor=(*owner.at, 0.0, 0.0)) as layer:
            yield True
            if self._is_dismissed(layer, owner):
                owner.is_open = False

    @contextmanager
    def popup(
        self, owner: Element, key: Hashable, *, anchor: tuple[float, float, float, float] | None = None
    ) -> Iterator[PopupLayer]:
        """A card below an element, in a layer of its own."""
        layer = self.layer(PopupLayer, owner)
        assert isinstance(layer, PopupLayer)
        self.enter(layer)
        card = self.take(Popup, key)
        if not card.props:
            self.opened = card
        card.update(("popup", None, True, 0.0, anchor or anchor_of(owner), "below", None))
        self.enter(card)
        try:
            yield layer
        finally:
            self.leave()
            self.leave()

    def _popup_layer(self) -> PopupLayer | None:
        node: Element | None = self.at
        while node is not None and not isinstance(node, PopupLayer):
            node = node.parent
        return node

    def _is_dismissed(self, layer: PopupLayer, owner: Element) -> bool:
        is_escaped = self.shortcut("Escape", while_typing=True)
        gone = layer.is_missed or layer.is_closing or is_escaped
        layer.is_missed = layer.is_closing = False
        if is_escaped and owner.parent is not None:
            self.focus_wish = (owner.parent, owner.key)
        return gone

    @contextmanager
    def _submenu(self, key: Hashable, label: str, icon: str) -> Iterator[bool]:
        item = self.take(Submenu, key)
        layer = self._popup_layer()
        assert layer is not None
        siblings = [kid for kid in self.at.was if isinstance(kid, Item)]
        if item.is_clicked or item.is_hovered:
            item.is_clicked = False
            item.is_open = True
        elif any(kid.is_hovered for kid in siblings if kid is not item):
            item.is_open = False
        kind = "item_on" if item.is_open else "item"
        item.update((glyph(icon), visible(label), kind, True, False, "", None, False, "", "text", True))
        if not item.is_open:
            yield False
            return
        here, self.at = self.at, layer
        card = self.take(Popup, ("submenu", item.path()))
        self.at = here
        card.update(("popup", None, True, 0.0, anchor_of(item), "right", None))
        self.enter(card)
        try:
            yield True
        finally:
            self.leave()

    def menu_item(
        self,
        key: Hashable,
        label: str,
        *,
        icon: str = "",
        shortcut: str = "",
        is_enabled: bool = True,
        is_checked: bool = False,
        tone: Tone = "text",
    ) -> bool:
        """An item of a menu."""
        item = self.take(Item, key)
        kind = "item_danger" if tone == "error" else "item"
        item.update(
            (
                glyph(icon),
                visible(label),
                kind,
                is_enabled,
                False,
                "",
                None,
                is_checked,
                shortcut,
                tone,
                False,
            )
        )
        was_clicked, item.is_clicked = item.is_clicked, False
        layer = self._popup_layer()
        if was_clicked and is_enabled and layer is not None:
            layer.is_closing = True
        return was_clicked and is_enabled

    def combo(
        self,
        key: Hashable,
        options: Sequence[Option],
        value: str,
        *,
        label: str = "",
        width: Length = 180,
        is_enabled: bool = True,
        tip: str = "",
    ) -> str | None:
        """The value chosen. Past a dozen options it has a filter box."""
        with self._labelled(key, label):
            combo = self.take(Combo, key)
            combo.wide, combo.tip, combo.name = width, tip, label or tip
            shown = next((option.label for option in options if option.value == value), value)
            combo.update(("", visible(shown), "combo", is_enabled, False, "", width))
        if combo.is_clicked:
            combo.is_clicked = False
            combo.is_open, combo.filter = not combo.is_open, ""
        return self._choose(combo, options, value) if combo.is_open and is_enabled else None

    def _choose(self, combo: Combo, options: Sequence[Option], value: str) -> str | None:
        chosen: str | None = None
        with self.popup(combo, "options") as layer:
            found = options
            if len(options) >= FILTER_FROM:
                typed = self.text_input(
                    "filter", combo.filter, hint="Filter", icon="magnifying-glass", is_focused=True
                )
                combo.filter = combo.filter if typed is None else typed
                found = [option for option in options if matches(option, combo.filter)]
                if self.shortcut("Enter", while_typing=True) and found:
                    chosen = found[0].value
                self.gap(4)
            heading = ""
            for option in found:
                if option.group != heading:
                    heading = option.group
                    self._heading(heading)
                if self._option(option, option.value == value):
                    chosen = option.value
            if not found:
                self.text("none", "Nothing matches", tone="faint")
            if self._is_dismissed(layer, combo) or chosen is not None:
                combo.is_open = False
        return chosen if chosen != value else None

    def _heading(self, heading: str) -> None:
        with self.surface(("group", heading), "clear", padding=(10, 6)):
            self.text("name", heading, tone="faint", style="small_strong")

    def _option(self, option: Option, is_chosen: bool) -> bool:
        item = self.take(Item, ("option", option.value))
        props = (visible(option.label), "item_on" if is_chosen else "item", True, False, "", None)
        item.update(("", *props, is_chosen, visible(option.detail), "text", False))
        was_clicked, item.is_clicked = item.is_clicked, False
        return was_clicked

    def dialog(
        self, key: Hashable, title: str, *, width: float = 520, height: Length = None
    ) -> AbstractContextManager[Clicks]:
        """A modal dialog, shown while it is drawn. `clicked` of the result: the person closed it (Escape, x)."""
        owner = self.take(DialogOwner, key)
        return self._dialog(owner, title, width, height)

    @contextmanager
    def _dialog(self, owner: DialogOwner, title: str, width: float, height: Length) -> Iterator[Clicks]:
        layer = self.layer(Dim, owner)
        layer.is_missed = False
        self.enter(layer)
        card = self.take(Surface, "card")
        card.wide, card.tall = width, height
        card.update(("dialog", None, height is None, 12.0, width, height))
        self.enter(card)
        clicks = Clicks(clicked=owner.is_closing)
        owner.is_closing = False
        try:
            with self.row("title"):
                self.text("title", title, style="h3")
                self.push()
                if self.button("close", "", icon="xmark", kind="ghost", tip="Close", is_small=True):
                    clicks.clicked = True
            yield clicks
        finally:
            if self.shortcut("Escape", while_typing=True):
                clicks.clicked = owner.is_closing = True
            self.leave()
            self.leave()


def matches(option: Option, wanted: str) -> bool:
    """Whether every word of `wanted` stands in the option's label or detail, in any case."""
    text = f"{option.label} {option.detail} {option.value}".casefold()
    return all(word in text for word in wanted.casefold().split())
