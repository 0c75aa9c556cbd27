"""Disks that fail at one chosen call: no space, I/O error, read-only, torn write, the end of the program, a power cut."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from core.kernel.disk import Disk


class KilledError(BaseException):
    """The program ends here, without a chance to tidy up."""


class Fault(StrEnum):
    """What goes wrong at the chosen call. `NO_SPACE` and `READ_ONLY` last to the end of the run."""

    NO_SPACE = "no space"
    IO_ERROR = "I/O error"
    READ_ONLY = "read-only"
    TORN = "torn"
    KILL = "kill"
    POWER = "power cut"

    @property
    def ends_program(self) -> bool:
        """Whether nothing works any more from then on."""
        return self in {Fault.KILL, Fault.POWER}


_ERRNO = {
    Fault.NO_SPACE: errno.ENOSPC,
    Fault.IO_ERROR: errno.EIO,
    Fault.READ_ONLY: errno.EROFS,
    Fault.TORN: errno.ENOSPC,
}


@dataclass(frozen=True, slots=True)
class Point:
    """One call of the disk. `kind`: open, write, fsync, rename, unlink, make; `name`: of the file, home left out."""

    kind: str
    name: str


class PointDisk(Disk):
    """Counts its calls; fails at the n-th (0-based) as told. Nothing is synced for real: only `POWER` needs it.

    Args:
        home: below which names are told; at: which call fails, -1 for none.
    """

    def __init__(self, home: Path, at: int = -1, fault: Fault = Fault.KILL) -> None:
        self.home, self.at, self.fault = home, at, fault
        self.points: list[Point] = []
        self._names: dict[int, str] = {}

    @property
    def is_dead(self) -> bool:
        """Whether the program has ended."""
        return self.fault.ends_program and 0 <= self.at < len(self.points)

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        self._call("open", path, needs_space=bool(flags & os.O_CREAT) and not path.exists())
        fd = super().open(path, flags, mode)
        self._names[fd] = self._name(path)
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        halves = {Fault.TORN, Fault.KILL, Fault.POWER}
        if len(self.points) == self.at and self.fault in halves and not self.is_dead:
            super().write(fd, data[: len(data) // 2])
        self._call("write", fd, needs_space=True)
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        self._call("fsync", fd)

    def replace(self, source: Path, target: Path) -> None:
        self._call("rename", target)
        super().replace(source, target)

    def unlink(self, path: Path) -> None:
        self._call("unlink", path)
        super().unlink(path)

    def make_dir(self, path: Path) -> None:
        self._call("make", path, needs_space=True)
        super().make_dir(path)

    def end(self) -> None:
        """End the program. Raises KilledError here; another kind of disk ends it for real."""
        raise KilledError

    def _call(self, kind: str, where: Path | int, *, needs_space: bool = False) -> None:
        if self.is_dead:
            raise KilledError
        number = len(self.points)
        self.points.append(Point(kind, self._name(where)))
        if self.at < 0 or number < self.at:
            return
        if number == self.at and self.fault.ends_program:
            self.end()
        lasts = (self.fault is Fault.NO_SPACE and needs_space) or self.fault is Fault.READ_ONLY
        if number == self.at or lasts:
            raise OSError(_ERRNO[self.fault], os.strerror(_ERRNO[self.fault]))

    def _name(self, where: Path | int) -> str:
        if isinstance(where, int):
            return "a folder" if stat.S_ISDIR(os.fstat(where).st_mode) else self._names.get(where, "?")
        text, home = str(where), str(self.home)  # `relative_to` takes a tenth of all the tries together
        if text == home:
            return "."
        return text[len(home) + 1 :].replace(os.sep, "/") if text.startswith(home + os.sep) else where.name


class PowerDisk(PointDisk):
    """Remembers what was not synced yet, and loses all of that when the power goes: `lose` takes it back.

    A file's bytes count from its fsync, its name (made, renamed, removed) from the fsync of its folder.

    Args:
        attic: a folder beside the home, for what was replaced or removed.
    """

    def __init__(self, home: Path, attic: Path, at: int = -1) -> None:
        super().__init__(home, at, Fault.POWER)
        self._attic = attic
        self._unsynced: list[tuple[tuple[int, int], Callable[[], None]]] = []
        self._held: list[int] = []

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        is_new = bool(flags & os.O_CREAT) and not path.exists()
        fd = super().open(path, flags, mode)
        if is_new:
            self._later(path.parent, lambda: path.unlink(missing_ok=True))
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        size, held = os.fstat(fd).st_size, os.dup(fd)
        self._held.append(held)
        self._unsynced.append((_inode(os.fstat(fd)), lambda: os.ftruncate(held, size)))
        return super().write(fd, data)

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        synced = _inode(os.fstat(fd))
        self._unsynced = [one for one in self._unsynced if one[0] != synced]

    def replace(self, source: Path, target: Path) -> None:
        kept = self._kept(target)
        super().replace(source, target)

        def back() -> None:
            os.replace(target, source)
            if kept is not None:
                os.link(kept, target)

        self._later(target.parent, back)

    def unlink(self, path: Path) -> None:
        kept, folder = self._kept(path), path.parent.stat()
        super().unlink(path)

        def back() -> None:
            path.parent.mkdir(
                parents=True, exist_ok=True
            )  # it may have been removed too, as unsynced as this
            if kept is not None:
                os.link(kept, path)
            os.utime(path.parent, ns=(folder.st_atime_ns, folder.st_mtime_ns))

        self._unsynced.append((_inode(folder), back))

    def make_dir(self, path: Path) -> None:
        super().make_dir(path)
        self._later(path.parent, path.rmdir)

    def lose(self) -> None:
        """Take back what the medium never got. O(calls since their sync)."""
        for _, back in reversed(self._unsynced):
            back()
        self._unsynced.clear()

    def close(self) -> None:
        """Let go of the files that were held open."""
        for fd in self._held:
            os.close(fd)
        self._held.clear()

    def _later(self, folder: Path, back: Callable[[], None]) -> None:
        self._unsynced.append((_inode(folder.stat()), back))

    def _kept(self, path: Path) -> Path | None:
        if not path.is_file():
            return None
        kept = self._attic / str(len(self.points))
        os.link(path, kept)
        return kept


def _inode(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
