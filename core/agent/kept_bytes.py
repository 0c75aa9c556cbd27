"""Bytes of files before a turn's first write of them, kept with the discussion, and their way back."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from itertools import takewhile
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.agent.guarded_files import (
    ToolPath,
    judge_path,
    read_guarded,
    remove_empty_folder,
    remove_guarded,
    write_guarded,
)
from core.agent.hunks import joined
from core.agent.tool import ToolPlaces
from core.kernel import paths
from core.kernel.codecs import from_json, to_json
from core.kernel.disk import OS_DISK, append_file, create_file, make_dirs, write_passing
from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.opener import SETTINGS_BYTES, read_file
from core.kernel.values.agent import FileChange

# Notes of what a turn wrote, beside the bytes that it kept: begun before a write, settled behind it, so
# that a kill loses none.

NOTES_FILE = "changes.jsonl"


class ChangeStep(StrEnum):
    """Step of a change: its write begins, it is made, it failed, its bytes are back."""

    BEGUN = "begun"
    MADE = "made"
    FAILED = "failed"
    UNDONE = "undone"


class ChangeNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line: a step of the change of one file.

    Args:
        change: whole where it begins, later its path and turn; folders: absolute, those that the write makes.
    """

    step: ChangeStep
    change: FileChange
    folders: tuple[str, ...] = ()


class NotedChange(msgspec.Struct, frozen=True):
    """A file as a turn's notes tell it.

    Args:
        change: all writes of the turn together; folders: that they made; last: the newest write by itself.
        is_sure: the newest write is known to be made. Else the program ended in it, and the file may be as before it.
    """

    change: FileChange
    last: FileChange
    folders: tuple[str, ...] = ()
    is_sure: bool = True

    @property
    def ours(self) -> frozenset[str]:
        """Sha256 of the bytes that the turn, or an undo of it that nobody noted as made, may have left there."""
        found = {self.last.after_sha256, *(() if self.is_sure else (self.last.before_sha256,))}
        return frozenset(found if self.change.is_undone else {*found, self.change.before_sha256})


def note_change(turn_folder: Path, note: ChangeNote) -> None:
    """Append a note and return once it is on the medium. Raises StorageError."""
    if note.step is not ChangeStep.BEGUN:
        told = FileChange(
            path=note.change.path, turn_id=note.change.turn_id, before_sha256="", after_sha256=""
        )
        note = ChangeNote(step=note.step, change=told)
    append_file(turn_folder / NOTES_FILE, to_json(note, order="sorted") + b"\n")


def read_notes(turn_folder: Path) -> dict[str, NotedChange]:
    """Changes of files by a turn, by path, in the order of their first writes. Raises nothing: what cannot be read is passed over."""
    try:
        lines = read_file(turn_folder / NOTES_FILE, None, follows_links=False).splitlines()
    except OSError:
        return {}
    return noted(filter(None, map(_read, lines)))


def noted(notes: Iterable[ChangeNote]) -> dict[str, NotedChange]:
    """Changes that notes tell, by path."""
    told: dict[str, NotedChange] = {}
    before: dict[str, NotedChange | None] = {}
    for note in notes:
        path = note.change.path
        known = told.get(path)
        match note.step:
            case ChangeStep.BEGUN:
                before[path] = known
                change = note.change if known is None else joined(known.change, note.change)
                folders = (*(known.folders if known is not None else ()), *note.folders)
                told[path] = NotedChange(change=change, last=note.change, folders=folders, is_sure=False)
            case ChangeStep.MADE if known is not None:
                told[path] = replace(known, is_sure=True)
            case ChangeStep.FAILED:
                earlier = before.get(path)
                if earlier is None:
                    told.pop(path, None)
                else:
                    told[path] = earlier
            case ChangeStep.UNDONE if known is not None:
                told[path] = replace(known, change=replace(known.change, is_undone=True))
            case _:
                pass
    return told


def _read(line: bytes) -> ChangeNote | None:
    try:
        return from_json(line, ChangeNote)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


EDITS_DIR = "edits"
"""Folder in a discussion's own: it goes to the trash, comes back and is forgotten with it."""


class _KeptHead(msgspec.Struct, frozen=True):
    """First line of a kept file: where its bytes stood, and their sha256, empty where there was no file."""

    path: str
    sha256: str = ""


class Restored(msgspec.Struct, frozen=True):
    """Undo of a turn's edits.

    Args:
        restored: paths, absolute; left: a sentence for each file that was left as it is.
    """

    restored: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def keep_before(home: Path, discussion_id: str, change: FileChange, data: bytes | None) -> None:
    """Keep a file's bytes, note what is about to be written, and return once both are on the medium.

    What the turn kept of it before stays.

    Args:
        change: about to be made; data: None where there is no file.

    Raises:
        StorageError: they were not kept, and the file must not be written.
    """
    kept = _kept_file(home, discussion_id, change.turn_id, change.path)
    _keep(kept, change.path, data)
    missing = tuple(map(str, takewhile(lambda one: not os.path.lexists(one), Path(change.path).parents)))
    note_change(kept.parent, ChangeNote(step=ChangeStep.BEGUN, change=change, folders=missing))


def note_written(home: Path, discussion_id: str, change: FileChange, *, is_made: bool) -> None:
    """Note how a write ended. Raises nothing: lost, it counts as one in which the program ended."""
    step = ChangeStep.MADE if is_made else ChangeStep.FAILED
    with suppress(StorageError):
        note_change(_turn_folder(home, discussion_id, change.turn_id), ChangeNote(step=step, change=change))


