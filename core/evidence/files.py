"""The two logs on disk: read whole, and added to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk, append_file, make_dirs, reported
from core.base.opener import read_file
from core.evidence.rows import EVENTS_FILE, EVIDENCE_FILE, Rows, read_rows, row_text
from core.values.evidence import ItemEvent


def read_logs(home: Path) -> Rows:
    """Everything that the logs of a home say.

    Raises:
        StorageError: one is there and cannot be read.
    """
    return read_rows(_read(home, EVIDENCE_FILE), _read(home, EVENTS_FILE))


def add_events(home: Path, events: Iterable[ItemEvent], *, disk: Disk = OS_DISK) -> None:
    """Add events behind the last whole line, fsynced.

    Raises:
        StorageError: some may be missing.
    """
    data = b"".join(row_text(event).encode() + b"\n" for event in events)
    if not data:
        return
    path = paths.knowledge_dir(home) / EVENTS_FILE
    make_dirs(path.parent, disk=disk)
    append_file(path, (b"" if _ends_whole(home) else b"\n") + data, disk=disk)


def _ends_whole(home: Path) -> bool:
    data = _read(home, EVENTS_FILE)
    return not data or data.endswith(b"\n")


def _read(home: Path, name: str) -> bytes:
    path = paths.knowledge_dir(home) / name
    with reported("read", path):
        try:
            return read_file(path, None)
        except FileNotFoundError:
            return b""
