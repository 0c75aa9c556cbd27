"""History of an item: what its words were before, what they stand on, and which requests they entered."""

from __future__ import annotations

from collections.abc import Iterable

from core.evidence.quotes import item_hash
from core.evidence.rows import LogRows
from core.values.evidence import EvidenceRow, ItemEvent, ItemEventKind, ItemHistory

LINKS = frozenset({ItemEventKind.EDITED, ItemEventKind.MERGED})
"""Events by which an item takes over what those before it stood on."""


def ancestors(item: str, rows: LogRows) -> tuple[str, ...]:
    """An item's hash and those of the items that it came from by edits and merges, nearest first. O(events)."""
    before: dict[str, list[str]] = {}
    for event in rows.events:
        if event.kind in LINKS:
            before.setdefault(event.item, []).extend(event.was)
    found = dict.fromkeys([item])
    open_ends = [item]
    while open_ends:
        for older in before.get(open_ends.pop(), ()):
            if older not in found:
                found[older] = None
                open_ends.append(older)
    return tuple(found)


WITH_CONVERSATION = "with its conversation"
"""Reason of a `forgotten` event that is no tombstone: another conversation may say it again."""


def tombstones(rows: LogRows) -> frozenset[str]:
    """Hashes of items that a person forgot: no harvest proposes them again."""
    return frozenset(
        event.item for event in rows.events if event.kind is ItemEventKind.FORGOTTEN and not event.reason
    )


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
    names = frozenset(ancestors(item, rows))
    about = (
        event
        for event in rows.events
        if event.item in names or (event.kind is not ItemEventKind.EDITED and names & frozenset(event.was))
    )
    return ItemHistory(item, category, text, (), tuple(about), _injected(names, rows), rows.torn)


def history_of_fact(fact_id: str, category: str, text: str, rows: LogRows) -> ItemHistory:
    """Tale of the logs about a structured fact and the items that it was made of.

    Args:
        category: of facts; text: as it stands in the index.
    """
    items = frozenset(row.item for row in rows.evidence if row.fact == fact_id)
    about = (event for event in rows.events if event.fact == fact_id or event.item in items)
    made = (event.item for event in rows.events if items & frozenset(event.was) and event.kind in LINKS)
    injected = _injected(items | frozenset(made), rows)
    return ItemHistory("", category, text, (), tuple(about), injected, rows.torn, fact=fact_id)


def _injected(names: frozenset[str], rows: LogRows) -> tuple[ItemEvent, ...]:
    """Events of requests that held one of the items, newest first."""
    events = (event for event in reversed(rows.events) if event.kind is ItemEventKind.INJECTED)
    return tuple(event for event in events if names & frozenset(event.items))


def seen(rows: LogRows, discussion: str = "") -> tuple[ItemEvent, ...]:
    """Injections into requests, newest first, each change once. `discussion`: empty for all."""
    return tuple(
        event
        for event in reversed(rows.events)
        if event.kind is ItemEventKind.INJECTED and discussion in {"", event.discussion}
    )
