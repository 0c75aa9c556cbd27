"""Words to forget: gathered once from the disk, then separated from words that stay. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence

import msgspec

from core.kernel.values.facts import EvidenceRow, ItemEvent, ItemEventKind
from core.kernel.values.knowledge import Category, CategoryFile, HarvestLedgerEntry, Item
from core.knowledge.categories import category_of, split_tag
from core.knowledge.evidence_rows import LogRows, item_hash
from core.knowledge.merges import names_of

MIN_NEEDLE = 8
"""Characters from which on a text is looked for by itself: shorter ones stand everywhere."""

_HANDED_ON = frozenset({ItemEventKind.EDITED, ItemEventKind.MERGED})


class GoneConversation(msgspec.Struct, frozen=True):
    """A conversation as it is known before it goes.

    Args:
        paths: of its log wherever it lies; hashes: sha256 of the bytes that a harvest may have read; name: its
            provenance as it would be written now, empty where it cannot be told.
    """

    discussion_id: str
    paths: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    name: str = ""


class PutBack(msgspec.Struct, frozen=True):
    """An item of before a merge that stands again.

    Args:
        merged: hash of the one in whose place, as a person may have edited it since; origins: (source, day).
    """

    merged: str
    text: str
    origins: tuple[tuple[str, str], ...]
    facts: frozenset[str] = frozenset()


class Words(msgspec.Struct, frozen=True):
    """Everything by which copies are found. It is kept on disk until all are gone.

    Args:
        discussions, paths, hashes: of conversations; moments: when they were harvested, under which name.
        items: hashes of items that go; facts: ids of facts that go.
        others: (item, source, day) of items that stay, by the conversation that they stand on besides.
        removed_items, removed_facts: how many of them stand now.
        texts: words that stand nowhere any more, the longest first; sources: names of the conversations, where no other
            has the same.
        put_back: items that a merge took in, which another conversation said: they stand again where the merged one goes.
        taken: names of files that were taken out of the inbox and told to these conversations.
        blended: how many merged items stay with words of these conversations, for nobody knows any more what stood before.
    """

    discussions: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    hashes: frozenset[str] = frozenset()
    moments: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    others: tuple[tuple[str, str, str], ...] = ()
    texts: tuple[str, ...] = ()
    removed_items: int = 0
    removed_facts: int = 0
    sources: frozenset[str] = frozenset()
    put_back: tuple[PutBack, ...] = ()
    taken: tuple[str, ...] = ()
    blended: int = 0

    @property
    def is_about_conversations(self) -> bool:
        """True where whole conversations go."""
        return bool(self.discussions)


class AppliedStep(msgspec.Struct, frozen=True):
    """One conversation's part in an apply: `lines` as (file, section, text), `facts`: ids of those that it made."""

    path: str
    sha256: str
    at: str
    lines: tuple[tuple[str, str, str], ...] = ()
    facts: tuple[str, ...] = ()


class Memory(msgspec.Struct, frozen=True):
    """Knowledge as it stands before: files, both logs, parts of applies, the ledger; `facts`: id and text of each."""

    files: Sequence[CategoryFile]
    rows: LogRows
    steps: Sequence[AppliedStep]
    entries: Sequence[HarvestLedgerEntry]
    facts: Sequence[tuple[str, str]]


