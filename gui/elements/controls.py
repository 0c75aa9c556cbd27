"""Controls that are pressed or dragged: each owns one Dear PyGui item, so that Tab and Space work on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

import dearpygui.dearpygui as dpg

from gui.canvas import Canvas, Pane
from gui.elements.base import Element, Spec, whole
from gui.metrics import Measure
from gui.skins import CONTROL_PX
from gui.text_layout import wrap_text

Spot = tuple[int, int, int, int]
SMALL_PX = 24.0


class Control(Element):
    """An element with one Dear PyGui item, placed and sized by the layout."""

    __slots__ = ("bound", "item", "placed")
    SIZED: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.item = 0
        self.bound = ""
        self.placed: Spot | None = None

    def make(self, c: Canvas, pane: Pane, spot: Spot) -> int:
        """Create the item."""
        raise NotImplementedError

    def patch(self, c: Canvas) -> None:
        """Write changed properties to the item."""

    def place(self, spot: Spot) -> dict[str, Any]:
        """Position and size as the item takes them."""
        place: dict[str, Any] = {"pos": (spot[0], spot[1])}
        if self.SIZED:
            place |= {"width": max(1, spot[2] - spot[0]), "height": max(1, spot[3] - spot[1])}
        return place

    def bind(self, c: Canvas, skin: str) -> None:
        """Bind a theme, once."""
        if skin != self.bound:
            dpg.bind_item_theme(self.item, c.skins[skin])
            self.bound = skin
            c.calls += 1

    def show(self, c: Canvas, pane: Pane, spot: Spot) -> None:
        if not self.item:
            self.item = self.make(c, pane, spot)
            self.placed = spot
            c.created(pane)
        elif spot != self.placed:
            dpg.configure_item(self.item, **self.place(spot))
            self.placed = spot
            c.calls += 1
        self.patch(c)
        c.sync(pane, self, self.draw(c, spot))

    def drop(self, c: Canvas) -> None:
        super().drop(c)
        c.delete(self.item)
        self.item, self.bound = 0, ""
        if self.pane is not None:
            c.created(self.pane)

    def forget(self) -> None:
        super().forget()
        self.item, self.bound = 0, ""

    def items(self) -> list[int]:
        return [self.item] if self.item else []


class Button(Control):
    """A button. `props`: glyph, label, kind, is_enabled, is_small, hint of its chord."""

    __slots__ = ("is_clicked", "is_collapsed", "shown", "written")

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.is_clicked = False
        self.is_collapsed = False
        self.shown = ""
        self.written: tuple[Any, ...] = ()

    def style(self) -> str:
        """The font of its label."""
        _, label, kind, _, is_small, *_ = self.props
        if kind in ("rail", "rail_active"):
            return "icon_large" if not label else "small"
        return "small" if is_small else "body"

    @property
    def is_quiet(self) -> bool:
        return bool(self.props[2] == "ghost")

    @property
    def is_drawn(self) -> bool:
        """True if its label is drawn: a control needs a font of its own for each size, with the whole file in it."""
        return self.style() == "small"

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        """Its label, where the toolkit does not write it."""
        if not (self.is_drawn and self.shown):
            return []
        color, left = c.skins.label(self.props[2], is_enabled=self.props[3])
        x = spot[0] + left if left >= 0 else (spot[0] + spot[2] - round(c.m.width(self.shown, "small"))) // 2
        y = (spot[1] + spot[3] - c.m.sizes["small"]) // 2
        return [("text", x, y, self.shown, "small", color)]

    def text(self) -> str:
        """Glyph, label and chord as one line."""
        glyph, label, _, _, _, chord, *_ = self.props
        text = f"{glyph}  {label}" if glyph and label else glyph or label
        return f"{text}   {chord}" if chord else text

    def measure(self, m: Measure) -> float:
        _, label, kind, _, is_small, *_ = self.props
        height = self.height(m)
        if not label:
            return max(height, m.width(self.text(), self.style()) + m.px(12))
        pad = 6 if kind == "link" else 8 if is_small else 14 if kind == "primary" else 12
        return m.width(self.text(), self.style()) + 2 * m.px(pad) + 1

    def height(self, m: Measure) -> float:
        """Its height in pixels."""
        _, _, kind, _, is_small, *_ = self.props
        if kind in ("rail", "rail_active"):
            return m.px(40)
        return m.px(SMALL_PX if is_small or kind == "link" else CONTROL_PX)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = self.height(m)
        glyph, label = self.props[0], self.props[1]
        self.is_collapsed = (
            bool(glyph and label) and w < self.natural(m) - 1 and w < self.collapsed(m) + m.px(20)
        )
        text = glyph if self.is_collapsed else self.text()
        self.shown = m.ellipsized(text, self.style(), w - m.px(6))

    def collapsed(self, m: Measure) -> float:
        """The width it can do with: that of its icon, where it has one."""
        if not (self.props[0] and self.props[1]):
            return self.natural(m)
        return max(self.height(m), m.width(self.props[0], self.style()) + m.px(12))

    def tooltip(self) -> str:
        """Its tip, with the label where only the icon is left of it and the tip does not begin with that."""
        words = str(self.props[1])
        if not self.is_collapsed:
            return whole(words, self.tip, is_cut=self.is_cut)
        if self.tip.startswith(words):
            return self.tip
        return ": ".join(filter(None, (words, self.tip)))

    @property
    def is_cut(self) -> bool:
        """True if there was no room for all of its words."""
        return not self.is_collapsed and self.shown != self.text()

    def make(self, c: Canvas, pane: Pane, spot: Spot) -> int:
        self.written = label, is_enabled, font = self.lettering()
        item = int(
            dpg.add_button(
                label=label,
                parent=pane.item,
                before=pane.last,
                enabled=is_enabled,
                callback=self.on_click,
                **self.place(spot),
            )
        )
        dpg.bind_item_font(item, c.fonts[font])
        return item

    def lettering(self) -> tuple[str, bool, str]:
        """Label that the toolkit writes, whether the button works, and the label's font."""
        label, font = ("", "body") if self.is_drawn else (self.shown, self.style())
        return label, self.props[3], font

    def patch(self, c: Canvas) -> None:
        now = label, is_enabled, font = self.lettering()
        if now != self.written:
            dpg.configure_item(self.item, label=label, enabled=is_enabled)
            if font != self.written[2]:
                dpg.bind_item_font(self.item, c.fonts[font])
            self.written = now
            c.calls += 1
        self.bind(c, f"button.{self.props[2]}{'.small' if self.props[4] else ''}")

    def stop_item(self) -> int:
        return self.item if self.props[3] else 0

    def press(self) -> None:
        super().press()
        self.is_clicked = True
        self.touch()

    def on_click(self, *_: object) -> None:
        """Handle a press that the toolkit reports."""
        if not self.quiet_frames:
            self.is_clicked = True
            self.touch()
        self.quiet_frames = 0

    def label(self) -> str:
        return str(self.props[1]) or self.tip


