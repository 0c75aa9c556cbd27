"""Small settings files: replaced whole, and changed under a lock across processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.base.disk import make_dirs, write_file
from core.base.errors import LockedError
from core.base.locks import LOCK_WAIT_S, take_lock


def replace_file(path: Path, data: bytes, *, new_mode: int = 0o600) -> None:
    """Write a settings file; any crash leaves the old or the new content. Its folder is made.

    Args:
        new_mode: permission bits of a file that is not there yet; one that is keeps its own.

    Raises:
        StorageError: it could not be written; nothing was changed.
    """
    make_dirs(path.parent)
    write_file(path, data, mode=None if path.exists() else new_mode)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a settings file (`<name>.lock` beside it) while it is read, changed and written.

    Raises:
        LockedError: another process kept it too long. StorageError: the lock could not be made.
    """
    make_dirs(path.parent)
    lock = take_lock(path.with_name(f"{path.name}.lock"), wait_s=LOCK_WAIT_S)
    if lock is None:
        raise LockedError(
            "Another process is writing this settings file", remedy="Try again", where=str(path)
        )
    try:
        yield
    finally:
        lock.release()
