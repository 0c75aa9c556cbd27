"""Drawing and answers of buttons, fields and the keyboard."""

from __future__ import annotations

from collections.abc import Hashable

import dearpygui.dearpygui as dpg
from msgspec.structs import replace

from core.kernel.language import tr
from gui import keyboard, text_buffer
from gui.canvas import glyph
from gui.describe import Tree
from gui.elements.base import ColumnBox, Element, RowBox
from gui.elements.controls import Button, Checkbox, Field, GuardedButton, Slider
from gui.elements.editor import Editor, SelectableText
from gui.elements.tabs import RailButton
from gui.elements.text import Label
from gui.keys import normal_chord
from gui.text_buffer import taken, visible
from panels.base import widgets as w
from panels.base.widgets import Edited

DANGER_GUARD_S = 0.7
"""Time that a button which takes something away must have stood in its dialog before it works; until then it looks off."""
MOST_LEFT_TEXTS = 60
"""Editors whose caret and past are kept after they left the screen."""


def _shortcut(tree: Tree, it: w.ShortcutQuery) -> bool:
    if it.is_everywhere:
        return tree.keys.has_news and tree.keys.take(it.chord, while_typing=it.while_typing)
    return tree.hears(it.chord, while_typing=it.while_typing)


def _pressed_chord(tree: Tree, _: w.ChordQuery) -> str:
    return tree.keys.take_any() if tree.keys.has_news and tree.is_reachable() else ""


def _button(tree: Tree, it: w.ButtonWidget) -> bool:
    guard_s = it.guard_s or (DANGER_GUARD_S if it.kind == "danger" and tree.is_in_dialog() else 0.0)
    if guard_s:
        return _guarded_button(tree, it, guard_s)
    button = tree.take(RailButton if it.kind in ("rail", "rail_active") else Button, it.key)
    if button.differs(it):
        _show_button(button, it)
    was_clicked, button.is_clicked = button.is_clicked, False
    if it.shortcut and it.is_heard and tree.hears(it.shortcut):
        was_clicked = True
    return was_clicked and it.is_enabled


def _guarded_button(tree: Tree, it: w.ButtonWidget, guard_s: float) -> bool:
    """A button that works once it has stood in its place for a while; until then it looks as one that does not."""
    button = tree.take(GuardedButton, it.key)
    button.clock, button.guard_s = tree.keyboard.clock, guard_s
    is_ready = button.is_ready()
    if button.differs((it, is_ready)):
        _show_button(button, replace(it, is_enabled=it.is_enabled and is_ready))
    was_clicked, button.is_clicked = button.is_clicked, False
    return was_clicked and it.is_enabled and is_ready


def _show_button(button: Button, it: w.ButtonWidget) -> None:
    chord = normal_chord(it.shortcut) if it.shortcut else ""
    button.wide = it.width
    is_told = not chord or f"({chord})" in it.tip
    button.tip = it.tip if is_told else " ".join(filter(None, (it.tip, f"({chord})")))
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
            field.wide, field.name, field.tip = it.width, it.label or it.tip or it.hint, it.tip
            shown = (taken(it.value), taken(it.hint), glyph(it.icon), it.is_secret, it.is_enabled)
            field.update((*shown, it.submits, it.width))
    _offer_focus(tree, field, is_focused=it.is_focused)
    changed, field.changed = field.changed, None
    return changed


def _offer_focus(tree: Tree, field: Field | Editor, *, is_focused: bool) -> None:
    """Give it the keyboard when that is first asked for, not while it stays asked."""
    if is_focused and not field.was_focused:
        field.wants_focus = True
        if isinstance(field, Field):
            tree.keyboard.lend(field)
    field.was_focused = is_focused


