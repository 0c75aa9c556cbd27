"""The keyboard of editors: the one input item that characters reach, the editor that has it, and what keys do to its text."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import dearpygui.dearpygui as dpg

from gui import text_buffer
from gui.keys import Keys, is_letter
from gui.text_buffer import TextBuffer
from gui.text_layout import TextLayout

# The keyboard of editors: the one input item that characters reach, and the editor that owns it.

# Letters of keys: what each key has typed so far, for the frames in which the toolkit tells keys but no
# characters.

_PLAIN = "0123456789',-./;=[\\]`"
_SHIFTED = ')!@#$%^&*("<_>?:+{|}~'


class KeyLetters:
    """The characters of a person's keyboard, learned while they type; those of a US keyboard until then."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def learn(self, chords: list[str], text: str) -> None:
        """One key went down in a frame, and one character came."""
        letters = [chord for chord in chords if is_letter(chord)]
        if len(letters) == len(chords) == len(text) == 1:
            self._known[letters[0]] = text

    def typed(self, chords: list[str]) -> str:
        """The characters that these chords type, as far as can be known."""
        return "".join(self._known.get(chord) or _usual(chord) for chord in chords if is_letter(chord))


def _usual(chord: str) -> str:
    key, is_shifted = chord.removeprefix("Shift+"), chord.startswith("Shift+")
    if key == "Space":
        return " "
    if key.isalpha():
        return key if is_shifted else key.lower()
    return _SHIFTED[_PLAIN.index(key)] if is_shifted and key in _PLAIN else key


ASK_AGAIN_FRAMES = 3
"""Frames that the toolkit takes to give the keyboard to an item that was asked for it."""
LEAVING_FRAMES = 8
"""Frames after leaving an editor in which the toolkit may come by it again, on its way to what was asked for."""
MOST_CHARS = 4096
KEPT_S = 3.0
"""Seconds that characters wait for an editor that is on its way (a discussion that is being read)."""
_OWN_WORK = frozenset(
    {"Ctrl+V", "Ctrl+X", "Ctrl+Z", "Ctrl+Y", "Ctrl+Shift+Z", "Shift+Insert", "Shift+Delete"}
)
"""Chords by which the item changes its own text: nobody typed that."""
_CARET_KEYS = frozenset({"Left", "Right", "Up", "Down", "Home", "End", "PageUp", "PageDown"})


class KeyboardOwner(Protocol):
    """Owner of the keyboard: characters are typed into it."""

    def is_hearing(self) -> bool:
        """True while it is shown, takes text, and no layer lies over it."""
        ...

    def keyboard_lost(self) -> None:
        """The keyboard went to something else."""
        ...


