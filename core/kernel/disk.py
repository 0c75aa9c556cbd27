"""Writing that a crash cannot halve: atomic replace, append with rollback, failures as plain sentences; and locks across processes."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from core.kernel import paths
from core.kernel.errors import LockedError, StorageError
from core.kernel.language import tr
from core.kernel.opener import (
    HeldFolder,
    OddFileError,
    make_folder,
    open_descriptor,
    require_file,
    write_target,
)

if TYPE_CHECKING:
    from filelock import BaseFileLock


_LEFTOVER_AGE = timedelta(hours=1)


class Disk:
    """The system calls that fail for want of space or rights. Tests put one in its place that fails on purpose."""

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        """Open a regular file for bytes, as `open_descriptor`."""
        return open_descriptor(path, flags, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write some of `data`, as `os.write`."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """Return once the file's bytes are on the medium."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)

    def replace(self, source: Path, target: Path) -> None:
        """Rename a file or directory, as `os.replace`."""
        os.replace(source, target)

    def unlink(self, path: Path) -> None:
        """Remove a file's name, as `os.unlink`."""
        path.unlink()

    def make_dir(self, path: Path) -> None:
        """Make one directory that only its owner can enter."""
        make_folder(path)


OS_DISK = Disk()


_MANY = 16
"""Files from which on one wait for the whole system costs less than a wait for each."""


class LaterDisk(Disk):
    """Waits for the medium once for many files: nothing counts as written before `settle`."""

    def __init__(self, disk: Disk = OS_DISK) -> None:
        self._disk = disk
        self._open: list[int] = []

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:  # noqa: D102
        return self._disk.open(path, flags, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:  # noqa: D102
        return self._disk.write(fd, data)

    def fsync(self, fd: int) -> None:
        """Keep the file open for `settle`."""
        self._open.append(os.dup(fd))

    def replace(self, source: Path, target: Path) -> None:  # noqa: D102
        self._disk.replace(source, target)

    def unlink(self, path: Path) -> None:  # noqa: D102
        self._disk.unlink(path)

    def make_dir(self, path: Path) -> None:  # noqa: D102
        self._disk.make_dir(path)

    @property
    def waiting(self) -> int:
        """Files that are held open."""
        return len(self._open)

    def settle(self) -> None:
        """Return once all that was written is on the medium. Raises OSError: some of it may not be."""
        waiting = self._open
        try:
            if len(waiting) > _MANY and self._disk is OS_DISK and sys.platform == "linux":
                os.sync()  # waits for all of them at once; each by itself flushes the device anew
                return
            for fd in {os.fstat(fd).st_ino: fd for fd in waiting}.values():
                self._disk.fsync(fd)
        finally:
            self.drop()

    def drop(self) -> None:
        """Wait for nothing: what was written counts no more."""
        waiting, self._open = self._open, []
        for fd in waiting:
            os.close(fd)


class Appended(msgspec.Struct, frozen=True):
    """Place and size of an append.

    Args:
        offset: of the first byte of the data; size_bytes: of the file now.
        was_torn: the file ended in the middle of a line; that line was closed first.
    """

    offset: int
    size_bytes: int
    was_torn: bool = False


def write_file(
    path: Path, data: bytes, *, mode: int | None = None, disk: Disk = OS_DISK, follows_links: bool = True
) -> None:
    """Replace a file's content: at any instant the old or the new is there, whole.

    Args:
        path: the directory must be there. A pipe, socket or device at it gives way; a folder does not.
        mode: permission bits; None keeps those of the old file, or 0600 for a new one.
        follows_links: a link's target is replaced, where it leads to a file or to nothing; else the link itself is.

    Raises:
        StorageError: nothing was changed.
    """
    with reported("write", path):
        target = write_target(path) if follows_links else path
        bits = _old_mode(target) if mode is None else mode
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        try:
            _write_new(temporary, data, bits, disk)
            disk.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_dir(target.parent, disk)


def write_held(
    folder: HeldFolder, name: str, data: bytes, is_unchanged: Callable[[], bool], *, mode: int | None = None
) -> bool:
    """Replace a file in a held folder, or make it: at any instant the old or the new is there, whole.

    Args:
        is_unchanged: asked last of all, when the new bytes are on the medium: False leaves all as it is.
        mode: permission bits; None: those of any new file under the umask.

    Returns:
        True if it was written; False where `is_unchanged` said no.

    Raises:
        OSError: nothing was changed.
    """
    temporary = f".{name[:100]}.{secrets.token_hex(4)}.tmp"
    nameless = folder.open_nameless(0o666)
    is_named = nameless is None
    fd = folder.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666) if nameless is None else nameless
    try:
        try:
            if mode is not None and sys.platform != "win32":
                os.fchmod(fd, mode)
            _write_all(fd, data, OS_DISK)
            OS_DISK.fsync(fd)
            is_taken = is_unchanged()
            if is_taken and not is_named:  # from here to the renaming alone a kill leaves it, whole
                folder.link(fd, temporary)
                is_named = True
        finally:
            os.close(fd)
        if is_taken:
            folder.replace(temporary, name)
    except BaseException:
        if is_named:
            with suppress(OSError):
                folder.unlink(temporary)
        raise
    if not is_taken:
        if is_named:
            folder.unlink(temporary)
        return False
    if folder.descriptor is not None:
        with suppress(OSError):  # the file is whole; its name may be lost with the power
            OS_DISK.fsync(folder.descriptor)
    return True


