"""Recovery from a crash: an apply's lines and proof, an undo that a person asked for, the digest."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from core.base import paths
from core.base.disk import OS_DISK, Disk
from core.knowledge import apply_log
from core.knowledge.apply_log import ApplyRecord
from core.knowledge.digest import regenerate_digest
from core.knowledge.fact_store import sync_facts
from core.knowledge.file_writer import change_file, ensure_lines, without_torn
from core.knowledge.ledger import HarvestLedger
from core.knowledge.locks import harvest_lock, write_lock
from core.knowledge.part_writer import ensure_part
from core.knowledge.plan import FilePlan
from core.knowledge.reversal import take_back, undone_row
from core.knowledge.switch import settle_switch
from core.knowledge.withdrawals import count_withdrawal
from core.values.harvest import UndoReport

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
    return Recovery(tuple(dict.fromkeys(sources)), tuple(undone), tuple(rows))


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
