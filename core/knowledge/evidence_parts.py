"""Parts of an apply that record each item's evidence and the result for each proposal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from core.kernel.values.facts import EvidenceRow, FactCategory, ItemEvent, ItemEventKind
from core.kernel.values.knowledge import Category, Item, NewItem, Placed
from core.knowledge.categories import DONE, OPEN, category_of, item_body, split_tag
from core.knowledge.evidence_rows import (
    EVENTS_FILE,
    EVIDENCE_FILE,
    Conversation,
    LogRows,
    evidence_of,
    is_struck,
    item_hash,
    read_rows,
    row_text,
)
from core.knowledge.facts.fact_index import FactNewsKind, HeldFact, Reword
from core.knowledge.facts.fact_merge import short_text
from core.knowledge.history_text import LINKS, undone_applies
from core.knowledge.merges import share, words_of
from core.knowledge.parts import PartPlan, RowPlan

_NONE: Mapping[str, str] = MappingProxyType({})


def evidence_parts(
    placed: Iterable[Placed],
    rejected: Iterable[NewItem],
    said: Conversation,
    apply_id: str,
    replacing: frozenset[Placed] = frozenset(),
    facts: Mapping[str, str] = _NONE,
    held: Mapping[str, str] = _NONE,
) -> tuple[RowPlan, ...]:
    """The rows that go with the items of one conversation.

    Args:
        placed: all that were to be written, also what was known; rejected: what the person left out.
        replacing: those whose replaced item is struck through.
        facts: ids of the structured facts that items are, by the item's hash; held: `domain:category` of those that
            wait for their file to be readable.
    """
    known = tuple(placed)
    hashes = [item_hash(one.item.category, one.item.text) for one in known]
    evidence = dict.fromkeys(
        row_text(evidence_of(item, one.raw.quote, said, facts.get(item, "")))
        for item, one in zip(hashes, known, strict=True)
    )
    happened = _events(known, hashes, rejected, said, apply_id, replacing, facts)
    events = dict.fromkeys(map(row_text, happened))
    waiting = (
        ItemEvent(
            kind=ItemEventKind.HELD, at=said.at, item=item, source=said.source, apply=apply_id, fact=series
        )
        for item, series in held.items()
    )
    events |= dict.fromkeys(row_text(one) for one in waiting)
    return tuple(
        part
        for part in (
            RowPlan(name=EVIDENCE_FILE, rows=tuple(evidence)),
            RowPlan(name=EVENTS_FILE, rows=tuple(events), stays=True),
        )
        if part.rows
    )


def without_rows_of(part: PartPlan, left: Iterable[str]) -> PartPlan:
    """A part that is to be taken back, without the evidence of lines that stay because a person changed them.

    Args:
        left: `file: line`, each line as the apply wrote it.
    """
    if not isinstance(part, RowPlan) or part.name != EVIDENCE_FILE:
        return part
    names = frozenset(name for entry in left for name in _names_of(entry))
    if not names:
        return part
    rows = read_rows("\n".join(part.rows).encode(), b"").evidence
    return replace(part, rows=tuple(row_text(row) for row in rows if row.item not in names))


def _names_of(entry: str) -> tuple[str, ...]:
    """Hashes that the item of a line may have: the section of a task is not told."""
    file, _, line = entry.partition(": ")
    text = split_tag(line.removeprefix("- "))[0]
    return tuple({item_hash(category_of(file, section), text) for section in (OPEN, DONE)})


def undone_event(apply_id: str, at: str) -> RowPlan:
    """The row that says that an apply was taken back: its other events stay."""
    event = ItemEvent(kind=ItemEventKind.UNDONE, at=at, apply=apply_id)
    return RowPlan(name=EVENTS_FILE, rows=(row_text(event),), stays=True)


def _events(
    placed: tuple[Placed, ...],
    hashes: Sequence[str],
    rejected: Iterable[NewItem],
    said: Conversation,
    apply_id: str,
    replacing: frozenset[Placed],
    facts: Mapping[str, str],
) -> Iterator[ItemEvent]:
    """Events, oldest first. `hashes`: of the placed items; what made or confirmed a fact names it."""
    new = {item for item, one in zip(hashes, placed, strict=True) if one.is_new}

    def event(kind: ItemEventKind, item: str, **more: object) -> ItemEvent:
        made: ItemEvent = ItemEvent(
            kind=kind,
            at=said.at,
            item=item,
            source=said.source,
            apply=apply_id,
            **more,  # type: ignore[arg-type]
        )
        return made

    for item, one in zip(hashes, placed, strict=True):
        category = one.item.category.value
        if not one.is_new:
            if item not in new:
                yield event(ItemEventKind.CONFIRMED, item, fact=facts.get(item, ""))
            continue
        before = one.raw.proposed
        if before is None:
            yield event(ItemEventKind.PROPOSED, item, category=category, text=one.item.text)
        else:
            was = item_hash(before.category, before.text)
            yield event(ItemEventKind.PROPOSED, was, category=before.category, text=before.text)
            yield event(ItemEventKind.EDITED, item, category=category, text=one.item.text, was=(was,))
        yield event(ItemEventKind.ACCEPTED, item, fact=facts.get(item, ""))
        if (old := one.raw.replaces) is not None and one in replacing:
            gone = item_hash(old.item.category, old.item.text)
            yield event(ItemEventKind.SUPERSEDED, item, was=(gone,), reason=old.reason)
    for raw in rejected:
        body = item_body(raw)
        item = item_hash(raw.category, body)
        yield event(ItemEventKind.PROPOSED, item, category=raw.category.value, text=body)
        yield event(ItemEventKind.REJECTED, item)


# Items whose words were changed outside: they take over what the words before them stood on. Pure.

SAME_SHARE = 0.5
"""Share of words in common, of both texts together, from which on one is held for the other with its words changed.

