"""Keys on a text with a caret, given its rows: moves and changes. Pure; the clipboard is the editor's affair."""

from __future__ import annotations

from gui import text_buffer as edit
from gui.text_buffer import TextBuffer
from gui.text_layout import TextLayout

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
        return edit.moved(buffer, layout.vertical(buffer.caret, rows, x), selects=selects), x
    return _changed(buffer, plain) or _moved(buffer, layout, plain, selects=selects), None


def _moved(buffer: TextBuffer, layout: TextLayout, plain: str, *, selects: bool) -> TextBuffer:
    match plain:
        case "Left" | "Right" | "Ctrl+Left" | "Ctrl+Right":
            direction = -1 if plain.endswith("Left") else 1
            return edit.stepped(buffer, direction, by_word=plain.startswith("Ctrl"), selects=selects)
        case "Home":
            return edit.moved(buffer, layout.span(layout.row_of(buffer.caret))[0], selects=selects)
        case "End":
            return edit.moved(buffer, layout.last_of(layout.row_of(buffer.caret)), selects=selects)
        case "Ctrl+Home":
            return edit.moved(buffer, 0, selects=selects)
        case "Ctrl+End":
            return edit.moved(buffer, len(buffer.text), selects=selects)
        case "Ctrl+A":
            return edit.marked(buffer, 0, len(buffer.text))
        case _:
            return buffer


def _changed(buffer: TextBuffer, plain: str) -> TextBuffer | None:
    match plain:
        case "Backspace" | "Ctrl+Backspace":
            return edit.erased(buffer, -1, by_word=plain.startswith("Ctrl"))
        case "Delete" | "Ctrl+Delete":
            return edit.erased(buffer, 1, by_word=plain.startswith("Ctrl"))
        case "Enter":
            return edit.typed(buffer, "\n")
        case "Ctrl+Z":
            return edit.undone(buffer)
        case "Ctrl+Y" | "Ctrl+Shift+Z":
            return edit.redone(buffer)
        case _:
            return None
