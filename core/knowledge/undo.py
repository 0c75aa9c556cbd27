"""Undo of an apply: items out, conversations back, memory off if it was; what a person edited since is left and shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk
from core.base.errors import StorageError
from core.knowledge import apply_log
from core.knowledge.apply_log import ApplyRecord
from core.knowledge.fact_store import sync_facts
from core.knowledge.ledger import HarvestLedger
from core.knowledge.locks import harvest_lock
from core.knowledge.recovery import Recovery, recover
from core.knowledge.reversal import take_back, undoing_row, undone_row
from core.knowledge.switch import settle_switch
from core.knowledge.withdrawals import withdrawing
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
    with harvest_lock(home, "manual-slop harvest undo", disk=disk), withdrawing(home, disk=disk):
        ledger = HarvestLedger(home, disk=disk)
        ledger.load()
        recovered = recover(home, ledger, now, disk=disk)
        finished = next((one for one in recovered.undone if apply_id in {"", one.apply_id}), None)
        if finished is None:
            record = _chosen(home, apply_id)
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
        f"There is no apply {apply_id!r} to undo" if apply_id else "There is no apply to undo",
        remedy="`manual-slop knowledge ledger` lists what was harvested",
        where=str(paths.knowledge_dir(home)),
    )
