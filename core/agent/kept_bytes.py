"""Bytes of files before a turn's first write of them, kept with the discussion, and their way back."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from core.agent.guarded_files import ToolPath, judge_path, read_guarded, remove_guarded, write_guarded
from core.agent.tool import ToolPlaces
from core.base import paths
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


def keep_before(home: Path, discussion_id: str, turn_id: str, path: str, data: bytes | None) -> None:
    """Keep a file's bytes and return once they are on the medium. What the turn kept of it before stays.

    Args:
        path: absolute; data: None where there is no file.

    Raises:
        StorageError: they were not kept, and the file must not be written.
    """
    kept = _kept_file(home, discussion_id, turn_id, path)
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
    last = {change.path: change for change in changes if not change.is_undone}
    for path, change in reversed(last.items()):
        place = judge_path(path, places)
        problem = place.problem or _put_back(home, discussion_id, turn_id, place, path, change.after_sha256)
        if problem:
            left.append(problem)
        else:
            restored.append(path)
    return Restored(tuple(restored), tuple(left))


def _put_back(
    home: Path, discussion_id: str, turn_id: str, place: ToolPath, path: str, after_sha256: str
) -> str:
    """Put one file back. Returns why it was left, a sentence; empty where it is back."""
    if place.path != path:
        return f"{path} leads elsewhere by now: it was left."
    now = read_guarded(place)
    if now.problem or now.sha256 != after_sha256:
        return now.problem or f"{place.shown} was changed after this turn: it was left."
    kept = _read(_kept_file(home, discussion_id, turn_id, path), path)
    if kept is None:
        return f"The earlier bytes of {place.shown} are not kept any more: it was left."
    head, data = kept
    if not head.sha256:
        return remove_guarded(place, after_sha256)
    return write_guarded(place, data, after_sha256)


def _turn_folder(home: Path, discussion_id: str, turn_id: str) -> Path:
    if not paths.is_directory_name(turn_id):
        raise StorageError(f"{turn_id!r} is no id of a turn")
    return paths.discussion_dir(home, discussion_id) / EDITS_DIR / turn_id


def _kept_file(home: Path, discussion_id: str, turn_id: str, path: str) -> Path:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()
    return _turn_folder(home, discussion_id, turn_id) / name


def _read(kept: Path, path: str) -> tuple[_KeptHead, bytes] | None:
    """Kept bytes of a file with their head; None where nothing is, or only a part."""
    try:
        first, _, data = read_file(kept, None, follows_links=False).partition(b"\n")
        head = msgspec.json.decode(first, type=_KeptHead)
    except (OSError, msgspec.DecodeError):
        return None
    sha256 = hashlib.sha256(data).hexdigest() if head.sha256 else ""
    return (head, data) if head.path == path and sha256 == head.sha256 else None
