"""Bytes of a file in pieces, those of a database read by another process."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Iterator
from pathlib import Path

from core.kernel.child_process import start_child
from core.kernel.opener import open_file

_PIECE_BYTES = 1 << 20
_CHILD = Path(__file__).with_name("read_child.py")
_DATABASE = ".sqlite"


def pieces_of(path: Path, piece_bytes: int = _PIECE_BYTES) -> Iterator[bytes]:
    """Read any file of ours to its end. `piece_bytes`: at most, of each piece.

    A database is read by another process: POSIX takes from this one all its locks on a file when it closes any descriptor
    of it, and the next program that ends deletes the log under our connections. Source: "How To Corrupt An SQLite Database
    File", 2.2 (read 2026-11-24).

    Raises:
        OSError: as `open_file`; the other process could not be started, or could not read it.
    """
    if _DATABASE not in path.name:
        with open_file(path) as stream:
            while data := stream.read(piece_bytes):
                yield data
        return
    process = start_child(_CHILD, str(path.absolute()), stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        with process.stdout:
            while data := process.stdout.read(piece_bytes):
                yield data
        if process.wait():
            raise OSError(errno.EIO, "it could not be read", str(path))
    finally:
        process.kill()
        process.wait()