def create_file(path: Path, data: bytes, *, disk: Disk = OS_DISK) -> None:
    """Write a file that is not there yet, mode 0600. A link of that name is not followed.

    Raises:
        StorageError: something has that name, or it could not be written; no part of it is left.
    """
    with reported("write", path):
        try:
            _write_new(path, data, 0o600, disk)
        except FileExistsError:
            raise
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
        sync_dir(path.parent, disk)


def free_name(path: Path, now: datetime) -> Path:
    """A name beside a path that nothing has, with the time in it. Raises StorageError where hundred are taken."""
    stamp = f"{now:%Y%m%d-%H%M%S}"
    names = (path.with_name(f"{path.name}.{stamp}{more}") for more in ("", *(f"-{n}" for n in range(2, 100))))
    target = next((one for one in names if not os.path.lexists(one)), None)
    if target is None:
        raise StorageError(
            tr("No free name beside {path}", path=path),
            remedy=tr("Move the file or folder away yourself"),
            where=str(path),
        )
    return target


def write_passing(path: Path, data: bytes) -> None:
    """Replace a file's content, mode 0600, without waiting for the medium: for what ends with the programs that run.

    Raises:
        StorageError: the old content stands.
    """
    with reported("write", path):
        new = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
        try:
            fd = OS_DISK.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            try:
                _write_all(fd, data, OS_DISK)
            finally:
                os.close(fd)
            new.replace(path)
        except BaseException:
            with suppress(OSError):
                new.unlink()
            raise


def append_file(path: Path, data: bytes, *, disk: Disk = OS_DISK) -> Appended:
    """Append lines to a file and return once they are on the medium. The caller holds the file's lock.

    A last line without its LF (a torn write) is closed first, so that the data starts on a line of its own.

    Raises:
        StorageError: nothing was added; what had been written of `data` was cut off again.
    """
    with reported("write", path):
        fd = disk.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            appended = _append(fd, data, disk)
        finally:
            os.close(fd)
        if not appended.offset:  # it may be new
            sync_dir(path.parent, disk)
        return appended


def remove_file(path: Path, *, disk: Disk = OS_DISK) -> None:
    """Remove a file and return once that is on the medium; one that is not there is fine.

    Raises:
        StorageError: it is still there.
    """
    with reported("remove", path):
        try:
            disk.unlink(path)
        except FileNotFoundError:
            return
        sync_dir(path.parent, disk)


def remove_tree(path: Path, *, disk: Disk = OS_DISK) -> None:
    """Remove a folder with all that is in it; links go, what they point to stays. What cannot be removed is left."""
    for folder, folders, names in os.walk(path, topdown=False):
        for name in [*names, *(name for name in folders if os.path.islink(Path(folder, name)))]:
            with suppress(OSError):
                disk.unlink(Path(folder, name))
        with suppress(OSError):
            os.rmdir(folder)


def make_dirs(path: Path, *, disk: Disk = OS_DISK) -> None:
    """Make a directory and its parents where they are missing, mode 0700, durably.

    Raises:
        StorageError: it could not be made.
    """
    if path.is_dir():
        return
    make_dirs(path.parent, disk=disk)
    with reported("make", path):
        with suppress(FileExistsError):
            disk.make_dir(path)
        sync_dir(path.parent, disk)


def sync_dir(path: Path, disk: Disk = OS_DISK) -> None:
    """Return once the names in a directory are on the medium. Windows keeps them without being asked."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        disk.fsync(fd)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # a file system that syncs no directories
            raise
    finally:
        os.close(fd)


def remove_leftovers(directory: Path, now: datetime) -> int:
    """Remove temporary files that a killed process left behind more than an hour ago. Returns how many."""
    removed = 0
    with suppress(OSError):
        for path in directory.glob(".*.tmp"):
            with suppress(OSError):
                if now - datetime.fromtimestamp(path.stat().st_mtime, UTC) > _LEFTOVER_AGE:
                    path.unlink()
                    removed += 1
    return removed


@contextmanager
def reported(verb: str, path: Path) -> Iterator[None]:
    """Turn an `OSError` inside the block into a `StorageError` that says what could not be done to `path`."""
    try:
        yield
    except OSError as error:
        raise storage_error(verb, path, error) from error


def storage_error(verb: str, path: Path, error: OSError) -> StorageError:
    """Say an operating system's failure plainly, with what to do about it."""
    if isinstance(error, OddFileError):
        reason, remedy = str(error.strerror), error.remedy
    else:
        reason, remedy = _REASONS.get(
            error.errno or 0, (error.strerror or str(error), tr("Check the path and try again"))
        )
    return StorageError(
        tr("The program could not {verb} {name!r}: {reason}", verb=verb, name=path.name, reason=reason),
        remedy=remedy,
        where=str(path),
        errno=error.errno,
    )


