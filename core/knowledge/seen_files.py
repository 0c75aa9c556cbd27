"""Content of files with notes as it was last seen at its path, so that notes follow a file that was edited and renamed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from core.base import paths
from core.base.decoders import from_json
from core.base.disk import OS_DISK, Disk, write_file
from core.base.errors import SlopError
from core.knowledge.file_writer import read_bytes
from core.knowledge.locks import write_lock
from core.values.knowledge import NoteFile, NoteStatus

SEEN_FILE = ".seen.json"
"""Beside the folder of notes, not in it: a change in there is one of notes, and renews the digest."""


class SeenFile(msgspec.Struct, frozen=True):
    """A file with notes as it was last seen: its bytes' number, its time and its hash."""

    path: str
    size_bytes: int
    mtime_ns: int
    sha256: str


def read_seen(home: Path) -> Mapping[str, SeenFile]:
    """Files by the id of their notes. Never fails: what cannot be read was not seen."""
    try:
        return from_json(read_bytes(_path(home)) or b"{}", dict[str, SeenFile])
    except (SlopError, msgspec.MsgspecError, ValueError):
        return {}


def keep_seen(
    home: Path, notes: Iterable[NoteFile], hash_of: Callable[[str], str], *, disk: Disk = OS_DISK
) -> None:
    """Note the content of files that notes are bound to; written only where one changed since it was noted.

    Args:
        hash_of: gives the sha256 of a file, empty where it cannot be read.

    Raises:
        StorageError, LockedError: it is as it was.
    """
    before = read_seen(home)
    attached = (note for note in notes if note.status is NoteStatus.ATTACHED)
    now = {note.file_id: _looked(note.path, before.get(note.file_id), hash_of) for note in attached}
    kept = {note.file_id: before[note.file_id] for note in notes if note.file_id in before}
    seen = kept | {file_id: file for file_id, file in now.items() if file is not None}
    if seen != before:
        with write_lock(home, disk=disk):
            write_file(_path(home), msgspec.json.encode(seen, order="deterministic") + b"\n", disk=disk)


def _looked(path: str, before: SeenFile | None, hash_of: Callable[[str], str]) -> SeenFile | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    is_known = before is not None and (before.path, before.size_bytes, before.mtime_ns) == (
        path,
        status.st_size,
        status.st_mtime_ns,
    )
    if is_known:
        return before
    sha256 = hash_of(path)
    return SeenFile(path, status.st_size, status.st_mtime_ns, sha256) if sha256 else None


def _path(home: Path) -> Path:
    return paths.knowledge_dir(home) / SEEN_FILE
