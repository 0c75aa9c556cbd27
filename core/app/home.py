"""The home itself: its format, who owns it, whether it can be written, and the window's own state."""

from __future__ import annotations

import errno
import glob
import os
import platform
import re
import secrets
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from core.agent.commands import survivors
from core.app.app_messages import OwnerChanged, RaiseRequested
from core.kernel import paths
from core.kernel.codecs import TomlError, decode_toml, read_toml
from core.kernel.disk import (
    OS_DISK,
    Disk,
    HeldLock,
    make_dirs,
    remove_leftovers,
    remove_tree,
    reported,
    take_lock,
    write_file,
)
from core.kernel.errors import LockedError, SlopError, StorageError
from core.kernel.language import tr
from core.kernel.opener import BOOK_BYTES, oddities, read_file

FORMAT = 1
_MARKER = "in-progress.toml"
LOOK_S = 0.2
"""A look at whether a home is owned holds its lock for a moment."""

_STAGING_AGE = timedelta(hours=1)


class Migration(msgspec.Struct, frozen=True):
    """Step that makes a home of one format into one of the next.

    Args:
        from_format: the format it reads; it leaves `from_format + 1`.
        touches: the files, relative to the home, that it changes, makes or removes; they are backed up first.
        run: does it; may be cut short at any point, the backup is put back before it runs again.
    """

    from_format: int
    touches: Callable[[Path], Iterable[Path]]
    run: Callable[[Path], None]


MIGRATIONS: tuple[Migration, ...] = ()
"""In order of `from_format`; format 1 is the first, so nothing to migrate yet."""


class OpenHome(msgspec.Struct, frozen=True):
    """A home that can be read, and written unless `is_read_only`. `notes`: what was made, repaired or migrated, and what survived."""

    root: Path
    is_read_only: bool = False
    notes: tuple[str, ...] = ()


class Holder(msgspec.Struct, frozen=True):
    """The process that owns a home. `pid` is 0 where it did not say."""

    pid: int = 0
    host: str = ""

    @property
    def words(self) -> str:
        """Its name for a person."""
        if not self.pid:
            return tr("another program")
        if self.host in {"", platform.node()}:
            return tr("process {pid}", pid=self.pid)
        return tr("process {pid} on {host}", pid=self.pid, host=self.host)


class HomeLock:
    """Ownership of a home by this process, until `release` or the end of the process, however it comes."""

    def __init__(self, root: Path, lock: HeldLock) -> None:
        self._root, self._lock = root, lock

    def take_raise_request(self) -> bool:
        """True if another start asked for this window since the last call. Cheap: poll it a few times a
        second.
        """
        try:
            (self._root / paths.RAISE_FILE).unlink()
        except OSError:
            return False
        return True

    def stands(self) -> bool:
        """True while it keeps others out. False once its file was removed: who starts then owns the home as well."""
        return self._lock.stands()

    def release(self) -> None:
        """Release the home. Leaves the files of another program that owns the home by now."""
        if self._lock.stands():
            with suppress(OSError):
                (self._root / paths.OWNER_FILE).unlink()
        self._lock.release()


def open_home(
    root: Path,
    now: datetime,
    *,
    disk: Disk = OS_DISK,
    current_format: int = FORMAT,
    migrations: tuple[Migration, ...] = MIGRATIONS,
) -> OpenHome:
    """Open a home, making or migrating it where need be. Take `acquire` first, so that no other program is in it.

    Args:
        now: UTC; names backups and tells old leftovers from live files.

    Raises:
        StorageError: it cannot be made or read, is of a newer format (nothing is touched), needs a migration and
            is read-only, or a migration failed (what it changed was put back).
    """
    found = _read_format(root)
    if found is not None and found > current_format:
        raise StorageError(
            tr(
                "This data folder has format {found}; this program reads formats up to {current_format}",
                found=found,
                current_format=current_format,
            ),
            remedy=tr(
                "Update Manual Slop, or choose another data folder with --home; the data folder is unchanged"
            ),
            where=str(root),
        )
    if not is_writable(root, disk):
        return _open_read_only(root, found, current_format)
    make_dirs(paths.discussions_dir(root), disk=disk)
    _remove_staging(root, now)
    notes: tuple[str, ...] = ()
    if found is None:
        _write_format(root, current_format, disk)
        notes = (tr("The program made a new data folder in {root}", root=root),)
    elif found < current_format:
        notes = _migrate(root, found, current_format, migrations, now, disk)
    _finish_backups(root)
    return OpenHome(root=root, notes=(*notes, *_remove_unpacked(root), *survivors(root)))


