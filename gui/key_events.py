"""Order and modifiers of key presses as the system told them: the toolkit's handlers tell neither."""

from __future__ import annotations

import ctypes
import itertools
from collections import deque
from typing import Any

import msgspec

from gui.window_taps import WindowTap, listen

_PRESS = 1
_HELD = (("Ctrl", 2), ("Alt", 4), ("Shift", 1))
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ`-=[]\\,;'./"
_NAMES = {
    32: "Space", 256: "Escape", 257: "Enter", 258: "Tab", 259: "Backspace", 260: "Insert", 261: "Delete",
    262: "Right", 263: "Left", 264: "Down", 265: "Up", 266: "PageUp", 267: "PageDown", 268: "Home", 269: "End",
    330: ".", 331: "/", 332: "*", 333: "-", 334: "=", 335: "Enter", 348: "Menu",
    **{290 + index: f"F{index + 1}" for index in range(12)},
    **{320 + digit: str(digit) for digit in range(10)},
    **{ord(letter): letter for letter in _LETTERS},
}  # fmt: skip
"""GLFW's key codes to the names that chords use.

Source: glfw3.h 3.4, "Keyboard key tokens" (read 2026-11-29).
"""
MOST_WAITING = 256
"""Presses that are kept for the frames that will report them; of more, the oldest are forgotten."""


class KeyPress(msgspec.Struct, frozen=True):
    """One key that went down.

    Args:
        number: grows from press to press; key: a chord's name for it; chord: the key with the modifiers of that moment.
    """

    number: int
    key: str
    chord: str


class KeyEvents:
    """Presses in the order in which they came, for the frames in which the toolkit reports them.

    The toolkit spreads the events of a burst over frames, and within a frame tells keys by their code and modifiers by
    their state at its end: of `Ctrl+N` within 12 ms it tells that Ctrl was let go and N went down. Where its library does
    not show its names (Windows, macOS), nothing is known here and that state counts.
    """

    def __init__(self) -> None:
        self._waiting: deque[KeyPress] = deque(maxlen=MOST_WAITING)
        self._numbers = itertools.count()
        self.is_listening = listen(_KeyTap, self)

    def note(self, key: str, modifiers: int) -> None:
        """A key went down. `modifiers`: GLFW's bits."""
        if key:
            held = [name for name, bit in _HELD if modifiers & bit]
            self._waiting.append(KeyPress(number=next(self._numbers), key=key, chord="+".join([*held, key])))

    def take(self, key: str) -> KeyPress | None:
        """The oldest press of a key that no frame has reported yet; None where it is not known."""
        press = next((one for one in self._waiting if one.key == key), None)
        if press is not None:
            self._waiting.remove(press)
        return press


class _KeyTap(WindowTap[KeyEvents]):
    setter = "glfwSetKeyCallback"
    prototype = ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int
    )  # window, key, scancode, action, modifiers

    def __init__(self, library: ctypes.CDLL) -> None:
        super().__init__(library)
        self._name = library["glfwGetKeyName"]
        self._name.restype, self._name.argtypes = ctypes.c_char_p, (ctypes.c_int, ctypes.c_int)

    def hear(self, listener: KeyEvents, *told: Any) -> None:
        code, scancode, action, modifiers = told
        if action == _PRESS:
            listener.note(_NAMES.get(self._translated(code, scancode), ""), modifiers)

    def _translated(self, code: int, scancode: int) -> int:
        """The key by what the layout prints on it, as the toolkit names it."""
        label = self._name(code, scancode) if 32 < code < 256 else None
        letter = (label or b"").decode("utf-8", "replace").upper()
        return ord(letter) if len(letter) == 1 and letter in _LETTERS else code
