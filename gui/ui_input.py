"""The `Ui` calls that take what a person does."""

from __future__ import annotations

from collections.abc import Hashable

import dearpygui.dearpygui as dpg

from gui.elements.boxes import Column, Row
from gui.elements.controls import Button, Checkbox, Slider
from gui.elements.fields import Editor, Field, SelectableText
from gui.elements.text import Text
from gui.icons import glyph
from gui.keys import normal_chord
from gui.ui_output import Output
from gui.visible import taken, visible
from panels.ui import ButtonKind, Edited, Length


class Input(Output):
    """Buttons, fields, the keyboard."""

    def shortcut(self, chord: str, *, while_typing: bool = False) -> bool:
        """Whether a chord (`Ctrl+Shift+P`, `Escape`, `Up`) was pressed since the last frame, once a press."""
        return self.is_reachable() and self.keys.take(chord, while_typing=while_typing)

    def button(
        self,
        key: Hashable,
        label: str,
        *,
        icon: str = "",
        kind: ButtonKind = "plain",
        is_enabled: bool = True,
        tip: str = "",
        shortcut: str = "",
        width: Length = None,
        is_small: bool = False,
    ) -> bool:
        """Whether it was clicked, or its shortcut (`Ctrl+N`) pressed. A label-less button needs a `tip`."""
        button = self.take(Button, key)
        button.wide = width
        shown_chord = normal_chord(shortcut) if shortcut and kind == "primary" and label else ""
        button.tip = " ".join(filter(None, (tip, f"({normal_chord(shortcut)})"))) if shortcut else tip
        button.update((glyph(icon), visible(label), kind, is_enabled, is_small, shown_chord, width))
        was_clicked, button.is_clicked = button.is_clicked, False
        if shortcut and self.shortcut(shortcut):
            was_clicked = True
        return was_clicked and is_enabled

    def checkbox(
        self, key: Hashable, label: str, value: bool, *, is_enabled: bool = True, tip: str = ""
    ) -> bool | None:
        """The new value when it was toggled."""
        box = self.take(Checkbox, key)
        box.tip = tip
        box.update((visible(label), value, is_enabled))
        changed, box.changed = box.changed, None
        return changed if changed != value else None

    def slider(
        self,
        key: Hashable,
        value: float,
        low: float,
        high: float,
        *,
        label: str = "",
        form: str = "%.2f",
        width: Length = 180,
    ) -> float | None:
        """The new value."""
        with self._labelled(key, label):
            slider = self.take(Slider, key)
            slider.wide, slider.tip = width, label
            slider.update((value, low, high, form, width))
        changed, slider.changed = slider.changed, None
        return changed

    def text_input(
        self,
        key: Hashable,
        value: str,
        *,
        label: str = "",
        hint: str = "",
        icon: str = "",
        width: Length = 0,
        is_secret: bool = False,
        is_enabled: bool = True,
        is_focused: bool = False,
        submits: bool = False,
    ) -> str | None:
        """A line of input. The text after each change, or with `submits` only on Enter or when it loses focus."""
        with self._labelled(key, label):
            field = self.take(Field, key)
            field.wide, field.name = width, label or hint
            field.update((taken(value), taken(hint), glyph(icon), is_secret, is_enabled, submits, width))
        if is_focused and not field.was_focused:
            field.wants_focus = True
        field.was_focused = is_focused
        changed, field.changed = field.changed, None
        return changed

    def editor(
        self,
        key: Hashable,
        value: str,
        *,
        hint: str = "",
        height: float = 80,
        revision: int = 0,
        is_mono: bool = False,
        is_focused: bool = False,
        paste_limit_chars: int = 0,
        submits_on_enter: bool = False,
    ) -> Edited | None:
        """Many lines of input. What the person types wins over `value` until `revision` changes."""
        editor = self.take(Editor, key)
        editor.wide, editor.name = 0, hint
        value = value if editor.revision != revision else editor.props[0]
        editor.update(
            (taken(value), taken(hint), revision, is_mono, paste_limit_chars, height, submits_on_enter)
        )
        if is_focused and not editor.was_focused:
            editor.wants_focus = True
        editor.was_focused = is_focused
        is_here = editor.is_active or editor.was_active
        is_submitted = is_here and submits_on_enter and self.keys.take("Enter", while_typing=True)
        if is_submitted:
            editor.wants_focus = True
        changed, pasted = editor.changed, editor.pasted
        editor.changed, editor.pasted = None, ""
        if changed is None and not pasted and not is_submitted:
            return None
        return Edited(editor.text if changed is None else changed, pasted, is_submitted)

    def selectable_text(
        self, key: Hashable, value: str, *, mono: bool = False, height: Length = None
    ) -> None:
        """Read-only text that can be selected with the mouse and copied."""
        text = self.take(SelectableText, key)
        text.tall = height
        text.update((value, mono, height))

    def focus(self, key: Hashable) -> None:
        """Give the keyboard to the item with that key in the current container, next frame."""
        self.focus_wish = (self.at, key)

    def is_focused(self, key: Hashable) -> bool:
        """Whether the item with that key in the current container has the keyboard, as of the last frame."""
        element = self.at.kids.get(key)
        if element is None and ("labelled", key) in self.at.kids:
            element = self.at.kids["labelled", key].kids.get(key)
        if isinstance(element, Field):
            return element.is_active
        items = element.items() if element is not None else []
        return any(dpg.is_item_focused(item) for item in items)

    def _labelled(self, key: Hashable, label: str) -> Labelled:
        return Labelled(self, key, label)


class Labelled:
    """A field with its label: above it in a column, left of it in a row."""

    def __init__(self, ui: Input, key: Hashable, label: str) -> None:
        self._ui = ui
        self._key = key
        self._label = label

    def __enter__(self) -> None:
        if not self._label:
            return
        ui = self._ui
        box = ui.take(Row if isinstance(ui.at, Row) else Column, ("labelled", self._key))
        box.update((4.0 if isinstance(box, Column) else 8.0,))
        ui.enter(box)
        text = ui.take(Text, "label")
        text.update((self._label, "muted", "small", False, None))

    def __exit__(self, *_: object) -> None:
        if self._label:
            self._ui.leave()