def _editor(tree: Tree, it: w.EditorWidget) -> Edited | None:
    editor = tree.take(Editor, it.key)
    _connect(tree, editor, it.revision, it.value)
    if editor.differs(it):
        editor.name = it.hint
        most = max(it.height, it.most_height)
        editor.update((taken(it.hint), it.is_mono, it.height, most, it.is_enabled))
    _offer_focus(tree, editor, is_focused=it.is_focused)
    if it.is_home:
        tree.home = editor
    editor.paste_limit, editor.takes_pictures = it.paste_limit_chars, it.takes_pictures
    _hear(tree, editor, it)
    _edit_menu(tree, editor)
    if editor.receive(tree.m):
        _remember(tree, editor)
    edited = Edited(
        text=editor.text, pasted=editor.pasted, picture=editor.picture,
        is_submitted=editor.is_submitted, is_unpasted=editor.is_unpasted, caret=editor.buffer.caret,
    )  # fmt: skip
    if editor.changed is None and edited == Edited(text=editor.text, caret=edited.caret):
        return None
    editor.changed, editor.pasted, editor.picture = None, "", b""
    editor.is_submitted = editor.is_unpasted = False
    return edited


def _connect(tree: Tree, editor: Editor, revision: int, value: str) -> None:
    """Give an editor what it needs of the window, and the program's text where that is new.

    An editor that comes back (its discussion was left and is shown again) has its caret and its past again.
    """
    if editor.keyboard is None:
        editor.keyboard, editor.selection, editor.uppermost = (
            tree.keyboard,
            tree.selection,
            tree.now_uppermost,
        )
        editor.clipboard = tree.clipboard
    if revision == editor.revision:
        return
    is_new, editor.revision = editor.revision is None, revision
    value = taken(value)
    left = tree.left_texts.pop(editor.path(), None) if is_new else None
    if left is not None:
        editor.take(left[0])
        editor.scroll = left[1]
    if value != editor.text:
        editor.put(value)


def _hear(tree: Tree, editor: Editor, it: w.EditorWidget) -> None:
    """Apply keys to the editor that owns the keyboard."""
    if tree.keyboard.owner is not editor or not tree.is_reachable() or not it.is_enabled:
        return
    before, files = editor.buffer, text_buffer.files(editor.buffer)
    accepted = keyboard.WRITING
    if it.submits_on_enter:
        accepted = (accepted - {"Enter"}) | {"Ctrl+Enter"}
    chords = _strokes(tree, editor, accepted)
    done = [chord.replace("Ctrl+Enter", "Enter") for chord in chords]
    editor.hear(tree.m, tree.keyboard.take(editor), done)
    editor.is_submitted = it.submits_on_enter and tree.keys.take("Enter", while_typing=True)
    editor.is_unpasted = text_buffer.files(editor.buffer) < files
    if editor.buffer is not before:
        _remember(tree, editor)


def _strokes(tree: Tree, editor: Editor, accepted: frozenset[str]) -> list[str]:
    """The chords that an editor accepts; the Tab key leads on from it."""
    chords = tree.keys.take_strokes(accepted | keyboard.TABS)
    tabs = [chord for chord in chords if chord in keyboard.TABS]
    if tabs:
        tree.keyboard.leave()
        tree.tab_from = (editor, -1 if "Shift+Tab" in tabs else 1)
    return [chord for chord in chords if chord not in keyboard.TABS]


def _remember(tree: Tree, editor: Editor) -> None:
    path = editor.path()
    tree.left_texts.pop(path, None)
    tree.left_texts[path] = (editor.buffer, editor.scroll)
    while len(tree.left_texts) > MOST_LEFT_TEXTS:
        del tree.left_texts[next(iter(tree.left_texts))]


