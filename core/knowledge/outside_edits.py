"""Items whose words were changed outside: they take over what the words before them stood on. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from core.evidence.history import LINKS
from core.evidence.quotes import item_hash
from core.evidence.rows import LogRows
from core.knowledge.duplicates import share, words_of
from core.values.evidence import EvidenceRow, ItemEvent, ItemEventKind
from core.values.knowledge import Item

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
        ItemEvent(ItemEventKind.EDITED, at, name, item.category.value, item.text, (was,), reason=REASON)
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
