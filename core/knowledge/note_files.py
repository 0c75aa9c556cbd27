"""Notes bound to files: their names on disk, whose they are after renames and saves, and where a new one goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import from_json, to_json
from core.kernel.disk import OS_DISK, Disk, reported, sync_dir, write_file
from core.kernel.errors import SlopError, StorageError
from core.kernel.language import tr, words_of
from core.kernel.patterns import late
from core.kernel.values.knowledge import NoteFile, NoteStatus
from core.knowledge.categories import NOTES_FOLDER, note_name, parse_file, safe_value
from core.knowledge.file_writer import change_file, read_bytes, write_lock
from core.knowledge.ledger import hash_source

# Content of files with notes as it was last seen at its path, so that notes follow a file that was edited
# and renamed.

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


def keep_seen(home: Path, notes: Iterable[NoteFile], hash_of: Callable[[str], str]) -> None:
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
        with write_lock(home):
            write_file(_path(home), to_json(seen, order="deterministic") + b"\n")


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
    return (
        SeenFile(path=path, size_bytes=status.st_size, mtime_ns=status.st_mtime_ns, sha256=sha256)
        if sha256
        else None
    )


def _path(home: Path) -> Path:
    return paths.knowledge_dir(home) / SEEN_FILE


MAX_HASHED_BYTES = 64_000_000
"""A larger file is known by its path and inode alone."""

_SEPARATOR = "-" if sys.platform == "win32" else ":"
_HASH = late(r"<!--[ \t]*sha256:[ \t]*([0-9a-f]{64})[ \t]*-->")


def file_id_for_path(path: str | Path) -> str | None:
    """The id of a file, `{st_dev}:{st_ino}` (`-` for the colon on Windows); None where it cannot be seen."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return f"{status.st_dev}{_SEPARATOR}{status.st_ino}"


def notes_head(path: str) -> bytes:
    """Head of new notes on a file: its path, and the hash of its content in a comment beside it."""
    return _head(path, content_hash(path))


def content_hash(path: str) -> str:
    """sha256 of a file's bytes, empty where it cannot be read, is no plain file or is too large."""
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MAX_HASHED_BYTES:
            return ""
        return hash_source(Path(path)).sha256
    except (StorageError, OSError, ValueError):
        return ""


def parse_notes(name: str, data: bytes) -> NoteFile:
    """Read a note file. Raises nothing. `name`: below the knowledge directory."""
    parsed = parse_file(name, data)
    lines = data[:16_384].decode("utf-8", "replace").split("\n")
    heading = next(filter(None, map(_named_path, lines)), "")
    known = next((m[1] for line in lines[:8] if (m := _HASH.match(line.strip()))), "")
    file_id = name.rpartition("/")[2].removesuffix(".md")
    return NoteFile(
        file_id=file_id,
        heading=heading,
        items=parsed.items,
        sha256=known,
        path=heading,
        problem=parsed.problem,
    )


def settle(
    note: NoteFile, here: str | None, elsewhere: str = "", elsewhere_sha256: str = "", seen_sha256: str = ""
) -> NoteFile:
    """Decide whose notes these are. Never attaches them to a file that may be another one.

    Args:
        here: id of the file at the heading's path now, None where there is none.
        elsewhere: a path where the file with the notes' own id stands now; elsewhere_sha256: of its content.
        seen_sha256: of the content that was last seen at the heading's path, empty where none was.
    """
    if here == note.file_id:
        return replace(note, status=NoteStatus.ATTACHED, path=note.heading, proposal="")
    if here is not None:
        return replace(note, status=NoteStatus.MOVED, path=note.heading, proposal="")
    if elsewhere and elsewhere_sha256 and elsewhere_sha256 in {note.sha256, seen_sha256}:
        return replace(note, status=NoteStatus.RENAMED, path=elsewhere, proposal="")
    return replace(note, status=NoteStatus.ORPHANED, path="", proposal=elsewhere)


def read_notes(home: Path, candidates: Iterable[str] = ()) -> tuple[NoteFile, ...]:
    """All notes, each with the file that it belongs to now, sorted by their file's name.

    Args:
        candidates: absolute paths that a file may have moved to, beside those in its old folder.

    Raises:
        StorageError: the folder cannot be read.
    """
    folder = paths.knowledge_dir(home) / NOTES_FOLDER
    with reported("read", folder):
        found = sorted(folder.glob("*.md")) if folder.is_dir() else []
    notes = [_read_notes(path) for path in found]
    by_id: dict[str, str] = {}
    if any(file_id_for_path(note.heading) is None for note in notes):
        by_id = {i: path for path in sorted(set(candidates)) if (i := file_id_for_path(path)) is not None}
    seen = read_seen(home)
    return tuple(_settled(note, by_id, seen.get(note.file_id)) for note in notes)


