"""Count of withdrawals from knowledge: what a provider was sent before must not be carried on then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk, make_dirs, write_file
from core.base.errors import SlopError
from core.knowledge.file_writer import read_bytes
from core.knowledge.locks import withdrawal_lock, write_lock

WITHDRAWALS_FILE = ".withdrawals"
_UNREADABLE = -1
"""Another count than any that was noted: what was sent before is rewritten."""


def withdrawal_count(home: Path) -> int:
    """The count, 0 before the first. Never fails: one that cannot be read is another than before."""
    try:
        data = read_bytes(paths.knowledge_dir(home) / WITHDRAWALS_FILE)
        return int(data) if data.strip() else 0
    except (SlopError, ValueError):
        return _UNREADABLE


@contextmanager
def withdrawing(home: Path, *, disk: Disk = OS_DISK) -> Iterator[None]:
    """Count a withdrawal, which the block carries out. Who reads knowledge for a request waits for its end.

    It is counted before, for a crash in between; and after, for a reader that did not wait: what it takes for current
    is old with the next.

    Raises:
        StorageError: it could not be counted, and nothing was taken out. LockedError: another program writes.
    """
    with withdrawal_lock(home, disk=disk):
        count_withdrawal(home, disk=disk)
        try:
            yield
        finally:
            count_withdrawal(home, disk=disk)


def count_withdrawal(home: Path, *, disk: Disk = OS_DISK) -> None:
    """Count one. Raises StorageError, LockedError: it is not counted."""
    path = paths.knowledge_dir(home) / WITHDRAWALS_FILE
    make_dirs(path.parent, disk=disk)
    with write_lock(home, disk=disk):
        write_file(path, b"%d\n" % (max(0, withdrawal_count(home)) + 1), disk=disk)
