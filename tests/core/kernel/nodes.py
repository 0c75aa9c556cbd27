"""Every kind of thing that may stand at a file's name."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

HUGE_BYTES = 1 << 40


def _socket(path: Path) -> None:
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)  # by its name alone: an address has at most 108 bytes


def _unreadable(path: Path) -> None:
    path.write_bytes(b"x")
    path.chmod(0)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE_BYTES)


NODES: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a loop of links": lambda path: path.symlink_to(path.name),
    "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a link to /dev/stdin": lambda path: path.symlink_to("/dev/stdin"),
    "a socket": _socket,
    "an unreadable file": _unreadable,
    "a huge file of holes": _huge,
    "an empty file": Path.touch,
    "a file of noise": lambda path: path.write_bytes(bytes(range(256)) * 40),
}
"""Makers of each kind at a path that is free."""

NO_FILES = tuple(NODES)[:6]
"""Kinds that are no regular files."""


def put(path: Path, kind: str) -> Path:
    """Put a node at a path in place of whatever stands there; its folder is made. Returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    NODES[kind](path)
    return path
