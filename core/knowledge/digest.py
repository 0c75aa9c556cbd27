"""The digest file: made from the category files on demand, its presence the switch of layer 7."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path

import msgspec

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, make_dirs, remove_file, reported, write_file
from core.kernel.opener import OddFileError, open_file, read_file
from core.knowledge import categories as c
from core.knowledge.categories import Said
from core.knowledge.facts.fact_files import fact_count
from core.knowledge.facts.places import INDEX_FILE
from core.knowledge.file_writer import change_file, write_lock
from core.knowledge.layer7 import DIGEST_MAX_BYTES, project

__all__ = [
    "DIGEST_MAX_BYTES",
    "DIGEST_SECTIONS",
    "DigestFollower",
    "DigestResult",
    "DigestWrite",
    "regenerate_digest",
]

DIGEST_SECTIONS = (
    ("Open tasks", c.TASKS),
    ("Open questions", c.QUESTIONS),
    ("Decisions", c.DECISIONS),
    ("Facts", c.FACTS),
    ("Playbooks", c.PLAYBOOKS),
)
"""Titles in their fixed order, each with its category file."""

DIGEST_FILE = "digest.md"
_TAIL_BYTES = 1 << 16

_Stamp = tuple[int, int, int]


class DigestWrite(StrEnum):
    """Change of the file by a regeneration."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    DELETED = "deleted"
    LEFT_OFF = "left off"


class DigestResult(msgspec.Struct, frozen=True):
    """The outcome: the text that the file holds now, empty where there is none."""

    path: Path
    text: str
    write: DigestWrite


def regenerate_digest(
    home: Path | None = None, *, may_create: bool = True, disk: Disk = OS_DISK
) -> DigestResult:
    """Bring `digest.md` up to date with the category files; written only when its bytes change.

    Args:
        home: by default `home_dir()`.
        may_create: False for everything that the person did not ask for: a missing file means off, and stays off.

    Returns:
        What the file holds now. It is deleted when there is nothing at all to say.

    Raises:
        StorageError: the old digest is as it was. LockedError: another program writes knowledge.
    """
    where = home or paths.home_dir()
    path = digest_file(where)
    if not may_create and not is_digest(path):
        return DigestResult(path=path, text="", write=DigestWrite.LEFT_OFF)
    make_dirs(path.parent, disk=disk)
    with write_lock(where, disk=disk):
        return _regenerate(where, path, may_create=may_create, disk=disk)


class DigestFollower:
    """Brings a digest that is on up to date when somebody saved a category file; never makes nor deletes one.

    A digest that a person wrote by hand stays until a category file changes. Where nothing is known it is emptied: a
    file that an editor is just writing anew is empty for a moment too. Used by one thread at a time.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._seen: tuple[_Stamp, ...] | None = None

    def follow(self) -> None:
        """Look at the category files; renew the digest where they changed since the last look, or before the first.

        Raises:
            StorageError, LockedError: it is as it was; it is tried again after the next change.
        """
        before, self._seen = self._seen, self._stamps()
        path = digest_file(self._home)
        digest = _stamp(path)
        is_newer = any(at > digest[-1] for *_, at in self._seen)
        if is_digest(path) and (is_newer if before is None else before != self._seen):
            with write_lock(self._home):
                _renew(path, fresh_digest(self._home).encode(), OS_DISK)

    def _stamps(self) -> tuple[_Stamp, ...]:
        directory = paths.knowledge_dir(self._home)
        names = (*(name for _, name in DIGEST_SECTIONS), c.NOTES_FOLDER, INDEX_FILE)
        return tuple(_stamp(directory / name) for name in names)


def fresh_digest(home: Path) -> str:
    """Digest as it would be if it were made now. Reads only the ends of the files that fit into it."""
    directory = paths.knowledge_dir(home)
    sections = [(title, _newest(directory, name)) for title, name in DIGEST_SECTIONS]
    notes = _note_count(directory / c.NOTES_FOLDER)
    return project(sections, note_count=notes, fact_count=fact_count(home))


def digest_file(home: Path) -> Path:
    """`digest.md` of a home."""
    return paths.knowledge_dir(home) / DIGEST_FILE


def is_digest(path: Path) -> bool:
    """True if the digest's switch is on: a file stands at the path. A link is none, wherever it leads: who may write
    to its target would write into every request.
    """
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def instead_of_digest(path: Path) -> str:
    """Sentence about something that stands at the digest's path and is none, with the remedy; else empty."""
    if is_digest(path) or not os.path.lexists(path):
        return ""
    what = "a link" if path.is_symlink() else "no file"
    return f"{path.name} is {what} and counts as missing: memory is off. Remove it and turn memory on: {path}"


