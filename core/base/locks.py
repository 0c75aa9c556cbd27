"""Locks across threads and processes; the operating system frees them when a process dies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.base import paths
from core.base.disk import reported
from core.base.errors import LockedError
from core.base.opener import require_file

if TYPE_CHECKING:
    from filelock import FileLock

LOCK_WAIT_S = 10.0


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
            "Another window or command is writing to this discussion",
            remedy="Wait a moment and try again",
            where=str(directory),
        )
    try:
        yield
    finally:
        lock.release()


def take_lock(path: Path, *, wait_s: float = 0.0) -> FileLock | None:
    """Take an exclusive lock that any thread may release; None where another holder kept it all that time.

    Raises:
        StorageError: the lock file could not be made.
    """
    from filelock import FileLock, Timeout

    with reported("write to", path.parent):
        path.parent.stat()  # the lock must not make a directory anew that was deleted meanwhile
    with reported("lock", path):
        require_file(path)
        lock = FileLock(path, timeout=wait_s, thread_local=False, poll_interval=0.005, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            return None
        return lock
