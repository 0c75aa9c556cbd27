"""Structured facts of a home: the sync with its lock and its news, a person's edits, and what a reader sees of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk, append_file, make_dirs
from core.base.errors import SlopError
from core.facts.files import index_path, read_index_bytes
from core.facts.index_text import facts_of, read_index
from core.facts.past import FactNews, FactNewsKind
from core.facts.ranking import ranked
from core.facts.sync import SyncReport, SyncRequest, sync
from core.knowledge.fact_past import EVENTS_FILE, HomePast
from core.knowledge.file_writer import change_file
from core.knowledge.ledger import timestamp
from core.knowledge.locks import write_lock
from core.values.facts import FactProblem, FactsState, IndexedFact

_EVENT_KINDS = {
    FactNewsKind.ADDED: "accepted",
    FactNewsKind.EDITED: "edited",
    FactNewsKind.REMOVED: "edited",
    FactNewsKind.OVERRULED: "superseded",
}


class FactStore:
    """The facts of a home. Used by one thread at a time."""

    def __init__(self, home: Path, *, disk: Disk = OS_DISK) -> None:
        self._home, self._disk = home, disk
        self._past = HomePast(home)

    def sync(self, now: datetime | None = None, *, ours: Iterable[str] = ()) -> SyncReport:
        """Bring YAML files and index in step.

        Args:
            now: by default the clock's; ours: ids that this program has just written itself.

        Raises:
            StorageError, ConfigError: what was written is whole, and the next sync goes on. LockedError: another writes.
        """
        if not has_facts(self._home):
            return SyncReport()
        at = now or datetime.now(UTC)

        def tell(news: Sequence[FactNews]) -> None:
            rows = (_event_row(one, timestamp(at)) for one in news)
            self._tell("".join(rows).encode("utf-8", "replace"))

        with write_lock(self._home, disk=self._disk):
            return sync(
                SyncRequest(
                    self._home,
                    at.astimezone(UTC),
                    self._past,
                    lambda path, change: change_file(path, change, disk=self._disk),
                    tell,
                    frozenset(ours),
                    self._disk,
                )
            )

    def _tell(self, data: bytes) -> None:
        path = paths.knowledge_dir(self._home) / EVENTS_FILE
        make_dirs(path.parent, disk=self._disk)
        append_file(path, data, disk=self._disk)


class FactReader:
    """Reads the index where it changed. Used by one thread at a time."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._stamp: tuple[int, ...] | None = None
        self._facts: tuple[IndexedFact, ...] = ()
        self._ranked: dict[tuple[str, ...], tuple[IndexedFact, ...]] = {}

    def read(self, problems: tuple[FactProblem, ...] = ()) -> FactsState:
        """Every fact of the index, with the problems that a sync found."""
        return FactsState(self.facts(), problems)

    def facts(self) -> tuple[IndexedFact, ...]:
        """Every fact of the index, sorted by id; none where it cannot be read."""
        stamp = _stamp(index_path(self._home))
        if stamp != self._stamp:
            try:
                data = read_index_bytes(self._home)
            except SlopError:
                data = b""
            self._facts, self._stamp = facts_of(read_index(data).rows.values()), stamp
            self._ranked.clear()
        return self._facts

    def ranked(self, domains: tuple[str, ...]) -> tuple[IndexedFact, ...]:
        """Facts of these domains that may enter a prompt, best first."""
        facts = self.facts()
        if domains not in self._ranked:
            self._ranked[domains] = ranked(fact for fact in facts if fact.domain in domains)
        return self._ranked[domains]


def chosen_facts(
    facts: Iterable[IndexedFact], domain: str = "", category: str = "", tag: str = ""
) -> tuple[IndexedFact, ...]:
    """Facts of a domain, of a category and with a tag, each empty for any, in their order."""
    return tuple(
        fact
        for fact in facts
        if domain in {"", fact.domain}
        and category in {"", fact.category.value}
        and (not tag or tag in fact.tags)
    )


def has_facts(home: Path) -> bool:
    """True if a home has files of facts, or an index of them."""
    directory = paths.knowledge_dir(home)
    return index_path(home).exists() or any(
        (directory / name).is_dir() for name in ("global", "repos", "agents")
    )


def _event_row(news: FactNews, at: str) -> str:
    row = {
        "kind": _EVENT_KINDS[news.kind],
        "at": at,
        "fact": news.fact_id,
        "text": news.text,
        "reason": news.kind.value,
    }
    return (
        json.dumps({key: value for key, value in row.items() if value}, ensure_ascii=False, sort_keys=True)
        + "\n"
    )


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns
