"""Bytes of files before a turn's first write of them, kept with the discussion, and their way back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

import msgspec

from core.agent.change_notes import ChangeNote, ChangeStep, NotedChange, note_change, read_notes
from core.agent.guarded_files import (
    ToolPath,
    judge_path,
    read_guarded,
    remove_empty_folder,
    remove_guarded,
    write_guarded,
)
from core.agent.tool import ToolPlaces
from core.base import paths
from core.base.decoders import from_json
from core.base.disk import create_file, make_dirs
from core.base.errors import StorageError
from core.base.opener import read_file
from core.values.agent import FileChange

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
    note_change(kept.parent, ChangeNote(ChangeStep.BEGUN, change, missing))


def note_written(home: Path, discussion_id: str, change: FileChange, *, is_made: bool) -> None:
    """Note how a write ended. Total: lost, it counts as one in which the program ended."""
    step = ChangeStep.MADE if is_made else ChangeStep.FAILED
    with suppress(StorageError):
        note_change(_turn_folder(home, discussion_id, change.turn_id), ChangeNote(step, change))


def kept_changes(home: Path, discussion_id: str) -> tuple[FileChange, ...]:
    """All that turns of a discussion did to files, as their notes tell it: turns by id, files by their first write."""
    folder = paths.discussion_dir(home, discussion_id) / EDITS_DIR
    try:
        turns = sorted(os.listdir(folder))
    except OSError:
        return ()
    return tuple(noted.change for turn in turns for noted in read_notes(folder / turn).values())


def _keep(kept: Path, path: str, data: bytes | None) -> None:
    if _read(kept, path) is not None:
        return
    make_dirs(kept.parent)
    sha256 = "" if data is None else hashlib.sha256(data).hexdigest()
    head = msgspec.json.encode(_KeptHead(path, sha256), order="sorted")
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
        noted = notes.get(path) or NotedChange(change, change)
        problem = place.problem or _put_back(_kept_name(folder, path), place, path, noted.ours)
        if problem:
            left.append(problem)
            continue
        restored.append(path)
        made.update(noted.folders)
        _remove_made((one for one in made if path.startswith(one + os.sep)), places)
        with suppress(StorageError):  # last of all: an undo that the program ended in can be gone on with
            note_change(folder, ChangeNote(ChangeStep.UNDONE, change))
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
        return f"{path} leads elsewhere by now: it was left."
    now = read_guarded(place)
    if now.problem or now.sha256 not in ours:
        return now.problem or f"{place.shown} was changed after this turn: it was left."
    kept = _read(kept_file, path)
    if kept is None:
        return f"The earlier bytes of {place.shown} are not kept any more: it was left."
    head, data = kept
    if head.sha256 == now.sha256:  # the program ended before it was written, or in an undo
        return ""
    if not head.sha256:
        return remove_guarded(place, now.sha256)
    return write_guarded(place, data, now.sha256)


def _turn_folder(home: Path, discussion_id: str, turn_id: str) -> Path:
    if not paths.is_directory_name(turn_id):
        raise StorageError(f"{turn_id!r} is no id of a turn")
    return paths.discussion_dir(home, discussion_id) / EDITS_DIR / turn_id


def _kept_file(home: Path, discussion_id: str, turn_id: str, path: str) -> Path:
    return _kept_name(_turn_folder(home, discussion_id, turn_id), path)


def _kept_name(turn_folder: Path, path: str) -> Path:
    return turn_folder / hashlib.sha256(os.fsencode(path)).hexdigest()


def _read(kept: Path, path: str) -> tuple[_KeptHead, bytes] | None:
    """Kept bytes of a file with their head; None where nothing is, or only a part."""
    try:
        first, _, data = read_file(kept, None, follows_links=False).partition(b"\n")
        head = from_json(first, _KeptHead)
    except (OSError, msgspec.DecodeError):
        return None
    sha256 = hashlib.sha256(data).hexdigest() if head.sha256 else ""
    return (head, data) if head.path == path and sha256 == head.sha256 else None
