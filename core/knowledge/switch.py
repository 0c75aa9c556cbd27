"""The switch of memory after an undo: what only an undone apply had turned on is off again."""

from __future__ import annotations

from pathlib import Path

from core.base.disk import OS_DISK, Disk, remove_file
from core.knowledge import apply_log
from core.knowledge.digest import digest_file, is_digest, regenerate_digest
from core.knowledge.locks import write_lock


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