def folder_of(root: Path) -> Path:
    """Folder of a home whose name may be a link: a restore replaces the folder, and the link stays."""
    return Path(os.path.realpath(root))


def restore_folders(root: Path, now: datetime) -> tuple[Path, Path]:
    """Two free names beside a home: where a restore unpacks, and where it puts the old home. One mark joins them."""
    mark = secrets.token_hex(4)
    aside = root.with_name(f"{root.name}.before-restore-{now:%Y%m%d-%H%M%S}-{mark}")
    return root.with_name(f".{root.name}.restore-{mark}"), aside


def take_back(root: Path, wait_s: float = LOOK_S) -> Holder | None:
    """Put the old home back in its place, where a restore was cut off after it had put that aside and before it put the new one.

    Args:
        wait_s: for a restore that goes on.

    Returns:
        The process whose restore goes on even then; nothing was changed.

    Raises:
        StorageError: it could not be renamed.
    """
    root = folder_of(root)
    name = glob.escape(root.name)
    for staging in () if root.exists() else sorted(root.parent.glob(f".{name}.restore-*")):
        mark = glob.escape(staging.name.rpartition("-")[2])
        for aside in sorted(root.parent.glob(f"{name}.before-restore-*-{mark}")):
            try:
                lock = take_lock(staging / paths.HOME_LOCK_FILE, wait_s=wait_s)
            except StorageError:
                if not root.exists():  # else the restore has put the new home, which was `staging`
                    raise
                return None
            if lock is None:
                return None if root.exists() else named_holder(staging)
            try:
                if not root.exists():
                    with reported("rename", aside):
                        os.rename(aside, root)
            finally:
                lock.release()
            return None
    return None


def _remove_unpacked(root: Path) -> tuple[str, ...]:
    """Remove what a restore had unpacked that was cut off, and say so. One that goes on holds its lock and is left alone."""
    removed = False
    root = folder_of(root)
    for staging in root.parent.glob(f".{glob.escape(root.name)}.restore-*"):
        with suppress(StorageError):
            if owner(staging) is None:
                remove_tree(staging)
                removed = True
    told = tr("A restore was cut off before it replaced anything; the program removed what it had unpacked")
    return (told,) if removed else ()


def acquire(root: Path, wait_s: float = LOOK_S) -> HomeLock | Holder:
    """Become the one program that owns a home. `wait_s`: for one that only looks, or is about to end.

    Returns:
        The lock, or who holds it: then call `ask_to_raise` and end.

    Raises:
        StorageError: the home cannot be written; a read-only home needs no owner.
    """
    restoring = take_back(root)
    if restoring is not None:
        return restoring
    if not root.exists():
        make_dirs(root)
    lock = take_lock(root / paths.HOME_LOCK_FILE, wait_s=wait_s)
    if lock is None:
        return named_holder(root)
    with suppress(OSError):
        (root / paths.RAISE_FILE).unlink()
    owner = {"pid": os.getpid(), "host": platform.node()}
    with suppress(
        StorageError
    ):  # it only tells another start who we are; a full disk must not keep a person out
        write_file(root / paths.OWNER_FILE, _toml(owner))
    return HomeLock(root, lock)


