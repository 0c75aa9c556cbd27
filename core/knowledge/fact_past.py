"""Past of the facts, read from the ledger, the logs of evidence and events, and the items that stand."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.decoders import TypedReader, decoder_of
from core.kernel.errors import StorageError
from core.kernel.values.facts import EvidenceRow, ItemEvent, ItemEventKind
from core.kernel.values.knowledge import LedgerStatus
from core.knowledge.categories import CATEGORY_NAMES
from core.knowledge.evidence.evidence_rows import EVENTS_FILE, EVIDENCE_FILE, LogRows
from core.knowledge.evidence_parts import Twins, has_unlinked, outside_edits, twins_of
from core.knowledge.facts.fact_index import Past
from core.knowledge.file_writer import file_stamp, read_bytes
from core.knowledge.knowledge_reader import read_categories
from core.knowledge.ledger import JOURNAL_FILE, LEDGER_FILE, HarvestLedger, timestamp

T = TypeVar("T")

_CONFIRMS = frozenset({ItemEventKind.ACCEPTED, ItemEventKind.CONFIRMED, ItemEventKind.EDITED})
_SAYS_NOTHING = (b'"kind":"injected"', b'"kind":"rejected"')
"""Events that change no fact, left unread: they are the longest and the most."""

_PROPOSED, _EDITED = b'"kind":"proposed"', b'"was":'
"""Events that tell an item's words alone, left unread too where no item was edited, merged or replaced."""

_TORN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

_MARKS = (b'"fact":', b'"undone"', b'"was":', b'"forgotten"')
"""Of rows that may change facts: their number is part of the stamp."""


class HomePast:
    """The past of a home's facts. A log is read whole. Used by one thread at a time.

    Args:
        note: keeps events of items whose words were changed outside, None where nothing is to be written.
    """

    def __init__(self, home: Path, note: Callable[[tuple[ItemEvent, ...]], None] | None = None) -> None:
        self._home, self._note = home, note
        self._counted: dict[str, tuple[tuple[int, ...], int]] = {}
        self._has_words = False
        self.made_of: Mapping[str, frozenset[str]] = {}
        """Hashes of the items that each fact was made of, by id, as the past told when it was read last."""

    def stamp(self) -> str:
        """Text that changes with what ledger, logs and items tell of facts; an injection changes nothing."""
        ledger = [file_stamp(self._path(name)) for name in (LEDGER_FILE, JOURNAL_FILE, *CATEGORY_NAMES)]
        rows = [self._rows(name) for name in (EVIDENCE_FILE, EVENTS_FILE)]
        return json.dumps([*ledger, *rows])

    def read(self, *, with_items: bool = True) -> Past:
        """The past as it is now.

        Args:
            with_items: False leaves out what the items that stand say of facts.

        Raises:
            StorageError: a file cannot be read. ConfigError: the ledger does not parse.
        """
        rows = self._read_logs()
        told: dict[str, str] = {}
        highest: dict[str, int] = {}
        for fact_id, at in _told(rows):
            series, _, digits = fact_id.rpartition(":")
            if digits.isdigit() and len(digits) <= 9 and int(digits) > highest.get(series, 0):
                highest[series] = int(digits)
            told[fact_id] = max(told.get(fact_id, ""), at)
        by_domain: dict[str, list[str]] = defaultdict(list)
        every = []
        for entry in HarvestLedger(self._home).entries():
            if entry.status is LedgerStatus.HARVESTED and not entry.undone_at:
                every.append(entry.at)
                for domain in entry.domains:
                    by_domain[domain].append(entry.at)
        harvests = {domain: tuple(sorted(times)) for domain, times in by_domain.items()}
        twins = self._twins(rows) if told and with_items else Twins()
        self.made_of = twins.items
        return Past(
            told=told,
            harvests=harvests,
            all_harvests=tuple(sorted(every)),
            highest=highest,
            withdrawn=twins.withdrawn,
            forgotten=twins.forgotten,
            rewords=twins.rewords,
            held=twins.held,
        )

    def twins(self) -> Twins:
        """Facts and the items that they were made of, as these stand now."""
        return self._twins(self._read_logs())

    def _twins(self, rows: LogRows) -> Twins:
        """Facts as the items say that stand now; what an editor changed is linked, and noted, first."""
        try:
            files = read_categories(self._home)
        except StorageError:
            return twins_of(rows, (), is_whole=False)
        items = [item for file in files for item in file.items]
        if not self._has_words:
            if not has_unlinked(items, rows):  # nothing was edited, here or outside
                return twins_of(rows, items, is_whole=not any(file.problem for file in files))
            rows = self._read_logs(with_words=True)
        found = outside_edits(items, rows, timestamp(datetime.now(UTC)))
        if found and self._note is not None:
            self._note(found)
        whole = replace(rows, events=(*rows.events, *found))
        return twins_of(whole, items, is_whole=not any(file.problem for file in files))

    def _read_logs(self, *, with_words: bool = False) -> LogRows:
        """Rows that tell of facts, and of words that items had before where these count. Torn ones are passed over."""
        evidence = _read(read_bytes(self._path(EVIDENCE_FILE)), _evidence, bool)
        data = read_bytes(self._path(EVENTS_FILE))
        self._has_words = with_words or _EDITED in data
        is_wanted = _may_tell if self._has_words else _may_tell_without_words
        return LogRows(evidence=tuple(evidence), events=tuple(_read(data, _event, is_wanted)))

    def _rows(self, name: str) -> int:
        """Rows of a log that tell of facts, or of an undo."""
        path = self._path(name)
        stamp = file_stamp(path)
        if name not in self._counted or self._counted[name][0] != stamp:
            data = read_bytes(path)
            count = sum(data.count(mark) for mark in _MARKS)
            self._counted[name] = stamp, count
        return self._counted[name][1]

    def _path(self, name: str) -> Path:
        return paths.knowledge_dir(self._home) / name


_evidence = decoder_of(EvidenceRow)
_event = decoder_of(ItemEvent)


def _told(rows: LogRows) -> Iterator[tuple[str, str]]:
    """Ids with the time at which each was confirmed; those of an apply that was taken back without their time."""
    undone = {one.apply for one in rows.events if one.kind is ItemEventKind.UNDONE}
    yield from ((row.fact, row.at) for row in rows.evidence if row.fact)
    for event in rows.events:
        if event.fact:
            confirms = event.kind in _CONFIRMS and not (event.apply and event.apply in undone)
            yield event.fact, event.at if confirms else ""


def _read(data: bytes, decoder: TypedReader[T], is_wanted: Callable[[bytes], bool]) -> list[T]:
    """Rows of a log: all by one call where none is torn, else line by line."""
    lines = [line for line in data.split(b"\n") if is_wanted(line)]
    try:
        return decoder.decode_lines(b"\n".join(lines))
    except _TORN:
        found = []
        for line in lines:
            with suppress(*_TORN):
                found.append(decoder.decode(line))
        return found


def _may_tell(line: bytes) -> bool:
    injected, rejected = _SAYS_NOTHING
    return bool(line) and injected not in line and rejected not in line


def _may_tell_without_words(line: bytes) -> bool:
    return _PROPOSED not in line and _may_tell(line)
