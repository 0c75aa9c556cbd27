"""History of an item: what its words were before, what they stand on, and which requests they entered."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from core.evidence.quotes import item_hash
from core.evidence.rows import LogRows
from core.values.evidence import (
    EvidenceRow,
    HistoryKind,
    HistoryLine,
    ItemEvent,
    ItemEventKind,
    ItemHistory,
)

LINKS = frozenset({ItemEventKind.EDITED, ItemEventKind.MERGED})
"""Events by which an item takes over what those before it stood on."""


def ancestors(item: str, rows: LogRows) -> tuple[str, ...]:
    """An item's hash and those of the items that it came from by edits and merges, nearest first. O(events)."""
    before: dict[str, list[str]] = {}
    undone = undone_applies(rows)
    for event in rows.events:
        if event.kind in LINKS and not (event.apply and event.apply in undone):
            before.setdefault(event.item, []).extend(event.was)
    found = dict.fromkeys([item])
    open_ends = [item]
    while open_ends:
        for older in before.get(open_ends.pop(), ()):
            if older not in found:
                found[older] = None
                open_ends.append(older)
    return tuple(found)


def successors(item: str, rows: LogRows) -> tuple[str, ...]:
    """Hashes of the items that an item became by edits and merges, nearest first. O(events)."""
    undone = undone_applies(rows)
    found: dict[str, None] = {}
    for event in rows.events:  # in the order in which items became others
        is_link = event.kind in LINKS and not (event.apply and event.apply in undone)
        if is_link and event.item != item and (item in event.was or not found.keys().isdisjoint(event.was)):
            found[event.item] = None
    return tuple(found)


WITH_CONVERSATION = "with its conversation"
"""Reason of a `forgotten` event that is no tombstone: another conversation may say it again."""


def tombstones(rows: LogRows) -> frozenset[str]:
    """Hashes of items that a person forgot: no harvest proposes them again."""
    return frozenset(
        event.item for event in rows.events if event.kind is ItemEventKind.FORGOTTEN and not event.reason
    )


_PUT_BACK = frozenset(
    {ItemEventKind.RESTORED, ItemEventKind.ACCEPTED, ItemEventKind.CONFIRMED, ItemEventKind.EDITED}
)


def deletions(rows: LogRows) -> tuple[ItemEvent, ...]:
    """Items that a person deleted and that were not put back since, by their events. O(events)."""
    last: dict[str, ItemEvent] = {}
    for event in rows.events:
        if event.kind is ItemEventKind.DELETED and event.item and not event.fact:
            last[event.item] = event
        elif event.kind in _PUT_BACK:
            last.pop(event.item, None)
    return tuple(last.values())


def undone_applies(rows: LogRows) -> frozenset[str]:
    """Applies that were taken back."""
    return frozenset(event.apply for event in rows.events if event.kind is ItemEventKind.UNDONE)


def evidence_for(item: str, rows: LogRows) -> tuple[EvidenceRow, ...]:
    """Words that an item stands on, oldest first, each conversation's words once."""
    names = frozenset(ancestors(item, rows))
    return _once(row for row in reversed(rows.evidence) if row.item in names)


def evidence_for_fact(fact_id: str, rows: LogRows) -> tuple[EvidenceRow, ...]:
    """Words that a structured fact stands on, oldest first, each conversation's words once."""
    return _once(row for row in reversed(rows.evidence) if row.fact == fact_id)


def _once(newest_first: Iterable[EvidenceRow]) -> tuple[EvidenceRow, ...]:
    said = {(row.sha256, row.turns, row.quote): row for row in newest_first}
    return tuple(reversed(said.values()))


def history(category: str, text: str, rows: LogRows) -> ItemHistory:
    """Tale of the logs about an item; its witnesses are read by the worker.

    Args:
        category, text: as the item stands now, without provenance.
    """
    item = item_hash(category, text)
    known = _since_forgotten(item, rows)
    names = frozenset(ancestors(item, known))
    facts = frozenset(event.fact for event in known.events if event.item in names and event.fact)
    facts |= {row.fact for row in known.evidence if row.item in names and row.fact}
    return ItemHistory(
        item, category, text, (), tale(names, known), _injected(names, facts, known), rows.torn
    )


