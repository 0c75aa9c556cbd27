"""Structured facts of a home: the sync, what a reader sees, the past of each fact, and what an apply knows of them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import TypedReader, decoder_of
from core.kernel.disk import OS_DISK, Disk
from core.kernel.errors import SlopError, StorageError
from core.kernel.figures import count
from core.kernel.language import tr
from core.kernel.values.facts import (
    GLOBAL,
    MAX_FACT_CHARS,
    EvidenceRow,
    Fact,
    FactCategory,
    FactProblem,
    FactsState,
    IndexedFact,
    ItemEvent,
    ItemEventKind,
)
from core.kernel.values.knowledge import (
    Category,
    HarvestLedgerEntry,
    Item,
    LedgerStatus,
    MergeGroup,
    NewItem,
    Placed,
)
from core.knowledge.categories import CATEGORY_NAMES, format_tag, parse_file, safe_value, with_items
from core.knowledge.evidence_parts import FACT_KINDS, Twins, fact_words, has_unlinked, outside_edits, twins_of
from core.knowledge.evidence_rows import EVENTS_FILE, EVIDENCE_FILE, LogRows, is_struck, item_hash
from core.knowledge.facts.fact_checks import (
    AGENTS_FOLDER,
    FactPlace,
    file_of,
    heading_of,
    id_parts,
    new_file,
    place_of,
)
from core.knowledge.facts.fact_file import FactFile
from core.knowledge.facts.fact_file import parse_file as parse_file_of_fact_file
from core.knowledge.facts.fact_files import index_path, read_index_bytes, read_table
from core.knowledge.facts.fact_index import (
    FactNews,
    FactNewsKind,
    Past,
    facts_of,
    next_id,
    raised,
    read_index,
)
from core.knowledge.facts.fact_merge import (
    NAMED_KINDS,
    confirmed_fact,
    merged_fact,
    new_fact,
    ranked,
    retired_fact,
    short_text,
)
from core.knowledge.facts.fact_sync import SyncReport, SyncRequest, sync
from core.knowledge.facts.item_edit import changed_item
from core.knowledge.facts.yaml_forms import item_text
from core.knowledge.file_writer import change_file, file_stamp, read_bytes, write_lock
from core.knowledge.knowledge_reader import read_categories, regenerate_digest
from core.knowledge.ledger import JOURNAL_FILE, LEDGER_FILE, HarvestLedger, timestamp
from core.knowledge.memory_log import add_events
from core.knowledge.merges import merged_item, same_text
from core.knowledge.parts import BlockPlan, PartPlan, SwapPlan

# Structured facts of a home: the sync with its lock and its news, what a reader sees, and the past of each
# fact.

# Past of the facts, read from the ledger, the logs of evidence and events, and the items that stand.

T = TypeVar("T")

_CONFIRMS = frozenset({ItemEventKind.ACCEPTED, ItemEventKind.CONFIRMED, ItemEventKind.EDITED})
_SAYS_NOTHING = (b'"kind":"injected"', b'"kind":"rejected"')
"""Events that change no fact, left unread: they are the longest and the most."""

_PROPOSED, _EDITED = b'"kind":"proposed"', b'"was":'
"""Events that tell an item's words alone, left unread too where no item was edited, merged or replaced."""

_TORN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

_MARKS = (b'"fact":', b'"undone"', b'"was":', b'"forgotten"')
"""Bytes that mark a row which may change facts: the number of such rows is part of the stamp."""


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


# Structured facts of a home: the sync with its lock and its news, and what a reader sees of them.

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
    return count(
        number,
        tr(
            "item of the category files still says the old words. Models may read them: change or delete the item too"
        ),
        tr(
            "items of the category files still say the old words. Models may read them: change or delete the items too"
        ),
    )


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
        add_events(home, (_fact_store_event(one, timestamp(at)) for one in others), disk=disk)

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


def _fact_store_event(news: FactNews, at: str) -> ItemEvent:
    return ItemEvent(
        kind=_EVENT_KINDS[news.kind],
        at=at,
        item=news.item,
        text=news.text,
        reason=news.kind.value,
        fact=news.fact_id,
    )


