"""A home as one archive, and an archive as a home: checked to its last byte before anything is replaced."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

import msgspec

from core.app.home import alone, folder_of, restore_folders, take_back
from core.kernel import paths
from core.kernel.codecs import from_json, to_json
from core.kernel.disk import Disk, LaterDisk, create_file, make_dirs, remove_tree, reported, sync_dir
from core.kernel.errors import StorageError
from core.kernel.language import spliced, tr
from core.kernel.opener import OddFileError, open_descriptor, open_file

MANIFEST = "manual-slop-backup.json"
FORMAT = 1
LEVEL = 6
"""Level of gzip's compression, the one that `tar -z` uses."""
PIECE = 1 << 20
HELD_BYTES = 1 << 24
"""Bytes of a file that wait in memory; a longer one waits beside the archive."""
MOST_WAITING = 64
"""Files and folders of a restore that wait for the medium together."""
MOST_FILES = 2_000_000
MOST_BYTES = 1 << 40
MANIFEST_BYTES = 1 << 30
LEFT_OUT = frozenset({paths.HOME_LOCK_FILE, paths.OWNER_FILE, paths.RAISE_FILE})
"""Files of the home's own folder that only a running program needs."""
KEYS = "keys"
"""Folder of a home whose files never go into an archive, and stay at a restore."""


