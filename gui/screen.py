"""A virtual screen: Xvfb as a child process, for the tour and for machines without a display."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from core.errors import SlopError

START_TIMEOUT_S = 20.0


class ScreenError(SlopError):
    """The virtual screen could not be started."""


@contextmanager
def virtual_screen(width: int = 1600, height: int = 1000) -> Iterator[str]:
    """Start a virtual screen and make it this process's display; end it afterwards.

    Args:
        width, height: pixels.

    Raises:
        ScreenError: Xvfb is not installed or did not start.
    """
    program = shutil.which("Xvfb")
    if program is None:
        raise ScreenError(
            "There is no virtual screen (Xvfb)", remedy="Install the package xvfb, or run `make run`"
        )
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [program, "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
        pass_fds=(writing,),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(writing)
    before = {name: os.environ.get(name) for name in ("DISPLAY", "LIBGL_ALWAYS_SOFTWARE")}
    try:
        with os.fdopen(reading) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise ScreenError("The virtual screen (Xvfb) did not start", remedy="Run `Xvfb :99` to see why")
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
