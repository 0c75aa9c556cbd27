"""Takes an apply back step by step: the ledger told, conversations back, items out; each step may be done again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk, remove_file
from core.discussion import trash
from core.knowledge.apply_log import ApplyRecord
from core.knowledge.categories import NOTES_FOLDER, category_of
from core.knowledge.evidence_parts import undone_event, without_rows_of
from core.knowledge.file_writer import change_file, read_bytes
from core.knowledge.ledger import HarvestLedger, timestamp
from core.knowledge.locks import write_lock
from core.knowledge.part_writer import ensure_part, take_part_back
from core.knowledge.provenance import split_tag
from core.knowledge.removal import lines_out
from core.values.harvest import UndoReport
from core.values.knowledge import Item


def take_back(
    home: Path, record: ApplyRecord, ledger: HarvestLedger, now: datetime, *, disk: Disk = OS_DISK
) -> UndoReport:
    """Take an apply back, or what is left of it after a crash. Fold, digest and the log's last row are the caller's.

    Raises:
        StorageError: a part is not back yet; ask again.
    """
    entries = [s.entry for s in record.steps if not s.is_dropped and s.entry is not None]
    hashes = {entry.sha256 for entry in entries} | set(record.reclaimed.values())
    for sha256 in sorted(hashes - {""}):
        ledger.mark_undone(sha256, now)
    restored, problems = _restore(home, record, disk)
    changed = record.left if record.undoing_at else left_lines(home, record)
    removed, left = _take_out(home, record, changed, disk)
    ensure_part(home, undone_event(record.id, record.undoing_at or timestamp(now)), disk=disk)
    if record.undoing_at:  # an earlier attempt took some out; what it saw counts
        removed, left = record.item_count - len(record.left), record.left
    return UndoReport(record.id, removed, left, restored, problems)


def undoing_row(home: Path, record: ApplyRecord, now: datetime) -> dict[str, object]:
    """Row in an apply's log before anything of it is taken back: a start that finds this finishes it."""
    return {"kind": "undoing", "at": timestamp(now), "left": list(left_lines(home, record))}


def left_lines(home: Path, record: ApplyRecord) -> tuple[str, ...]:
    """Lines of an apply, as it wrote them, that a person has changed since, each as `file: line`."""
    left: list[str] = []
    for name, lines in _lines(record).items():
        data = read_bytes(paths.knowledge_dir(home) / name)
        left += [f"{name}: {text}" for text in lines_out(name, data, lines)[2]]
    return tuple(left)


def items_out(home: Path, record: ApplyRecord) -> tuple[Item, ...]:
    """Items that an undo would take out of their files now."""
    sections = {
        line.text: line.section for step in record.steps for plan in step.files for line in plan.lines
    }
    found: list[Item] = []
    for name, lines in _lines(record).items():
        data = read_bytes(paths.knowledge_dir(home) / name)
        for line in lines_out(name, data, lines)[1]:
            text, tag = split_tag(line.removeprefix("- "))
            found.append(Item(category_of(name, sections[line]), name, text, tag, sections[line]))
    return tuple(found)


def undone_row(now: datetime) -> dict[str, object]:
    """Row in an apply's log once it is taken back."""
    return {"kind": "undone", "at": timestamp(now)}


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


def _take_out(
    home: Path, record: ApplyRecord, changed: tuple[str, ...], disk: Disk
) -> tuple[int, tuple[str, ...]]:
    """Take lines and parts out. `changed`: lines that stay, and with them what they stand on."""
    heads = {plan.name: plan.head for step in record.steps for plan in step.files}
    removed, left = 0, []
    with write_lock(home, disk=disk):
        for name, lines in _lines(record).items():
            found, kept = _without(paths.knowledge_dir(home) / name, name, lines, disk)
            removed += found
            left += [f"{name}: {text}" for text in kept]
            _remove_where_bare(home, name, heads[name], disk)
        for part in reversed([part for step in record.steps if not step.is_dropped for part in step.parts]):
            gone = without_rows_of(part, changed)
            left += [f"{part.name}: {text}" for text in take_part_back(home, gone, disk=disk)]
    return removed, tuple(left)


def _lines(record: ApplyRecord) -> dict[str, list[str]]:
    """The lines that an apply wrote, by file."""
    texts: dict[str, list[str]] = {}
    for step in record.steps:
        for plan in step.files if not step.is_dropped else ():
            texts.setdefault(plan.name, []).extend(line.text for line in plan.lines)
    return texts


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