def owner(root: Path) -> Holder | None:
    """The process that owns a home now, None if there is none. Ignores the remains of a killed one.

    Raises:
        StorageError: the home cannot be looked into.
    """
    lock = take_lock(root / paths.HOME_LOCK_FILE)
    if lock is None:
        return named_holder(root)
    lock.release()
    return None


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Hold a home for the time of a command that no other program may see half done.

    Raises:
        LockedError: a program owns it. StorageError: the home cannot be used.
    """
    held = acquire(root)
    if not isinstance(held, HomeLock):
        raise LockedError(
            tr(
                "Manual Slop ({words}) has this data folder open, so nothing was changed",
                words=held.words,
            ),
            remedy=tr("Use the Manual Slop that already runs, or close it first"),
            where=str(root),
        )
    try:
        yield
    finally:
        held.release()


def own(root: Path) -> HomeLock | None:
    """Become the program that owns a home, or ask the one that does to come forward.

    Returns:
        The lock, to be kept until the end; None for a home that is read-only and so needs no owner.

    Raises:
        LockedError: another program owns it; it was asked to come forward.
        StorageError: the home cannot be used.
    """
    try:
        held = acquire(root)
    except StorageError:
        if is_writable(root):
            raise
        return None
    if isinstance(held, HomeLock):
        return held
    ask_to_raise(root)
    raise LockedError(
        tr(
            "Manual Slop ({process}) already has this data folder open. This program asked the open window to come forward",
            process=held.words,
        ),
        remedy=tr("Close that program first, or start with another data folder (--home)"),
        where=str(root),
    )


def ask_to_raise(root: Path) -> None:
    """Ask the program that owns a home to bring its window forward.

    Raises:
        StorageError: the request could not be written.
    """
    write_file(root / paths.RAISE_FILE, b"")


def is_writable(root: Path, disk: Disk = OS_DISK) -> bool:
    """True if files can be made in a home (or, where it is not there yet, the home itself). A full disk
    counts as writable: that passes.
    """
    there = root
    while not there.exists():
        there = there.parent
    if not os.access(there, os.W_OK | os.X_OK):
        return False
    probe = there / f".probe.{os.getpid()}.tmp"
    try:
        os.close(disk.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    except OSError as error:
        return error.errno in _PASSING_ERRNOS
    probe.unlink(missing_ok=True)
    return True


def odd_names(root: Path) -> tuple[str, ...]:
    """Sentences about names of the home at which something stands that is no file, each with its remedy."""
    return oddities(root, _NAMES)


def read_state(root: Path) -> str:
    """The window's own state as TOML text, empty where there is none. A broken file is kept beside as `.broken`."""
    path = paths.state_file(root)
    try:
        text = read_file(path).decode()
        read_toml(text)
    except (UnicodeDecodeError, TomlError):
        with suppress(OSError):
            path.replace(path.with_name(path.name + ".broken"))
        return ""
    except OSError:
        return ""
    return text


def write_state(root: Path, text: str, *, disk: Disk = OS_DISK) -> None:
    """Keep the window's own state. Raises: StorageError."""
    write_file(paths.state_file(root), text.encode("utf-8", "replace"), disk=disk)


_NAMES = (
    *(
        paths.OWNER_FILE,
        paths.RAISE_FILE,
        paths.STATE_FILE,
        paths.JOURNAL_FILE,
        paths.CACHING_FILE,
        paths.TOKENS_FILE,
    ),
    *(paths.HOOK_TOKEN_FILE, paths.HOOK_FILE, f"trash/{paths.AGES_FILE}", f"knowledge/{paths.REVIEW_FILE}"),
    *(f"{paths.RESERVES_DIR}/{name}" for name in (paths.RESERVES_FILE, paths.LOCK_FILE)),
)
_PASSING_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.ENFILE, errno.EMFILE}


def _read_format(root: Path) -> int | None:
    """The format that `home.toml` names; None where there is no such file."""
    path = root / paths.HOME_FILE
    with reported("read", path):
        try:
            data = read_file(path)
        except FileNotFoundError:
            return None
    try:
        found = decode_toml(data).get("format")
    except (UnicodeDecodeError, TomlError) as error:
        raise _broken_home(path, str(error)) from error
    if type(found) is not int or found < 1:
        raise _broken_home(
            path, tr("its format is {format!r}, and not a whole number from 1 on", format=found)
        )
    return found


def _broken_home(path: Path, why: str) -> StorageError:
    return StorageError(
        tr("home.toml is not valid: {why}", why=why),
        remedy=tr(
            "If this program made the data folder, write `format = {FORMAT}` into home.toml; the data folder is unchanged",
            FORMAT=FORMAT,
        ),
        where=str(path),
    )


