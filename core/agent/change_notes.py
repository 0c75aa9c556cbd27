"""Notes of what a turn wrote, beside the bytes that it kept: begun before a write, settled behind it, so that a kill loses none."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.agent.changes import joined
from core.base.decoders import from_json
from core.base.disk import append_file
from core.base.opener import read_file
from core.values.agent import FileChange

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
        told = FileChange(note.change.path, note.change.turn_id, "", "")
        note = ChangeNote(note.step, told)
    append_file(turn_folder / NOTES_FILE, msgspec.json.encode(note, order="sorted") + b"\n")


def read_notes(turn_folder: Path) -> dict[str, NotedChange]:
    """Changes of files by a turn, by path, in the order of their first writes. Total: what cannot be read is passed over."""
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
                told[path] = NotedChange(change, note.change, folders, is_sure=False)
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
