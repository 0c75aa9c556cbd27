"""Writing of files that a person may save at the same moment: both their words and ours are there afterwards."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from core.kernel import paths
from core.kernel.codecs import read_json
from core.kernel.disk import (
    OS_DISK,
    Disk,
    append_file,
    make_dirs,
    reported,
    take_lock,
    write_file,
    write_passing,
)
from core.kernel.errors import LockedError, SlopError, StorageError
from core.kernel.language import tr
from core.kernel.opener import open_whole, read_file
from core.kernel.paths import knowledge_dir
from core.knowledge.categories import CategoryLine, line_end, parse_file, with_lines

ATTEMPTS = 20


class _ChangedMeanwhileError(Exception):
    """Somebody saved the file after it was read."""


class _UnlessChanged(Disk):
    """Renames over a file only while it is the one that was read."""

    def __init__(self, disk: Disk, path: Path, seen: tuple[int, ...]) -> None:
        self._disk, self._path, self._seen = disk, path, seen

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        return self._disk.open(path, flags, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return self._disk.write(fd, data)

    def fsync(self, fd: int) -> None:
        self._disk.fsync(fd)

    def replace(self, source: Path, target: Path) -> None:
        if file_stamp(self._path) != self._seen:
            raise _ChangedMeanwhileError
        self._disk.replace(source, target)


def change_file(path: Path, change: Callable[[bytes], bytes], *, disk: Disk = OS_DISK) -> bytes:
    """Rewrite a file atomically; a save by somebody else in between is taken in, not lost.

    Args:
        change: makes the new content from the old, empty bytes where there is no file; may be asked again.

    Returns:
        What the file holds now.

    Raises:
        StorageError: it is as it was; or somebody saves it all the time.
    """
    late: bytes | None = None
    for _ in range(ATTEMPTS):
        seen = file_stamp(path)
        fd = _open(path)
        try:
            before = b"" if fd is None else _read(fd)
            fd = _closed_where_held(fd)
            after = change(before if late is None else late)
            if after == before:
                return after
            write_file(path, after, disk=_UnlessChanged(disk, path, seen))
            late = None if fd is None else _read(fd)
            if late is None or late == before:
                return after
        except _ChangedMeanwhileError:
            late = None
        finally:
            if fd is not None:
                os.close(fd)
    raise StorageError(
        tr("The file {name!r} changes while the program writes", name=path.name),
        remedy=tr("Close the file in the other program and try again"),
        where=str(path),
    )


def ensure_lines(
    path: Path, name: str, lines: Sequence[CategoryLine], head: bytes, *, disk: Disk = OS_DISK
) -> None:
    """Have these items in a file, each once. What is there already is left; so it may be asked again after a crash.

    Args:
        name: below the knowledge directory; lines: of one file; head: what a file that is missing starts with.

    Raises:
        StorageError: some may be missing; the file is whole.
    """
    make_dirs(path.parent, disk=disk)
    for _ in range(ATTEMPTS):
        data = read_bytes(path)
        if problem := parse_file(name, data[:4096]).problem:
            raise StorageError(problem, where=str(path))
        missing = [line for line in lines if not has_line(data, line.text)]
        if not missing:
            return
        if name != "tasks.md" and data.endswith(b"\n"):
            end = line_end(data)
            added = b"".join(line.text.encode("utf-8", "replace") + end for line in missing)
            append_file(path, added, disk=disk)
        else:
            change_file(path, lambda old: with_lines(name, old or head, missing), disk=disk)  # noqa: B023
    raise StorageError(
        tr("The file {name!r} changes while the program writes", name=path.name),
        remedy=tr("Close the file in the other program and try again"),
        where=str(path),
    )


def cut_end(path: Path, lines: Sequence[CategoryLine], *, disk: Disk = OS_DISK) -> bool:
    """Take lines back that were just appended, by shortening the file: on a full disk nothing can be rewritten.

    Returns:
        Whether they stood at its end and are gone.
    """
    data = read_bytes(path)
    return cut_bytes(
        path,
        data,
        b"".join(line.text.encode("utf-8", "replace") + line_end(data) for line in lines),
        disk=disk,
    )


def cut_bytes(path: Path, data: bytes, block: bytes, *, disk: Disk = OS_DISK) -> bool:
    """Shorten a file by the bytes that it ends with. `data`: all that it held when it was read.

    Returns:
        Whether they stood at its end and are gone.
    """
    if not block or not data.endswith(block):
        return False
    with reported("write", path):
        fd = disk.open(path, os.O_RDWR)
        try:
            if os.fstat(fd).st_size != len(data):
                return False
            os.ftruncate(fd, len(data) - len(block))
            disk.fsync(fd)
        finally:
            os.close(fd)
    return True


def without_torn(data: bytes, lines: Sequence[CategoryLine]) -> bytes:
    """The file without a last line that is only the head of one of these: a write that a crash cut short."""
    torn = data[data.rfind(b"\n") + 1 :]
    starts = any(line.text.encode("utf-8", "replace").startswith(torn) for line in lines)
    is_ours = torn.startswith(b"- ") and starts and not any(has_line(torn, line.text) for line in lines)
    return data[: len(data) - len(torn)] if is_ours else data


def has_line(data: bytes, text: str) -> bool:
    """True if a file has exactly this line. O(n), in C."""
    line = text.encode("utf-8", "replace")
    at = data.find(line)
    while at >= 0:
        is_start = at == 0 or data[at - 1] == 10 or data[:at] == b"\xef\xbb\xbf"
        if is_start and data[at + len(line) : at + len(line) + 2].removeprefix(b"\r")[:1] in {b"", b"\n"}:
            return True
        at = data.find(line, at + 1)
    return False


def read_bytes(path: Path) -> bytes:
    """A file's bytes, none where there is no file.

    Raises:
        StorageError: it is there and cannot be read.
    """
    with reported("read", path):
        try:
            return read_file(path, None)
        except FileNotFoundError:
            return b""


def _open(path: Path) -> int | None:
    with reported("read", path):
        try:
            return open_whole(path)
        except FileNotFoundError:
            return None


def _closed_where_held(fd: int | None) -> int | None:
    """Windows renames over no open file, and lets nobody write to it behind our back in place of that."""
    if fd is not None and sys.platform == "win32":
        os.close(fd)
        return None
    return fd


def _read(fd: int) -> bytes:
    os.lseek(fd, 0, os.SEEK_SET)
    parts = []
    while part := os.read(fd, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def file_stamp(path: Path) -> tuple[int, ...]:
    """Mark of a file as it stands: another one where it was written or replaced since; empty where there is none."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