class KeptFile(msgspec.Struct, frozen=True):
    """One file of a backup. `path`: in the home, POSIX."""

    path: str
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Table of a backup, its last member."""

    format: int
    program: str
    made_at: datetime
    files: tuple[KeptFile, ...]


class BackupDone(msgspec.Struct, frozen=True):
    """Result of a backup or a restore. `left_out`: what was no file, or could not be read; `aside`: where the old home lies."""

    files: int
    size_bytes: int
    left_out: tuple[str, ...] = ()
    aside: str = ""


def back_up(home: Path, target: Path, *, program: str, now: datetime) -> BackupDone:
    """Write a home to a new archive, mode 0600, while programs may go on in it.

    Logs only grow and everything else is replaced whole, so that each file is taken as it stands when its turn comes. Keys are
    left out.

    Args:
        target: must not be there; its folder must.

    Raises:
        StorageError: there is no home, or the archive cannot be written; a part of it is removed.
    """
    if not home.is_dir():
        raise StorageError(
            tr("There is no data folder to back up here"),
            remedy=tr("Name a data folder with --home"),
            where=str(home),
        )
    if target.resolve().is_relative_to(home.resolve()):
        raise StorageError(
            tr("The backup file would lie inside the data folder that it backs up"),
            remedy=tr("Choose a place outside the data folder"),
            where=str(target),
        )
    with reported("write", target):
        descriptor = open_descriptor(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(descriptor, "wb") as out:
                done = _write(home, out, target, program, now)
                out.flush()
                os.fsync(out.fileno())
        except BaseException:
            target.unlink(missing_ok=True)
            raise
    sync_dir(target.parent)
    return done


def _write(home: Path, out: BinaryIO, target: Path, program: str, now: datetime) -> BackupDone:
    kept: list[KeptFile] = []
    left_out: list[str] = []
    with (
        gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=LEVEL, mtime=0) as packed,
        tarfile.TarFile(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in _files(home, left_out):
            name = path.relative_to(home).as_posix()
            with tempfile.SpooledTemporaryFile(max_size=HELD_BYTES, dir=str(target.parent)) as taken:
                try:
                    name.encode("utf-8")
                    member, sum_ = _read(path, name, taken, target)
                except (OSError, UnicodeEncodeError) as fault:
                    left_out.append(spliced("{}: {}", name, fault))
                    continue
                taken.seek(0)
                archive.addfile(member, taken)
            kept.append(KeptFile(path=name, size=member.size, sha256=sum_))
        manifest = to_json(Manifest(format=FORMAT, program=program, made_at=now, files=tuple(kept)))
        archive.addfile(_member(MANIFEST, len(manifest), now.timestamp()), io.BytesIO(manifest))
    return BackupDone(files=len(kept), size_bytes=sum(one.size for one in kept), left_out=tuple(left_out))


def _files(home: Path, left_out: list[str]) -> Iterator[Path]:
    """Every file of a home in the order of its names; links and what is no file are named."""
    for folder, folders, names in os.walk(home, followlinks=False):
        here = Path(folder)
        if here == home:
            folders[:] = [one for one in folders if one != KEYS]
            names[:] = [one for one in names if one not in LEFT_OUT and one != MANIFEST]
        for one in [*folders, *names]:
            if not (here / one).is_symlink():
                continue
            left_out.append(
                tr(
                    "{path}: the program does not back up links",
                    path=(here / one).relative_to(home).as_posix(),
                )
            )
        folders[:] = sorted(one for one in folders if not (here / one).is_symlink())
        yield from (here / one for one in sorted(names) if not (here / one).is_symlink())


def _read(path: Path, name: str, taken: IO[bytes], target: Path) -> tuple[tarfile.TarInfo, str]:
    """Read a file as long as it is now: what is appended meanwhile belongs to the next backup, what is cut off is not there.

    All of it is held before anything of it is in the archive, whose member says first how long it is.

    Raises:
        OSError: it cannot be read. StorageError: it cannot be held beside the archive, `target`.
    """
    with open_file(path, follows_links=False) as source:
        status = os.fstat(source.fileno())
        sum_, left = hashlib.sha256(), status.st_size
        while data := source.read(min(PIECE, left)):
            sum_.update(data)
            left -= len(data)
            with reported("write", target):
                taken.write(data)
    return _member(name, status.st_size - left, status.st_mtime), sum_.hexdigest()


def _member(name: str, size: int, at: float) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = size, int(at), 0o600
    return member


# Restoring: all of it beside the home, checked, and only then in its place.


def restore(
    archive: Path, home: Path, *, now: datetime, agreed: Callable[[Manifest], bool]
) -> BackupDone | None:
    """Put an archive in the place of a home, which stays beside it under another name, and gives its keys.

    Args:
        agreed: asked once everything was read and found whole; where it says no, nothing is changed.

    Returns:
        None where nobody agreed.

    Raises:
        StorageError: this program did not make the archive, it is damaged, or would write outside. LockedError: a program owns the home.
    """
    home = folder_of(home)
    if take_back(home) is not None or home.exists():
        with alone(home):
            pass  # a program that owns it is named before anything is read, and before the person is asked
    staging, aside = restore_folders(home, now)
    with alone(staging):  # whoever starts in the home meanwhile leaves it alone
        try:
            manifest = _unpacked(archive, staging)
            if not agreed(manifest):
                return None
            had_home = _swap(staging, home, aside)
        finally:
            if staging.exists():
                remove_tree(staging)
    return BackupDone(
        files=len(manifest.files),
        size_bytes=sum(one.size for one in manifest.files),
        aside=str(aside) if had_home else "",
    )


def _unpacked(archive: Path, staging: Path) -> Manifest:
    """Unpack an archive into a folder and check each byte against its table."""
    found: dict[str, tuple[int, str]] = {}
    table = b""
    disk = LaterDisk()
    try:
        with (
            open_file(archive) as source,
            gzip.GzipFile(fileobj=source) as plain,
            tarfile.TarFile(fileobj=plain) as packed,
        ):
            total = 0
            for member in packed:
                if member.name == MANIFEST and member.isreg() and member.size <= MANIFEST_BYTES:
                    table = _read_member(packed, member)
                    continue
                path = _checked(member, archive)
                total += member.size
                if path in found or len(found) >= MOST_FILES or total > MOST_BYTES:
                    raise _refused(
                        archive,
                        tr("the backup names {path!r} twice", path=path)
                        if path in found
                        else tr("the backup is larger than any data folder"),
                    )
                found[path] = (member.size, _unpack(packed, member, staging / path, disk))
                if disk.waiting >= MOST_WAITING:
                    disk.settle()
        disk.settle()
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as fault:
        raise _refused(archive, tr("the backup cannot be read to its end ({fault})", fault=fault)) from fault
    except (OddFileError, OSError) as fault:
        raise _refused(archive, fault.strerror or str(fault)) from fault
    finally:
        disk.drop()
    return _held_against(table, found, archive)


def _checked(member: tarfile.TarInfo, archive: Path) -> str:
    """The path of a member, which is a file inside the home and nothing else."""
    path = PurePosixPath(member.name)
    is_inside = (
        not path.is_absolute() and ".." not in path.parts and str(path) == member.name and member.name != "."
    )
    if not is_inside or "\\" in member.name or "\0" in member.name or ":" in path.parts[0]:
        raise _refused(archive, tr("{name!r} would be written outside the data folder", name=member.name))
    if not member.isreg():
        raise _refused(archive, tr("{name!r} is not a file", name=member.name))
    if path.parts[0] in (KEYS, *LEFT_OUT):
        raise _refused(archive, tr("{name!r} does not belong in a backup", name=member.name))
    return member.name


def _read_member(packed: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = packed.extractfile(member)
    return stream.read() if stream is not None else b""


def _unpack(packed: tarfile.TarFile, member: tarfile.TarInfo, target: Path, disk: Disk) -> str:
    """Write one member. Returns the sum of what was written."""
    stream = packed.extractfile(member)
    make_dirs(target.parent, disk=disk)
    sum_ = hashlib.sha256()
    with reported("write", target):
        descriptor = open_descriptor(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, follows_links=False)
    with os.fdopen(descriptor, "wb", buffering=0) as out:
        while stream is not None and (data := stream.read(PIECE)):
            sum_.update(data)
            with reported("write", target):
                while data:
                    data = data[out.write(data) :]
        with reported("write", target):
            disk.fsync(out.fileno())
    os.utime(target, (member.mtime, member.mtime))
    return sum_.hexdigest()


def _held_against(table: bytes, found: dict[str, tuple[int, str]], archive: Path) -> Manifest:
    if not table:
        raise _refused(
            archive, tr("the list of files is missing: this is no Manual Slop backup, or the end is cut off")
        )
    try:
        manifest = from_json(table, Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise _refused(
            archive, tr("the backup's list of files cannot be read ({fault})", fault=fault)
        ) from fault
    if manifest.format != FORMAT:
        raise _refused(
            archive,
            tr(
                "the backup has format {format}, this program reads format {FORMAT}",
                format=manifest.format,
                FORMAT=FORMAT,
            ),
        )
    told = {one.path: (one.size, one.sha256) for one in manifest.files}
    for path in sorted(told.keys() | found.keys()):
        if told.get(path) != found.get(path):
            raise _refused(
                archive, tr("{path!r} is missing, changed or not in the backup's list of files", path=path)
            )
    return manifest


def _swap(staging: Path, home: Path, aside: Path) -> bool:
    """Put the new home in place, with the keys of the old one. Returns whether there was one, which lies at `aside` now."""
    had_home = home.exists()
    if had_home:
        with alone(home), reported("replace", home):
            _copy_keys(home, staging)
            os.rename(home, aside)
            try:
                os.rename(staging, home)
            except BaseException:
                os.rename(aside, home)
                raise
    else:
        with reported("replace", home):
            os.replace(staging, home)
    (home / paths.OWNER_FILE).unlink(missing_ok=True)  # said until now who restores
    sync_dir(home.parent)
    return had_home


def _copy_keys(home: Path, staging: Path) -> None:
    keys = paths.keys_dir(home)
    if not keys.is_dir() or keys.is_symlink():
        return
    make_dirs(paths.keys_dir(staging))
    for one in sorted(keys.iterdir()):
        if stat.S_ISREG(one.lstat().st_mode):
            with open_file(one, follows_links=False) as source:
                create_file(paths.keys_dir(staging) / one.name, source.read())


def _refused(archive: Path, why: str) -> StorageError:
    return StorageError(
        tr("Nothing was restored: {why}", why=why),
        remedy=tr("Use another backup; your data folder is unchanged"),
        where=str(archive),
    )