class FactParts(msgspec.Struct, frozen=True):
    """Parts that the facts of one conversation take.

    Args:
        ids: of the fact that an item is, by the item's hash; held: `domain:category` of those that wait until their
            file can be read, by the item's hash; broken: names of these files.
    """

    parts: tuple[PartPlan, ...] = ()
    ids: Mapping[str, str] = msgspec.field(default_factory=dict)
    held: Mapping[str, str] = msgspec.field(default_factory=dict)
    broken: tuple[str, ...] = ()


@dataclass(slots=True)
class _ShelvedFile:
    """A file of facts as it will stand: facts by id with the text of their items, and ids by what they say."""

    place: FactPlace
    is_broken: bool
    facts: dict[str, tuple[Fact, str]] = field(default_factory=dict)
    by_text: dict[tuple[FactCategory, str], str] = field(default_factory=dict)
    is_new: bool = False
    dated: str = ""

    def put(self, fact: Fact, text: str) -> None:
        """Take a fact in. Of several that say the same the first counts that has no end."""
        self.facts[fact.id] = fact, text
        said = fact.category, same_text(fact.text)
        if said not in self.by_text or self.facts[self.by_text[said]][0].expires:
            self.by_text[said] = fact.id


class FactShelf:
    """The facts of a home while an apply runs, which holds the harvest's lock. Files are read when they are needed.

    Args:
        rows: of both logs, as they are now.
    """

    def __init__(self, home: Path, rows: LogRows) -> None:
        self._home = home
        past = HomePast(home).read(with_items=False)
        table = read_table(home)
        self._highest = dict(past.highest)
        if table is not None:
            for series, value in table.highest.items():
                self._highest[series] = max(self._highest.get(series, 0), value)
        self._files: dict[str, _ShelvedFile] = {}
        self._names: dict[tuple[str, FactCategory], str] = {}
        self._of_item: dict[str, tuple[str, ...]] = {}
        self._sources: set[tuple[str, str]] = set()
        edited = {was for event in rows.events if event.kind is ItemEventKind.EDITED for was in event.was}
        for row in rows.evidence:
            if row.fact:
                names = (row.discussion or row.path, row.sha256, *row.talks)
                self._sources.update((row.fact, name) for name in names)
            if row.fact and row.item not in edited:  # the fact of an edited one has the new words
                self._link(row.item, row.fact)
        removed = {one.fact for one in rows.events if one.reason == FactNewsKind.REMOVED}
        self._removed = {row.item for row in rows.evidence if row.fact in removed} if removed else set()
        self.given: set[str] = set()

    def plan(
        self,
        placed: Iterable[Placed],
        entry: HarvestLedgerEntry,
        discussion: str,
        replaced: Iterable[Item] = (),
        talks: Iterable[str] = (),
    ) -> FactParts:
        """Decide what the items of one conversation become: new facts, or confirmations of known ones.

        Args:
            placed: new and known ones; entry: of the conversation, whose first domain they belong to, else `global`.
            discussion: the conversation's id, empty for one of another program.
            replaced: known items that new ones take the place of: their facts expire; talks: marks of the conversations
                in it: one confirms once, whatever it is read as.
        """
        day = entry.at[:10]
        domain = next(iter(entry.domains), GLOBAL)
        sources = {discussion or entry.path, entry.sha256, *talks}
        blocks: dict[tuple[str, FactCategory], list[str]] = {}
        swaps: dict[str, tuple[str, str, str]] = {}
        ids: dict[str, str] = {}
        held: dict[str, str] = {}
        broken: dict[str, None] = {}
        for one in placed:
            category = _category(one.raw)
            text = _text(one) if category is not None else ""
            if category is None or not text:
                continue
            item = item_hash(one.item.category, one.item.text)
            known = self._known(item, text, category, domain, day)
            if known is None and not one.is_new and item in self._removed:
                continue  # a person took its fact out, and left the item
            if known is None:
                made = self._make(one.raw, text, category, domain, day)
                if made is None:
                    held[item] = f"{domain}:{category.value}"
                    broken[self._name(domain, category)] = None
                    continue
                name, fact, block = made
                blocks.setdefault((name, category), []).append(block)
                known = fact.id
            elif not any((known, source) in self._sources for source in sources):
                name, before, after = self._confirm(known, day)
                swaps[known] = name, swaps[known][1] if known in swaps else before, after
            ids[item] = known
            self.given.add(known)
            self._link(item, known)
            self._sources.update((known, source) for source in sources)
        for old in replaced:
            self._retire(old, domain, day, swaps)
        parts = (
            *self._blocks(blocks, day),
            *(SwapPlan(name=name, before=before, after=after) for name, before, after in swaps.values()),
        )
        return FactParts(parts=parts, ids=ids, held=held, broken=tuple(broken))

    def merge(self, groups: Iterable[MergeGroup], day: str) -> FactParts:
        """Decide what the facts of merged items become: in each domain one takes the others on, and these expire.

        A domain that knows one of the items alone keeps its fact as it is: it did not see the others.
        """
        swaps: dict[str, tuple[str, str, str]] = {}
        ids: dict[str, str] = {}
        for group in groups:
            item = merged_item(group)
            whole = " ".join(item.text.split())
            whole = whole.replace("**", "", 2) if item.category is Category.PLAYBOOKS else whole
            for file, facts in self._facts_of(group, day):
                names = {s for key, s in self._sources if key in {one.id for one in facts} and len(s) != 64}
                first = merged_fact(facts, short_text(whole, whole), len(names))
                ids.setdefault(item_hash(item.category, item.text), first.id)
                for fact in (first, *(retired_fact(one, day) for one in facts if one.id != first.id)):
                    self._swap(file, fact, swaps)
        return FactParts(
            parts=tuple(
                SwapPlan(name=name, before=before, after=after) for name, before, after in swaps.values()
            ),
            ids=ids,
        )

    def _facts_of(self, group: MergeGroup, day: str) -> Iterator[tuple[_ShelvedFile, list[Fact]]]:
        """Facts that a group's items are, of each file and category that has two or more of them."""
        found: dict[str, None] = {}
        for item in group.items:
            name, category = item_hash(item.category, item.text), FACT_KINDS.get(item.category)
            if category is None:
                continue
            linked = self._of_item.get(name, ())
            known = self._known(name, " ".join(item.text.split()), category, GLOBAL, day)
            found.update(dict.fromkeys([*linked, *([known] if known else [])]))
        by_place: dict[tuple[str, FactCategory], list[Fact]] = {}
        for fact_id in found:
            parts = id_parts(fact_id)
            name = "" if parts is None else self._name(parts[0], parts[1])
            if parts is not None and fact_id in self._file(name).facts:
                by_place.setdefault((name, parts[1]), []).append(self._file(name).facts[fact_id][0])
        for (name, _), facts in by_place.items():
            if len(facts) > 1:
                yield self._file(name), facts

    def _link(self, item: str, fact_id: str) -> None:
        """Note that an item is a fact."""
        self._of_item[item] = (*self._of_item.get(item, ()), fact_id)

    def _swap(self, file: _ShelvedFile, fact: Fact, swaps: dict[str, tuple[str, str, str]]) -> None:
        """Have a fact stand otherwise in its file."""
        _, text = file.facts[fact.id]
        changed = changed_item(f"{text}\n", fact).removesuffix("\n")
        file.facts[fact.id] = fact, changed
        self.given.add(fact.id)
        swaps[fact.id] = file.place.name, swaps[fact.id][1] if fact.id in swaps else text, changed

    def _known(self, item: str, text: str, category: FactCategory, domain: str, day: str) -> str | None:
        """The id of the unexpired fact that says the same as an item, in this domain or in all."""
        for name in dict.fromkeys((self._name(domain, category), file_of(GLOBAL, category))):
            file = self._file(name)
            same = file.by_text.get((category, same_text(text)), "")
            for key in (*self._of_item.get(item, ()), same):
                end = file.facts[key][0].expires if key in file.facts else ""
                if key in file.facts and (not end or end >= day):
                    return key
        return None

    def _make(
        self, raw: NewItem, text: str, category: FactCategory, domain: str, day: str
    ) -> tuple[str, Fact, str] | None:
        """A new fact with its file and the text of its item; None where its file is broken."""
        name = self._name(domain, category)
        file = self._file(name)
        if file.is_broken:
            return None
        fact_id = next_id(self._highest, f"{domain}:{category.value}")
        self._highest[f"{domain}:{category.value}"] = int(fact_id.rpartition(":")[2])
        by_person = raw.proposed is not None or raw.is_confirmed
        is_decision = raw.category is Category.DECISIONS
        fact = new_fact(fact_id, text, category, domain, day, by_person=by_person, decision=is_decision)
        block = item_text(fact).removesuffix("\n")
        file.put(fact, block)
        return name, fact, block

    def _confirm(self, fact_id: str, day: str) -> tuple[str, str, str]:
        """File of a fact, and the text of its item before and after it was confirmed."""
        file = next(one for one in self._files.values() if fact_id in one.facts)
        fact, text = file.facts[fact_id]
        after = confirmed_fact(fact, day)
        changed = changed_item(f"{text}\n", after).removesuffix("\n")
        file.facts[fact_id] = after, changed
        return file.place.name, text, changed

    def _retire(self, old: Item, domain: str, day: str, swaps: dict[str, tuple[str, str, str]]) -> None:
        """Have the fact of an item that was replaced expire, where there is one."""
        category = FACT_KINDS.get(old.category)
        whole = " ".join(old.text.split())
        if category is None:
            return
        known = self._known(item_hash(old.category, old.text), whole, category, domain, day)
        if known is None:
            return
        file = next(one for one in self._files.values() if known in one.facts)
        self._swap(file, retired_fact(file.facts[known][0], day), swaps)

    def _blocks(self, blocks: Mapping[tuple[str, FactCategory], list[str]], day: str) -> Iterable[PartPlan]:
        order = list(FactCategory)
        for name, category in sorted(blocks, key=lambda key: (key[0], order.index(key[1]))):
            place = self._files[name].place
            head = new_file(place, day) + ("\n" if place.category is not None else "")
            section = heading_of(place, category)
            yield BlockPlan(name=name, head=head, blocks=tuple(blocks[name, category]), section=section)
        for name in sorted({name for name, _ in blocks}):
            dated = self._files[name].dated
            if dated and dated < day:
                self._files[name].dated = day
                yield SwapPlan(name=name, before=f"last_updated: {dated}", after=f"last_updated: {day}")

    def _name(self, domain: str, category: FactCategory) -> str:
        """The file of a domain: an agent's, where there is one and no repository of that name has."""
        if (domain, category) not in self._names:
            self._names[domain, category] = self._named(domain, category)
        return self._names[domain, category]

    def _named(self, domain: str, category: FactCategory) -> str:
        name = file_of(domain, category)
        agent = file_of(domain, category, folder=AGENTS_FOLDER)
        directory = paths.knowledge_dir(self._home)
        return agent if not (directory / name).exists() and (directory / agent).exists() else name

    def _file(self, name: str) -> _ShelvedFile:
        if name not in self._files:
            self._files[name] = self._read(name)
        return self._files[name]

    def _read(self, name: str) -> _ShelvedFile:
        place = place_of(name)
        assert place is not None, name
        data = read_bytes(paths.knowledge_dir(self._home) / name)
        if not data:
            return _ShelvedFile(place=place, is_broken=False, is_new=True)
        file = parse_file_of_fact_file(place, data)
        found = _ShelvedFile(place=place, is_broken=file.is_broken, dated=_dated(file))
        for item in file.items:
            if item.fact is not None:
                text = file.text[item.start : item.end].replace("\r\n", "\n")
                found.put(item.fact, text.removesuffix("\n"))
        self._highest = raised(self._highest, [item.id for item in file.items if item.id])
        return found


def _category(raw: NewItem) -> FactCategory | None:
    """The category of the fact that an item becomes, None for tasks and notes on files."""
    named = raw.fact_category if raw.category is Category.FACTS else ""
    return FactCategory(named) if named in NAMED_KINDS else FACT_KINDS.get(raw.category)


def _text(one: Placed) -> str:
    """The words of the fact, of a known item those that it has in its file."""
    whole = " ".join(one.item.text.split())
    if one.raw.category is Category.PLAYBOOKS:
        whole = whole.replace("**", "", 2)
    if len(whole) <= MAX_FACT_CHARS:
        return whole
    statement = safe_value(one.raw.text)
    return short_text(whole, statement if whole.startswith(statement) else whole)


def _dated(file: FactFile) -> str:
    """The day in a file's front matter, where it stands as the program writes it."""
    head = file.text.partition("\n---")[0]
    line = next((one for one in head.split("\n") if one.startswith("last_updated: ")), "")
    day = line.removeprefix("last_updated: ").strip()
    return day if len(day) == 10 and line == f"last_updated: {day}" else ""