def read_digest(path: Path) -> bytes | None:
    """The digest's bytes, None where there is none. Raises StorageError."""
    if not is_digest(path):
        return None
    with reported("read", path):
        try:
            return read_file(path, follows_links=False)
        except FileNotFoundError:
            return None


def _regenerate(home: Path, path: Path, *, may_create: bool, disk: Disk) -> DigestResult:
    before = read_digest(path)
    text = fresh_digest(home)
    data = text.encode()
    if before is None and not may_create:
        return DigestResult(path=path, text="", write=DigestWrite.LEFT_OFF)
    if before == data or (before is None and not data):
        return DigestResult(path=path, text=text, write=DigestWrite.UNCHANGED)
    if not data:
        remove_file(path, disk=disk)
        return DigestResult(path=path, text="", write=DigestWrite.DELETED)
    if may_create:
        write_file(path, data, disk=disk, follows_links=False)
        return DigestResult(path=path, text=text, write=DigestWrite.WRITTEN)
    if not _renew(path, data, disk):
        return DigestResult(path=path, text="", write=DigestWrite.LEFT_OFF)
    return DigestResult(path=path, text=text, write=DigestWrite.WRITTEN)


def _renew(path: Path, data: bytes, disk: Disk) -> bool:
    """Write the digest over a file that is there at that instant: `rm` meanwhile wins. Returns whether it did."""
    if not is_digest(path):
        return False
    written = change_file(path, lambda old: data if is_digest(path) else old, disk=disk)
    return written == data and is_digest(path)


def _newest(directory: Path, name: str) -> Iterator[Said]:
    """Words and provenance of a file's items from its end; of a long file only the end is read, unless that is not enough."""
    path = directory / name
    count = 0
    if name != c.TASKS and (tail := _tail(path)):
        for said in c.newest_first(name, tail):
            count += 1
            yield said
    yield from islice(c.newest_first(name, _bytes(path) or b""), count, None)


def _tail(path: Path) -> bytes:
    """The last whole lines of a long file, nothing of a short one."""
    with reported("read", path):
        try:
            with open_file(path) as file:
                if file.seek(0, os.SEEK_END) <= _TAIL_BYTES:
                    return b""
                file.seek(-_TAIL_BYTES, os.SEEK_END)
                return file.read().partition(b"\n")[2]
        except (FileNotFoundError, IsADirectoryError, OddFileError):
            return b""


def _note_count(folder: Path) -> int:
    """Notes in all note files."""
    with reported("read", folder):
        files = sorted(folder.glob("*.md")) if folder.is_dir() else []
        return sum(sum(1 for _ in c.newest_first(f.name, _bytes(f) or b"")) for f in files)


def _stamp(path: Path) -> _Stamp:
    """Stamp that changes with a file: inode, size and time, nothing where there is none."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def _bytes(path: Path) -> bytes | None:
    """The file's bytes, None where there is none; the reader of knowledge says what stands in its place."""
    with reported("read", path):
        try:
            return read_file(path, None)
        except (FileNotFoundError, IsADirectoryError, OddFileError):
            return None
