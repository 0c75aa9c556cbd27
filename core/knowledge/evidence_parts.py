"""Parts of an apply that say what each item stands on, and what became of what was proposed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from core.evidence.quotes import item_hash
from core.evidence.rows import EVENTS_FILE, EVIDENCE_FILE, Conversation, evidence_of, row_text
from core.knowledge.parts import RowPlan
from core.knowledge.wording import item_body
from core.values.evidence import ItemEvent, ItemEventKind
from core.values.knowledge import NewItem, Placed


def evidence_parts(
    placed: Iterable[Placed],
    rejected: Iterable[NewItem],
    said: Conversation,
    apply_id: str,
    facts: Mapping[str, str] = MappingProxyType({}),
) -> tuple[RowPlan, ...]:
    """The rows that go with the items of one conversation.

    Args:
        placed: all that were to be written, also what was known; rejected: what the person left out.
        facts: ids of the structured facts that items are, by the item's hash.
    """
    known = tuple(placed)
    hashes = [item_hash(one.item.category, one.item.text) for one in known]
    evidence = dict.fromkeys(
        row_text(evidence_of(item, one.raw.quote, said, facts.get(item, "")))
        for item, one in zip(hashes, known, strict=True)
    )
    happened = _events(known, rejected, said, apply_id)
    events = dict.fromkeys(row_text(replace(one, fact=facts.get(one.item, ""))) for one in happened)
    return tuple(
        part
        for part in (RowPlan(EVIDENCE_FILE, tuple(evidence)), RowPlan(EVENTS_FILE, tuple(events), stays=True))
        if part.rows
    )


def undone_event(apply_id: str, at: str) -> RowPlan:
    """The row that says that an apply was taken back: its other events stay."""
    event = ItemEvent(ItemEventKind.UNDONE, at, apply=apply_id)
    return RowPlan(EVENTS_FILE, (row_text(event),), stays=True)


def _events(
    placed: tuple[Placed, ...], rejected: Iterable[NewItem], said: Conversation, apply_id: str
) -> Iterator[ItemEvent]:
    new = {item_hash(one.item.category, one.item.text) for one in placed if one.is_new}

    def event(kind: ItemEventKind, item: str, **more: object) -> ItemEvent:
        made: ItemEvent = ItemEvent(kind, said.at, item, source=said.source, apply=apply_id, **more)  # type: ignore[arg-type]
        return made

    for one in placed:
        item, category = item_hash(one.item.category, one.item.text), one.item.category.value
        if not one.is_new:
            if item not in new:
                yield event(ItemEventKind.CONFIRMED, item)
            continue
        before = one.raw.proposed
        if before is None:
            yield event(ItemEventKind.PROPOSED, item, category=category, text=one.item.text)
        else:
            was = item_hash(before.category, before.text)
            yield event(ItemEventKind.PROPOSED, was, category=before.category, text=before.text)
            yield event(ItemEventKind.EDITED, item, category=category, text=one.item.text, was=(was,))
        yield event(ItemEventKind.ACCEPTED, item)
    for raw in rejected:
        body = item_body(raw)
        item = item_hash(raw.category, body)
        yield event(ItemEventKind.PROPOSED, item, category=raw.category.value, text=body)
        yield event(ItemEventKind.REJECTED, item)