def history_of_fact(fact_id: str, category: str, text: str, rows: LogRows) -> ItemHistory:
    """Tale of the logs about a structured fact and the items that it was made of.

    Args:
        category: of facts; text: as it stands in the index.
    """
    items = {row.item for row in rows.evidence if row.fact == fact_id}
    items |= {event.item for event in rows.events if event.fact == fact_id and event.item}
    undone = undone_applies(rows)
    for event in rows.events:  # in the order in which items became others
        if event.kind in LINKS and event.apply not in undone and items.intersection(event.was):
            items.add(event.item)
    names = frozenset(items)
    injected = _injected(names, frozenset({fact_id}), rows)
    return ItemHistory("", category, text, (), tale(names, rows, fact_id), injected, rows.torn, fact=fact_id)


def tale(names: frozenset[str], rows: LogRows, fact_id: str = "") -> tuple[HistoryLine, ...]:
    """History of what has these names, oldest first: each line from its own side, with the others by their words.

    What an apply did that was taken back is marked, and a line tells when it was taken back.

    Args:
        names: hashes of the item and of those that it came from; fact_id: of a structured fact, empty for an item.
    """
    undone = undone_applies(rows)
    texts = {event.item: event.text for event in rows.events if event.item and event.text}
    lines: list[HistoryLine] = []
    for event in rows.events:
        is_taken_back = event.kind is ItemEventKind.UNDONE and any(
            line.event.apply == event.apply and line.is_undone for line in lines
        )
        kind = HistoryKind.UNDONE if is_taken_back else _kind(event, names, fact_id)
        if kind is not None:
            others = (event.item,) if kind in _BY_OTHERS else event.was
            objects = tuple(dict.fromkeys(texts[one] for one in others if one in texts))
            lines.append(HistoryLine(kind, event, objects, bool(event.apply) and event.apply in undone))
    return tuple(
        replace(line, is_undone=False) if line.kind is HistoryKind.UNDONE else line for line in lines
    )


_BY_OTHERS = frozenset({HistoryKind.REPLACED_BY, HistoryKind.MERGED_INTO})
"""Lines whose object is the item of the event, for that took the place of ours."""

_OWN_KINDS = {
    ItemEventKind.SUPERSEDED: HistoryKind.REPLACES,
    ItemEventKind.MERGED: HistoryKind.MERGED_FROM,
}
_OTHERS_KINDS = {
    ItemEventKind.SUPERSEDED: HistoryKind.REPLACED_BY,
    ItemEventKind.MERGED: HistoryKind.MERGED_INTO,
}


def _kind(event: ItemEvent, names: frozenset[str], fact_id: str) -> HistoryKind | None:
    """Line that an event is to what has these names, None where it is none of its."""
    if event.kind in {ItemEventKind.INJECTED, ItemEventKind.UNDONE}:
        return None
    if event.item in names or (fact_id and event.fact == fact_id):
        if event.kind is ItemEventKind.MERGED and not event.was:
            return (
                None  # it keeps the words of one of those that were merged; the line of the merge tells all
            )
        if event.kind is ItemEventKind.SUPERSEDED and not event.was:
            return HistoryKind.EDITED  # what the index had said of a fact, which its file overruled
        return _OWN_KINDS.get(event.kind) or HistoryKind(event.kind.value)
    return _OTHERS_KINDS.get(event.kind) if names.intersection(event.was) else None


def _since_forgotten(item: str, rows: LogRows) -> LogRows:
    """The logs since an item was forgotten: who says the same words again begins anew."""
    at = [n for n, event in enumerate(rows.events) if (event.kind, event.item) == (_FORGOTTEN, item)]
    return replace(rows, events=rows.events[at[-1] + 1 :]) if at else rows


_FORGOTTEN = ItemEventKind.FORGOTTEN


def _injected(names: frozenset[str], facts: frozenset[str], rows: LogRows) -> tuple[ItemEvent, ...]:
    """Events of requests that held one of the items or facts, newest first."""
    return tuple(
        event
        for event in reversed(rows.events)
        if event.kind is ItemEventKind.INJECTED
        and (names.intersection(event.items) or facts.intersection(event.facts))
    )


def seen(rows: LogRows, discussion: str = "") -> tuple[ItemEvent, ...]:
    """Injections into requests, newest first, each change once. `discussion`: empty for all."""
    return tuple(
        event
        for event in reversed(rows.events)
        if event.kind is ItemEventKind.INJECTED and discussion in {"", event.discussion}
    )
