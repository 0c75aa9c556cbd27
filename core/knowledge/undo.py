"""Undo of an apply: items out, conversations back, the ledger told; what a person edited since is left and shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from core import paths
from core.errors import StorageError
from core.knowledge import apply_log
from core.knowledge.apply import recover
from core.knowledge.apply_log import ApplyRecord
from core.knowledge.digest import regenerate_digest
from core.knowledge.ledger import Ledger, timestamp
from core.knowledge.locks import harvest_lock, write_lock
from core.knowledge.writing import change_file, read_bytes
from core.knowledge_text.categories import NOTES_FOLDER
from core.knowledge_text.undoing import lines_out
from core.store import trash
from core.store.atomic import OS_DISK, Disk, remove_file
from core.values.harvest import UndoReport


def list_applies(home: Path) -> Iterator[ApplyRecord]:
    """Applies of a home, the newest first, undone ones included; read as they are asked for."""
    for apply_id in apply_log.apply_ids(home):
        yield apply_log.read(home, apply_id)


def undo_apply(home: Path, now: datetime, apply_id: str = "", *, disk: Disk = OS_DISK) -> UndoReport:
    """Take an apply back. May be asked again after a crash: what was done is not done twice.

    Args:
        apply_id: empty for the newest that is not undone.

    Raises:
        StorageError: there is nothing to undo, or a file could not be written (ask again).
        LockedError: a harvest runs. ConfigError: the ledger does not parse.
    """
    with harvest_lock(home, "manual-slop harvest undo", disk=disk):
        ledger = Ledger(home, disk=disk)
        ledger.load()
        recover(home, ledger, disk=disk)
        record = _chosen(home, apply_id)
        hashes = {s.entry.sha256 for s in record.steps if not s.is_dropped} | set(record.reclaimed.values())
        for sha256 in sorted(hashes - {""}):
            ledger.mark_undone(sha256, now)
        restored, problems = _restore(home, record, disk)
        removed, left = _take_out(home, record, disk)
        ledger.fold()
        regenerate_digest(home, may_create=False, disk=disk)
        apply_log.write(home, record.id, {"kind": "undone", "at": timestamp(now)}, disk=disk)
        return UndoReport(record.id, removed, left, restored, problems)


def _chosen(home: Path, apply_id: str) -> ApplyRecord:
    for record in list_applies(home):
        if not record.undone_at and apply_id in {"", record.id} and (record.steps or record.reclaimed):
            return record
    raise StorageError(
        f"There is no apply {apply_id!r} to undo" if apply_id else "There is no apply to undo",
        remedy="`manual-slop knowledge ledger` lists what was harvested",
        where=str(paths.knowledge_dir(home)),
    )


def _restore(home: Path, record: ApplyRecord, disk: Disk) -> tuple[tuple[str, ...], tuple[str, ...]]:
    in_trash = {item.discussion_id for item in trash.items(home)} if record.reclaimed else set()
    restored, problems = [], []
    for discussion_id in record.reclaimed:
        if paths.discussion_dir(home, discussion_id).exists():
            continue
        if discussion_id in in_trash:
            restored.append(trash.restore(home, discussion_id, disk=disk))
        else:
            problems.append(f"{discussion_id} is not in the trash any more; it cannot be brought back")
    return tuple(restored), tuple(problems)


def _take_out(home: Path, record: ApplyRecord, disk: Disk) -> tuple[int, tuple[str, ...]]:
    texts: dict[str, list[str]] = {}
    heads: dict[str, bytes] = {}
    for step in record.steps:
        for plan in step.files if not step.is_dropped else ():
            heads[plan.name] = plan.head
            texts.setdefault(plan.name, []).extend(line.text for line in plan.lines)
    removed, left = 0, []
    with write_lock(home, disk=disk):
        for name, lines in texts.items():
            found, kept = _without(paths.knowledge_dir(home) / name, name, lines, disk)
            removed += found
            left += [f"{name}: {text}" for text in kept]
            _remove_where_bare(home, name, heads[name], disk)
    return removed, tuple(left)


def _remove_where_bare(home: Path, name: str, head: bytes, disk: Disk) -> None:
    """Notes that hold nothing any more but the head that we gave them are no notes."""
    path = paths.knowledge_dir(home) / name
    if name.startswith(f"{NOTES_FOLDER}/") and read_bytes(path).strip() == head.strip():
        remove_file(path, disk=disk)


def _without(path: Path, name: str, lines: list[str], disk: Disk) -> tuple[int, tuple[str, ...]]:
    if not path.exists():
        return 0, tuple(lines)
    said: list[tuple[int, tuple[str, ...]]] = []

    def change(data: bytes) -> bytes:
        rest, found, kept = lines_out(name, data, lines)
        said.append((len(found), kept))
        return rest

    change_file(path, change, disk=disk)
    return said[-1]
