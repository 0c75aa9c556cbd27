"""A virtual screen: Xvfb as a child process, for the tour and for machines without a display."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import dearpygui.dearpygui as dpg

from core.kernel.child_process import find_program, start_program
from core.kernel.errors import SlopError
from core.kernel.language import tr

START_TIMEOUT_S = 20.0


class ScreenError(SlopError):
    """The virtual screen could not be started."""


def any_screen() -> AbstractContextManager[object]:
    """This machine's screen, else a virtual one: see `virtual_screen`."""
    return nullcontext() if os.environ.get("DISPLAY") else virtual_screen()


@contextmanager
def virtual_screen(width: int = 1600, height: int = 1000) -> Iterator[str]:
    """Start a virtual screen and make it this process's display; end it afterwards.

    It ends itself when this process is killed: see `_hold_open`.

    Args:
        width, height: pixels.

    Raises:
        ScreenError: Xvfb is not installed or did not start.
    """
    program = find_program("Xvfb")
    if program is None:
        raise ScreenError(
            tr("There is no virtual screen (Xvfb)"), remedy=tr("Install the package xvfb, or run `make run`")
        )
    reading, writing = os.pipe()
    process = start_program(
        program,
        (
            *("-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24"),
            *("-nolisten", "tcp", "-terminate"),
        ),
        kept_descriptors=(writing,),
    )
    os.close(writing)
    before = {name: os.environ.get(name) for name in ("DISPLAY", "LIBGL_ALWAYS_SOFTWARE")}
    try:
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise ScreenError(
                tr("The virtual screen (Xvfb) did not start"), remedy=tr("Run `Xvfb :99` to see why")
            )
        with _hold_open(number):
            os.environ.update(DISPLAY=f":{number}", LIBGL_ALWAYS_SOFTWARE="1")
            yield f":{number}"
    finally:
        process.terminate()
        process.wait(START_TIMEOUT_S)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _hold_open(number: str) -> socket.socket:
    """Be a client of the screen that draws nothing. Xvfb with `-terminate` ends after its last client, so it lives
    as long as this connection: to the end of the process, even where that is killed.

    Source: Xserver(1), `-terminate`; X11 protocol, "Connection Setup" (read 2026-11-20).
    """
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - the protocol's own place
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(START_TIMEOUT_S)
    try:
        client.connect(path if os.path.exists(path) else f"\0{path}")
        client.sendall(struct.pack("<cxHHHHxx", b"l", 11, 0, 0, 0))
        answer = client.recv(1)
    except OSError as error:
        client.close()
        raise ScreenError(tr("The virtual screen (Xvfb) accepts no connection"), where=path) from error
    if answer != b"\1":
        client.close()
        raise ScreenError(tr("The virtual screen (Xvfb) refused a connection"), where=path)
    return client


# Pictures of the window.

MOST_FRAMES = 60


def screenshot(path: Path, frame: Callable[[], object]) -> None:
    """Write what the window shows to a PNG.

    The toolkit reads the buffer of the frame before, so the picture is taken after four frames.

    Raises:
        TimeoutError: the toolkit wrote no file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    for _ in range(4):
        frame()
    dpg.output_frame_buffer(str(path))
    for _ in range(MOST_FRAMES):
        frame()
        if path.exists() and path.stat().st_size > 0:
            return
    raise TimeoutError(f"no screenshot was written to {path}")
