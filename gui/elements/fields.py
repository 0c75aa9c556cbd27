"""Fields of one line that a person types in: Dear PyGui's own input."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas, Pane
from gui.elements.base import Element, Spec
from gui.elements.controls import Control
from gui.metrics import Measure
from gui.skins import CONTROL_PX

Spot = tuple[int, int, int, int]
CARET_S = 0.4
"""Rest of a field with the keyboard: the toolkit blinks its caret only while frames are drawn."""


PAD_PX, ICON_PAD_PX = 10.0, 32.0
"""Padding of a field at its sides; at its left where an icon stands there."""


class Field(Control):
    """A line of input. `props`: value, hint, glyph, is_secret, is_enabled, submits. `was_active`: a frame before.

    What the person types is never overwritten while they type: a value from outside waits until the field
    is left.
    """

    __slots__ = (
        "changed",
        "hint",
        "is_active",
        "name",
        "reported",
        "text",
        "wants_focus",
        "was_active",
        "was_focused",
    )
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.text = ""
        self.reported = ""
        self.is_active = self.was_active = False
        self.wants_focus = self.was_focused = False
        self.name = self.hint = ""
        self.changed: str | None = None

    def measure(self, m: Measure) -> float:
        return m.px(180)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.px(CONTROL_PX)
        left = ICON_PAD_PX if self.props[2] else PAD_PX
        self.hint = m.ellipsized(self.props[1], "body", w - m.px(left + PAD_PX))

    def place(self, spot: Spot) -> dict[str, Any]:
        return {"pos": (spot[0], spot[1]), "width": max(1, spot[2] - spot[0])}

    def make(self, c: Canvas, pane: Pane, spot: Spot) -> int:
        value, _, _, is_secret, is_enabled, *_ = self.props
        self.text = self.reported = value
        return int(
            dpg.add_input_text(
                default_value=value,
                hint=self.hint,
                password=is_secret,
                enabled=is_enabled,
                parent=pane.item,
                before=pane.last,
                callback=self.on_change,
                **self.place(spot),
            )
        )

    def patch(self, c: Canvas) -> None:
        value, _, glyph, _, is_enabled, *_ = self.props
        if value != self.text and not self.is_active:
            self.text = self.reported = value
            dpg.set_value(self.item, value)
            c.calls += 1
        dpg.configure_item(self.item, hint=self.hint, enabled=is_enabled)
        self.bind(c, f"field.{'active' if self.is_active else 'idle'}{'_icon' if glyph else ''}")

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        glyph = self.props[2]
        if not glyph:
            return []
        size = c.m.sizes["small"]
        y = spot[1] + (spot[3] - spot[1] - size) // 2
        return [("text", spot[0] + round(c.m.px(10)), y, glyph, "small", c.color("muted"))]

    def stop_item(self) -> int:
        return self.item if self.props[4] else 0

    def refuse_click(self) -> bool:
        return False

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
        is_active, self.was_active = bool(dpg.is_item_active(self.item)), self.is_active
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