_REASONS = {
    errno.ENOSPC: (tr("the disk is full"), tr("Free some space and try again")),
    errno.EDQUOT: (tr("your disk quota is used up"), tr("Free some space and try again")),
    errno.EFBIG: (
        tr("the file would be too large for this file system"),
        tr("Move the data folder to another file system"),
    ),
    errno.EROFS: (
        tr("the file system is read-only"),
        tr("Make the data folder writable, or choose another data folder with --home"),
    ),
    errno.EACCES: (
        tr("permission denied"),
        tr("Give yourself access to the file, or choose another data folder with --home"),
    ),
    errno.EPERM: (
        tr("the operating system does not allow this"),
        tr("Give yourself access to the file, or choose another data folder"),
    ),
    errno.ENOENT: (
        tr("the file or folder is missing"),
        tr("Someone may have moved or deleted the file; look in the trash"),
    ),
    errno.ENOTDIR: (tr("a file is where a folder should be"), tr("Move that file away")),
    errno.EISDIR: (tr("a folder is where a file should be"), tr("Move that folder away")),
    errno.EEXIST: (
        tr("a file or folder with this name already exists"),
        tr("Choose another name, or move the old file away"),
    ),
    errno.ENOTEMPTY: (tr("a file or folder with this name already exists"), tr("Try again")),
    errno.ENAMETOOLONG: (tr("the name is too long"), tr("Choose a shorter path for the data folder")),
    errno.EMFILE: (tr("too many files are open"), tr("Close some discussions or programs and try again")),
    errno.EIO: (tr("the disk reported a fault"), tr("Check the disk, and back up the data folder")),
    errno.ELOOP: (tr("the path leads through a loop of links"), tr("Remove the links")),
    errno.EXDEV: (
        tr("the program cannot move a file to another file system"),
        tr("Keep the whole data folder on one file system"),
    ),
    errno.EBUSY: (tr("another program uses the file"), tr("Close that program and try again")),
}


def _old_mode(path: Path) -> int:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return 0o600
    return stat.S_IMODE(status.st_mode) if stat.S_ISREG(status.st_mode) else 0o600


def _write_new(path: Path, data: bytes, mode: int, disk: Disk) -> None:
    fd = disk.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        if sys.platform != "win32":
            os.fchmod(fd, mode)  # the umask must not narrow or widen what was asked
        _write_all(fd, data, disk)
        disk.fsync(fd)
    finally:
        os.close(fd)


def _append(fd: int, data: bytes, disk: Disk) -> Appended:
    size = os.fstat(fd).st_size
    was_torn = _is_torn(fd, size)
    try:
        _write_all(fd, b"\n" + data if was_torn else data, disk)
        disk.fsync(fd)
    except BaseException:
        with suppress(OSError):
            os.ftruncate(fd, size)
            disk.fsync(fd)
        raise
    offset = size + was_torn
    return Appended(offset=offset, size_bytes=offset + len(data), was_torn=was_torn)


def _is_torn(fd: int, size: int) -> bool:
    if size == 0:
        return False
    os.lseek(fd, size - 1, os.SEEK_SET)
    return os.read(fd, 1) != b"\n"


def _write_all(fd: int, data: bytes, disk: Disk) -> None:
    view = memoryview(data)
    while view:
        view = view[disk.write(fd, view) :]


# Removal of a folder that commands wrote in: however deep it is, and whatever they closed in it.


def remove_whole(top: str | Path) -> None:
    """Remove a folder with all that is in it; links go, what they point to stays.

    A tree may be deeper than a path is long, or than Python calls itself: each folder is moved up before it is emptied.
    Nothing may run in it any more.

    Raises:
        OSError: some of it is left; as much went as could.
    """
    top = os.fspath(top)
    problems: list[OSError] = []
    with suppress(OSError):
        os.chmod(top, 0o700)
    shelf = tempfile.mkdtemp(dir=top)
    waiting, number = [top], 0
    while waiting:
        folder = waiting.pop()
        try:
            entries = tuple(os.scandir(folder))
        except OSError as error:
            problems.append(error)
            continue
        for entry in entries:
            if entry.path == shelf:
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    moved = os.path.join(shelf, str(number))
                    os.chmod(entry.path, 0o700)
                    os.rename(entry.path, moved)
                    waiting.append(moved)
                    number += 1
                else:
                    os.unlink(entry.path)
            except OSError as error:
                problems.append(error)
        if folder != top:
            _remove_folder(folder, problems)
    _remove_folder(shelf, problems)
    _remove_folder(top, problems)
    if problems:
        raise problems[0]


def _remove_folder(path: str, problems: list[OSError]) -> None:
    try:
        os.rmdir(path)
    except OSError as error:
        problems.append(error)


# Locks across threads and processes; the operating system frees them when a process dies.


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