def _read_notes(path: Path) -> NoteFile:
    """Notes of one file; what cannot be read is said, and the other files' notes stay."""
    name = f"{NOTES_FOLDER}/{path.name}"
    try:
        return parse_notes(name, read_bytes(path))
    except StorageError as error:
        return replace(parse_notes(name, b""), problem=words_of(error))


def move_notes(home: Path, notes: Iterable[NoteFile], *, disk: Disk = OS_DISK) -> tuple[NoteFile, ...]:
    """Let note files follow their files: a new id is a new name, a rename a new heading; both note the content's hash
    anew. Orphans stay.

    Returns:
        Those that were moved. A name that is taken by other notes is left alone: the heading's path still counts.
    """
    following = (n for n in notes if n.status in {NoteStatus.MOVED, NoteStatus.RENAMED})
    with write_lock(home, disk=disk):
        return tuple(note for note in following if _move(home, note, disk))


def attach_notes(home: Path, note: NoteFile, path: str) -> None:
    """Bind orphaned notes to a file that the person chose.

    Raises:
        StorageError: there is no such file, or the notes could not be written.
    """
    if file_id_for_path(path) is None:
        raise StorageError(
            tr("There is no file {path!r}", path=path), remedy=tr("Choose a file that exists"), where=path
        )
    with write_lock(home):
        _move(home, replace(note, status=NoteStatus.RENAMED, path=path), OS_DISK)


def _settled(note: NoteFile, by_id: Mapping[str, str], seen: SeenFile | None) -> NoteFile:
    here = file_id_for_path(note.heading) if os.path.isabs(note.heading) else None
    if here is not None:
        return settle(note, here)
    elsewhere = by_id.get(note.file_id) or _in_folder(os.path.dirname(note.heading), note.file_id)
    last = seen.sha256 if seen is not None and seen.path == note.heading else ""
    return settle(note, None, elsewhere, content_hash(elsewhere) if elsewhere else "", last)


def _in_folder(folder: str, file_id: str) -> str:
    """The file with this id in a folder, empty where there is none."""
    try:
        with os.scandir(folder) as entries:
            inode = file_id.rpartition(_SEPARATOR)[2]
            same = (e.path for e in entries if str(e.inode()) == inode)
            return next((path for path in same if file_id_for_path(path) == file_id), "")
    except (OSError, ValueError):
        return ""


def _move(home: Path, note: NoteFile, disk: Disk) -> bool:
    directory = paths.knowledge_dir(home)
    source = directory / note_name(note.file_id)
    file_id = file_id_for_path(note.path)
    if file_id is None or not source.is_file():
        return False
    target = directory / note_name(file_id)
    is_free = target == source or not target.exists()
    if is_free or note.status is NoteStatus.RENAMED:
        change_file(source, lambda data: _with_head(data, note.path), disk=disk)
    if target == source or not is_free:
        return is_free
    with reported("move", source):
        disk.replace(source, target)
        sync_dir(target.parent, disk)
    return True


def _with_head(data: bytes, path: str) -> bytes:
    """The notes under another path; every other line stays."""
    lines = data.split(b"\n")
    kept = [line for line in lines if not _HASH.match(line.decode("utf-8", "replace").strip())]
    for number, line in enumerate(kept):
        if _named_path(line.decode("utf-8", "replace")):
            kept[number] = _head(path, content_hash(path)).rstrip(b"\n")
            return b"\n".join(kept)
    return _head(path, content_hash(path)) + data


def _named_path(line: str) -> str:
    """The path in a notes' heading (`# /a/b.py`), which may end in any mark; empty in any other line."""
    text = line.removeprefix("\ufeff")
    return text[1:].strip(" \t\r") if text.startswith(("# ", "#\t")) else ""


def _head(path: str, sha256: str) -> bytes:
    beside = f"<!-- sha256: {sha256} -->\n" if sha256 else ""
    return f"# {safe_value(path)}\n{beside}\n".encode("utf-8", "replace")
