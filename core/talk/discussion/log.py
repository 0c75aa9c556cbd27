"""The log of a discussion on disk: append with fsync under a lock, and read as a stream."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

import msgspec

from core.kernel import paths
from core.kernel.disk import OS_DISK, Appended, Disk, append_file, discussion_lock, reported
from core.kernel.errors import LockedError, SlopError, StorageError
from core.kernel.figures import midnight
from core.kernel.language import tr
from core.kernel.opener import open_file
from core.kernel.values.records import MessageRecord, Record, UsageRecord, ViewRecord
from core.kernel.values.usage import Payment
from core.services.spending.harvest_costs import harvest_payments
from core.talk.discussion import log_codec, trash
from core.talk.discussion.log_codec import ForeignLine
from core.talk.discussion.reply_journal import leftovers, paid_for, unlogged

MAX_LINE_BYTES = 256 * 1024 * 1024
"""A longer line is foreign: no record of ours gets there, and reading it would cost all memory."""

_READ_WAIT_S = 2.0


class LogLine(msgspec.Struct, frozen=True, gc=False):
    """One line of a log.

    Args:
        offset, size_bytes: where it lies in the file, its LF included; is_torn: it has no LF.
    """

    offset: int
    size_bytes: int
    content: Record | ForeignLine
    is_torn: bool = False


class LogContent(msgspec.Struct, frozen=True):
    """A whole log.

    Args:
        records: in order; foreign: lines that this program cannot read, they stay in the file.
        repairs: what was set right while reading, in sentences; size_bytes: how much of the file was read.
    """

    records: tuple[Record, ...] = ()
    foreign: tuple[ForeignLine, ...] = ()
    repairs: tuple[str, ...] = ()
    size_bytes: int = 0


def append(home: Path, discussion_id: str, records: Iterable[Record], *, disk: Disk = OS_DISK) -> Appended:
    """Append records as one write and return once they are on the medium.

    Args:
        records: any number; their ids must be new to the log.

    Returns:
        Where they went, and whether a torn last line was closed first.

    Raises:
        StorageError: nothing was added (no space, no right, the discussion is gone).
        LockedError: another process kept the discussion's lock.
    """
    directory = paths.discussion_dir(home, discussion_id)
    data = b"".join(map(log_codec.encode, records))
    with discussion_lock(directory):
        return append_file(directory / paths.LOG_FILE, data, disk=disk)


def read(home: Path, discussion_id: str) -> LogContent:
    """Read a log as far as it reached when it was opened. A log that is not there is empty.

    Raises:
        StorageError: it is there and cannot be read.
    """
    path = paths.log_file(home, discussion_id)
    size = settled_size(path)
    records: list[Record] = []
    foreign: list[ForeignLine] = []
    repairs: list[str] = []
    for line in scan(path, end=size):
        if isinstance(line.content, ForeignLine):
            foreign.append(line.content)
        else:
            records.append(line.content)
        if line.is_torn:
            repairs.append(_torn_sentence(line))
    return LogContent(records=tuple(records), foreign=tuple(foreign), repairs=tuple(repairs), size_bytes=size)


def torn_end(home: Path, discussion_id: str) -> str:
    """Sentence that a load would say of a last line without its line end; empty where the log ends well.

    It reads no other line.

    Raises:
        StorageError: the log is there and cannot be read.
    """
    path = paths.log_file(home, discussion_id)
    with reported("read", path):
        try:
            stream = open_file(path)
        except FileNotFoundError:
            return ""
        with stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 1))
            if stream.read(1) in (b"", b"\n"):
                return ""
            stream.seek(max(0, size - MAX_LINE_BYTES))
            last = stream.read(MAX_LINE_BYTES).rpartition(b"\n")[2]
    if not last.strip(b" \t\r\0"):
        return ""
    line = LogLine(
        offset=size - len(last), size_bytes=len(last), content=log_codec.decode(last, 0), is_torn=True
    )
    return _torn_sentence(line)


def read_views(home: Path, discussion_id: str) -> tuple[ViewRecord, ...]:
    """Read the view records of a log alone: of a long discussion that is few lines, the others are not parsed.

    Raises:
        StorageError: it is there and cannot be read.
    """
    path = paths.log_file(home, discussion_id)
    lines = scan(path, end=settled_size(path), holding=_VIEW)
    return tuple(line.content for line in lines if isinstance(line.content, ViewRecord))


_VIEW = b'"view"'
_BUFFER_BYTES = 262_144
"""Read at once: a line of megabytes is put together from pieces of this size."""


def scan(
    path: Path, *, start: int = 0, end: int | None = None, first_line: int = 1, holding: bytes = b""
) -> Iterator[LogLine]:
    """Read a log line by line, with no more than one line in memory. Blank lines are passed over.

    Args:
        start: byte offset of a line's first byte; end: stop there, None for the end of the file.
        first_line: number of the line at `start`; holding: bytes without which a line is passed over, too.

    Raises:
        StorageError: the file is there and cannot be read.
    """
    with reported("read", path):
        try:
            stream = open_file(path, buffering=_BUFFER_BYTES)
        except FileNotFoundError:
            return
        with stream:
            stream.seek(start)
            number, offset = first_line, start
            while end is None or offset < end:
                if holding:
                    lines, size = _pass_over(stream, holding, None if end is None else end - offset)
                    number, offset = number + lines, offset + size
                limit = MAX_LINE_BYTES if end is None else min(MAX_LINE_BYTES, end - offset)
                line = stream.readline(limit)
                if not line:
                    return
                size = len(line)
                if size == MAX_LINE_BYTES and not line.endswith(b"\n"):
                    size += _skip_line(stream)
                    yield LogLine(
                        offset=offset,
                        size_bytes=size,
                        content=ForeignLine(
                            number,
                            tr(
                                "the line is longer than {MAX_LINE_BYTES:,} bytes",
                                MAX_LINE_BYTES=MAX_LINE_BYTES,
                            ),
                        ),
                    )
                elif holding in line and line.strip(b" \t\r\n\0"):
                    read = LogLine(
                        offset=offset,
                        size_bytes=size,
                        content=log_codec.decode(line, number),
                        is_torn=not line.endswith(b"\n"),
                    )
                    line = b""  # whoever takes the record may keep it for long: a line may be large
                    yield read
                offset += size
                number += 1


def settled_size(path: Path) -> int:
    """The size of a log between two appends, 0 where there is none. Waits a little for one under way.

    Where the lock cannot be had (a read-only home, a holder that hangs) the size of this moment is taken.
    """
    try:
        with discussion_lock(path.parent, wait_s=_READ_WAIT_S):
            return _size(path)
    except (StorageError, LockedError):
        return _size(path)


def foreign_sentences(content: LogContent) -> tuple[str, ...]:
    """Sentences for a person about lines that could not be read, at most three of them by number."""
    lines = [
        tr(
            "The program skipped line {line_number} of the log: {reason}",
            line_number=f.line_number,
            reason=f.reason,
        )
        for f in content.foreign[:3]
    ]
    more = len(content.foreign) - len(lines)
    return (
        (*lines, tr("the program skipped {more} more unreadable lines of the log", more=more))
        if more
        else tuple(lines)
    )


def _pass_over(stream: BufferedReader, holding: bytes, limit: int | None) -> tuple[int, int]:
    """Pass over the whole lines that are buffered where none holds some bytes; at a line's start. Their number and bytes."""
    ahead = stream.peek()
    size = ahead.rfind(b"\n", 0, limit) + 1
    if not size or ahead.find(holding, 0, size) >= 0:
        return 0, 0
    stream.read(size)
    return ahead.count(b"\n", 0, size), size