def _edit_menu(tree: Tree, editor: Editor) -> None:
    """The menu of the right button."""
    ui = tree.ui
    tree.enter(editor)
    with ui.context_menu("menu") as is_open:
        if is_open:
            has_selection = bool(editor.buffer.selection)
            if editor.IS_EDITABLE and ui.menu_item(
                "cut", tr("Cut"), shortcut="Ctrl+X", is_enabled=has_selection
            ):
                editor.act("Ctrl+X")
            if ui.menu_item("copy", tr("Copy"), shortcut="Ctrl+C", is_enabled=has_selection):
                editor.act("Ctrl+C")
            if editor.IS_EDITABLE and ui.menu_item("paste", tr("Paste"), shortcut="Ctrl+V"):
                editor.act("Ctrl+V")
            if ui.menu_item("all", tr("Select all"), shortcut="Ctrl+A", is_enabled=bool(editor.text)):
                editor.act("Ctrl+A")
    tree.leave()


def _selectable_text(tree: Tree, it: w.SelectableTextWidget) -> None:
    text = tree.take(SelectableText, it.key)
    if text.keyboard is None:
        text.keyboard, text.selection, text.uppermost = tree.keyboard, tree.selection, tree.now_uppermost
        text.clipboard = tree.clipboard
    if text.differs(it):
        text.tall = it.height
        if taken(it.value) != text.text:
            text.put(taken(it.value))
        text.update(("", it.mono, 0.0, 0.0, True))
    if tree.keyboard.owner is text and tree.is_reachable():
        _type_at_home(tree, text)
        text.hear(tree.m, "", _strokes(tree, text, keyboard.READING))
    _edit_menu(tree, text)


def _type_at_home(tree: Tree, text: SelectableText) -> None:
    """Characters typed over a text that takes none are meant for the editor that is the home."""
    typed = tree.keyboard.take(text)
    if typed and tree.home is not None and tree.home.is_hearing():
        tree.home.enter()
        tree.home.hear(tree.m, typed, [])


def _focus(tree: Tree, it: w.FocusWish) -> None:
    tree.focus_wish = (tree.at, it.key)


def _is_focused(tree: Tree, it: w.FocusQuery) -> bool:
    kids = tree.at.kids
    element = kids.get(it.key)
    if element is None and ("labelled", it.key) in kids:
        element = kids["labelled", it.key].kids.get(it.key)
    if element is not None and it.is_within:
        return any(_has_keyboard(one) for one in element.walk())
    return _has_keyboard(element)


def _has_keyboard(element: Element | None) -> bool:
    if isinstance(element, Field):
        # Enter makes it leave the field before anybody is asked.
        return element.is_active or element.was_active
    if isinstance(element, Editor):
        return element.is_active
    items = [*element.items(), element.stop_item()] if element is not None else []
    return any(item and dpg.is_item_focused(item) for item in items)


def _is_typing_elsewhere(tree: Tree, _: w.TypingQuery) -> bool:
    owner = tree.keyboard.owner
    if isinstance(owner, Editor):
        return owner.IS_EDITABLE and owner is not tree.home
    return tree.has_field_keyboard


def _dropped_files(tree: Tree, _: w.DropQuery) -> tuple[str, ...]:
    return tree.drops.take() if tree.drops is not None else ()


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
        text = tree.take(Label, "label")
        text.update((self._label, "muted", "small", False, None, ()))

    def __exit__(self, *_: object) -> None:
        if self._label:
            self._tree.leave()


HANDLERS = w.table(
    w.ShortcutQuery.handled_by(_shortcut),
    w.ChordQuery.handled_by(_pressed_chord),
    w.ButtonWidget.handled_by(_button),
    w.CheckboxWidget.handled_by(_checkbox),
    w.SliderWidget.handled_by(_slider),
    w.TextInputWidget.handled_by(_text_input),
    w.EditorWidget.handled_by(_editor),
    w.SelectableTextWidget.handled_by(_selectable_text),
    w.FocusWish.handled_by(_focus),
    w.FocusQuery.handled_by(_is_focused),
    w.TypingQuery.handled_by(_is_typing_elsewhere),
    w.DropQuery.handled_by(_dropped_files),
)
