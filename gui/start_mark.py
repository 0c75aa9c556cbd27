"""Mark of a window that is being opened: a graphics driver that fails ends the process without a word, and the next start finds it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path

from core.front.cli.version import remark
from core.kernel.language import tr
from core.kernel.opener import open_descriptor, read_start
from gui.window import NoDisplayError

SOFTWARE = "LIBGL_ALWAYS_SOFTWARE"
"""Has Mesa draw with the processor. Source: Mesa 3D, "Environment Variables"."""
DRAWS_BY_SOFTWARE = tr(
    "The last start ended while the window opened: the graphics driver failed. The processor draws this time."
)
_MOST_BYTES = 100


def mark_of(environ: Mapping[str, str]) -> Path | None:
    """The file of the mark, which goes at the next login; None where this system has no place for it."""
    folder = environ.get("XDG_RUNTIME_DIR", "")
    return Path(folder, "manual-slop-opening") if sys.platform == "linux" and os.path.isdir(folder) else None


@contextmanager
def opening(environ: MutableMapping[str, str]) -> Iterator[None]:
    """Open the window inside this block. Where the last start ended in it, the processor draws.

    Args:
        environ: of this process: says where the mark stands, and takes what has Mesa draw by software.

    Raises:
        NoDisplayError: drawing by software ended the last start, too.
    """
    mark = mark_of(environ)
    if mark is None:
        yield
        return
    failed = _failed(mark)
    if failed == SOFTWARE:
        _remove(mark)
        raise NoDisplayError(
            tr("The window cannot be opened: OpenGL fails on this display, by software too"),
            remedy=tr("Repair the graphics driver, or use `manual-slop send`"),
        )
    if failed:
        remark(DRAWS_BY_SOFTWARE)
        environ[SOFTWARE] = "1"
    _write(mark, SOFTWARE if failed else "driver")
    try:
        yield
    finally:
        _remove(mark)


def _failed(mark: Path) -> str:
    """Way in which the start drew that ended while it opened its window; empty where none did."""
    try:
        pid, _, how = read_start(mark, _MOST_BYTES).decode("ascii", "replace").partition(" ")
    except OSError:
        return ""
    is_alive = pid.isdigit() and Path("/proc", pid).exists()
    return "" if is_alive else how


def _write(mark: Path, how: str) -> None:
    with suppress(OSError):
        descriptor = open_descriptor(mark, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, follows_links=False)
        try:
            os.write(descriptor, f"{os.getpid()} {how}".encode())
        finally:
            os.close(descriptor)


def _remove(mark: Path) -> None:
    with suppress(OSError):
        mark.unlink()
