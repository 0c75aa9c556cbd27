"""Fields that a person types in, and text that can be selected: Dear PyGui's own input."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas, Pane
from gui.elements.base import Element, Spec
from gui.elements.controls import Control
from gui.metrics import Measure
from gui.skins import CONTROL_PX
from gui.visible_text import visible
from gui.wrap import wrap_text

Spot = tuple[int, int, int, int]
CARET_S = 0.4
"""Rest of a field with the keyboard: the toolkit blinks its caret only while frames are drawn."""


class Field(Control):
    """A line of input. `props`: value, hint, glyph, is_secret, is_enabled, submits.

    What the person types is never overwritten while they type: a value from outside waits until the field
    is left.
    """

    __slots__ = ("changed", "is_active", "name", "reported", "text", "wants_focus", "was_focused")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.text = ""
        self.reported = ""
        self.is_active = False
        self.wants_focus = self.was_focused = False
        self.name = ""
        self.changed: str | None = None

    def measure(self, m: Measure) -> float:
        return m.px(180)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.px(CONTROL_PX)

    def place(self, spot: Spot) -> dict[str, Any]:
        return {"pos": (spot[0], spot[1]), "width": max(1, spot[2] - spot[0])}

    def make(self, c: Canvas, pane: Pane, spot: Spot) -> int:
        value, hint, _, is_secret, is_enabled, *_ = self.props
        self.text = self.reported = value
        return int(
            dpg.add_input_text(
                default_value=value,
                hint=hint,
                password=is_secret,
                enabled=is_enabled,
                parent=pane.item,
                before=pane.last,
                callback=self.on_change,
                **self.place(spot),
            )
        )

    def patch(self, c: Canvas) -> None:
        value, hint, glyph, _, is_enabled, *_ = self.props
        if value != self.text and not self.is_active:
            self.text = self.reported = value
            dpg.set_value(self.item, value)
            c.calls += 1
        dpg.configure_item(self.item, hint=hint, enabled=is_enabled)
        self.bind(c, f"field.{'active' if self.is_active else 'idle'}{'_icon' if glyph else ''}")

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        glyph = self.props[2]
        if not glyph:
            return []
        size = c.m.sizes["small"]
        y = spot[1] + (spot[3] - spot[1] - size) // 2
        return [("text", spot[0] + round(c.m.px(10)), y, glyph, "small", c.color("muted"))]

    def on_change(self, _: object, value: str, *__: object) -> None:
        """The toolkit says that the text changed."""
        self.text = value
        if not self.props[5]:
            self.changed = self.reported = value

    def poll(self, c: Canvas) -> None:
        if not self.item:
            return
        if self.wants_focus:
            c.focus(self.item)
            self.wants_focus = False
        is_active = bool(dpg.is_item_active(self.item))
        if is_active == self.is_active:
            return
        self.is_active = is_active
        self.touch()
        if not is_active:
            self.text = dpg.get_value(self.item) or ""
            if self.text != self.reported:
                self.changed = self.reported = self.text

    def rest_s(self) -> float:
        return CARET_S if self.is_active else super().rest_s()

    def label(self) -> str:
        return self.name or self.tip


class Editor(Field):
    """Many lines of input. `props`: value, hint, revision, is_mono, paste limit, height in design px, and
    whether Enter submits.
    """

    __slots__ = ("is_let_go", "pasted", "revision", "rewriting", "sheet", "sheet_hit", "was_active")

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.revision: int | None = None
        self.pasted = ""
        self.sheet: Pane | None = None
        self.sheet_hit = 0
        self.was_active = False
        self.is_let_go = False
        self.rewriting = 0

    def style(self) -> str:
        """The font of its text."""
        return "mono" if self.props[3] else "body"

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.px(self.props[5])

    def place(self, spot: Spot) -> dict[str, Any]:
        return Control.place(self, spot)

    def make(self, c: Canvas, pane: Pane, spot: Spot) -> int:
        if self.revision != self.props[2]:
            self.text = self.reported = self.props[0]
            self.revision = self.props[2]
        item = int(
            dpg.add_input_text(
                default_value=self.text,
                multiline=True,
                tab_input=False,
                ctrl_enter_for_new_line=bool(self.props[6]),
                parent=pane.item,
                before=pane.last,
                callback=self.on_change,
                **self.place(spot),
            )
        )
        dpg.bind_item_font(item, c.fonts[self.style()])
        return item

    def patch(self, c: Canvas) -> None:
        if self.revision != self.props[2]:
            self.revision = self.props[2]
            self.rewrite(self.props[0])
        self.bind(c, f"field.{'active' if self.is_active else 'idle'}")

    def rewrite(self, text: str) -> None:
        """Replace the text although the person may be in it: an active input ignores `set_value`."""
        self.text = self.reported = text
        if self.is_active:
            self.rewriting = 1
        else:
            dpg.set_value(self.item, text)

    def on_change(self, _: object, value: str, *__: object) -> None:
        """The toolkit says that the text changed: typed, or pasted."""
        if self.rewriting:
            return
        limit = self.props[4]
        if limit and len(value) - len(self.text) > limit:
            start, end = inserted(self.text, value)
            self.pasted = value[start:end]
            self.rewrite(self.text)
            return
        self.text = value
        self.changed = value
        self.touch()

    def poll(self, c: Canvas) -> None:
        if not self.item:
            return
        match self.rewriting:
            case 1:
                c.focus(c.focus_sink)
                self.rewriting = 2
            case 2 if not dpg.is_item_active(self.item):
                dpg.set_value(self.item, self.text)
                c.focus(self.item)
                self.rewriting = 3
            case 3:
                self.rewriting = 0
            case _:
                pass
        self.was_active = self.is_active
        is_active = bool(dpg.is_item_active(self.item))
        if self.wants_focus and not self.rewriting:
            c.focus(self.item)
            self.wants_focus = False
        if is_active != self.is_active and not self.rewriting:
            self.is_active = is_active
            self.touch()

    def note_enter(self) -> None:
        """Enter went down, alone or with Ctrl: one of the two makes the toolkit take the keyboard away, and the
        person did not mean to leave.
        """
        self.is_let_go = self.was_active and not self.is_active

    def take_back(self, c: Canvas) -> None:
        """Have the keyboard again after Enter. Asked for before the next frame is rendered: the toolkit takes two
        frames to give it, and drops the letters that reach it in the second (Dear ImGui 1.92.5).
        """
        self.is_let_go = False
        if self.item:
            c.focus(self.item)

    def finish(self, c: Canvas, pane: Pane, spot: Spot) -> None:
        if self.text or self.is_active or not self.props[1]:
            self._drop_sheet(c)
            return
        size = c.m.sizes[self.style()]
        x, y = spot[0] + round(c.m.px(10)), spot[1] + round(c.m.px(6))
        hint = c.m.ellipsized(self.props[1], self.style(), spot[2] - spot[0] - c.m.px(20))
        if self.sheet is None:
            self.sheet = c.child_pane(self, pane, "surface.clear")
            self.sheet_hit = int(
                dpg.add_button(
                    parent=self.sheet.item, before=self.sheet.last, pos=(0, 0), callback=self.on_hint
                )
            )
            dpg.bind_item_theme(self.sheet_hit, c.skins["hit.none"])
        width = round(c.m.width(hint, self.style())) + 2
        c.place_pane(self.sheet, x, y, width, size + 2)
        c.set_content(self.sheet, width, size + 2)
        dpg.configure_item(self.sheet_hit, width=width, height=size + 2)
        c.sync(self.sheet, self, [("text", 0, 0, hint, self.style(), c.color("faint"))])

    def _drop_sheet(self, c: Canvas) -> None:
        if self.sheet is not None:
            c.delete(self.sheet.item)
            self.prims, self.prim_ids, self.sheet = [], [], None
            if self.pane is not None:
                c.created(self.pane)

    def on_hint(self, *_: object) -> None:
        """The hint was pressed: it stands over the field."""
        self.wants_focus = True

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        return self.prims

    def items(self) -> list[int]:
        return [*super().items(), *([self.sheet.item] if self.sheet is not None else [])]

    def drop(self, c: Canvas) -> None:
        self._drop_sheet(c)
        super().drop(c)

    def forget(self) -> None:
        super().forget()
        self.sheet = None


def inserted(before: str, after: str) -> tuple[int, int]:
    """Span of the text that was added to `before`, in `after`: start and end."""
    start = 0
    while start < len(before) and before[start] == after[start]:
        start += 1
    tail = 0
    while tail < len(before) - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return start, len(after) - tail


class SelectableText(Control):
    """Read-only text to select and copy. `props`: text, is_mono, height in design px, infinite for all, or None."""

    __slots__ = ("lines", "written")

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.written = ""
        self.lines: list[str] = []

    def style(self) -> str:
        """The font of its text."""
        return "mono" if self.props[1] else "body"

    def wants_space(self) -> tuple[bool, bool]:
        return True, self.tall is not None and self.tall <= 0

    def measure(self, m: Measure) -> float:
        return m.px(240)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        table, size = m.table(self.style()), m.sizes[self.style()]
        room = w - m.px(14)
        self.lines = wrap_text(visible(self.props[0]), lambda char: table[char] * size, room)
        content = len(self.lines) * size + 4
        if self.tall == math.inf:
            self.h = content
            return
        given = m.px(self.tall) if self.tall is not None and self.tall > 0 else h
        self.h = given if given is not None else min(content, m.px(600))

    def make(self, c: Canvas, pane: Pane, spot: Spot) -> int:
        self.written = "\n".join(self.lines)
        item = int(
            dpg.add_input_text(
                default_value=self.written,
                multiline=True,
                readonly=True,
                parent=pane.item,
                before=pane.last,
                **self.place(spot),
            )
        )
        dpg.bind_item_font(item, c.fonts[self.style()])
        return item

    def patch(self, c: Canvas) -> None:
        now = "\n".join(self.lines)
        if now != self.written:
            dpg.set_value(self.item, now)
            self.written = now
            c.calls += 1
        self.bind(c, "field.plain")

    def label(self) -> str:
        return str(self.props[0])