def _open_read_only(root: Path, found: int | None, current_format: int) -> OpenHome:
    if found is None and not paths.discussions_dir(root).is_dir():
        raise StorageError(
            tr("The program cannot make the data folder: the folder above it is read-only"),
            remedy=tr("Choose another data folder with --home"),
            where=str(root),
        )
    if found is not None and found < current_format:
        raise StorageError(
            tr(
                "This data folder is read-only and cannot be migrated from format {found} to {current_format}",
                found=found,
                current_format=current_format,
            ),
            remedy=tr("Make the data folder writable, or choose another data folder with --home"),
            where=str(root),
        )
    note = tr("The data folder is read-only: you can read and search, but nothing new is saved")
    return OpenHome(root=root, is_read_only=True, notes=(note,))


def _migrate(
    root: Path, found: int, wanted: int, migrations: tuple[Migration, ...], now: datetime, disk: Disk
) -> tuple[str, ...]:
    notes: list[str] = []
    _restore_unfinished(root, disk)
    for migration in sorted(migrations, key=lambda m: m.from_format):
        if not found <= migration.from_format < wanted:
            continue
        backup = _back_up(root, migration, now, disk)
        _run(root, migration, backup, disk)
        _write_format(root, migration.from_format + 1, disk)
        (backup / _MARKER).unlink()
        notes.append(
            tr(
                "The program migrated the data folder to format {from_format}; the old files are in {backup}",
                from_format=migration.from_format + 1,
                backup=backup,
            )
        )
    return tuple(notes)


def _run(root: Path, migration: Migration, backup: Path, disk: Disk) -> None:
    try:
        try:
            migration.run(root)
        except BaseException:
            _restore_unfinished(root, disk)
            raise
    except (ArithmeticError, AttributeError, LookupError, OSError, SlopError, TypeError, ValueError) as error:
        raise StorageError(
            tr(
                "The program could not migrate the data folder from format {from_format}: {error}",
                from_format=migration.from_format,
                error=error,
            ),
            remedy=tr("All files are as before. Report this fault, and use the older program until then"),
            where=str(backup),
        ) from error


def _back_up(root: Path, migration: Migration, now: datetime, disk: Disk) -> Path:
    """Copy what the migration touches, then say that it is under way: the marker is the promise to put it back."""
    backup = paths.backups_dir(root) / f"format-{migration.from_format}-{now:%Y%m%d-%H%M%S}"
    make_dirs(backup, disk=disk)
    touched = sorted({path.as_posix() for path in migration.touches(root)})
    for name in touched:
        if (root / name).is_file():
            make_dirs((backup / name).parent, disk=disk)
            with reported(tr("back up"), root / name):
                write_file(backup / name, read_file(root / name, None), disk=disk)
    write_file(backup / _MARKER, _toml({"from_format": migration.from_format, "files": touched}), disk=disk)
    return backup


def _restore_unfinished(root: Path, disk: Disk) -> None:
    """Put back what a migration changed that did not end."""
    for marker in sorted(paths.backups_dir(root).glob(f"*/{_MARKER}")):
        for name in _touched_by(marker):
            kept = marker.parent / name
            if kept.is_file():
                make_dirs((root / name).parent, disk=disk)
                write_file(root / name, read_file(kept, None), disk=disk)
            else:
                (root / name).unlink(missing_ok=True)
        marker.unlink()


def _touched_by(marker: Path) -> tuple[str, ...]:
    """Names of the files in a home that an unfinished migration may have changed. Raises StorageError."""
    with reported("read", marker):
        data = read_file(marker, BOOK_BYTES)
    try:
        names = tuple(map(PurePosixPath, decode_toml(data, None)["files"]))
    except (ValueError, TypeError, KeyError) as error:
        raise _broken_marker(marker) from error
    if any(name.is_absolute() or ".." in name.parts for name in names):
        raise _broken_marker(marker)
    return tuple(map(str, names))


def _broken_marker(marker: Path) -> StorageError:
    return StorageError(
        tr("The program cannot tell which files an unfinished migration changed"),
        remedy=tr("The old files lie beside this marker file. Put them back by hand, then remove the marker"),
        where=str(marker),
    )


def _finish_backups(root: Path) -> None:
    """A marker beside a home of the right format: the program died after the migration, before it said so."""
    for marker in paths.backups_dir(root).glob(f"*/{_MARKER}"):
        with suppress(OSError):  # what is no file promises nothing
            marker.unlink(missing_ok=True)


