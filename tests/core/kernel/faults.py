"""Disks that fail on purpose, as a full, a read-only or a dying one does."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from core.kernel.disk import Disk, take_lock
from core.kernel.values.records import Record
from core.talk.discussion import discussion_store
from tests.core.records import ID, meta


class FullDisk(Disk):
    """Takes `room` bytes, then there is no space left, in the middle of a write as real ones do."""

    def __init__(self, room: int, number: int = errno.ENOSPC) -> None:
        self.room = room
        self.number = number

    def write(self, fd: int, data: bytes | memoryview) -> int:
        taken = data[: self.room]
        if not taken:
            raise OSError(self.number, os.strerror(self.number))
        self.room -= len(taken)
        return super().write(fd, taken)


class ReadOnlyDisk(Disk):
    """Refuses to open, rename or make anything, as a read-only mount does, to root too."""

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    def replace(self, source: Path, target: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    def make_dir(self, path: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))


class DyingDisk(Disk):
    """Writes well and fails to sync, from the n-th sync on (0-based)."""

    def __init__(self, good_syncs: int = 0) -> None:
        self.good_syncs = good_syncs

    def fsync(self, fd: int) -> None:
        if self.good_syncs == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self.good_syncs -= 1
        super().fsync(fd)


class StuckDisk(Disk):
    """Cannot rename, as over a file that another program holds open."""

    def replace(self, source: Path, target: Path) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


class WatchedDisk(Disk):
    """Notes at every write and sync whether somebody holds a lock, as another process would find it."""

    def __init__(self, lock_file: Path) -> None:
        self.lock_file = lock_file
        self.was_held: list[bool] = []

    def _look(self) -> None:
        lock = take_lock(self.lock_file)
        self.was_held.append(lock is None)
        if lock is not None:
            lock.release()

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._look()
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self._look()
        super().fsync(fd)


class CountingDisk(Disk):
    """Remembers what was asked of it, in order."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self.calls.append("write")
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self.calls.append("fsync")
        super().fsync(fd)

    def replace(self, source: Path, target: Path) -> None:
        self.calls.append("replace")
        super().replace(source, target)


def made(home: Path, records: Iterable[Record] = (), discussion_id: str = ID) -> Path:
    """A discussion in a home; returns its directory."""
    discussion_store.create(home, meta(discussion_id), records)
    return home / "discussions" / discussion_id


def names(directory: Path) -> set[str]:
    """What lies in a directory, without locks."""
    return {path.name for path in directory.iterdir() if not path.name.endswith("lock")}
