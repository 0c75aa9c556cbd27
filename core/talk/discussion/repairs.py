"""Repairs of a discussion's files, for which a person is asked: what is taken out of a file is kept beside it."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from core.kernel import paths
from core.kernel.disk import (
    OS_DISK,
    Disk,
    append_file,
    create_file,
    discussion_lock,
    free_name,
    reported,
    write_file,
)
from core.kernel.errors import StorageError
from core.kernel.opener import read_file
from core.kernel.values.records import MessageRecord, RequestRecord
from core.talk.discussion import log_codec
from core.talk.discussion.discussion_meta import mended_text
from core.talk.discussion.log import MAX_LINE_BYTES, scan

_PIECE = 1 << 20


def mend_meta(home: Path, discussion_id: str, now: datetime, *, disk: Disk = OS_DISK) -> Path | None:
    """Write `meta.toml` anew from what can be read of it; a lost model is that of the log's last call.

    Args:
        now: names the copy of the old file.

    Returns:
        Where the old file is kept; None where there was none.

    Raises:
        StorageError: the old file still counts. LockedError: another process kept the discussion's lock.
    """
    path = paths.meta_file(home, discussion_id)
    with discussion_lock(path.parent), reported("write", path):
        old = read_file(path) if os.path.lexists(path) else None
        kept = None if old is None else _keep(path, old, now, disk)
        text = mended_text(old or b"", discussion_id, *_last_model(home, discussion_id))
        write_file(path, text.encode("utf-8", "replace"), disk=disk)
    return kept


def mend_log(home: Path, discussion_id: str, now: datetime, *, disk: Disk = OS_DISK) -> Path | None:
    """Move a cut-off record behind the last line end of a log into a file of its own; end a whole one with its line end.

    No program may have the log open: it would write behind an end that moved.

    Returns:
        Where the record's bytes are kept; None where nothing had to be taken out.

    Raises:
        StorageError: the log is as it was. LockedError: another process kept the discussion's lock.
    """
    path = paths.log_file(home, discussion_id)
    with discussion_lock(path.parent), reported("write", path):
        descriptor = disk.open(path, os.O_RDWR)
        try:
            size = os.fstat(descriptor).st_size
            last = _behind_last_line(descriptor, size)
            if last and isinstance(log_codec.decode(last, 0), log_codec.ForeignLine):
                kept = _keep(path, last, now, disk)
                os.ftruncate(descriptor, size - len(last))
                disk.fsync(descriptor)
                return kept
        finally:
            os.close(descriptor)
        append_file(path, b"", disk=disk)  # ends the last line
    return None


def _behind_last_line(descriptor: int, size: int) -> bytes:
    start = max(0, size - MAX_LINE_BYTES)
    os.lseek(descriptor, start, os.SEEK_SET)
    return b"".join(iter(partial(os.read, descriptor, _PIECE), b"")).rpartition(b"\n")[2]


def _keep(path: Path, data: bytes, now: datetime, disk: Disk) -> Path:
    """Write bytes of a file to one beside it, whose name nothing has, and return that once it is on the medium."""
    kept = free_name(path, now)
    create_file(kept, data, disk=disk)
    return kept


def _last_model(home: Path, discussion_id: str) -> tuple[str, str]:
    """Provider and model of the last call that a log tells of; empty where none does or the log cannot be read."""
    found = ("", "")
    with suppress(StorageError):
        for line in scan(paths.log_file(home, discussion_id), holding=b'"model"'):
            if isinstance(line.content, RequestRecord | MessageRecord) and line.content.model:
                found = line.content.provider, line.content.model
    return found
