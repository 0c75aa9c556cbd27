"""Locks of knowledge's writers: a short one for each write, a long one for a harvest, across processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from core.base.disk import OS_DISK, Disk, make_dirs, write_passing
from core.base.errors import LockedError, StorageError
from core.base.json_text import read_json
from core.base.locks import take_lock
from core.base.opener import read_file
from core.base.paths import knowledge_dir

WRITE_LOCK, HARVEST_LOCK, WITHDRAWAL_LOCK = ".lock", ".harvest.lock", ".withdrawal.lock"
WRITE_WAIT_S = 10.0


@contextmanager
def write_lock(home: Path, *, wait_s: float = WRITE_WAIT_S, disk: Disk = OS_DISK) -> Iterator[None]:
    """Hold the lock of one write. Not to be taken twice by one thread.

    Raises:
        LockedError: another process or thread wrote all that time; says who.
        StorageError: the knowledge directory cannot be made or written.
    """
    with _held(home, WRITE_LOCK, "writes knowledge", wait_s, disk):
        yield


@contextmanager
def harvest_lock(home: Path, what: str, *, wait_s: float = 0.0, disk: Disk = OS_DISK) -> Iterator[None]:
    """Hold the lock of a harvest or its undo, for as long as it runs.

    Args:
        what: how the holder is named to others (`manual-slop harvest`, `the window`).

    Raises:
        LockedError: another one runs; says which program, its process and since when.
        StorageError: the knowledge directory cannot be made or written.
    """
    with _held(home, HARVEST_LOCK, what, wait_s, disk):
        yield


@contextmanager
def withdrawal_lock(home: Path, *, disk: Disk = OS_DISK) -> Iterator[None]:
    """Hold the lock of taking something out. Not to be taken twice by one thread; before the lock of a write.

    Raises:
        LockedError: another one took something out all that time. StorageError: as of `write_lock`.
    """
    with _held(home, WITHDRAWAL_LOCK, "takes something out", WRITE_WAIT_S, disk):
        yield


def await_withdrawal(home: Path, *, wait_s: float = WRITE_WAIT_S) -> None:
    """Wait until nothing is being taken out: what is read from then on is without it.

    Raises:
        LockedError: it took longer. Nothing where no lock can be had: then nobody takes anything out either.
    """
    path = knowledge_dir(home) / WITHDRAWAL_LOCK
    if not path.exists():
        return
    try:
        lock = take_lock(path, wait_s=wait_s)
    except StorageError:
        return
    if lock is None:
        raise LockedError(
            "Something is still being taken out of knowledge",
            remedy="Wait until that has ended and try again",
            where=str(path.parent),
        )
    lock.release()


@contextmanager
def _held(home: Path, name: str, what: str, wait_s: float, disk: Disk) -> Iterator[None]:
    directory = knowledge_dir(home)
    make_dirs(directory, disk=disk)
    path = directory / name
    lock = take_lock(path, wait_s=wait_s)
    if lock is None:
        raise LockedError(
            f"Knowledge is being written by {_holder(path)}",
            remedy="Wait until that has ended and try again",
            where=str(directory),
        )
    try:
        if name == HARVEST_LOCK:
            _sign(path, what)
        yield
    finally:
        lock.release()


def _sign(path: Path, what: str) -> None:
    """Say who holds it, beside the lock: what is in a locked file cannot be read on every platform."""
    with suppress(StorageError):
        holder = {"pid": os.getpid(), "what": what, "since": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"}
        write_passing(path.with_suffix(".holder"), json.dumps(holder).encode())


def _holder(path: Path) -> str:
    try:
        holder = read_json(read_file(path.with_suffix(".holder")))
        return f"{holder['what']} (process {holder['pid']}, since {holder['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another window or command"