Only texts of one conversation and day are compared, and each takes over one at most.
"""

_ENDS = frozenset({ItemEventKind.FORGOTTEN, ItemEventKind.DELETED})
REASON = "in its file, outside the program"

_Origin = tuple[str, str]


def outside_edits(items: Iterable[Item], rows: LogRows, at: str) -> tuple[ItemEvent, ...]:
    """Events by which items keep their evidence though an editor, a pull or a cleaning changed their words.

    Args:
        items: all that stand in the files; at: ISO 8601 UTC.

    Returns:
        An `edited` event for each item that stands on nothing and says nearly what another of its origin said that
        stands nowhere any more. O(items + events), and within an origin by pairs.
    """
    names = {item_hash(item.category, item.text): item for item in items}
    heads = _heads(rows)
    linked = set(heads.values())
    bare = [
        (name, item) for name, item in names.items() if item.provenance is not None and name not in linked
    ]
    if not bare:
        return ()
    lost = _lost(rows, heads, names.keys())
    return tuple(
        ItemEvent(
            kind=ItemEventKind.EDITED,
            at=at,
            item=name,
            category=item.category.value,
            text=item.text,
            was=(was,),
            reason=REASON,
        )
        for was, name, item in _pairs(bare, lost)
    )


def has_unlinked(items: Iterable[Item], rows: LogRows) -> bool:
    """True if an item of a conversation stands on nothing by these words: it may have been edited outside. O(items)."""
    known = {row.item for row in rows.evidence}
    return any(
        item.provenance is not None and item_hash(item.category, item.text) not in known for item in items
    )


def _heads(rows: LogRows) -> dict[str, str]:
    """Newest words of every item that has evidence, by the words that it had then. Edits in their order."""
    heads = {row.item: row.item for row in rows.evidence}
    now: dict[str, set[str]] = {name: {name} for name in heads}
    for event in rows.events:
        if event.kind in LINKS:
            moved = set[str]().union(*(now.pop(was, set()) for was in event.was if was != event.item))
            if moved:
                now.setdefault(event.item, set()).update(moved)
    return {first: head for head, firsts in now.items() for first in firsts}


def _lost(rows: LogRows, heads: dict[str, str], standing: Iterable[str]) -> dict[_Origin, dict[str, str]]:
    """Last known words of items with evidence that stand nowhere and were neither forgotten nor deleted, by origin and hash."""
    texts = {event.item: event.text for event in rows.events if event.text}
    over = frozenset(standing) | {event.item for event in rows.events if event.kind in _ENDS}
    found: dict[_Origin, dict[str, str]] = defaultdict(dict)
    for row in rows.evidence:
        head = heads[row.item]
        if head not in over and texts.get(head):
            found[_origin_of(row)][head] = texts[head]
    return found


def _origin_of(row: EvidenceRow) -> _Origin:
    return row.source, row.at[:10]


def _pairs(
    bare: Iterable[tuple[str, Item]], lost: dict[_Origin, dict[str, str]]
) -> Iterator[tuple[str, str, Item]]:
    """Pairs of lost words and the item that has them now, the nearest first."""
    scored = sorted(
        (
            (-near, was, name, item)
            for name, item in bare
            if item.provenance is not None
            for was, text in lost.get((item.provenance.source, item.provenance.date), {}).items()
            if (near := share(words_of(item.text), words_of(text))) >= SAME_SHARE
        ),
        key=lambda one: one[:3],
    )
    taken = set[str]()
    for _, was, name, item in scored:
        if was not in taken and name not in taken:
            taken |= {was, name}
            yield was, name, item


# Items and the structured facts that were made of them: which belong together, and what follows when an
# item changes. Pure.

FACT_KINDS: Mapping[Category, FactCategory] = {
    Category.FACTS: FactCategory.FACT,
    Category.DECISIONS: FactCategory.FACT,
    Category.QUESTIONS: FactCategory.QUESTION,
    Category.PLAYBOOKS: FactCategory.PATTERN,
}
"""Categories whose items become facts."""

_CATEGORIES = frozenset(category.value for category in Category)
_MADE = frozenset(
    {ItemEventKind.ACCEPTED, ItemEventKind.CONFIRMED, ItemEventKind.MERGED, ItemEventKind.EDITED}
)
"""Events that name an item and the fact that it is."""


class Twins(msgspec.Struct, frozen=True):
    """Facts as the items say.

    Args:
        items: hashes of the items that each fact was made of, and of what these became, by id.
        withdrawn: facts none of whose items stands; None where that cannot be told now.
        forgotten: facts that a person forgot, with all that they were made of.
        rewords: words that a fact takes on, for its item was edited, by id.
        held: facts that could not be written, for their file could not be read.
    """

    items: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    withdrawn: frozenset[str] | None = frozenset()
    forgotten: frozenset[str] = frozenset()
    rewords: Mapping[str, Reword] = msgspec.field(default_factory=dict)
    held: tuple[HeldFact, ...] = ()


def twins_of(rows: LogRows, items: Iterable[Item], *, is_whole: bool = True) -> Twins:
    """Tell what the items of the category files say of the facts. O(rows + items).

    Args:
        rows: of both logs; items: all that stand in category files; is_whole: False where a file cannot be read, so that
            it is not known what stands.
    """
    standing = {item_hash(one.category, one.text): one for one in items if not is_struck(one.text)}
    undone = undone_applies(rows)
    events = tuple(one for one in rows.events if not (one.apply and one.apply in undone))
    after = _after(events)
    made = _made_of(rows, events)
    linked = {fact: _with_heirs(names, after) for fact, names in made.items()} if after else made
    own = _own(events)
    gone = (fact for fact, names in linked.items() if fact not in own and standing.keys().isdisjoint(names))
    return Twins(
        items=linked,
        withdrawn=frozenset(gone) if is_whole else None,
        forgotten=_forgotten(rows),
        rewords=dict(_rewords(linked, events, standing)) if is_whole else {},
        held=tuple(_held(events, linked, after, standing)) if is_whole else (),
    )


def fact_words(category: Category, text: str) -> str:
    """Words of the fact that an item is. `text`: without provenance."""
    whole = _whole(category, text)
    return short_text(whole, whole.partition(" — ")[0])


def _whole(category: Category, text: str) -> str:
    whole = " ".join(text.split())
    return whole.replace("**", "", 2) if category is Category.PLAYBOOKS else whole


def _made_of(rows: LogRows, events: Iterable[ItemEvent]) -> dict[str, frozenset[str]]:
    """Hashes of the items that each fact was made of or confirmed by."""
    found: dict[str, frozenset[str]] = {}
    told = ((row.fact, row.item) for row in rows.evidence if row.fact)
    made = ((one.fact, one.item) for one in events if one.fact and one.item and one.kind in _MADE)
    for fact, item in chain(told, made):
        names = found.get(fact)
        if names is None:
            found[fact] = frozenset((item,))
        elif item not in names:
            found[fact] = names | {item}
    return found


def _after(events: Iterable[ItemEvent]) -> dict[str, list[str]]:
    """Items that each item became by edits and merges."""
    after: dict[str, list[str]] = defaultdict(list)
    for event in events:
        if event.kind in LINKS:
            for was in event.was:
                after[was].append(event.item)
    return after


def _with_heirs(names: frozenset[str], after: Mapping[str, list[str]]) -> frozenset[str]:
    found = set(names)
    open_ends = [name for name in names if name in after]
    while open_ends:
        for newer in after.get(open_ends.pop(), ()):
            if newer not in found:
                found.add(newer)
                open_ends.append(newer)
    return frozenset(found) if len(found) > len(names) else names


def _own(events: Iterable[ItemEvent]) -> frozenset[str]:
    """Facts that stand on a person's own word: written by hand, or changed by hand after their items had gone."""
    found: set[str] = set()
    gone: set[str] = set()
    for event in events:
        if event.fact and not event.item:
            if event.kind is ItemEventKind.DELETED:
                gone.add(event.fact)
            elif event.reason == FactNewsKind.ADDED or (
                event.reason == FactNewsKind.EDITED and event.fact in gone
            ):
                found.add(event.fact)
    return frozenset(found)


