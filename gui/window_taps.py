"""Our place in the way of what the window's library tells: it knows what the toolkit's own handlers leave out."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar
from weakref import WeakSet

from dearpygui import _dearpygui

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
