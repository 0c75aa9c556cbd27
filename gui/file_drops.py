"""Files that a person drops on the window: the toolkit tells of none on this system, its window library does."""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable

from dearpygui import _dearpygui

_CALLBACK = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)
)  # window, count, paths
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
        self.is_listening = _listen(self)

    def note(self, paths: list[str]) -> None:
        """Files were dropped."""
        self._waiting.extend(paths)
        self._on_drop()

    def take(self) -> tuple[str, ...]:
        """Paths that were dropped since the last time."""
        paths = tuple(self._waiting)
        self._waiting.clear()
        return paths


class _DropTap:
    """Our place where a window tells of drops. It is never let go: the window's library keeps its address."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.listener: FileDrops | None = None
        self._callback = _CALLBACK(self._on_files)
        self._before: Callable[..., None] | None = None
        self._set_callback = library["glfwSetDropCallback"]
        self._set_callback.restype, self._set_callback.argtypes = (
            ctypes.c_void_p,
            (ctypes.c_void_p, _CALLBACK),
        )

    def put_in(self, window: int) -> None:
        """Stand first in `window`, also where a new window has the address of an old one."""
        before = self._set_callback(window, self._callback)
        if before != ctypes.cast(self._callback, ctypes.c_void_p).value:
            self._before = _CALLBACK(before) if before else None

    def _on_files(self, window: int, count: int, paths: object) -> None:
        try:
            if self.listener is not None:
                found = [paths[index] for index in range(min(count, MOST_DROPPED))]  # type: ignore[index]
                self.listener.note([os.fsdecode(path) for path in found if path])
        finally:
            if self._before is not None:
                self._before(window, count, paths)


_taps: dict[int, _DropTap] = {}
"""By the window's address: the newest listener hears it."""


def _listen(listener: FileDrops) -> bool:
    """Hear of drops on this thread's window. False where that cannot be."""
    if sys.platform != "linux":
        return False
    library = ctypes.CDLL(_dearpygui.__file__)
    try:
        find_window = library["glfwGetCurrentContext"]
        find_window.restype = ctypes.c_void_p
        window = find_window()
        if not window:
            return False
        tap = _taps.get(window)
        if tap is None:
            tap = _taps[window] = _DropTap(library)
        tap.put_in(window)
    except AttributeError:
        return False
    tap.listener = listener
    return True