def _write_format(root: Path, number: int, disk: Disk) -> None:
    write_file(root / paths.HOME_FILE, _toml({"format": number}), disk=disk)


def _remove_staging(root: Path, now: datetime) -> None:
    """Half-made discussions and temporary files of a killed process."""
    remove_leftovers(root, now)
    folder = paths.discussions_dir(root)
    names = os.listdir(folder)  # not `glob`: every start waits for it, and there may be thousands
    for path in (folder / name for name in names if name.startswith(".new-") and name.endswith(".tmp")):
        with suppress(OSError):
            if now - datetime.fromtimestamp(path.stat().st_mtime, UTC) > _STAGING_AGE:
                shutil.rmtree(path, ignore_errors=True)


def named_holder(root: Path) -> Holder:
    """The program that last claimed a home. Only its lock tells whether it still runs."""
    try:
        owner = read_toml(read_file(root / paths.OWNER_FILE).decode("utf-8", "replace"))
    except (OSError, TomlError):
        return Holder()
    pid, host = owner.get("pid"), owner.get("host")
    return Holder(pid if type(pid) is int else 0, host if isinstance(host, str) else "")


def _toml(table: dict[str, Any]) -> bytes:
    import tomli_w

    return re.sub("[\ud800-\udfff]", "\ufffd", tomli_w.dumps(table)).encode()


# Ownership of a home: one lock, asked again and again, that tells whether what happens once a home is this
# program's to do.

LOOK_EVERY_S = 2.0


class Ownership:
    """Holder of a home's lock, or not. Everything that must happen once a home asks `is_ours`; nobody else holds an answer. Thread-safe.

    A kernel frees the lock however its holder ends. Its file may be removed beneath a program that runs; who starts then
    owns the home, and the first finds out: it does no more of what happens once, and takes over when the other has ended.

    Args:
        root: of the home; is_wanted: False for a command, which never owns one.
    """

    def __init__(self, root: Path, *, is_wanted: bool) -> None:
        self._root, self._is_wanted = root, is_wanted
        self._mutex = threading.Lock()
        self._lock: HomeLock | None = None
        self._holder: Holder | None = None
        self._is_over = threading.Event()

    def take(self) -> None:
        """Take the home at the start. A home that is read-only nobody owns.

        Raises:
            LockedError: another program owns it; it was asked to come forward. StorageError: it cannot be used.
        """
        if self._is_wanted:
            self._lock = own(self._root)
            self._is_wanted = self._lock is not None

    def is_ours(self) -> bool:
        """True while this program holds the home, and no other can. Two calls of the system."""
        with self._mutex:
            return self._lock is not None and self._lock.stands()

    def look(self) -> Holder | None:
        """Look whether the home is still ours, or ours again. Returns who else owns it, None for nobody else."""
        with self._mutex:
            if not self._is_wanted or self._is_over.is_set() or not self._root.is_dir():
                return self._holder
            if self._lock is not None and self._lock.stands():
                return None
            try:
                found = acquire(self._root, 0.0 if self._lock is None else LOOK_S)
            except StorageError:  # nobody else can have it either
                return self._holder
            if self._lock is not None:
                self._lock.release()
            self._lock = found if isinstance(found, HomeLock) else None
            self._holder = found if isinstance(found, Holder) else None
            return self._holder

    def watch(self, emit: Callable[[OwnerChanged | RaiseRequested], None]) -> None:
        """Look every two seconds from now on, and tell of changes."""
        if self._is_wanted:
            threading.Thread(target=self._watch, args=(emit,), name="home-owner", daemon=True).start()

    def _watch(self, emit: Callable[[OwnerChanged | RaiseRequested], None]) -> None:
        known: Holder | None = None
        while not self._is_over.wait(LOOK_EVERY_S):
            if (now := self.look()) != known:
                known = now
                emit(OwnerChanged("" if now is None else now.words))
            with self._mutex:
                is_asked = self._lock is not None and self._lock.take_raise_request()
            if is_asked:
                emit(RaiseRequested())

    def release(self) -> None:
        """Let go of the home, for good. Idempotent."""
        self._is_over.set()
        with self._mutex:
            lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()
