"""Items and the structured facts that were made of them: which belong together, and what follows when an item changes. Pure.

One rule for every way in which an item goes (a delete, a merge, a line taken out in an editor, an undo): a fact that
was made of items enters no prompt while none of these stands in a category file. It is told anew by each sync, so that
what brings an item back brings its fact back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

import msgspec

from core.evidence.history import LINKS, undone_applies
from core.evidence.quotes import item_hash
from core.evidence.rows import LogRows
from core.evidence.strikes import is_struck
from core.facts.harvested_fact import short_text
from core.facts.past import FactNewsKind, HeldFact, Reword
from core.values.evidence import ItemEvent, ItemEventKind
from core.values.facts import FactCategory
from core.values.knowledge import Category, Item

FACT_KINDS: Mapping[Category, FactCategory] = {
    Category.FACTS: FactCategory.FACT,
    Category.DECISIONS: FactCategory.FACT,
    Category.QUESTIONS: FactCategory.QUESTION,
    Category.PLAYBOOKS: FactCategory.PATTERN,
}
"""Categories whose items become facts. Source: 40-facts.md, rule 5."""

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
        linked,
        frozenset(gone) if is_whole else None,
        _forgotten(rows),
        dict(_rewords(linked, events, standing)) if is_whole else {},
        tuple(_held(events, linked, after, standing)) if is_whole else (),
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
            event.fact,
            item_hash(item.category, item.text),
            fact_words(item.category, item.text),
            event.at,
            by_person=(event.apply, event.item) in by_person,
            is_decision=item.category is Category.DECISIONS,
        )
