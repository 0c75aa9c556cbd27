"""Files that a person drops on the window: the toolkit tells of none on this system, its window library does."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Callable
from typing import Any

from gui.window_taps import WindowTap, listen

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
