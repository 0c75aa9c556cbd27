"""Facts during an apply: those that are known, the numbers given, and the parts that new and confirmed ones take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from core.kernel import paths
from core.kernel.values.facts import GLOBAL, MAX_FACT_CHARS, Fact, FactCategory, ItemEventKind
from core.kernel.values.knowledge import Category, HarvestLedgerEntry, Item, MergeGroup, NewItem, Placed
from core.knowledge.categories import safe_value
from core.knowledge.duplicates import same_text
from core.knowledge.evidence_parts import FACT_KINDS
from core.knowledge.evidence_rows import LogRows, item_hash
from core.knowledge.fact_store import HomePast
from core.knowledge.facts.fact_checks import (
    AGENTS_FOLDER,
    FactPlace,
    file_of,
    heading_of,
    id_parts,
    new_file,
    place_of,
)
from core.knowledge.facts.fact_file import FactFile, parse_file
from core.knowledge.facts.fact_files import read_table
from core.knowledge.facts.fact_index import FactNewsKind, next_id, raised
from core.knowledge.facts.harvested_fact import (
    NAMED_KINDS,
    confirmed_fact,
    merged_fact,
    new_fact,
    retired_fact,
    short_text,
)
from core.knowledge.facts.item_edit import changed_item
from core.knowledge.facts.yaml_forms import item_text
from core.knowledge.file_writer import read_bytes
from core.knowledge.merges import merged_item
from core.knowledge.parts import BlockPlan, PartPlan, SwapPlan


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
        """The id of the fact that an item is already, of this domain or of all; one that has expired is none."""
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
        file = parse_file(place, data)
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
