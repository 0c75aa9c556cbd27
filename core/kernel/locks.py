"""Locks across threads and processes; the operating system frees them when a process dies."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from core.kernel import paths
from core.kernel.disk import reported
from core.kernel.errors import LockedError
from core.kernel.language import tr
from core.kernel.opener import open_descriptor, require_file

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK_WAIT_S = 10.0
_POLL_S = 0.005
_IS_HELD = frozenset({errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK})


class HeldLock(Protocol):
    """Exclusive lock of a file, held until it is released or the process ends."""

    def release(self) -> None:
        """Release the lock, from any thread. You can call this twice."""
        ...

    def stands(self) -> bool:
        """True while it is held and keeps others out: its file was not removed, nor another one put in its place."""
        ...


@contextmanager
def discussion_lock(directory: Path, *, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Hold the lock of one discussion's files. Not to be taken twice by one thread.

    Args:
        directory: of the discussion, must be there; wait_s: how long to wait for another holder.

    Raises:
        LockedError: another process or thread held it all that time.
        StorageError: the lock file could not be made (the discussion is gone, the home is read-only).
    """
    lock = take_lock(directory / paths.LOCK_FILE, wait_s=wait_s)
    if lock is None:
        raise LockedError(
            tr("Another window or command is writing to this discussion"),
            remedy=tr("Wait a moment and try again"),
            where=str(directory),
        )
    try:
        yield
    finally:
        lock.release()


def take_lock(path: Path, *, wait_s: float = 0.0) -> HeldLock | None:
    """Take an exclusive lock that any thread may release. None: another holder kept it for the whole wait.

    Args:
        wait_s: how long to wait for another holder, less than 0 for as long as it takes.

    Raises:
        StorageError: the lock file could not be made.
    """
    with reported("lock", path):
        end = time.monotonic() + wait_s
        while (lock := _tried(path)) is None and (wait_s < 0 or time.monotonic() < end):
            time.sleep(_POLL_S)
        return lock


class _Flock:
    """A lock file that is held by `flock`. A round of a turn takes about ten, and the library's cost 0.1 ms each."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    def stands(self) -> bool:
        """True while whoever comes next meets this very file. For the thread that releases it."""
        try:
            return self._descriptor >= 0 and os.path.samestat(os.fstat(self._descriptor), self._path.lstat())
        except OSError:
            return False

    def release(self) -> None:
        """Release the lock. You can call this twice."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0 or sys.platform == "win32":
            return
        import fcntl

        try:
            fcntl.flock(
                descriptor, fcntl.LOCK_UN
            )  # a program that is being started has a copy of the descriptor
        finally:
            os.close(descriptor)


def _tried(path: Path) -> HeldLock | None:
    """Try once."""
    if sys.platform == "win32":
        return _tried_by_library(path)
    import fcntl

    descriptor = open_descriptor(path, os.O_RDWR | os.O_CREAT, follows_links=False)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        if error.errno == errno.ENOSYS:  # a file system without it
            return _tried_by_library(path)
        if error.errno in _IS_HELD:
            return None
        raise
    lock = _Flock(path, descriptor)
    if lock.stands():
        return lock
    os.close(descriptor)  # it was removed or moved after it was opened: it keeps nobody out
    return None


class _LibraryLock:
    """A lock where the system has no `flock`."""

    def __init__(self, path: Path, lock: BaseFileLock) -> None:
        self._path, self._lock = path, lock

    def stands(self) -> bool:
        """True while its file is there: such systems keep a file that is open."""
        return self._lock.is_locked and self._path.exists()

    def release(self) -> None:
        """Release the lock. You can call this twice."""
        self._lock.release()


def _tried_by_library(path: Path) -> HeldLock | None:
    """Try once where the system has no `flock`."""
    from filelock import FileLock, Timeout

    path.parent.stat()  # the library would make a directory anew that was deleted meanwhile
    require_file(path)
    lock = FileLock(path, timeout=0, thread_local=False, mode=0o600)
    try:
        lock.acquire()
    except Timeout:
        return None
    return _LibraryLock(path, lock)
