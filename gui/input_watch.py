"""Waits of the window: for input where the system can tell of it, for a nudge from another thread everywhere."""

from __future__ import annotations

import ctypes
import select
import socket
import sys
from contextlib import suppress
from typing import Protocol

_QUEUED_AFTER_FLUSH = 2
"""`QueuedAfterFlush` of Xlib: send what is buffered, then count what has arrived."""


class InputWatch(Protocol):
    """Wait of the loop between two frames."""

    @property
    def hears_input(self) -> bool:
        """True if input ends a wait. If not, only a frame finds out whether there was any."""
        ...

    def wait(self, timeout_s: float) -> bool:
        """Wait until there is input, a nudge came, or the time is over; whether there is input."""
        ...

    def nudge(self) -> None:
        """End the wait, or the next one. Thread-safe; never blocks."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


class BlindWatch:
    """A watch for systems on which input cannot be waited for: nudges alone end its waits."""

    hears_input = False

    def __init__(self) -> None:
        self._heard, self._nudged = (
            socket.socketpair()
        )  # a pair and no pipe: `select` of Windows takes nothing else
        self._heard.setblocking(False)
        self._nudged.setblocking(False)

    def wait(self, timeout_s: float) -> bool:
        """See `InputWatch`; never hears input."""
        self._select([], timeout_s)
        return False

    def _select(self, others: list[int], timeout_s: float) -> bool:
        """Wait for a nudge or one of `others`; whether one of them is readable."""
        waited: list[socket.socket | int] = [self._heard, *others]
        ready = select.select(waited, [], [], max(0.0, timeout_s))[0]
        if self._heard in ready:
            with suppress(BlockingIOError):
                self._heard.recv(4096)
        return any(one in ready for one in others)

    def nudge(self) -> None:
        """See `InputWatch`."""
        with suppress(OSError):  # full: a nudge is on its way already; closed: nobody waits any more
            self._nudged.send(b"\0")

    def close(self) -> None:
        """Close both ends."""
        self._heard.close()
        self._nudged.close()


class XWatch(BlindWatch):
    """A watch on the toolkit's own connection to the X server, found by the GL context that it made current.

    The socket alone would not do: drawing a frame waits for the server's answers, and what arrives meanwhile lies in
    Xlib's queue (182 of 200 motions, seen), where `select` is blind to it.
    """

    hears_input = True

    def __init__(self, xlib: ctypes.CDLL, display: int) -> None:
        super().__init__()
        self._xlib = xlib
        self._display = ctypes.c_void_p(display)
        self._socket = int(xlib.XConnectionNumber(self._display))

    def wait(self, timeout_s: float) -> bool:
        """See `InputWatch`."""
        return self._has_queued() or (self._select([self._socket], timeout_s) and self._has_queued())

    def _has_queued(self) -> bool:
        return bool(self._xlib.XEventsQueued(self._display, _QUEUED_AFTER_FLUSH))


def find_watch() -> InputWatch:
    """The best watch for the window of this thread. Call it after the window is shown."""
    display, xlib = _x_display() if sys.platform == "linux" else (0, None)
    return XWatch(xlib, display) if xlib is not None and display else BlindWatch()


def _x_display() -> tuple[int, ctypes.CDLL | None]:
    """Xlib's handle of the connection that the current GL context draws on, 0 where there is none."""
    try:
        gl, xlib = ctypes.CDLL("libGL.so.1"), ctypes.CDLL("libX11.so.6")
        gl.glXGetCurrentDisplay.restype = ctypes.c_void_p
        gl.glXGetCurrentDisplay.argtypes = []
        xlib.XConnectionNumber.argtypes = [ctypes.c_void_p]
        xlib.XConnectionNumber.restype = ctypes.c_int
        xlib.XEventsQueued.argtypes = [ctypes.c_void_p, ctypes.c_int]
        xlib.XEventsQueued.restype = ctypes.c_int
        return int(gl.glXGetCurrentDisplay() or 0), xlib
    except (OSError, AttributeError):
        return 0, None