class Hit(Control):
    """A transparent button: an edge, a link, a thumb. `props`: skin."""

    __slots__ = ("is_clicked",)

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.is_clicked = False

    def make(self, c: Canvas, pane: Pane, spot: Spot) -> int:
        return int(
            dpg.add_button(parent=pane.item, before=pane.last, callback=self.on_click, **self.place(spot))
        )

    def patch(self, c: Canvas) -> None:
        self.bind(c, f"hit.{self.props[0]}")

    def on_click(self, *_: object) -> None:
        """Handle a press that the toolkit reports."""
        self.is_clicked = True
        self.touch()

    def is_held(self) -> bool:
        """True while the mouse went down on it and is still down."""
        return bool(self.item) and bool(dpg.is_item_active(self.item))


class Checkbox(Control):
    """A checkbox. `props`: label, value, is_enabled."""

    __slots__ = ("changed", "shown", "written")
    SIZED: ClassVar[bool] = False

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.shown = ""
        self.changed: bool | None = None
        self.written: tuple[Any, ...] = ()

    def measure(self, m: Measure) -> float:
        label = self.props[0]
        square = m.sizes["body"] + 2 * round(m.scale)
        return square + (m.px(8) + m.width(label, "body") + 1 if label else 0)

    @property
    def shrinks(self) -> bool:  # type: ignore[override]
        """In a row that is too narrow its label gives way."""
        return bool(self.props[0])

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        label, line, square = str(self.props[0]), m.sizes["body"], m.sizes["body"] + 2 * round(m.scale)
        room, table = w - square - m.px(8), m.table("body")
        lines = wrap_text(label, lambda char: table[char] * line, room)
        if len(lines) > 1:
            lines = [lines[0].rstrip(), m.ellipsized(" ".join(lines[1:]), "body", room)]
        self.shown = "\n".join(lines)
        self.h = square + (len(lines) - 1) * line

    @property
    def is_cut(self) -> bool:
        """True if there was no room for all of its words, in two lines."""
        return bool(self.shown.replace("\n", " ") != self.props[0])

    def tooltip(self) -> str:
        return whole(str(self.props[0]), self.tip, is_cut=self.is_cut)

    def make(self, c: Canvas, pane: Pane, spot: Spot) -> int:
        _, value, is_on = self.props
        shown = self.shown
        self.written = (shown, value, is_on)
        return int(
            dpg.add_checkbox(
                label=shown,
                default_value=value,
                enabled=is_on,
                parent=pane.item,
                before=pane.last,
                callback=self.on_change,
                **self.place(spot),
            )
        )

    def patch(self, c: Canvas) -> None:
        _, value, is_on = self.props
        now = (self.shown, value, is_on)
        if now != self.written:
            dpg.configure_item(self.item, label=now[0], enabled=is_on)
            dpg.set_value(self.item, value)
            self.written = now
            c.calls += 2
        self.bind(c, "check")

    def stop_item(self) -> int:
        return self.item if self.props[2] else 0

    def press(self) -> None:
        super().press()
        self.changed = not self.props[1]
        self.touch()

    def refuse_click(self) -> bool:
        dpg.set_value(self.item, self.written[1])
        return True

    def on_change(self, _: object, value: bool, *__: object) -> None:
        """Handle a change of the switch that the toolkit reports."""
        if self.quiet_frames:
            self.quiet_frames = 0
            dpg.set_value(self.item, self.written[1])
            return
        self.changed = bool(value)
        self.written = (self.written[0], bool(value), self.written[2])
        self.touch()

    def label(self) -> str:
        return str(self.props[0]) or self.tip


