"""Time since the last key or pointer event on the whole desktop, where it offers that: X11, macOS, Windows."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable

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
