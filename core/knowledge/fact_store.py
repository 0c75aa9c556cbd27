"""Structured facts of a home: the sync with its lock and its news, and what a reader sees of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from core.base import paths
from core.base.disk import OS_DISK, Disk
from core.base.errors import SlopError
from core.evidence.files import add_events
from core.facts.files import index_path, read_index_bytes
from core.facts.index_text import facts_of, read_index
from core.facts.past import FactNews, FactNewsKind
from core.facts.rank import ranked
from core.facts.sync import SyncReport, SyncRequest, sync
from core.knowledge.digest import regenerate_digest
from core.knowledge.fact_followers import Followers, follow_facts
from core.knowledge.fact_past import HomePast
from core.knowledge.file_writer import change_file, file_stamp
from core.knowledge.ledger import timestamp
from core.knowledge.locks import write_lock
from core.values.evidence import ItemEvent, ItemEventKind
from core.values.facts import FactProblem, FactsState, IndexedFact

_EVENT_KINDS = {
    FactNewsKind.ADDED: ItemEventKind.ACCEPTED,
    FactNewsKind.EDITED: ItemEventKind.EDITED,
    FactNewsKind.REMOVED: ItemEventKind.EDITED,
    FactNewsKind.OVERRULED: ItemEventKind.SUPERSEDED,
    FactNewsKind.WITHDRAWN: ItemEventKind.DELETED,
    FactNewsKind.RETURNED: ItemEventKind.RESTORED,
    FactNewsKind.MADE_UP: ItemEventKind.ACCEPTED,
}


def sync_facts(
    home: Path, now: datetime | None = None, *, ours: Iterable[str] | None = (), disk: Disk = OS_DISK
) -> SyncReport:
    """Bring YAML files and index in step; what a person changed there is said by items and digest too.

    Args:
        now: by default the clock's; ours: ids that this program has just written itself, None for all that changed.

    Raises:
        StorageError, ConfigError: what was written is whole, and the next sync goes on. LockedError: another writes.
    """
    if not has_facts(home):
        return SyncReport()
    at = (now or datetime.now(UTC)).astimezone(UTC)

    past = HomePast(home, lambda edits: add_events(home, edits, disk=disk))
    found: list[Followers] = []

    def tell(news: Sequence[FactNews]) -> None:
        found.append(follow_facts(home, news, past.made_of, timestamp(at), disk=disk))
        others = (one for one in news if one.fact_id not in found[-1].changed)
        add_events(home, (_event(one, timestamp(at)) for one in others), disk=disk)

    def change(path: Path, made: Callable[[bytes], bytes]) -> bytes:
        return change_file(path, made, disk=disk)

    written = None if ours is None else frozenset(ours)
    with write_lock(home, disk=disk):
        report = sync(SyncRequest(home, at, past, change, tell, written, disk))
    if any(one.changed for one in found):
        regenerate_digest(home, may_create=False, disk=disk)
    return replace(report, left=tuple(line for one in found for line in one.left))


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
        stamp = file_stamp(index_path(self._home))
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


def _event(news: FactNews, at: str) -> ItemEvent:
    return ItemEvent(
        _EVENT_KINDS[news.kind],
        at,
        news.item,
        text=news.text,
        reason=news.kind.value,
        fact=news.fact_id,
    )
