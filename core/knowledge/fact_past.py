"""Past of the facts, read from the ledger and the logs of evidence and events."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.base import paths
from core.facts.past import Past, raised
from core.knowledge.file_writer import read_bytes
from core.knowledge.ledger import JOURNAL_FILE, LEDGER_FILE, HarvestLedger
from core.values.knowledge import LedgerStatus

EVENTS_FILE, EVIDENCE_FILE = "events.jsonl", "evidence.jsonl"

_TELLS = (b'"fact":"', b'"fact": "')
_CONFIRMS = frozenset({"accepted", "confirmed", "edited"})


class HomePast:
    """The past of a home's facts. A log is read whole, and only where it grew. Used by one thread at a time."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._counted: dict[str, tuple[tuple[int, ...], int]] = {}

    def stamp(self) -> str:
        """Text that changes with what ledger and logs tell of facts; an injection into a prompt changes nothing."""
        ledger = [_stamp(self._path(name)) for name in (LEDGER_FILE, JOURNAL_FILE)]
        rows = [self._rows(name) for name in (EVIDENCE_FILE, EVENTS_FILE)]
        return json.dumps([*ledger, *rows])

    def read(self) -> Past:
        """The past as it is now.

        Raises:
            StorageError: a file cannot be read. ConfigError: the ledger does not parse.
        """
        told: dict[str, str] = {}
        highest: dict[str, int] = {}
        for row in self._told():
            fact_id, at = str(row["fact"]), str(row.get("at", ""))
            highest = raised(highest, [fact_id]) if _is_higher(fact_id, highest) else highest
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

    def _told(self) -> Iterator[dict[str, Any]]:
        """Rows that say that a fact was confirmed; those of an apply that was taken back tell only its number."""
        events = list(_facts_in(read_bytes(self._path(EVENTS_FILE))))
        undone = {str(one.get("apply", "")) for one in events if one.get("kind") == "undone"}
        for row in (*_facts_in(read_bytes(self._path(EVIDENCE_FILE))), *events):
            if not isinstance(row.get("fact"), str):
                continue
            is_event = "kind" in row
            is_undone = bool(row.get("apply")) and row.get("apply") in undone
            confirms = not is_undone and (not is_event or row["kind"] in _CONFIRMS)
            yield row if confirms else {**row, "at": ""}

    def _rows(self, name: str) -> int:
        """Rows of a log that tell of facts, or of an undo."""
        path = self._path(name)
        stamp = _stamp(path)
        if name not in self._counted or self._counted[name][0] != stamp:
            data = read_bytes(path)
            count = sum(data.count(mark) for mark in (*_TELLS, b'"undone"'))
            self._counted[name] = stamp, count
        return self._counted[name][1]

    def _path(self, name: str) -> Path:
        return paths.knowledge_dir(self._home) / name


def _facts_in(data: bytes) -> Iterator[dict[str, Any]]:
    """Rows of a log that name a fact or an undo; torn ones are passed over."""
    for line in data.split(b"\n"):
        if any(mark in line for mark in _TELLS) or b'"undone"' in line:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row


def _is_higher(fact_id: str, highest: dict[str, int]) -> bool:
    series, _, digits = fact_id.rpartition(":")
    return digits.isdigit() and len(digits) <= 9 and int(digits) > highest.get(series, 0)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns
