"""Past of the facts, read from the ledger and the logs of evidence and events."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from core.base import paths
from core.facts.past import Past
from core.knowledge.file_writer import file_stamp, read_bytes
from core.knowledge.ledger import JOURNAL_FILE, LEDGER_FILE, HarvestLedger
from core.values.knowledge import LedgerStatus

EVENTS_FILE, EVIDENCE_FILE = "events.jsonl", "evidence.jsonl"

_CONFIRMS = frozenset({"accepted", "confirmed", "edited"})


class HomePast:
    """The past of a home's facts. A log is read whole, and only where it grew. Used by one thread at a time."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._counted: dict[str, tuple[tuple[int, ...], int]] = {}

    def stamp(self) -> str:
        """Text that changes with what ledger and logs tell of facts; an injection into a prompt changes nothing."""
        ledger = [file_stamp(self._path(name)) for name in (LEDGER_FILE, JOURNAL_FILE)]
        rows = [self._rows(name) for name in (EVIDENCE_FILE, EVENTS_FILE)]
        return json.dumps([*ledger, *rows])

    def read(self) -> Past:
        """The past as it is now.

        Raises:
            StorageError: a file cannot be read. ConfigError: the ledger does not parse.
        """
        told: dict[str, str] = {}
        highest: dict[str, int] = {}
        for fact_id, at in self._told():
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
        return Past(told, harvests, tuple(sorted(every)), highest)

    def _told(self) -> Iterator[tuple[str, str]]:
        """Ids with the time at which each was confirmed; those of an apply that was taken back without their time."""
        events = list(_facts_in(read_bytes(self._path(EVENTS_FILE))))
        undone = {one.apply for one in events if one.kind == "undone"}
        for row in _facts_in(read_bytes(self._path(EVIDENCE_FILE))):
            yield row.fact, row.at
        for row in events:
            confirms = row.kind in _CONFIRMS and not (row.apply and row.apply in undone)
            if row.fact:
                yield row.fact, row.at if confirms else ""

    def _rows(self, name: str) -> int:
        """Rows of a log that tell of facts, or of an undo."""
        path = self._path(name)
        stamp = file_stamp(path)
        if name not in self._counted or self._counted[name][0] != stamp:
            data = read_bytes(path)
            count = sum(data.count(mark) for mark in (b'"fact":', b'"undone"'))
            self._counted[name] = stamp, count
        return self._counted[name][1]

    def _path(self, name: str) -> Path:
        return paths.knowledge_dir(self._home) / name


class _ToldRow(msgspec.Struct):
    """A row of either log, as far as it concerns facts."""

    at: str = ""
    kind: str = ""
    fact: str = ""
    apply: str = ""


_decoded = msgspec.json.Decoder(_ToldRow).decode


def _facts_in(data: bytes) -> Iterator[_ToldRow]:
    """Rows of a log that name a fact or an undo; torn ones are passed over."""
    for line in data.split(b"\n"):
        if b'"fact":' in line or b'"undone"' in line:
            try:
                yield _decoded(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
