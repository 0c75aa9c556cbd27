"""Parts of an apply that say what each item stands on, and what became of what was proposed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from core.evidence.quotes import item_hash
from core.evidence.rows import EVENTS_FILE, EVIDENCE_FILE, Conversation, evidence_of, read_rows, row_text
from core.knowledge.categories import DONE, OPEN, category_of
from core.knowledge.parts import PartPlan, RowPlan
from core.knowledge.provenance import split_tag
from core.knowledge.wording import item_body
from core.values.evidence import ItemEvent, ItemEventKind
from core.values.knowledge import NewItem, Placed

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
        ItemEvent(ItemEventKind.HELD, said.at, item, source=said.source, apply=apply_id, fact=series)
        for item, series in held.items()
    )
    events |= dict.fromkeys(row_text(one) for one in waiting)
    return tuple(
        part
        for part in (RowPlan(EVIDENCE_FILE, tuple(evidence)), RowPlan(EVENTS_FILE, tuple(events), stays=True))
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
    event = ItemEvent(ItemEventKind.UNDONE, at, apply=apply_id)
    return RowPlan(EVENTS_FILE, (row_text(event),), stays=True)


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
        made: ItemEvent = ItemEvent(kind, said.at, item, source=said.source, apply=apply_id, **more)  # type: ignore[arg-type]
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
