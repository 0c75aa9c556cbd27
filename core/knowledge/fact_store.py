"""Structured facts of a home: the sync with its lock and its news, and what a reader sees of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk
from core.kernel.errors import SlopError
from core.kernel.figures import count
from core.kernel.values.facts import FactProblem, FactsState, IndexedFact, ItemEvent, ItemEventKind
from core.kernel.values.knowledge import Category, Item
from core.knowledge.categories import format_tag, parse_file, safe_value, with_items
from core.knowledge.digest import regenerate_digest
from core.knowledge.evidence.evidence_rows import is_struck, item_hash
from core.knowledge.evidence_parts import fact_words
from core.knowledge.fact_past import HomePast
from core.knowledge.facts.fact_files import index_path, read_index_bytes
from core.knowledge.facts.fact_index import FactNews, FactNewsKind, facts_of, read_index
from core.knowledge.facts.fact_merge import ranked
from core.knowledge.facts.fact_sync import SyncReport, SyncRequest, sync
from core.knowledge.file_writer import change_file, file_stamp, write_lock
from core.knowledge.knowledge_reader import read_categories
from core.knowledge.ledger import timestamp
from core.knowledge.memory_log import add_events

# Items that follow their structured facts: what a person says anew in a file of facts, its items say too.

REASON = "in its file of facts"


class Followers(msgspec.Struct, frozen=True):
    """Outcome for the items of facts that a person edited or took out of a file of facts.

    Args:
        changed: ids of the facts whose items took on their words.
        left: items, `file:line: words`, that say what their fact does not: it was taken out, holds a part of a longer
            item, or both were edited. Nothing leaves a category file because it is gone from another file, which may be
            half saved, moved, or of an older day.
    """

    changed: frozenset[str] = frozenset()
    left: tuple[str, ...] = ()


def follow_facts(
    home: Path,
    news: Iterable[FactNews],
    made_of: Mapping[str, frozenset[str]],
    at: str,
    *,
    disk: Disk = OS_DISK,
) -> Followers:
    """Have the items of facts that were edited by hand say their words; each keeps its provenance and its evidence.

    The caller holds the lock of knowledge's writes. Asked again after a crash it goes on where it stopped.

    Args:
        news: of a sync; made_of: hashes of the items that each fact was made of, by id; at: ISO 8601 UTC.

    Raises:
        StorageError: a file could not be read or written; each is whole.
    """
    told = [one for one in news if one.was and one.was != one.text and one.fact_id in made_of]
    edited = [one for one in told if one.kind is FactNewsKind.EDITED]
    removed = [one for one in told if one.kind is FactNewsKind.REMOVED]
    if not (edited or removed):
        return Followers()
    standing = _standing(home)
    changes: dict[str, dict[str, str]] = defaultdict(dict)
    events: dict[str, list[ItemEvent]] = defaultdict(list)
    changed: set[str] = set()
    left: list[Item] = []
    for one in edited:
        for item in _items_of(one, made_of, standing):
            name, said = item_hash(item.category, item.text), fact_words(item.category, item.text)
            words = said_anew(item, one.was, one.text) if said == one.was else ""
            if words and name not in changes[item.file]:
                changes[item.file][name] = words
                events[item.file].append(_edited(item, words, one.fact_id, at))
                changed.add(one.fact_id)
            elif not words and said != one.text:
                left.append(item)
    for name, words_of in changes.items():
        add_events(home, events[name], disk=disk)
        path = paths.knowledge_dir(home) / name
        change_file(path, lambda data: _with_words(name, data, words_of), disk=disk)  # noqa: B023
    for one in removed:
        saying = _items_of(one, made_of, standing)
        left += (item for item in saying if fact_words(item.category, item.text) == one.was)
    places = {f"{item.file}:{item.first_line}: {item.text}" for item in left}
    return Followers(frozenset(changed), tuple(sorted(places)))


def left_words(number: int) -> str:
    """Sentence on items that say what their facts do not. Pure."""
    said = count(number, "item says", "items say")
    return f"{said} what the file of facts does not, and may enter prompts: change or delete {'it' if number == 1 else 'them'} too"


def said_anew(item: Item, was: str, now: str) -> str:
    """Words of an item once its fact says others: what the fact does not hold of it stays. Pure.

    Args:
        was, now: what the fact said, and what it says.

    Returns:
        The words, empty where it cannot be told which of the item's the fact's are.
    """
    whole = " ".join(item.text.split())
    if item.category is Category.PLAYBOOKS and whole.startswith("**"):
        name, colon, steps = now.partition(":")
        return (
            safe_value(f"**{name}**:{steps}" if colon else now)
            if fact_words(item.category, whole) == was
            else ""
        )
    if whole == was:
        return safe_value(now)
    statement, dash, detail = whole.partition(" — ")
    return safe_value(f"{now}{dash}{detail}") if dash and statement == was else ""


def _standing(home: Path) -> dict[str, list[Item]]:
    """Items of the category files by hash, without those that are struck through."""
    found: dict[str, list[Item]] = defaultdict(list)
    for file in read_categories(home):
        for item in file.items:
            if not is_struck(item.text):
                found[item_hash(item.category, item.text)].append(item)
    return found


def _items_of(
    news: FactNews, made_of: Mapping[str, frozenset[str]], standing: Mapping[str, list[Item]]
) -> Iterator[Item]:
    """Items that a fact was made of and what these became, as they stand."""
    for name in sorted(made_of[news.fact_id] & standing.keys()):
        yield from standing[name]


def _edited(item: Item, words: str, fact_id: str, at: str) -> ItemEvent:
    was, now = item_hash(item.category, item.text), item_hash(item.category, words)
    return ItemEvent(
        kind=ItemEventKind.EDITED,
        at=at,
        item=now,
        category=item.category.value,
        text=words,
        was=(was,),
        reason=REASON,
        fact=fact_id,
    )


def _with_words(name: str, data: bytes, words: Mapping[str, str]) -> bytes:
    """A category file in which items, by hash, say other words."""
    changes = []
    for item in parse_file(name, data).items:
        said = words.get(item_hash(item.category, item.text), "")
        if said and not is_struck(item.text):
            tag = f" {format_tag(item.provenance)}" if item.provenance is not None else ""
            changes.append((item, f"- {said}{tag}"))
    return with_items(data, changes)


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
        report = sync(
            SyncRequest(home=home, now=at, past=past, change=change, tell=tell, ours=written, disk=disk)
        )
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
        kind=_EVENT_KINDS[news.kind],
        at=at,
        item=news.item,
        text=news.text,
        reason=news.kind.value,
        fact=news.fact_id,
    )
