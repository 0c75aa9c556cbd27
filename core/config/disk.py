"""Small settings files on disk: replaced whole, fsynced, under a lock across processes."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from core.errors import LockedError, StorageError

LOCK_TIMEOUT_S = 10.0


def replace_file(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a file so that any crash leaves the old or the new content, never a part.

    Args:
        path: followed where it is a link; its folder is made.
        mode: permission bits. None: those of the file it replaces, else the default of the process.

    Raises:
        StorageError: it could not be written; the old file stands as it was.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        bits = mode if mode is not None else _mode_of(target)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, bits)
            os.replace(name, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
            raise
        sync_folder(target.parent)
    except OSError as error:
        raise StorageError(
            f"The file could not be written ({error.strerror})",
            remedy="Check that the folder may be written and the disk has room",
            where=str(path),
            errno=error.errno,
        ) from error


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the platform can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of a settings file (`<name>.lock` beside it) while it is read, changed and written.

    Raises:
        LockedError: another process kept it for `LOCK_TIMEOUT_S`.
        StorageError: the lock's file could not be made.
    """
    import filelock

    lock = filelock.FileLock(f"{path}.lock", timeout=LOCK_TIMEOUT_S)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout as error:
        raise LockedError(
            "Another process is writing this settings file", remedy="Try again", where=str(path)
        ) from error
    except OSError as error:
        raise StorageError(
            f"The settings folder cannot be written ({error.strerror})",
            remedy="Check that you may write there and the disk has room",
            where=str(path),
            errno=error.errno,
        ) from error
    try:
        yield
    finally:
        lock.release()


def _mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    """The process's mask, read without changing it where the system can say."""
    try:
        with Path("/proc/self/status").open(encoding="ascii") as file:
            return next((int(line.split()[1], 8) for line in file if line.startswith("Umask:")), 0o022)
    except OSError:
        return 0o022
