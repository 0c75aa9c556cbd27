"""Many lines that a person types in, drawn on the canvas: wrapped, with caret, selection and scrollbar."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, ClassVar

import dearpygui.dearpygui as dpg

from gui import keyboard as editor_keys
from gui import text_buffer
from gui.canvas import CLEAR, Canvas, Pane, Press
from gui.clipboard import AT_ONCE_S, IS_WAITING, refusal
from gui.elements.base import Element, Spec
from gui.elements.text import Stroke, TextRows
from gui.metrics import Measure
from gui.text_buffer import TextBuffer, taken
from gui.text_layout import Advances, TextLayout

if TYPE_CHECKING:
    from gui.clipboard import Clipboard, Paste
    from gui.elements.base import TextSelection
    from gui.keyboard import Keyboard

Spot = tuple[int, int, int, int]
LEADING = 1.3
PAD_X_PX, PAD_Y_PX = 10.0, 6.0
HINT_PX = 3.0
"""Room of the caret before the hint: it would stand over its first letter."""
THUMB_PX = 6.0
WHEEL_ROWS = 3
BLINK_S = 0.53
BLINKS_FOR_S = 8.0
"""The caret blinks so long after the last key; then it stands, and costs no frame."""
DRAG_ROWS_A_FRAME = 0.5
ASKED_S = 0.1
"""Rest between two looks for the answer of a clipboard that is slow."""


class Editor(Element):
    """The field. `props`: hint, is_mono, least and most height in design px, is_enabled.

    `text` is the person's until a new revision; `changed`, `pasted`, `picture` and `is_submitted` wait for the panel.
    """

    __slots__ = (
        "awaited",
        "bound",
        "buffer",
        "caret",
        "changed",
        "clipboard",
        "column_px",
        "follows_caret",
        "grab",
        "has_blinked",
        "hit",
        "inner",
        "is_active",
        "is_lit",
        "is_submitted",
        "is_unpasted",
        "keyboard",
        "layout_",
        "looks",
        "m",
        "name",
        "paste_limit",
        "pasted",
        "picture",
        "revision",
        "scroll",
        "selection",
        "shows_caret",
        "takes_pictures",
        "uppermost",
        "wants_focus",
        "was_focused",
        "window",
    )
    polls: ClassVar[bool] = True
    IS_EDITABLE: ClassVar[bool] = True
    SKIN: ClassVar[str] = "field"

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.inner: Pane | None = None
        self.hit = 0
        self.bound = ""
        self.caret = Stroke()
        self.buffer = TextBuffer()
        self.layout_ = TextLayout()
        self.looks: tuple[object, ...] = ()
        self.m: Measure | None = None
        self.revision: int | None = None
        self.changed: str | None = None
        self.pasted, self.picture = "", b""
        self.awaited: Paste | None = None
        self.paste_limit = 0
        self.takes_pictures = False
        self.clipboard: Clipboard | None = None
        self.is_unpasted = False
        self.is_submitted = False
        self.is_active = self.is_lit = False
        self.wants_focus = self.was_focused = False
        self.shows_caret = True
        self.follows_caret = False
        self.name = ""
        self.scroll = 0.0
        self.column_px: float | None = None
        self.grab: tuple[str, float, tuple[int, int]] | None = None
        self.window = (0, 0)
        self.keyboard: Keyboard | None = None
        self.selection: TextSelection | None = None
        self.uppermost: Callable[[], Element | None] = lambda: None
        self.has_blinked = False

    @property
    def text(self) -> str:
        """The text in the editor."""
        return self.buffer.text

    # layout
    def style(self) -> str:
        """The font of its text."""
        return "mono" if self.props[1] else "body"

    def pads(self, m: Measure) -> tuple[int, int]:
        """Pixels left and right, above and below the text."""
        return round(m.px(PAD_X_PX)), round(m.px(PAD_Y_PX))

    def row_px(self, m: Measure) -> int:
        """Pixels from one row to the next."""
        return round(m.sizes[self.style()] * LEADING)

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def measure(self, m: Measure) -> float:
        return m.px(180)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.lay_out(m)
        row_px, around = self.row_px(m), 2 * self.pads(m)[1]
        most_rows = max(1, (m.px(self.props[3]) - around) // row_px)
        self.h = max(m.px(self.props[2]), min(self.layout_.rows, most_rows) * row_px + around)
        if self.follows_caret:
            self.show_caret(m)
        self.follows_caret = False
        self.keep_scroll(m)

    def lay_out(self, m: Measure) -> bool:
        """Bring the rows up to date; whether they changed."""
        self.m = m
        looks = (m.scale, self.style(), m.sizes[self.style()])
        advances = self.layout_.advances
        if looks != self.looks:
            self.looks = looks
            advances = Advances(m, self.style())
        width = float(max(1, round(self.w - 2 * self.pads(m)[0])))
        return self.layout_.update(self.buffer.text, width, advances)

    def content_px(self, m: Measure) -> float:
        """Height of all rows with what is around them."""
        return float(self.layout_.rows * self.row_px(m) + 2 * self.pads(m)[1])

    def most_scroll(self, m: Measure) -> float:
        """The largest scroll position."""
        return max(0.0, self.content_px(m) - self.h)

    def keep_scroll(self, m: Measure) -> None:
        """Keep the scroll within the text."""
        self.scroll = min(max(0.0, self.scroll), self.most_scroll(m))

    def show_caret(self, m: Measure) -> None:
        """Scroll so that the caret's row is in view."""
        row_px, pad = self.row_px(m), self.pads(m)[1]
        top = self.layout_.row_of(self.buffer.caret) * row_px
        self.scroll = min(self.scroll, float(top))
        self.scroll = max(self.scroll, top + row_px + 2 * pad - self.h)
        self.keep_scroll(m)

    # text
    def put(self, text: str) -> None:
        """Take another text from the program, in one step that can be undone: the caret stands at its end."""
        self.take(text_buffer.put(self.buffer, text) if self.IS_EDITABLE else text_buffer.filled(text))
        self.scroll = 0.0
        self.follows_caret = self.is_active

    def take(self, buffer: TextBuffer, *, column_px: float | None = None) -> None:
        """Take a text with caret and selection; the rows follow with the next layout."""
        had, self.buffer = self.buffer, buffer
        self.column_px = column_px
        if buffer.text is not had.text:
            self.invalidate()
        self.touch()
        self.shows_caret = True
        if self.selection is not None:
            if buffer.caret != buffer.anchor:
                self.selection.claim(self)
            else:
                self.selection.release(self)

    def clear_selection(self) -> None:
        """Another text of the window is selected now."""
        self.take(text_buffer.moved(self.buffer, self.buffer.caret))

    def hear(self, m: Measure, text: str, chords: list[str]) -> None:
        """Apply what was typed and pressed since the last frame."""
        before = self.buffer
        if text and self.IS_EDITABLE:
            self.take(text_buffer.typed(self.buffer, taken(text)))
        for chord in chords:
            self.lay_out(m)
            if chord in editor_keys.COPIES | editor_keys.CUTS:
                self.copy(is_cut=chord in editor_keys.CUTS)
            elif chord in editor_keys.PASTES:
                self.paste()
            else:
                page = max(1, int(self.h // self.row_px(m)) - 1)
                after, column = editor_keys.pressed(
                    self.buffer, self.layout_, chord, page_rows=page, column_px=self.column_px
                )
                self.take(after, column_px=column)
        self._follow(m, before)

    def _follow(self, m: Measure, before: TextBuffer) -> None:
        """Show the caret, and note the text for the panel, where they are others now."""
        if self.buffer is not before:
            self.lay_out(m)
            self.show_caret(m)
            if self.buffer.text != before.text:
                self.changed = self.buffer.text

    def act(self, chord: str) -> None:
        """Do what a chord does, chosen from the menu."""
        assert self.m is not None
        self.hear(self.m, "", [chord])

    def copy(self, *, is_cut: bool = False) -> None:
        """Put the selection on the clipboard, and with `is_cut` take it out."""
        if not self.buffer.selection:
            return
        assert self.clipboard is not None
        self.clipboard.copy(taken(self.buffer.selection))
        if is_cut and self.IS_EDITABLE:
            self.take(text_buffer.cut(self.buffer))

    def paste(self) -> None:
        """Ask the clipboard, and take what it holds; what comes later than at once is taken by `receive`."""
        assert self.clipboard is not None
        if self.awaited is None:
            self.awaited = self.clipboard.ask()
            self._take_held(AT_ONCE_S)
        if self.awaited is not None:
            self.clipboard.say(IS_WAITING)

    def receive(self, m: Measure) -> bool:
        """Take what the clipboard held, where that has come since; whether it has."""
        if self.awaited is None or not self.awaited.is_done:
            return False
        before = self.buffer
        self._take_held()
        self._follow(m, before)
        return True

    def _take_held(self, within_s: float = 0.0) -> None:
        """Put the text in place of the selection. A picture, or a text longer than the limit, goes to the panel."""
        assert self.awaited is not None
        assert self.clipboard is not None
        held = self.awaited.held(within_s)
        if held is None:
            return
        self.awaited, text = None, taken(held.text)
        if held.picture and self.takes_pictures:
            self.picture = held.picture
            self.take(text_buffer.attached(self.buffer))
        elif not text:
            self.clipboard.say(refusal(held))
        elif self.paste_limit and len(text) > self.paste_limit:
            self.pasted = text
            self.take(text_buffer.attached(self.buffer))
        else:
            self.take(text_buffer.pasted(self.buffer, text))

    # keyboard
    def is_hearing(self) -> bool:
        """True while it is shown, is enabled, and no layer lies over it."""
        if self.spot is None or self.inner is None or not self.props[4]:
            return False
        top = self.uppermost()
        node: Element | None = self
        while node is not None and node is not top:
            node = node.parent
        return node is top

    def keyboard_lost(self) -> None:
        """Something else has the keyboard now."""
        self.is_active = False
        self.touch()

    def enter(self) -> None:
        """Have the keyboard."""
        if self.keyboard is not None and self.props[4]:
            self.keyboard.claim(self)
            self.is_active = True
            self.touch()

    def stop_item(self) -> int:
        return self.hit if self.props[4] else 0

    def poll(self, c: Canvas) -> None:
        if self.inner is None or self.keyboard is None:
            return
        keyboard = self.keyboard
        is_reached = (
            keyboard.owner is not self and not keyboard.leaving_frames and dpg.is_item_focused(self.hit)
        )
        if self.wants_focus or is_reached:
            is_asked, self.wants_focus = self.wants_focus, False
            self.enter()
            if is_asked:  # a field that the Tab key led to is active for some frames more
                keyboard.call(self)
        self._blink(c)
        if self._seen_rows(c.m) != self.window or (self.awaited is not None and self.awaited.is_done):
            self.touch()

    def _blink(self, c: Canvas) -> None:
        assert self.keyboard is not None
        is_lit = self.is_active and self.IS_EDITABLE
        since = self.keyboard.clock() - self.keyboard.typed_s
        if is_lit and since < BLINKS_FOR_S:
            is_lit = int(since / BLINK_S) % 2 == 0
        if is_lit != self.is_lit:
            self._draw_caret(c, is_lit=is_lit)
            self.has_blinked = True

    def rest_s(self) -> float:
        if self.awaited is not None:
            return ASKED_S
        if not self.is_active or self.keyboard is None:
            return float("inf")
        since = self.keyboard.clock() - self.keyboard.typed_s
        return BLINK_S - since % BLINK_S if since < BLINKS_FOR_S else float("inf")

    # mouse
    def offset_at(self, m: Measure, x: float, y: float) -> int:
        """The place in the text that is nearest to a point of the viewport."""
        assert self.inner is not None
        left, top = self.inner.origin()
        pad_x, pad_y = self.pads(m)
        row = int((y - top - pad_y + self.scroll) // self.row_px(m))
        return self.layout_.offset_at(row, x - left - pad_x)

    def on_press(self, press: Press, m: Measure) -> bool:
        if self.inner is None or not self.props[4]:
            return False
        self.enter()
        left, _ = self.inner.origin()
        if self.most_scroll(m) and press.x > left + self.w - m.px(THUMB_PX + 6):
            self._grab_thumb(m, press.y)
            return True
        if self.selection is not None:
            self.selection.claim(self)
        at = self.offset_at(m, press.x, press.y)
        span = (at, at)
        if press.count > 1:
            span = (text_buffer.word_at if press.count == 2 else text_buffer.paragraph_at)(self.text, at)
        if press.is_extending:
            self.take(text_buffer.moved(self.buffer, at, selects=True))
            span = (self.buffer.anchor, self.buffer.anchor)
        else:
            self.take(text_buffer.marked(self.buffer, *span))
        self.grab = ("text" if press.count == 1 else "word" if press.count == 2 else "paragraph", 0.0, span)
        return True

    def on_right_click(self) -> bool:
        if self.inner is None or self.m is None or not self.props[4]:
            return False
        self.enter()
        start, end = self.buffer.span
        at = self.offset_at(self.m, *dpg.get_mouse_pos(local=False))
        if not start <= at <= end:
            self.take(text_buffer.moved(self.buffer, at))
        return True

    def _grab_thumb(self, m: Measure, y: float) -> None:
        assert self.inner is not None
        top, length = self.thumb(m)
        at = y - self.inner.origin()[1]
        if not top <= at <= top + length:
            self.scroll += self.h * 0.9 * (1 if at > top else -1)
            self.keep_scroll(m)
            top = self.thumb(m)[0]
            self.touch()
        self.grab = ("thumb", at - top, (0, 0))

    def on_drag(self, x: float, y: float, m: Measure) -> None:
        if self.grab is None or self.inner is None:
            return
        kind, held, span = self.grab
        top = self.inner.origin()[1]
        if kind == "thumb":
            _, length = self.thumb(m)
            self.scroll = (y - top - held) / max(1.0, self.h - length) * self.most_scroll(m)
            self.keep_scroll(m)
            self.touch()
            return
        self._scroll_towards(m, y - top)
        at = self.offset_at(m, x, y)
        reach = (at, at)
        if kind != "text":
            reach = (text_buffer.word_at if kind == "word" else text_buffer.paragraph_at)(self.text, at)
        anchor, caret = (span[1], reach[0]) if reach[0] < span[0] else (span[0], max(span[1], reach[1]))
        if kind == "text":
            anchor, caret = span[0], at
        if (anchor, caret) != (self.buffer.anchor, self.buffer.caret):
            self.take(text_buffer.marked(self.buffer, anchor, caret))

    def _scroll_towards(self, m: Measure, y: float) -> None:
        """Scroll while the mouse is held above or below, the faster the farther."""
        beyond = min(0.0, y) + max(0.0, y - self.h)
        if beyond and self.most_scroll(m):
            self.scroll += DRAG_ROWS_A_FRAME * beyond
            self.keep_scroll(m)
            self.touch()

    def on_release(self) -> None:
        self.grab = None

    def on_wheel(self, delta: float, m: Measure) -> bool:
        most = self.most_scroll(m)
        target = min(max(0.0, self.scroll - delta * WHEEL_ROWS * self.row_px(m)), most)
        if target == self.scroll:
            return False
        self.scroll = target
        self.touch()
        return True

    def thumb(self, m: Measure) -> tuple[float, float]:
        """Top and length of the scrollbar's thumb; length 0 when everything fits."""
        most = self.most_scroll(m)
        if not most:
            return 0.0, 0.0
        length = max(m.px(24), self.h * self.h / self.content_px(m))
        return (self.h - length) * self.scroll / most, length

    # paint
    def paint(self, c: Canvas, pane: Pane, x: float, y: float) -> None:
        spot = (round(x), round(y), round(x + self.w), round(y + self.h))
        if not self.touched and spot == self.spot:
            return
        if self.inner is None:
            self.inner = c.child_pane(self, pane, "surface.clear", has_border=self.SKIN == "field")
            self.hit = int(dpg.add_button(parent=self.inner.item, before=self.inner.last, pos=(0, 0)))
            dpg.bind_item_theme(self.hit, c.skins["hit.none"])
            c.created(self.inner)
        self._bind(c)
        width, height = spot[2] - spot[0], spot[3] - spot[1]
        if (width, height) != self.inner.size:
            dpg.configure_item(self.hit, width=max(1, width), height=max(1, height))
        c.place_pane(self.inner, spot[0], spot[1], width, height)
        c.set_content(self.inner, width, height)
        self.spot, self.pane = spot, pane
        self.window = self._seen_rows(c.m)
        c.sync(self.inner, self, self.draw(c, spot))
        self._draw_caret(c, is_lit=self.is_active and self.IS_EDITABLE and (self.is_lit or self.shows_caret))
        self.shows_caret = False
        for kid in self.order:
            kid.paint(c, pane, x, y)
        self.touched = False

    def _bind(self, c: Canvas) -> None:
        state = "active" if self.is_active else "idle" if self.props[4] else "off"
        bound = f"surface.{self.SKIN}_{state}" if self.SKIN == "field" else "surface.clear"
        if bound != self.bound:
            assert self.inner is not None
            self.bound = bound
            dpg.bind_item_theme(self.inner.item, c.skins[bound])
            dpg.configure_item(self.hit, show=self.props[4])

    def _seen_rows(self, m: Measure) -> tuple[int, int]:
        """First and last row that can be seen, in itself and in what scrolls around it."""
        row_px, pad = self.row_px(m), self.pads(m)[1]
        top, bottom = 0.0, self.h
        pane, y = self.pane, float(self.spot[1]) if self.spot is not None else 0.0
        while pane is not None and self.h > 1000:
            y -= pane.scroll[1]
            top, bottom = max(top, -y), min(bottom, pane.size[1] - y)
            y += pane.pos[1]
            pane = pane.parent
        first = int((top + self.scroll - pad) // row_px)
        last = int((bottom + self.scroll - pad) // row_px)
        return max(0, first), min(self.layout_.rows - 1, last)

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        m = c.m
        pad_x, pad_y = self.pads(m)
        row_px, style = self.row_px(m), self.style()
        first, last = self.window
        rows = TextRows(
            layout=self.layout_, first=first, last=last, x=float(pad_x), y=pad_y - self.scroll, row_px=row_px
        )
        rise = (row_px - m.sizes[style]) // 2
        specs = rows.boxes(self.buffer.span, self.w - m.px(4), m.px(5), c.color("selection"))
        specs += rows.texts(rise, style, c.color("text" if self.props[4] else "faint"))
        if not self.text and self.props[0]:
            begin = pad_x + round(m.px(HINT_PX))
            hint = m.ellipsized(self.props[0], style, self.w - pad_x - begin)
            specs.append(("text", begin, pad_y + rise, hint, style, c.color("faint")))
        top, length = self.thumb(m)
        if length:
            left, right = self.w - m.px(THUMB_PX + 2), self.w - m.px(2)
            box = (round(left), round(top), round(right), round(top + length))
            specs.append(("rect", *box, c.color("scroll_thumb"), CLEAR, m.px(THUMB_PX / 2)))
        return specs

    def _draw_caret(self, c: Canvas, *, is_lit: bool) -> None:
        self.is_lit = is_lit
        if self.inner is None:
            return
        specs: list[Spec] = []
        if is_lit:
            m = c.m
            pad_x, pad_y = self.pads(m)
            row_px = self.row_px(m)
            x = pad_x + round(min(self.layout_.x_of(self.buffer.caret), self.layout_.width))
            y = round(pad_y + self.layout_.row_of(self.buffer.caret) * row_px - self.scroll)
            wide = max(1, round(1.5 * m.scale))
            specs = [("rect", x, y + 1, x + wide, y + row_px - 1, c.color("text"), CLEAR, 0)]
        c.sync(self.inner, self.caret, specs)

    # items
    def drop(self, c: Canvas) -> None:
        self.drop_pane(c, self.inner)

    def forget(self) -> None:
        super().forget()
        self.inner, self.hit, self.bound = None, 0, ""
        self.caret = Stroke()

    def inner_items(self) -> Iterator[int]:
        if self.inner is not None:
            yield self.inner.item

    def items_after(self) -> list[int]:
        """Items that come after everything inside, before the drawlist."""
        return [self.hit] if self.hit else []

    def label(self) -> str:
        return self.name or self.tip


# Text to read, to select and to copy: an editor without a frame that takes no words.


class SelectableText(Editor):
    """Text to select and copy, without a frame. `props` as an editor's, then the height: infinite for all of it."""

    __slots__ = ()
    IS_EDITABLE: ClassVar[bool] = False
    SKIN: ClassVar[str] = "clear"
    MOST_PX: ClassVar[float] = 600.0

    def pads(self, m: Measure) -> tuple[int, int]:
        return 0, round(m.px(2))

    def wants_space(self) -> tuple[bool, bool]:
        return True, self.tall is not None and self.tall <= 0

    def measure(self, m: Measure) -> float:
        return m.px(240)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.lay_out(m)
        content = self.content_px(m)
        if self.tall is None or self.tall == math.inf:
            self.h = content if self.tall is not None else min(content, m.px(self.MOST_PX))
        else:
            self.h = m.px(self.tall) if self.tall > 0 else h if h is not None else content
        self.keep_scroll(m)

    def label(self) -> str:
        return self.text