def _skip_line(stream: BinaryIO) -> int:
    """Pass over what is left of a line. Returns its bytes."""
    skipped = 0
    while piece := stream.readline(MAX_LINE_BYTES):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _torn_sentence(line: LogLine) -> str:
    if isinstance(line.content, ForeignLine):
        return tr(
            "The last record of the log is cut off; {size_bytes} bytes of the record are left. The program skips the record and leaves these bytes in the file",
            size_bytes=line.size_bytes,
        )
    return tr("The last record of the log had no line end; the program kept the whole record")


def _size(path: Path) -> int:
    with reported("read", path):
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return 0


# Payments for calls, as the disk tells them: in logs, in the trash, and in the harvest's notes.

logger = logging.getLogger(__name__)


def paid_since(log_file: Path, start: datetime) -> dict[str, Payment]:
    """Costs of a log's calls since then, by the record's id: a branch repeats its parent's.

    Unknown prices add nothing. Raises StorageError.
    """
    found = (line.content for line in scan(log_file))
    return {
        record.id: Payment(record.usage.cost_usd, record.usage.is_estimate)
        for record in found
        if isinstance(record, UsageRecord) and record.at >= start and record.usage.cost_usd
    }


def is_booked(home: Path, discussion_id: str, record_id: str) -> bool:
    """True if a discussion's log holds the record of a payment. O(bytes). Raises StorageError."""
    lines = scan(paths.log_file(home, discussion_id), holding=record_id.encode("utf-8", "replace"))
    return any(isinstance(line.content, UsageRecord) and line.content.id == record_id for line in lines)


def left_since(home: Path, log_file: Path, start: datetime) -> dict[str, Payment]:
    """Estimates of calls that a killed process had under way: paid for, and in the log only once it is read.

    By the id that the record will have then. Raises StorageError.
    """
    with leftovers(home, log_file.parent.name) as left:
        pass  # what is counted below takes a while, and who opens the discussion waits for the lock
    if not left:
        return {}
    records = [
        line.content for line in scan(log_file) if isinstance(line.content, MessageRecord | UsageRecord)
    ]
    return {
        one.id: Payment(one.usage.cost_usd, one.usage.is_estimate)
        for one in (record for reply in unlogged(left, records) for record in paid_for(reply))
        if one.at >= start and one.usage.cost_usd
    }


def all_paid_since(home: Path, logs: Iterable[Path], start: datetime) -> dict[str, Payment]:
    """Payments since then for turns, pings, prewarms and harvests, also of what was deleted since.

    Args:
        logs: those that may hold something; what cannot be read counts nothing.
    """
    paid: dict[str, Payment] = {}
    files = list(logs)
    with suppress(SlopError):
        files += [Path(one.path) / paths.LOG_FILE for one in trash.items(home) if one.deleted_at >= start]
    for path in files:
        try:
            if path.parent.parent == paths.discussions_dir(home):
                paid |= left_since(home, path, start)
            paid |= paid_since(path, start)  # after them: one may come into the log meanwhile
        except Exception as fault:  # noqa: BLE001 (one log that cannot be read hides no other's money)
            logger.warning("What was paid in %s does not count today: %s", path, fault)
    with suppress(SlopError):
        paid |= harvest_payments(home, start)
    return paid


def spent_today_usd(home: Path, now: datetime) -> float:
    """US dollars spent since the person's midnight by all programs on this home. For a command that keeps no
    list.
    """
    start = midnight(now)
    return sum(paid.usd for paid in all_paid_since(home, _logs_since(home, start), start).values())


def _logs_since(home: Path, start: datetime) -> list[Path]:
    found = []
    for path in paths.discussions_dir(home).glob(f"*/{paths.LOG_FILE}"):
        with suppress(OSError):
            if path.stat().st_mtime >= start.timestamp():
                found.append(path)
    return found
