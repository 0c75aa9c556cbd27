"""Recovery from a crash: an apply's lines and proof, an undo that a person asked for, the digest."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, remove_file
from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.values.harvest import UndoReport
from core.kernel.values.knowledge import Item
from core.knowledge import apply_log
from core.knowledge.apply_log import ApplyRecord, FilePlan
from core.knowledge.categories import NOTES_FOLDER, category_of, lines_out, split_tag
from core.knowledge.evidence_parts import undone_event, without_rows_of
from core.knowledge.fact_store import sync_facts
from core.knowledge.file_writer import (
    change_file,
    count_withdrawal,
    ensure_lines,
    harvest_lock,
    read_bytes,
    withdrawing,
    without_torn,
    write_lock,
)
from core.knowledge.knowledge_reader import digest_file, is_digest, read_categories, regenerate_digest
from core.knowledge.ledger import HarvestLedger, timestamp
from core.knowledge.note_files import read_notes
from core.knowledge.part_writer import ensure_part, take_part_back
from core.knowledge.parts import check_removal
from core.talk.discussion import trash

# Takes an apply back step by step: the ledger told, conversations back, items out; each step may be done
# again.


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
    return UndoReport(apply_id=record.id, removed=removed, left=left, restored=restored, problems=problems)


def undoing_row(home: Path, record: ApplyRecord, now: datetime) -> dict[str, object]:
    """Row in an apply's log before anything of it is taken back: a start that finds this finishes it."""
    return {"kind": "undoing", "at": timestamp(now), "left": list(left_lines(home, record))}


def left_lines(home: Path, record: ApplyRecord) -> tuple[str, ...]:
    """Lines that an apply wrote and a person has changed since, as they were written, each as `file: line`."""
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
            found.append(
                Item(
                    category=category_of(name, sections[line]),
                    file=name,
                    text=text,
                    provenance=tag,
                    section=sections[line],
                )
            )
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
            problems.append(
                tr(
                    "{discussion_id} is no longer in the trash; the program cannot restore it",
                    discussion_id=discussion_id,
                )
            )
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


# The switch of memory after an undo: what only an undone apply had turned on is off again.


def settle_switch(home: Path, *, disk: Disk = OS_DISK) -> None:
    """Renew the digest after an undo; delete it where memory was off before the applies that are undone.

    Raises:
        StorageError: the digest is as it was. LockedError: another program writes knowledge.
    """
    if not _was_turned_on_by_undone(home):
        regenerate_digest(home, may_create=False, disk=disk)
        return
    path = digest_file(home)
    with write_lock(home, disk=disk):
        if is_digest(path):
            remove_file(path, disk=disk)


def _was_turned_on_by_undone(home: Path) -> bool:
    """True if the apply that found memory off is undone, and all that came after it.

    One that wrote nothing counts only where it turned memory on. Where a later one found memory on although the
    apply before was undone by then, a person had turned it on.
    """
    found_on = ""
    for apply_id in apply_log.apply_ids(home):
        record = apply_log.read(home, apply_id)
        is_undone = bool(record.undoing_at)
        if not is_undone and (record.steps or record.reclaimed or not record.was_on):
            return False
        if not record.was_on:
            return not found_on or record.undoing_at > found_on
        found_on = max(found_on, record.at)
    return False


_LOOK_BACK = 8
"""Applies that are looked at for an end: each begins with finishing those before it."""


class Recovery(msgspec.Struct, frozen=True):
    """Work that was finished. Its applies count as ended only after `close`, once ledger and digest are right
    too.

    Args:
        sources: conversations whose items are whole, or are out, only now.
        undone: undos that were finished; rows: what is to be said in the logs of the applies.
    """

    sources: tuple[str, ...] = ()
    undone: tuple[UndoReport, ...] = ()
    rows: tuple[tuple[str, dict[str, object]], ...] = ()

    def close(self, home: Path, *, disk: Disk = OS_DISK) -> None:
        """Say in the logs that these applies came to their end.

        Raises:
            StorageError: it could not be said; the next start finds nothing left to do and says it.
        """
        for apply_id, row in self.rows:
            apply_log.write(home, apply_id, row, disk=disk)


def recover(home: Path, ledger: HarvestLedger, now: datetime, *, disk: Disk = OS_DISK) -> Recovery:
    """Finish what was interrupted: planned lines, each once, with their ledger entry; and undos, to their end.

    The caller holds the harvest's lock, and calls `close` once a later crash would be noticed again.

    Raises:
        StorageError: some of it is still open; nothing is doubled, ask again.
    """
    sources: list[str] = []
    undone: list[UndoReport] = []
    rows: list[tuple[str, dict[str, object]]] = []
    for record in _waiting(home):
        if not record.is_ended:
            sources += _finish(home, record, ledger, disk)
            rows.append((record.id, {"kind": "ended"}))
        if record.undoing_at and not record.undone_at:
            undone.append(take_back(home, record, ledger, now, disk=disk))
            sources += [step.source for step in record.steps if not step.is_dropped]
            rows.append((record.id, undone_row(now)))
    return Recovery(sources=tuple(dict.fromkeys(sources)), undone=tuple(undone), rows=tuple(rows))