class Keyboard:
    """Characters since the last frame, for the editor that owns the keyboard.

    Args:
        keys: the chords of the same frames; clock: seconds.
    """

    def __init__(self, keys: Keys, clock: Callable[[], float] = time.perf_counter) -> None:
        self._keys = keys
        self.clock = clock
        self._letters = KeyLetters()
        self._window = self._item = self._before = 0
        self._text = {0: ""}
        self._waiting = ""
        self._waiting_since_s = 0.0
        self._asked_frames = self._lent_frames = self._called_frames = 0
        self._lent_to: object = None
        self._asked_again = False
        self._was_active = self._is_active = False
        self._breaks_on_ctrl = False
        self.owner: KeyboardOwner | None = None
        self.is_away = False
        self.has_heard = False
        self.leaving_frames = 0
        self.typed_s = float("-inf")

    # ownership
    def claim(self, owner: KeyboardOwner) -> None:
        """Give the keyboard to an editor."""
        before, self.owner = self.owner, owner
        self.is_away = False
        self.typed_s = self.clock()
        if before is not None and before is not owner:
            before.keyboard_lost()

    def call(self, owner: KeyboardOwner) -> None:
        """Give the keyboard to an owner while a field has it still, which loses it in the next frames."""
        self.claim(owner)
        self._called_frames = LEAVING_FRAMES

    @property
    def is_called(self) -> bool:
        """True while a field may have the keyboard still that was called away from it."""
        return self._called_frames > 0

    def release(self, owner: KeyboardOwner | None = None) -> None:
        """Take the keyboard from `owner`, or from whoever has it."""
        self._lent_frames = self._called_frames = 0
        if self.owner is not None and owner in (None, self.owner):
            before, self.owner = self.owner, None
            before.keyboard_lost()

    def leave(self) -> None:
        """The person went elsewhere with the keyboard: no editor takes it by itself."""
        self.release()
        self.is_away = True
        self.leaving_frames = LEAVING_FRAMES

    def lend(self, field: object) -> None:
        """A field is about to get the keyboard: no editor takes it back before the toolkit has given it."""
        self.release()
        self._lent_frames, self._lent_to, self._asked_again = LEAVING_FRAMES, field, False

    def lost_on_its_way(self) -> object:
        """The field that has not got the keyboard in time and must ask again, once; else None."""
        if self._lent_frames != LEAVING_FRAMES - ASK_AGAIN_FRAMES - 1:
            return None
        field, self._asked_again = self._lent_to, not self._asked_again
        if not self._asked_again:
            return None
        self._lent_frames = LEAVING_FRAMES
        return field

    def field_has_it(self, field: object) -> None:
        """A field has the keyboard: the one that it was lent to, or one that loses it to that one in the next frames."""
        is_due = self._lent_frames <= LEAVING_FRAMES - ASK_AGAIN_FRAMES  # sooner, it has it still, not anew
        if not self.is_called and (not self.is_lent or (field is self._lent_to and is_due)):
            self.release()

    @property
    def is_lent(self) -> bool:
        """True while a field waits for the keyboard."""
        return self._lent_frames > 0

    @property
    def is_listening(self) -> bool:
        """True while an editor has the keyboard and can take text."""
        return self.owner is not None and self.owner.is_hearing()

    @property
    def is_on_its_way(self) -> bool:
        """True while the toolkit has been asked for the keyboard and has not given it yet."""
        return self.is_listening and not self._is_active and self._asked_frames > 0

    def take(self, owner: KeyboardOwner) -> str:
        """The characters typed for `owner` since it last asked."""
        if owner is not self.owner:
            return ""
        text, self._waiting = self._waiting, ""
        return text

    def go_below(self) -> None:
        """Make the item's window anew before the next frame: the toolkit puts the newest one of its kind below, and the
        window of the page was just made anew. It would swallow the mouse in the corner.
        """
        if self._window:
            dpg.delete_item(self._window)
        self._window = self._item = self._before = 0
        self._text = {0: ""}
        self._was_active = self._is_active = False

    # frames
    def poll(self) -> None:
        """Read what was typed in the frame that was rendered, and keep the item active."""
        if not self._item:
            self._window = _make_window()
            self._item = self._make_item()
        chords = self._keys.chords()
        self.leaving_frames = max(0, self.leaving_frames - 1)
        self._lent_frames = max(0, self._lent_frames - 1)
        self._called_frames = max(0, self._called_frames - 1)
        self._was_active, self._is_active = self._is_active, bool(dpg.is_item_active(self._item))
        text = self._read(chords)
        self.has_heard = bool(text)
        if self.is_listening:
            self._hear(text, chords)
        elif text and self.owner is None and not self.is_away:
            self._keep(text)
        self._drop_stale()
        if not self._keys.is_held("Ctrl") and self._breaks_on_ctrl:
            self._set_breaks(on_ctrl=False)
        elif self._keys.is_held("Ctrl") and not self._breaks_on_ctrl:
            self._set_breaks(on_ctrl=True)
        self._keep_active(chords)

    def _hear(self, text: str, chords: list[str]) -> None:
        if text and self._was_active:
            self._letters.learn(chords, text)
        elif not text and not self._was_active:
            text = self._letters.typed(chords)
        if text or chords:
            self.typed_s = self.clock()
        if text:
            self._keep(text)

    def _keep(self, text: str) -> None:
        if not self._waiting:
            self._waiting_since_s = self.clock()
        self._waiting += text

    def _drop_stale(self) -> None:
        if self._waiting and self.clock() - self._waiting_since_s > KEPT_S:
            self._waiting = ""

    def _read(self, chords: list[str]) -> str:
        """Characters typed: into the item before, which hears until the new one does, then into this one."""
        text = "".join(self._difference(item) for item in (self._before, self._item) if item)
        if self._before and self._is_active:
            dpg.delete_item(self._before)
            del self._text[self._before]
            self._before = 0
        if "Escape" in chords or not _OWN_WORK.isdisjoint(chords):
            return ""
        return text.replace("\n", "").replace("\t", "")

    def _difference(self, item: int) -> str:
        before, after = self._text[item], dpg.get_value(item) or ""
        if before == after:
            return ""
        self._text[item] = after
        start, end = inserted(before, after)
        return str(after[start:end])

    def _keep_active(self, chords: list[str]) -> None:
        self._asked_frames = max(0, self._asked_frames - 1)
        is_pressed = any(dpg.is_mouse_button_down(button) for button in (0, 1, 2))
        if not self.is_listening:
            if self._is_active and self.owner is not None:
                self._renew()
        elif not self._is_active and not self._asked_frames and not is_pressed:
            self._renew()
            dpg.focus_item(self._item)
            self._asked_frames = ASK_AGAIN_FRAMES
        elif self._is_active and self._is_stale(chords):
            self._renew()
            dpg.focus_item(self._item)
            self._asked_frames, self._is_active = ASK_AGAIN_FRAMES, False

    def _is_stale(self, chords: list[str]) -> bool:
        """True if the item holds something and its own caret or selection moved: differences would lie."""
        text = self._text[self._item]
        if not text or self._before:
            return False
        has_moved = any(chord == "Ctrl+A" or chord.rpartition("+")[2] in _CARET_KEYS for chord in chords)
        return has_moved or not _OWN_WORK.isdisjoint(chords) or len(text) > MOST_CHARS

    def _renew(self) -> None:
        """Put an empty item in the place of the one that holds text."""
        if not self._text[self._item] or self._before:
            return
        self._before, self._item = self._item, self._make_item()

    def _make_item(self) -> int:
        item = int(
            dpg.add_input_text(
                parent=self._window,
                pos=(0, 0),
                multiline=True,
                tab_input=True,
                no_undo_redo=True,
                ctrl_enter_for_new_line=self._breaks_on_ctrl,
                width=1,
                height=1,
            )
        )
        self._text[item] = ""
        return item

    def _set_breaks(self, *, on_ctrl: bool) -> None:
        """Have Enter with Ctrl (or the one without) make a line feed: the other makes the toolkit leave the item."""
        self._breaks_on_ctrl = on_ctrl
        for item in (self._before, self._item):
            if item:
                dpg.configure_item(item, ctrl_enter_for_new_line=on_ctrl)