def _forgotten(rows: LogRows) -> frozenset[str]:
    """Facts that a person forgot: all that they were made of was forgotten, and nothing has said them since."""
    lost = {event.item: at for at, event in enumerate(rows.events) if event.kind is ItemEventKind.FORGOTTEN}
    if not lost:
        return frozenset()
    backed = {row.fact for row in rows.evidence}
    gone: dict[str, bool] = {}
    for at, event in enumerate(rows.events):
        if event.fact and event.item and event.kind in _MADE:
            gone[event.fact] = gone.get(event.fact, True) and lost.get(event.item, -1) > at
    return frozenset(fact for fact, is_gone in gone.items() if is_gone and fact not in backed)


def _rewords(
    linked: Mapping[str, frozenset[str]], events: Iterable[ItemEvent], standing: Mapping[str, Item]
) -> Iterator[tuple[str, Reword]]:
    """Words that facts take on: those of the item that an edit made of theirs, where it stands."""
    edited: dict[str, set[str]] = defaultdict(set)
    texts: dict[str, tuple[str, str]] = {}
    last: dict[str, int] = {}
    for number, event in enumerate(events):
        if event.text and event.item:
            texts.setdefault(event.item, (event.category, event.text))
        if event.kind is ItemEventKind.EDITED and event.item in standing:
            edited[event.item].update(event.was)
            last[event.item] = number
        if event.reason == FactNewsKind.EDITED and event.fact and not event.item:
            last[event.fact] = number
    if not edited:
        return
    for fact, names in linked.items():
        for name in names & edited.keys():
            if last.get(fact, -1) > last[name]:
                continue  # a person gave the fact its words since
            known = [texts[was] for was in edited[name] & names if was in texts]
            was = frozenset(
                words
                for category, text in known
                if category in _CATEGORIES
                for words in (fact_words(Category(category), text), _whole(Category(category), text))
            )
            item = standing[name]
            now = fact_words(item.category, item.text)
            if item.category in FACT_KINDS and was - {now}:
                yield fact, Reword(was - {now}, now)


def _held(
    events: Iterable[ItemEvent], linked: Mapping[str, frozenset[str]], after: Mapping[str, list[str]],
    standing: Mapping[str, Item],
) -> Iterator[HeldFact]:  # fmt: skip
    """Facts that wait for their file to be readable, and whose items stand."""
    told = tuple(events)
    if not any(event.kind is ItemEventKind.HELD for event in told):
        return
    by_person = {(one.apply, one.item) for one in told if one.kind is ItemEventKind.EDITED}
    made = {(fact.rpartition(":")[0], name) for fact, names in linked.items() for name in names}
    for event in told:
        if event.kind is not ItemEventKind.HELD:
            continue
        names = _with_heirs(frozenset({event.item}), after)
        item = next((standing[name] for name in names if name in standing), None)
        if item is None or any((event.fact, name) in made for name in names):
            continue
        yield HeldFact(
            series=event.fact,
            item=item_hash(item.category, item.text),
            text=fact_words(item.category, item.text),
            at=event.at,
            by_person=(event.apply, event.item) in by_person,
            is_decision=item.category is Category.DECISIONS,
        )
