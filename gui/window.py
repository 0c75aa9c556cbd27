"""The viewport: makes it, says why when it cannot, keeps its size, brings it to the front."""

from __future__ import annotations

import ctypes
import os
import socket
import sys

import dearpygui.dearpygui as dpg
import msgspec

from core.kernel.errors import SlopError
from core.kernel.language import tr

TITLE = "Manual Slop"


class Placement(msgspec.Struct, frozen=True):
    """Placement of the window, in pixels of the screen, for the caller to keep."""

    x: int = 80
    y: int = 60
    width: int = 1440
    height: int = 900


class NoDisplayError(SlopError):
    """There is no screen to open a window on."""


def check_display() -> socket.socket | None:
    """Make sure that a window can be opened: GLFW would end the process without a word.

    Returns:
        The open connection to the display. Close it after the window is open: a display server without
        other clients may start over when its last one leaves.

    Raises:
        NoDisplayError: no display is named, or it does not answer.
    """
    if sys.platform != "linux":
        return None
    display = os.environ.get("DISPLAY", "")
    remedy = tr("Start the window on a desktop, or use `manual-slop tour` or `manual-slop send`")
    if not display:
        wayland = os.environ.get("WAYLAND_DISPLAY", "")
        what = (
            tr("Wayland {wayland!r} has no XWayland (DISPLAY is not set)", wayland=wayland)
            if wayland
            else tr("DISPLAY is not set")
        )
        raise NoDisplayError(tr("The window has no display to open on: {what}", what=what), remedy=remedy)
    host, _, rest = display.rpartition(":")
    number = rest.split(".")[0]
    if not number.isdigit():
        raise NoDisplayError(tr("DISPLAY {display!r} is not a display name", display=display), remedy=remedy)
    connection = _connect(host, int(number))
    if connection is None:
        raise NoDisplayError(tr("The display {display!r} does not answer", display=display), remedy=remedy)
    return connection


def _connect(host: str, number: int) -> socket.socket | None:
    """A connection to an X server, or None where none listens."""
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108  the place that X11 fixes
    addresses: list[tuple[int, str | tuple[str, int]]] = []
    if host in ("", "unix"):
        addresses = [(socket.AF_UNIX, "\0" + path), (socket.AF_UNIX, path)]
    else:
        addresses = [(socket.AF_INET, (host, 6000 + number))]
    for family, address in addresses:
        probe = socket.socket(family, socket.SOCK_STREAM)
        try:
            probe.settimeout(3)
            probe.connect(address)
        except OSError:
            probe.close()
            continue
        return probe
    return None


def open_viewport(placement: Placement, *, icon: str = "") -> None:
    """Create and show the viewport. Create the Dear PyGui context first.

    Raises:
        NoDisplayError: see `check_display`.
    """
    connection = check_display()
    placement = fitting(placement, _screen_size() if connection is not None else None)
    dpg.configure_app(keyboard_navigation=True)
    dpg.create_viewport(
        title=TITLE,
        small_icon=icon,
        large_icon=icon,
        width=placement.width,
        height=placement.height,
        x_pos=max(0, placement.x),
        y_pos=max(0, placement.y),
        min_width=720,
        min_height=480,
        vsync=False,
        disable_close=True,
    )
    dpg.setup_dearpygui()
    dpg.show_viewport()
    if connection is not None:
        connection.close()


def fitting(placement: Placement, screen: tuple[int, int] | None) -> Placement:
    """A placement within a screen: on one without a window manager, or with a plain one, the composer would lie below its edge.

    Args:
        screen: its width and height in pixels, of several displays together; None where it is not known.
    """
    if screen is None:
        return placement
    width, height = min(placement.width, screen[0]), min(placement.height, screen[1])
    return Placement(
        x=max(0, min(placement.x, screen[0] - width)),
        y=max(0, min(placement.y, screen[1] - height)),
        width=width,
        height=height,
    )


def _screen_size() -> tuple[int, int] | None:
    """Width and height of the X screen, None where Xlib does not tell."""
    try:
        xlib = ctypes.CDLL("libX11.so.6")
    except OSError:
        return None
    xlib.XOpenDisplay.argtypes, xlib.XOpenDisplay.restype = [ctypes.c_char_p], ctypes.c_void_p
    handle = xlib.XOpenDisplay(None)
    if not handle:
        return None
    display = ctypes.c_void_p(handle)
    number = xlib.XDefaultScreen(display)
    size = xlib.XDisplayWidth(display, number), xlib.XDisplayHeight(display, number)
    xlib.XCloseDisplay(display)
    return size


def placement_now() -> Placement:
    """Placement of the window now."""
    x, y = dpg.get_viewport_pos()
    return Placement(x=round(x), y=round(y), width=dpg.get_viewport_width(), height=dpg.get_viewport_height())


def bring_to_front() -> None:
    """Raise the window, as far as the desktop lets it."""
    dpg.set_viewport_always_top(True)
    dpg.set_viewport_always_top(False)