class Slider(Control):
    """A slider with its number beside it. `props`: value, low, high, form."""

    __slots__ = ("changed", "number_width", "written")

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.number_width = 0.0
        self.changed: float | None = None
        self.written: tuple[Any, ...] = ()

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.px(CONTROL_PX)
        _, low, high, form, *_ = self.props
        self.number_width = m.px(10) + max(m.width(form % end, "small") for end in (low, high))

    def place(self, spot: Spot) -> dict[str, Any]:
        return {"pos": (spot[0], spot[1]), "width": max(1, spot[2] - spot[0] - round(self.number_width))}

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        shown = self.props[3] % (self.props[0] if self.changed is None else self.changed)
        size = c.m.sizes["small"]
        y = spot[1] + (spot[3] - spot[1] - size) // 2
        x = spot[2] - round(c.m.width(shown, "small"))
        return [("text", x, y, shown, "small", c.color("muted"))]

    def make(self, c: Canvas, pane: Pane, spot: Spot) -> int:
        value, low, high, *_ = self.props
        self.written = self.props
        return int(
            dpg.add_slider_float(
                default_value=value,
                min_value=low,
                max_value=high,
                format="",
                clamped=True,
                parent=pane.item,
                before=pane.last,
                callback=self.on_change,
                **self.place(spot),
            )
        )

    def patch(self, c: Canvas) -> None:
        if self.props != self.written and not dpg.is_item_active(self.item):
            value, low, high, *_ = self.props
            dpg.configure_item(self.item, min_value=low, max_value=high)
            dpg.set_value(self.item, value)
            self.written = self.props
            c.calls += 2
        self.bind(c, "slider")

    def stop_item(self) -> int:
        return self.item

    def refuse_click(self) -> bool:
        return False

    def on_change(self, _: object, value: float, *__: object) -> None:
        """Handle a drag that the toolkit reports."""
        self.changed = float(value)
        self.written = (float(value), *self.written[1:])

    def label(self) -> str:
        return self.tip