def words_of_conversations(conversations: Sequence[GoneConversation], memory: Memory) -> Words:
    """Everything that came of these conversations, and of nothing else. O(memory)."""
    names = Words(
        discussions=frozenset(one.discussion_id for one in conversations),
        paths=frozenset(path for one in conversations for path in one.paths),
        hashes=frozenset(sha256 for one in conversations for sha256 in one.hashes),
    )
    own = [row for row in memory.rows.evidence if is_of(row, names)]
    steps = [(step, is_step_of(step, names)) for step in memory.steps]
    mine = [step for step, is_mine in steps if is_mine]
    entries = [one for one in memory.entries if one.path in names.paths or one.sha256 in names.hashes]
    said = {row.source for row in own} | {source for step in mine for source in _sources_in(step)}
    said |= {one.name for one in conversations}
    ats = {row.at for row in own} | {step.at for step in mine} | {entry.at for entry in entries}
    moments = frozenset(moment(at, source) for at in ats for source in said if at and source)
    told = [
        event for event in memory.rows.events if event.apply and moment(event.at, event.source) in moments
    ]
    candidates = {row.item for row in own} | {event.item for event in told} | set(_hashes_in(mine))
    shared = {
        row.item: row for row in memory.rows.evidence if row.item in candidates and not is_of(row, names)
    }
    foreign = {row.source for row in memory.rows.evidence if not is_of(row, names)}
    foreign |= {source for step, is_mine in steps if not is_mine for source in _sources_in(step)}
    sources, certain = said - {""}, said - foreign - {""}
    gone = _heirs(candidates - shared.keys(), memory.rows.events)
    elsewhere = {row.item for row in memory.rows.evidence if not is_of(row, names)}
    put_back = _put_back(gone, elsewhere, names, memory)
    unmerged = {one.merged for one in put_back}

    def goes(item: Item) -> bool:
        """True for an item that came of these alone. Evidence decides where no origin of another is told."""
        name = item_hash(item.category, item.text)
        if name in unmerged:
            return True
        if name in elsewhere:
            return False
        told = () if item.provenance is None else item.provenance.all
        if any(one.source in foreign - sources for one in told):
            return False  # it was merged, and stands on another conversation too
        return name in gone or (bool(told) and all(one.source in certain for one in told))

    items = [item for file in memory.files for item in file.items if goes(item)]
    hashes = frozenset(item_hash(item.category, item.text) for item in items)
    standing = {item_hash(item.category, item.text) for file in memory.files for item in file.items}
    forgotten = hashes | (gone - standing)
    facts = _facts_of(own, mine, names, memory)
    texts = [item.text for item in items] + [text for key, text in memory.facts if key in facts]
    texts += [event.text for event in told if event.item in forgotten] + [row.quote for row in own]
    texts += [event.text for event in memory.rows.events if event.item in unmerged]
    stay = {text for file in memory.files for item in file.items if not goes(item) for text in (item.text,)}
    stay |= {one.text for one in put_back}
    return msgspec.structs.replace(
        names,
        moments=moments,
        items=forgotten,
        facts=facts,
        others=tuple((name, row.source, row.at[:10]) for name, row in sorted(shared.items())),
        texts=_needles((*texts, *certain), stay),
        removed_items=len(items),
        removed_facts=sum(1 for key, _ in memory.facts if key in facts),
        sources=frozenset(certain),
        put_back=put_back,
        blended=len((standing & gone) - hashes - elsewhere),
    )


def words_of_item(category: str, text: str, memory: Memory) -> Words:
    """One item with all that it was before and became, and its fact."""
    first = item_hash(category, text)
    kin = {first}
    while True:
        more = {
            was
            for event in memory.rows.events
            if event.kind in _HANDED_ON and event.item in kin
            for was in event.was
        }
        if more <= kin:
            break
        kin |= more
    hashes = frozenset(_heirs(kin, memory.rows.events)).union(names_of(Category(category), text))
    rows = [row for row in memory.rows.evidence if row.item in hashes]
    words = " ".join(text.split())
    facts = frozenset(row.fact for row in rows if row.fact) | {
        key for key, said in memory.facts if " ".join(said.split()).casefold() == words.casefold()
    }
    texts = [text, *(event.text for event in memory.rows.events if event.item in hashes)]
    texts += [said for key, said in memory.facts if key in facts] + [row.quote for row in rows]
    texts += [
        item.text
        for file in memory.files
        for item in file.items
        if item_hash(item.category, item.text) in hashes
    ]
    return Words(
        items=hashes,
        facts=facts,
        texts=_needles(texts, ()),
        removed_items=1,
        removed_facts=sum(1 for key, _ in memory.facts if key in facts),
    )


def moment(at: str, source: str) -> str:
    """Name of one conversation's part in an apply, as events tell it: all parts of an apply have one time."""
    return f"{at} {source}"


def is_of(row: EvidenceRow, words: Words) -> bool:
    """True for evidence from one of these conversations."""
    return row.discussion in words.discussions or row.path in words.paths or row.sha256 in words.hashes