_UNSEEN = (
    dpg.mvThemeCol_Text,
    dpg.mvThemeCol_FrameBg,
    dpg.mvThemeCol_Border,
    dpg.mvThemeCol_NavHighlight,
    dpg.mvThemeCol_InputTextCursor,
    dpg.mvThemeCol_TextSelectedBg,
    dpg.mvThemeCol_ScrollbarBg,
    dpg.mvThemeCol_ScrollbarGrab,
    dpg.mvThemeCol_ScrollbarGrabHovered,
    dpg.mvThemeCol_ScrollbarGrabActive,
)


def _make_window() -> int:
    """A window below all others, in view (else nothing in it gets characters) and nowhere to be seen."""
    with dpg.theme() as theme, dpg.theme_component(dpg.mvAll):
        for color in _UNSEEN:
            dpg.add_theme_color(color, (0, 0, 0, 0))
        dpg.add_theme_style(dpg.mvStyleVar_WindowMinSize, 1, 1)
    window = int(
        dpg.add_window(
            pos=(0, 0),
            width=8,
            height=8,
            min_size=(1, 1),
            no_title_bar=True,
            no_move=True,
            no_resize=True,
            no_scrollbar=True,
            no_scroll_with_mouse=True,
            no_background=True,
            no_saved_settings=True,
            no_bring_to_front_on_focus=True,
            no_close=True,
        )
    )
    dpg.bind_item_theme(window, theme)
    return window


