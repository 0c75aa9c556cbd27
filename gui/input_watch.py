"""Waits of the window: for input where the system can tell of it, for a nudge from another thread everywhere."""

from __future__ import annotations

import ctypes
import os
import select
import socket
import sys
from collections.abc import Callable
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
        """Release its resources."""
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


# Time since the last key or pointer event on the whole desktop, where it offers that: X11, macOS, Windows.

_SESSION, _ANY_INPUT = 0, 0xFFFFFFFF
"""`kCGEventSourceStateCombinedSessionState` and `kCGAnyInputEventType` of macOS."""


class DesktopIdle:
    """The desktop, asked on first use. For one thread."""

    def __init__(self) -> None:
        self._ask: Callable[[], float | None] | None = None

    def idle_s(self) -> float | None:
        """Seconds since the person last used a key or the pointer; None where the desktop does not tell."""
        if self._ask is None:
            self._ask = _found()
        return self._ask()


def _found() -> Callable[[], float | None]:
    try:
        if sys.platform == "darwin":
            return _of_mac()
        if sys.platform == "win32":
            return _of_windows()
        return _of_x()
    except (OSError, AttributeError):
        return _silent


def _silent() -> float | None:
    return None


class _SaverInfo(ctypes.Structure):
    """`XScreenSaverInfo`; `idle`: milliseconds."""

    _fields_ = (
        ("window", ctypes.c_ulong),
        ("state", ctypes.c_int),
        ("kind", ctypes.c_int),
        ("til_or_since", ctypes.c_ulong),
        ("idle", ctypes.c_ulong),
        ("event_mask", ctypes.c_ulong),
    )


def _of_x() -> Callable[[], float | None]:
    """The X server's, by a connection of its own. One behind Wayland hears its own windows alone and is not asked."""
    if os.environ.get("WAYLAND_DISPLAY") or not os.environ.get("DISPLAY"):
        return _silent
    xlib, saver = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXss.so.1")
    xlib.XOpenDisplay.argtypes, xlib.XOpenDisplay.restype = [ctypes.c_char_p], ctypes.c_void_p
    xlib.XDefaultRootWindow.argtypes, xlib.XDefaultRootWindow.restype = [ctypes.c_void_p], ctypes.c_ulong
    whole = ctypes.POINTER(ctypes.c_int)
    saver.XScreenSaverQueryExtension.argtypes = [ctypes.c_void_p, whole, whole]
    saver.XScreenSaverQueryExtension.restype = ctypes.c_int
    saver.XScreenSaverQueryInfo.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.POINTER(_SaverInfo)]
    saver.XScreenSaverQueryInfo.restype = ctypes.c_int
    handle = xlib.XOpenDisplay(None)
    display = ctypes.c_void_p(handle)
    first = ctypes.c_int()
    if not handle or not saver.XScreenSaverQueryExtension(display, first, ctypes.c_int()):
        return _silent
    root, info = xlib.XDefaultRootWindow(display), _SaverInfo()

    def ask() -> float | None:
        return info.idle / 1000 if saver.XScreenSaverQueryInfo(display, root, info) else None

    return ask


def _of_mac() -> Callable[[], float | None]:
    services = ctypes.CDLL("/System/Library/Frameworks/ApplicationServices.framework/ApplicationServices")
    seconds = services.CGEventSourceSecondsSinceLastEventType
    seconds.argtypes, seconds.restype = [ctypes.c_int32, ctypes.c_uint32], ctypes.c_double
    return lambda: float(seconds(_SESSION, _ANY_INPUT))


class _LastInput(ctypes.Structure):
    """`LASTINPUTINFO`; `at_ms`: of the clock that began with the system and begins anew after 49 days."""

    _fields_ = (("size", ctypes.c_uint), ("at_ms", ctypes.c_uint))


def _of_windows() -> Callable[[], float | None]:
    user = ctypes.CDLL(
        "user32"
    )  # of no arguments or one pointer: both conventions of a 64-bit system are one
    kernel = ctypes.CDLL("kernel32")
    kernel.GetTickCount.restype = ctypes.c_uint
    info = _LastInput(ctypes.sizeof(_LastInput))

    def ask() -> float | None:
        if not user.GetLastInputInfo(ctypes.byref(info)):
            return None
        return float((int(kernel.GetTickCount()) - info.at_ms) % 2**32) / 1000

    return ask
