"""The ledger on disk: what became of each conversation, proven before anything is reclaimed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, append_file, make_dirs, remove_file, reported, write_file
from core.kernel.errors import StorageError
from core.kernel.opener import BOOK_BYTES, open_file, read_file
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus
from core.knowledge.file_writer import write_lock
from core.knowledge.ledger_text import (
    journal_line,
    ledger_bytes,
    path_of,
    raw_of,
    read_journal,
    read_ledger,
    read_own,
    to_entry,
    to_raw,
)

LEDGER_FILE, JOURNAL_FILE = "ledger.json", "ledger.journal"
SUM_FILE = ".ledger.sha256"
"""The hash of the ledger as we wrote it last: while it fits, nobody else touched it and it is known to parse."""

_CHUNK = 1 << 20

_Stamp = tuple[int, int, int, int]


class SourceHash(msgspec.Struct, frozen=True):
    """A conversation's bytes: their sha256, their number, and the sha256 of some of its leading runs by length."""

    sha256: str
    size_bytes: int
    prefixes: Mapping[int, str] = msgspec.field(default_factory=dict)


class HarvestLedger:
    """The ledger of a home, read when it changed. Not thread-safe; processes are kept apart by `write_lock`.

    Args:
        home: the person's data; disk: what fails on purpose in tests.
    """

    def __init__(self, home: Path, *, disk: Disk = OS_DISK) -> None:
        directory = paths.knowledge_dir(home)
        self._home, self._disk = home, disk
        self.path, self.journal = directory / LEDGER_FILE, directory / JOURNAL_FILE
        self._sum = directory / SUM_FILE
        self._document: dict[str, Any] = {"entries": {}}
        self._stamps: tuple[_Stamp, _Stamp] | None = None
        self._by_path: dict[str, list[str]] | None = None
        self.torn_lines = 0

    def load(self) -> None:
        """Read the file, unless it is unchanged since the last read.

        Raises:
            ConfigError: the ledger does not parse; file and line are named. StorageError: it cannot be read.
        """
        stamps = (_stamp(self.path), _stamp(self.journal))
        if stamps == self._stamps:
            return
        data = _read(self.path)
        read = read_own if data and _read(self._sum) == _sum(data) else read_ledger
        document = read(data, str(self.path))
        rows, self.torn_lines = read_journal(_read(self.journal))
        for key, raw in rows:
            document["entries"][key] = raw
        self._document, self._stamps, self._by_path = document, stamps, None

    def get(self, sha256: str) -> HarvestLedgerEntry | None:
        """The entry of a conversation by the hash of its bytes."""
        self.load()
        return to_entry(sha256, self._raw(sha256))

    def entries(self) -> Iterator[HarvestLedgerEntry]:
        """All entries that are ours, as they stand, the oldest first."""
        self.load()
        found = (to_entry(key, raw_of(raw)) for key, raw in self._document["entries"].items())
        yield from (entry for entry in found if entry is not None)

    def may_reclaim(self, sha256: str) -> bool:
        """True if the ledger on disk proves that a conversation of these bytes may go. The gate of reclaim."""
        entry = self.get(sha256)
        return entry is not None and entry.allows_reclaim

    def add(self, entry: HarvestLedgerEntry) -> None:
        """Put an entry on disk, fsynced, in the journal beside the ledger.

        Raises:
            StorageError: it was not added. ConfigError: the ledger does not parse. LockedError: another writes.
        """
        with write_lock(self._home, disk=self._disk):
            self.load()
            raw = to_raw(entry, self._raw(entry.sha256))
            make_dirs(self.path.parent, disk=self._disk)
            append_file(self.journal, journal_line(entry.sha256, raw), disk=self._disk)
            self._document["entries"][entry.sha256] = raw
            self._stamps = (_stamp(self.path), _stamp(self.journal))
            if self._by_path is not None and entry.sha256 not in self._keys_of(entry.path):
                self._by_path.setdefault(entry.path, []).append(entry.sha256)

    def mark_undone(self, sha256: str, at: datetime) -> None:
        """Note that a harvest was taken back: the conversation is a candidate again. Unknown ones are left alone."""
        entry = self.get(sha256)
        if entry is not None:
            self.add(replace(entry, undone_at=timestamp(at), deleted=False, kept=False))

    def fold(self) -> None:
        """Take the journal into `ledger.json` and remove it. Call it when a run ends.

        Raises:
            StorageError, ConfigError, LockedError: both files are as they were, or say the same.
        """
        with write_lock(self._home, disk=self._disk):
            self._stamps = None
            self.load()
            if not self.journal.exists():
                return
            data = ledger_bytes(self._document)
            write_file(self.path, data, disk=self._disk)
            remove_file(self.journal, disk=self._disk)
            with suppress(StorageError):  # without it the next load takes longer, that is all
                write_file(self._sum, _sum(data), disk=self._disk)
            self._stamps = (_stamp(self.path), _stamp(self.journal))

    def harvested_lengths(self, path: str, size_bytes: int) -> tuple[int, ...]:
        """Lengths at which a conversation was harvested before it grew, to be given to `hash_source`.

        Args:
            path: as the ledger names it; size_bytes: of the conversation now.
        """
        found = (to_entry(key, self._raw(key)) for key in self._keys_of(path))
        lengths = {e.size_bytes for e in found if e is not None and _is_kept(e)}
        return tuple(sorted(n for n in lengths if 0 < n < size_bytes))

    def harvested_prefix(self, source: SourceHash) -> int:
        """Leading bytes of a conversation that were harvested already, 0 where none; only the rest is new."""
        for length in sorted(source.prefixes, reverse=True):
            entry = self.get(source.prefixes[length])
            if entry is not None and _is_kept(entry) and entry.size_bytes == length:
                return length
        return 0

    def _keys_of(self, path: str) -> list[str]:
        self.load()
        if self._by_path is None:
            self._by_path = {}
            for key, raw in self._document["entries"].items():
                if name := path_of(raw):
                    self._by_path.setdefault(name, []).append(key)
        return self._by_path.get(path, [])

    def _raw(self, key: str) -> Any:
        """An entry as JSON has it, None where there is none."""
        return raw_of(self._document["entries"].get(key))


def hash_source(path: Path, lengths: Iterable[int] = ()) -> SourceHash:
    """Hash a conversation in one pass, and its leading runs of these lengths on the way.

    Raises:
        StorageError: it cannot be read.
    """
    whole, size = hashlib.sha256(), 0
    prefixes: dict[int, str] = {}
    marks = sorted(set(lengths))
    with reported("read", path), open_file(path) as file:
        while chunk := file.read(_CHUNK):
            start = 0
            while marks and marks[0] <= size + len(chunk):
                cut = marks.pop(0)
                whole.update(memoryview(chunk)[start : cut - size])
                start = cut - size
                prefixes[cut] = whole.hexdigest()
            whole.update(memoryview(chunk)[start:])
            size += len(chunk)
    return SourceHash(sha256=whole.hexdigest(), size_bytes=size, prefixes=prefixes)


def timestamp(at: datetime) -> str:
    """ISO 8601 UTC with microseconds, as the ledger writes it."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _is_kept(entry: HarvestLedgerEntry) -> bool:
    return entry.status is LedgerStatus.HARVESTED and not entry.undone_at


def _sum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode() + b"\n"


def _stamp(path: Path) -> _Stamp:
    with reported("read", path):
        try:
            status = path.stat()
        except FileNotFoundError:
            return (0, 0, 0, 0)
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _read(path: Path) -> bytes:
    with reported("read", path):
        try:
            return read_file(path, BOOK_BYTES)
        except FileNotFoundError:
            return b""
