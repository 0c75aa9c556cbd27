"""Taps on what the window's library tells before the toolkit does: order and modifiers of keys, files that are dropped."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
from collections import deque
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakSet

import msgspec
from dearpygui import _dearpygui

# Our place in the way of what the window's library tells: it knows what the toolkit's own handlers leave
# out.

Listener = TypeVar("Listener")


class WindowTap(Generic[Listener]):
    """A place before the toolkit. It is never let go: the window's library keeps its address.

    Attributes:
        setter: the library's function that puts a callback in and returns the one before.
        prototype: the callback's type; its first argument is the window.
    """

    setter: ClassVar[str]
    prototype: ClassVar[Any]

    def __init__(self, library: ctypes.CDLL) -> None:
        self.listeners: WeakSet[Listener] = WeakSet()
        self._callback = self.prototype(self._on_event)
        self._before: Callable[..., None] | None = None
        self._set_callback = library[self.setter]
        self._set_callback.restype = ctypes.c_void_p
        self._set_callback.argtypes = (ctypes.c_void_p, self.prototype)

    def hear(self, listener: Listener, *told: Any) -> None:
        """Pass on what the library told behind the window."""
        raise NotImplementedError

    def put_in(self, window: int) -> None:
        """Stand first in `window`, also where a new window has the address of an old one."""
        before = self._set_callback(window, self._callback)
        if before != ctypes.cast(self._callback, ctypes.c_void_p).value:
            self._before = self.prototype(before) if before else None

    def _on_event(self, window: int, *told: Any) -> None:
        try:
            for listener in tuple(self.listeners):
                self.hear(listener, *told)
        finally:
            if self._before is not None:
                self._before(window, *told)


_taps: dict[tuple[type[WindowTap[Any]], int], WindowTap[Any]] = {}
"""By kind and the window's address: every listener that lives hears it."""


def listen(kind: type[WindowTap[Listener]], listener: Listener) -> bool:
    """Hear of this thread's window. False where the system's library does not show its names, or there is no window."""
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(_dearpygui.__file__)
    try:
        find_window = library["glfwGetCurrentContext"]
        find_window.restype = ctypes.c_void_p
        window = find_window()
        if not window:
            return False
        tap = _taps.get((kind, window))
        if tap is None:
            tap = _taps[kind, window] = kind(library)
        tap.put_in(window)
    except AttributeError:
        return False
    tap.listeners.add(listener)
    return True


# Files that a person drops on the window: the toolkit tells of none on this system, its window library
# does.

MOST_DROPPED = 200
"""Files of one drop that are taken."""


class FileDrops:
    """Paths that were dropped and not taken yet, in their order. Where the library does not show its names, none come.

    Args:
        on_drop: wakes the window.
    """

    def __init__(self, on_drop: Callable[[], object]) -> None:
        self._waiting: deque[str] = deque(maxlen=MOST_DROPPED)
        self._on_drop = on_drop
        self.is_listening = listen(_DropTap, self)

    def note(self, paths: list[str]) -> None:
        """Files were dropped."""
        self._waiting.extend(paths)
        self._on_drop()

    def take(self) -> tuple[str, ...]:
        """Paths that were dropped since the last time."""
        paths = tuple(self._waiting)
        self._waiting.clear()
        return paths


class _DropTap(WindowTap[FileDrops]):
    setter = "glfwSetDropCallback"
    prototype = ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)
    )  # window, count, paths

    def hear(self, listener: FileDrops, *told: Any) -> None:
        count, paths = told
        found = [paths[index] for index in range(min(count, MOST_DROPPED))]
        listener.note([os.fsdecode(path) for path in found if path])


# Order and modifiers of key presses as the system told them: the toolkit's handlers tell neither.

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