def inserted(before: str, after: str) -> tuple[int, int]:
    """Span of the text that was added to `before`, in `after`: start and end."""
    start = 0
    while start < len(before) and before[start : start + 1] == after[start : start + 1]:
        start += 1
    tail, most = 0, min(len(before), len(after)) - start
    while tail < most and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return start, len(after) - tail


# Keys on a text with a caret, given its rows: moves and changes. Pure; the clipboard is the editor's
# affair.

_MOVES = ("Left", "Right", "Up", "Down", "Home", "End", "PageUp", "PageDown", "Ctrl+Left", "Ctrl+Right", "Ctrl+Home", "Ctrl+End")  # fmt: skip
READING = frozenset(
    {
        *_MOVES,
        *(f"Ctrl+Shift+{name.removeprefix('Ctrl+')}" if "+" in name else f"Shift+{name}" for name in _MOVES),
        "Ctrl+A",
        "Ctrl+C",
        "Ctrl+Insert",
    }
)
"""Chords that change no text."""
TABS = frozenset({"Tab", "Shift+Tab"})
WRITING = READING | {
    "Backspace",
    "Shift+Backspace",
    "Ctrl+Backspace",
    "Delete",
    "Ctrl+Delete",
    "Shift+Delete",
    "Enter",
    "Shift+Enter",
    "Ctrl+X",
    "Ctrl+V",
    "Shift+Insert",
    "Ctrl+Z",
    "Ctrl+Y",
    "Ctrl+Shift+Z",
}
COPIES = frozenset({"Ctrl+C", "Ctrl+Insert"})
CUTS = frozenset({"Ctrl+X", "Shift+Delete"})
PASTES = frozenset({"Ctrl+V", "Shift+Insert"})
_DOWN = {"Up": -1, "Down": 1, "PageUp": -1, "PageDown": 1}


def pressed(
    buffer: TextBuffer, layout: TextLayout, chord: str, *, page_rows: int, column_px: float | None
) -> tuple[TextBuffer, float | None]:
    """The text after a chord, and the column that Up and Down keep to (None: that of the caret).

    Args:
        layout: of this very text; page_rows: how far PageUp and PageDown go; column_px: from the key before.
    """
    selects = "Shift+" in chord and chord != "Ctrl+Shift+Z"
    plain = chord.replace("Shift+", "") if selects else chord
    if plain in _DOWN:
        rows = _DOWN[plain] * (page_rows if plain.startswith("Page") else 1)
        x = layout.x_of(buffer.caret) if column_px is None else column_px
        return text_buffer.moved(buffer, layout.vertical(buffer.caret, rows, x), selects=selects), x
    return _changed(buffer, plain) or _moved(buffer, layout, plain, selects=selects), None


def _moved(buffer: TextBuffer, layout: TextLayout, plain: str, *, selects: bool) -> TextBuffer:
    match plain:
        case "Left" | "Right" | "Ctrl+Left" | "Ctrl+Right":
            direction = -1 if plain.endswith("Left") else 1
            return text_buffer.stepped(buffer, direction, by_word=plain.startswith("Ctrl"), selects=selects)
        case "Home":
            return text_buffer.moved(buffer, layout.span(layout.row_of(buffer.caret))[0], selects=selects)
        case "End":
            return text_buffer.moved(buffer, layout.last_of(layout.row_of(buffer.caret)), selects=selects)
        case "Ctrl+Home":
            return text_buffer.moved(buffer, 0, selects=selects)
        case "Ctrl+End":
            return text_buffer.moved(buffer, len(buffer.text), selects=selects)
        case "Ctrl+A":
            return text_buffer.marked(buffer, 0, len(buffer.text))
        case _:
            return buffer


def _changed(buffer: TextBuffer, plain: str) -> TextBuffer | None:
    match plain:
        case "Backspace" | "Ctrl+Backspace":
            return text_buffer.erased(buffer, -1, by_word=plain.startswith("Ctrl"))
        case "Delete" | "Ctrl+Delete":
            return text_buffer.erased(buffer, 1, by_word=plain.startswith("Ctrl"))
        case "Enter":
            return text_buffer.typed(buffer, "\n")
        case "Ctrl+Z":
            return text_buffer.undone(buffer)
        case "Ctrl+Y" | "Ctrl+Shift+Z":
            return text_buffer.redone(buffer)
        case _:
            return None
