"""Drawing and answers of buttons, fields and the keyboard."""

from __future__ import annotations

from collections.abc import Hashable

import dearpygui.dearpygui as dpg

from gui.describe import Tree
from gui.elements.boxes import ColumnBox, RowBox
from gui.elements.controls import Button, Checkbox, Slider
from gui.elements.fields import Editor, Field, SelectableText
from gui.elements.rail import RailButton
from gui.elements.text import Text
from gui.icons import glyph
from gui.keys import normal_chord
from gui.visible_text import taken, visible
from panels.base import widgets as w
from panels.base.parts import Edited


def _shortcut(tree: Tree, it: w.ShortcutQuery) -> bool:
    return tree.hears(it.chord, while_typing=it.while_typing)


def _button(tree: Tree, it: w.ButtonWidget) -> bool:
    button = tree.take(RailButton if it.kind in ("rail", "rail_active") else Button, it.key)
    if button.differs(it):
        _show_button(button, it)
    was_clicked, button.is_clicked = button.is_clicked, False
    if it.shortcut and tree.hears(it.shortcut):
        was_clicked = True
    return was_clicked and it.is_enabled


def _show_button(button: Button, it: w.ButtonWidget) -> None:
    chord = normal_chord(it.shortcut) if it.shortcut else ""
    button.wide = it.width
    button.tip = " ".join(filter(None, (it.tip, f"({chord})"))) if chord else it.tip
    shown = chord if it.kind == "primary" and it.label else ""
    button.update((glyph(it.icon), visible(it.label), it.kind, it.is_enabled, it.is_small, shown, it.width))


def _checkbox(tree: Tree, it: w.CheckboxWidget) -> bool | None:
    box = tree.take(Checkbox, it.key)
    box.tip = it.tip
    box.update((visible(it.label), it.value, it.is_enabled))
    changed, box.changed = box.changed, None
    return changed if changed != it.value else None


def _slider(tree: Tree, it: w.SliderWidget) -> float | None:
    with Labelled(tree, it.key, it.label):
        slider = tree.take(Slider, it.key)
        slider.wide, slider.tip = it.width, it.label
        slider.update((it.value, it.low, it.high, it.form, it.width))
    changed, slider.changed = slider.changed, None
    return changed


def _text_input(tree: Tree, it: w.TextInputWidget) -> str | None:
    with Labelled(tree, it.key, it.label):
        field = tree.take(Field, it.key)
        if field.differs(it):
            field.wide, field.name = it.width, it.label or it.hint
            shown = (taken(it.value), taken(it.hint), glyph(it.icon), it.is_secret, it.is_enabled)
            field.update((*shown, it.submits, it.width))
    _offer_focus(field, is_focused=it.is_focused)
    changed, field.changed = field.changed, None
    return changed


def _offer_focus(field: Field, *, is_focused: bool) -> None:
    """Give it the keyboard when that is first asked for, not while it stays asked."""
    if is_focused and not field.was_focused:
        field.wants_focus = True
    field.was_focused = is_focused


def _editor(tree: Tree, it: w.EditorWidget) -> Edited | None:
    editor = tree.take(Editor, it.key)
    editor.wide, editor.name = 0, it.hint
    value = it.value if editor.revision != it.revision else editor.props[0]
    shown = (taken(value), taken(it.hint), it.revision, it.is_mono, it.paste_limit_chars, it.height)
    editor.update((*shown, it.submits_on_enter))
    _offer_focus(editor, is_focused=it.is_focused)
    is_here = editor.is_active or editor.was_active
    is_submitted = is_here and it.submits_on_enter and tree.keys.take("Enter", while_typing=True)
    changed, pasted = editor.changed, editor.pasted
    editor.changed, editor.pasted = None, ""
    if changed is None and not pasted and not is_submitted:
        return None
    return Edited(editor.text if changed is None else changed, pasted, is_submitted)


def _selectable_text(tree: Tree, it: w.SelectableTextWidget) -> None:
    text = tree.take(SelectableText, it.key)
    text.tall = it.height
    text.update((it.value, it.mono, it.height))


def _focus(tree: Tree, it: w.FocusWish) -> None:
    tree.focus_wish = (tree.at, it.key)


def _is_focused(tree: Tree, it: w.FocusQuery) -> bool:
    kids = tree.at.kids
    element = kids.get(it.key)
    if element is None and ("labelled", it.key) in kids:
        element = kids["labelled", it.key].kids.get(it.key)
    if isinstance(element, Field):
        return element.is_active
    items = element.items() if element is not None else []
    return any(dpg.is_item_focused(item) for item in items)


class Labelled:
    """A field with its label: above it in a column, left of it in a row."""

    def __init__(self, tree: Tree, key: Hashable, label: str) -> None:
        self._tree = tree
        self._key = key
        self._label = label

    def __enter__(self) -> None:
        if not self._label:
            return
        tree = self._tree
        box = tree.take(RowBox if isinstance(tree.at, RowBox) else ColumnBox, ("labelled", self._key))
        box.update((4.0 if isinstance(box, ColumnBox) else 8.0,))
        tree.enter(box)
        text = tree.take(Text, "label")
        text.update((self._label, "muted", "small", False, None))

    def __exit__(self, *_: object) -> None:
        if self._label:
            self._tree.leave()


HANDLERS = w.table(
    w.ShortcutQuery.handled_by(_shortcut),
    w.ButtonWidget.handled_by(_button),
    w.CheckboxWidget.handled_by(_checkbox),
    w.SliderWidget.handled_by(_slider),
    w.TextInputWidget.handled_by(_text_input),
    w.EditorWidget.handled_by(_editor),
    w.SelectableTextWidget.handled_by(_selectable_text),
    w.FocusWish.handled_by(_focus),
    w.FocusQuery.handled_by(_is_focused),
)