# Locks of knowledge's writers: a short one for each write, a long one for a harvest, across processes.

WRITE_LOCK, HARVEST_LOCK, WITHDRAWAL_LOCK = ".lock", ".harvest.lock", ".withdrawal.lock"
WRITE_WAIT_S = 10.0


@contextmanager
def write_lock(home: Path, *, disk: Disk = OS_DISK) -> Iterator[None]:
    """Hold the lock of one write. Not to be taken twice by one thread.

    Raises:
        LockedError: another process or thread wrote all that time; says who.
        StorageError: the knowledge directory cannot be made or written.
    """
    with _held(home, WRITE_LOCK, "writes knowledge", WRITE_WAIT_S, disk):
        yield


@contextmanager
def harvest_lock(home: Path, what: str, *, disk: Disk = OS_DISK) -> Iterator[None]:
    """Hold the lock of a harvest or its undo, for as long as it runs.

    Args:
        what: how the holder is named to others (`manual-slop harvest`, `the window`).

    Raises:
        LockedError: another one runs; says which program, its process and since when.
        StorageError: the knowledge directory cannot be made or written.
    """
    with _held(home, HARVEST_LOCK, what, 0.0, disk):
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
            tr("A removal from knowledge is still running"),
            remedy=tr("Wait until the other work has ended, then try again"),
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
            tr("Something else is writing to knowledge now: {writer}", writer=_holder(path)),
            remedy=tr("Wait until the other work has ended, then try again"),
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
        return tr(
            "{task} (process {pid}, since {since})",
            task=holder["what"],
            pid=holder["pid"],
            since=holder["since"],
        )
    except (OSError, ValueError, KeyError, TypeError):
        return tr("another window or command")


# Count of withdrawals from knowledge: what a provider was sent before must not be carried on then.

WITHDRAWALS_FILE = ".withdrawals"
_UNREADABLE = -1
"""Another count than any that was noted: what was sent before is rewritten."""


def withdrawal_count(home: Path) -> int:
    """The count, 0 before the first. Never fails: one that cannot be read is another than before."""
    try:
        data = read_bytes(paths.knowledge_dir(home) / WITHDRAWALS_FILE)
        return int(data) if data.strip() else 0
    except (SlopError, ValueError):
        return _UNREADABLE


@contextmanager
def withdrawing(home: Path, *, disk: Disk = OS_DISK) -> Iterator[None]:
    """Count a withdrawal, which the block carries out. Who reads knowledge for a request waits for its end.

    It is counted before, for a crash in between; and after, for a reader that did not wait: what it takes for current
    is old with the next.

    Raises:
        StorageError: it could not be counted, and nothing was taken out. LockedError: another program writes.
    """
    with withdrawal_lock(home, disk=disk):
        count_withdrawal(home, disk=disk)
        try:
            yield
        finally:
            count_withdrawal(home, disk=disk)


def count_withdrawal(home: Path, *, disk: Disk = OS_DISK) -> None:
    """Count one. Raises StorageError, LockedError: it is not counted."""
    path = paths.knowledge_dir(home) / WITHDRAWALS_FILE
    make_dirs(path.parent, disk=disk)
    with write_lock(home, disk=disk):
        write_file(path, b"%d\n" % (max(0, withdrawal_count(home)) + 1), disk=disk)
