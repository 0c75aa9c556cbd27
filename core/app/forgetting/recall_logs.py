"""Logs of other conversations without what was recalled in them, and the ledger that knows them by their bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from contextlib import nullcontext
from pathlib import Path

from msgspec.structs import replace

from core.app.forgetting.recall_text import without_recalled
from core.app.forgetting.words import Words
from core.kernel import paths
from core.kernel.disk import Disk, write_file
from core.kernel.locks import discussion_lock
from core.kernel.opener import read_file
from core.knowledge.ledger import HarvestLedger
from core.talk.discussion import trash


def cut_recalled(home: Path, words: Words, *, disk: Disk) -> tuple[str, ...]:
    """Empty what was recalled in logs, in the list and in the trash, where it is of what goes.

    Returns:
        The discussions in which there was any.

    Raises:
        StorageError: a log is as it was. LockedError: another program writes to it.
    """
    live = paths.discussions_dir(home)
    folders = [(path.name, path) for path in sorted(live.glob("*")) if path.is_dir()]
    binned = [(one.discussion_id, Path(one.path)) for one in trash.items(home)]
    ledger = HarvestLedger(home, disk=disk)
    found = []
    for (discussion_id, folder), is_live in (
        *((one, True) for one in folders),
        *((one, False) for one in binned),
    ):
        if _cut(folder, words) is None:
            continue
        with discussion_lock(folder) if is_live else nullcontext():
            cut = _cut(folder, words)
            if cut is not None:
                names = {str(folder / paths.LOG_FILE), str(paths.log_file(home, discussion_id))}
                _tell(ledger, names, *cut)
                write_file(folder / paths.LOG_FILE, cut[1], disk=disk)
                found.append(discussion_id)
    if found:
        ledger.fold()
    return tuple(found)


def _cut(folder: Path, words: Words) -> tuple[bytes, bytes] | None:
    """A log as it is and as it is to be, None where nothing is to go."""
    try:
        before = read_file(folder / paths.LOG_FILE, None)
    except OSError:
        return None
    after = without_recalled(before, words)
    return None if after == before else (before, after)


def _tell(ledger: HarvestLedger, names: Collection[str], before: bytes, after: bytes) -> None:
    """Have the ledger know a log by its new bytes, so that it counts as read still."""
    for entry in list(ledger.entries()):
        size = entry.size_bytes
        if entry.path in names and hashlib.sha256(before[:size]).hexdigest() == entry.sha256:
            ledger.add(replace(entry, sha256=hashlib.sha256(after[:size]).hexdigest()))