def kept_changes(home: Path, discussion_id: str) -> tuple[FileChange, ...]:
    """All that turns of a discussion did to files, as their notes tell it: turns by id, files by their first write."""
    folder = paths.discussion_dir(home, discussion_id) / EDITS_DIR
    try:
        turns = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple(noted.change for turn in turns for noted in read_notes(folder / turn).values())


def _keep(kept: Path, path: str, data: bytes | None) -> None:
    if _kept_bytes_read(kept, path) is not None:
        return
    make_dirs(kept.parent)
    sha256 = "" if data is None else hashlib.sha256(data).hexdigest()
    head = to_json(_KeptHead(path, sha256), order="sorted")
    if os.path.lexists(kept):  # a kill left half of one
        kept.unlink()
    create_file(kept, head + b"\n" + (data or b""))


def restore(
    home: Path, discussion_id: str, turn_id: str, changes: Sequence[FileChange], places: ToolPlaces
) -> Restored:
    """Put back what a turn changed, where files still are as it left them. Total; the newest change comes first.

    Args:
        changes: of the turn, oldest first; those that are undone already are passed over.
        places: folders that may be written now: a file that is in none of them any more is left.
    """
    restored: list[str] = []
    left: list[str] = []
    made: set[str] = set()
    folder = _turn_folder(home, discussion_id, turn_id)
    notes = read_notes(folder)
    last = {change.path: change for change in changes if not change.is_undone}
    for path, change in reversed(last.items()):
        place = judge_path(path, places)
        noted = notes.get(path) or NotedChange(change=change, last=change)
        problem = place.problem or _put_back(_kept_name(folder, path), place, path, noted.ours)
        if problem:
            left.append(problem)
            continue
        restored.append(path)
        made.update(noted.folders)
        _remove_made((one for one in made if path.startswith(one + os.sep)), places)
        with suppress(StorageError):  # last of all: an undo that the program ended in can be gone on with
            note_change(folder, ChangeNote(step=ChangeStep.UNDONE, change=change))
    return Restored(tuple(restored), tuple(left))


def _remove_made(folders: Iterable[str], places: ToolPlaces) -> None:
    """Remove folders that a turn made and that are empty again, the innermost first."""
    for folder in sorted(set(folders), key=len, reverse=True):
        place = judge_path(folder, places)
        if not place.problem and place.path == folder:
            remove_empty_folder(place)


def _put_back(kept_file: Path, place: ToolPath, path: str, ours: frozenset[str]) -> str:
    """Put one file back. Returns why it was left, a sentence; empty where it is back."""
    if place.path != path:
        return tr("{path} now leads elsewhere: the program did not touch it.", path=path)
    now = read_guarded(place)
    if now.problem or now.sha256 not in ours:
        return now.problem or tr(
            "{shown} changed after this turn: the program did not touch it.", shown=place.shown
        )
    kept = _kept_bytes_read(kept_file, path)
    if kept is None:
        return tr(
            "The program did not restore {shown}: its earlier content is no longer kept.", shown=place.shown
        )
    head, data = kept
    if head.sha256 == now.sha256:  # the program ended before it was written, or in an undo
        return ""
    if not head.sha256:
        return remove_guarded(place, now.sha256)
    return write_guarded(place, data, now.sha256)


def _turn_folder(home: Path, discussion_id: str, turn_id: str) -> Path:
    if not paths.is_directory_name(turn_id):
        raise StorageError(f"{turn_id!r} is not the id of a turn")
    return paths.discussion_dir(home, discussion_id) / EDITS_DIR / turn_id


def _kept_file(home: Path, discussion_id: str, turn_id: str, path: str) -> Path:
    return _kept_name(_turn_folder(home, discussion_id, turn_id), path)


def _kept_name(turn_folder: Path, path: str) -> Path:
    return turn_folder / hashlib.sha256(os.fsencode(path)).hexdigest()


def _kept_bytes_read(kept: Path, path: str) -> tuple[_KeptHead, bytes] | None:
    """Kept bytes of a file with their head; None where nothing is, or only a part."""
    try:
        first, _, data = read_file(kept, None, follows_links=False).partition(b"\n")
        head = from_json(first, _KeptHead)
    except (OSError, msgspec.DecodeError):
        return None
    sha256 = hashlib.sha256(data).hexdigest() if head.sha256 else ""
    return (head, data) if head.path == path and sha256 == head.sha256 else None


# Files as the model of a discussion saw them last, which alone it may change; on disk, for edits that wait
# for a yes when the program ends.

SEEN_FILE = "seen.json"
MOST_SEEN = 1_000
"""Files that are remembered, those seen last; another is read again before it is changed."""


class SeenFiles:
    """Files of one discussion, by path. Thread-safe. What cannot be read or kept counts as not seen after a restart.

    Args:
        folder: of the discussion's kept bytes; it is made with the first file, where the discussion's own is there.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / SEEN_FILE
        self._lock = threading.Lock()
        self._sha256 = _seen_files_read(self._file)

    def get(self, path: str) -> str:
        """Sha256 (hex), empty where it never saw the file."""
        with self._lock:
            return self._sha256.get(path, "")

    def note(self, path: str, sha256: str) -> None:
        """It has seen a file as these bytes."""
        with self._lock:
            if self._sha256.get(path) == sha256:
                return
            self._sha256.pop(path, None)
            self._sha256[path] = sha256
            while len(self._sha256) > MOST_SEEN:
                del self._sha256[next(iter(self._sha256))]
            with suppress(OSError, StorageError):
                with suppress(FileExistsError):
                    OS_DISK.make_dir(self._file.parent)  # it alone: a discussion that is gone stays gone
                write_passing(self._file, to_json(self._sha256))


def _seen_files_read(file: Path) -> dict[str, str]:
    try:
        return from_json(read_file(file, SETTINGS_BYTES, follows_links=False), dict[str, str])
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return {}