def recover_home(home: Path, now: datetime | None = None, *, disk: Disk = OS_DISK) -> tuple[str, ...]:
    """At a start: finish an interrupted apply or undo, fold the ledger, renew the digest where it is on.

    Args:
        now: by default the clock's.

    Returns:
        The conversations that it was about.

    Raises:
        LockedError: another program harvests right now, so nothing was interrupted.
        StorageError, ConfigError: it could not be finished; nothing is lost, the next start tries again.
    """
    if not _waiting(home):
        return ()
    with harvest_lock(home, "a start that finishes a harvest", disk=disk):
        ledger = HarvestLedger(home, disk=disk)
        ledger.load()
        found = recover(home, ledger, now or datetime.now(UTC), disk=disk)
        ledger.fold()
        sync_facts(home, now, ours=None, disk=disk)
        if found.undone:
            settle_switch(home, disk=disk)
            count_withdrawal(home, disk=disk)
        else:
            regenerate_digest(home, may_create=False, disk=disk)
        found.close(home, disk=disk)
        return found.sources


def ensure_plan(home: Path, plan: FilePlan, *, disk: Disk = OS_DISK) -> None:
    """Have the lines of a plan in their file, each once. Raises StorageError: some may be missing."""
    path = paths.knowledge_dir(home) / plan.name
    ensure_lines(path, plan.name, plan.lines, plan.head, disk=disk)


def _waiting(home: Path) -> list[ApplyRecord]:
    records = [apply_log.read(home, apply_id) for apply_id in apply_log.apply_ids(home)[:_LOOK_BACK]]
    return [record for record in records if record.is_waiting]


def _finish(home: Path, record: ApplyRecord, ledger: HarvestLedger, disk: Disk) -> list[str]:
    """The lines and the proof of an apply that did not come to its end. Returns whose they are."""
    waiting = [s for s in record.steps if not s.is_written and not s.is_dropped and not record.undone_at]
    for step in waiting:
        with write_lock(home, disk=disk):
            for plan in step.files:
                _mend(home, plan, disk)
                ensure_plan(home, plan, disk=disk)
            for part in step.parts:
                ensure_part(home, part, disk=disk)
        if step.entry is not None:
            ledger.add(step.entry)
    return [step.source for step in waiting]


def _mend(home: Path, plan: FilePlan, disk: Disk) -> None:
    """Take out the part of a line that was being written when the program ended."""
    path = paths.knowledge_dir(home) / plan.name
    if path.exists():
        change_file(path, lambda data: without_torn(data, plan.lines), disk=disk)


# Undo of an apply: items out, conversations back, memory off if it was; what a person edited since is left
# and shown.


def list_applies(home: Path) -> Iterator[ApplyRecord]:
    """Applies of a home, the newest first, undone ones included; read as they are asked for."""
    for apply_id in apply_log.apply_ids(home):
        yield apply_log.read(home, apply_id)


def undo_apply(
    home: Path, now: datetime, apply_id: str = "", *, is_agreed: bool = False, disk: Disk = OS_DISK
) -> UndoReport:
    """Take an apply back. May be asked again after a crash: what was done is not done twice.

    Args:
        apply_id: empty for the newest that is not undone.
        is_agreed: the person has seen what goes, and agreed where it is much of a category.

    Raises:
        RemovalError: it is much, and nobody has agreed: nothing was taken back.
        StorageError: there is nothing to undo, or a file could not be written (ask again).
        LockedError: a harvest runs. ConfigError: the ledger does not parse.
    """
    with harvest_lock(home, "manual-slop harvest undo", disk=disk), withdrawing(home, disk=disk):
        ledger = HarvestLedger(home, disk=disk)
        ledger.load()
        recovered = recover(home, ledger, now, disk=disk)
        finished = next((one for one in recovered.undone if apply_id in {"", one.apply_id}), None)
        if finished is None:
            record = _chosen(home, apply_id)
            known = [item for file in read_categories(home) for item in file.items]
            notes = [item for note in read_notes(home) for item in note.items]
            check_removal(items_out(home, record), [*known, *notes], is_agreed=is_agreed)
            apply_log.write(home, record.id, undoing_row(home, record, now), disk=disk)
            recovered.close(home, disk=disk)
            finished = take_back(home, record, ledger, now, disk=disk)
            recovered = Recovery(rows=((record.id, undone_row(now)),))
        ledger.fold()
        sync_facts(home, now, ours=None, disk=disk)
        settle_switch(home, disk=disk)
        recovered.close(home, disk=disk)
        return finished


def _chosen(home: Path, apply_id: str) -> ApplyRecord:
    for record in list_applies(home):
        if not record.undone_at and apply_id in {"", record.id} and (record.steps or record.reclaimed):
            return record
    raise StorageError(
        tr("There is no harvest {apply_id!r} to undo", apply_id=apply_id)
        if apply_id
        else tr("There is no harvest to undo"),
        remedy=tr("`manual-slop knowledge ledger` lists past harvests"),
        where=str(paths.knowledge_dir(home)),
    )