def is_step_of(step: AppliedStep, words: Words) -> bool:
    """True if this step of an apply belongs to one of these conversations."""
    return step.path in words.paths or step.sha256 in words.hashes


def holds(data: bytes, words: Words) -> bool:
    """True if one of the words stands in a file's bytes, as it is or as JSON writes it."""
    return any(needle in data for text in words.texts for needle in forms(text))


def forms(text: str) -> tuple[bytes, ...]:
    """Bytes by which a text stands in files: bare, and as JSON writes it with and without other letters."""
    bare = text.encode("utf-8", "surrogateescape")
    wide = json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
    return tuple(dict.fromkeys((bare, wide, json.dumps(text)[1:-1].encode())))


def _heirs(hashes: set[str], events: Iterable[ItemEvent]) -> set[str]:
    """Items and what edits and merges made of them, in the order in which that happened."""
    found = set(hashes)
    for event in events:
        if event.kind in _HANDED_ON and found.intersection(event.was):
            found.add(event.item)
    return found


def _put_back(
    gone: set[str], elsewhere: Collection[str], names: Words, memory: Memory
) -> tuple[PutBack, ...]:
    """Items that stand again once the words of these conversations leave a merge: those that others said in it.

    A merged item of which nothing else is known stays as it is, without the origin that goes.
    """
    said = {event.item: event.text for event in memory.rows.events if event.text}
    rows = [row for row in memory.rows.evidence if not is_of(row, names)]
    standing = {item_hash(item.category, item.text) for file in memory.files for item in file.items}
    found = []
    for event in memory.rows.events:
        if event.kind is not ItemEventKind.MERGED or not gone.intersection(event.was):
            continue
        merged = _edited_last(event.item, memory.rows.events)
        rest = [one for one in event.was if one not in gone]
        if merged not in standing or merged in elsewhere or not all(one in said for one in rest):
            continue
        for one in rest:
            of_it = [row for row in rows if row.item == one]
            origins = tuple(dict.fromkeys((row.source, row.at[:10]) for row in of_it))
            facts = frozenset(row.fact for row in of_it if row.fact)
            found.append(PutBack(merged=merged, text=said[one], origins=origins, facts=facts))
    return tuple(dict.fromkeys(found))


def _edited_last(item: str, events: Iterable[ItemEvent]) -> str:
    """An item as a person's edits left it."""
    for event in events:
        if event.kind is ItemEventKind.EDITED and item in event.was:
            item = event.item
    return item


def _facts_of(
    own: Sequence[EvidenceRow], mine: Sequence[AppliedStep], names: Words, memory: Memory
) -> frozenset[str]:
    """Facts that these conversations made: no other stands behind them, and no person wrote them."""
    found = {row.fact for row in own if row.fact}.union(*(step.facts for step in mine))
    others = {row.fact for row in memory.rows.evidence if row.fact and not is_of(row, names)}
    by_hand = {
        event.fact
        for event in memory.rows.events
        if event.fact and not event.apply and event.text and event.kind is ItemEventKind.ACCEPTED
    }
    return frozenset(found - others - by_hand)


def _hashes_in(steps: Iterable[AppliedStep]) -> Iterable[str]:
    for name, section, line in (one for step in steps for one in step.lines):
        head, _, rest = line.partition("\n")
        text, _ = split_tag(head.removeprefix("- "))
        yield item_hash(category_of(name, section), f"{text}\n{rest}" if rest else text)


def _sources_in(step: AppliedStep) -> Iterable[str]:
    for _, _, line in step.lines:
        _, provenance = split_tag(line.partition("\n")[0])
        if provenance is not None:
            yield provenance.source


def _needles(texts: Iterable[str], stay: Iterable[str]) -> tuple[str, ...]:
    """Texts to look for, the longest first: none that still stands somewhere by right."""
    kept = "\n".join(stay)
    long = {text.strip() for text in texts if len(text.strip()) >= MIN_NEEDLE}
    lines = {line.strip() for text in long for line in text.split("\n") if len(line.strip()) >= MIN_NEEDLE}
    return tuple(sorted((one for one in long | lines if one not in kept), key=lambda one: (-len(one), one)))