class Combo(Button):
    """A button that shows the chosen option and opens the list. `props` as a button's.

    `most`: options that its list shows; `found`: those that match, beside the options and the filter that they follow from.
    """

    __slots__ = ("filter", "found", "is_open", "most", "name")

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.is_open = False
        self.filter = ""
        self.name = ""
        self.most = 0
        self.found: tuple[object, str, Sequence[Any]] = ((), "", ())

    def measure(self, m: Measure) -> float:
        return m.width(self.props[1], "body") + m.px(40)

    def natural(self, m: Measure) -> float:
        """The width that was asked for, and up to half more where the words of the chosen option need it.

        Widths are chosen by English words; those of other languages are longer.
        """
        asked = super().natural(m)
        return max(asked, min(self.measure(m), 1.5 * asked))

    @property
    def shrinks(self) -> bool:  # type: ignore[override]
        """In a row that is too narrow it gives way."""
        return True

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = m.px(CONTROL_PX)
        self.shown = m.ellipsized(self.props[1], "body", w - m.px(38))

    def text(self) -> str:
        return str(self.props[1])

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        size = c.m.sizes["small"]
        glyph = "\uf078"
        x = spot[2] - c.m.width(glyph, "small") - c.m.px(9)
        y = spot[1] + (spot[3] - spot[1] - size) // 2
        return [("text", round(x), y, glyph, "small", c.color("muted" if self.props[3] else "disabled"))]

    def label(self) -> str:
        return self.name or str(self.props[1])


# Button that takes no click before it has stood in its place for a while.


class GuardedButton(Button):
    """A button that begins to work some time after it came, was moved, or was pressed too early.

    `clock`: seconds; `guard_s`: that time.
    """

    __slots__ = ("clock", "guard_s", "place_seen", "since_s", "was_ready")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.clock: Callable[[], float] = time.perf_counter
        self.guard_s = 0.0
        self.since_s = float("inf")
        self.place_seen: tuple[float, float] | None = None
        self.was_ready = False

    def is_ready(self) -> bool:
        """True once it has not moved for that time."""
        return self.clock() - self.since_s >= self.guard_s

    def poll(self, c: Canvas) -> None:
        if self.pane is None or self.spot is None:
            self.place_seen, self.since_s = None, float("inf")
        else:
            left, top = self.pane.origin()
            place = (left + self.spot[0], top + self.spot[1])
            is_early_press = not self.was_ready and dpg.is_mouse_button_down(0)
            if place != self.place_seen or is_early_press:
                self.place_seen, self.since_s = place, self.clock()
        if self.is_ready() != self.was_ready:
            self.was_ready = not self.was_ready
            self.touch()

    def rest_s(self) -> float:
        left_s = self.since_s + self.guard_s - self.clock()
        return float("inf") if self.was_ready or left_s == float("inf") else max(0.0, left_s)


# Fields of one line that a person types in: Dear PyGui's own input.

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
