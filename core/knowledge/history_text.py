"""An item's history in words and as plain data, the same for every front end. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from core.kernel.codecs import builtins_of
from core.kernel.figures import count
from core.kernel.language import tr
from core.kernel.secrets import scrubbed_line
from core.kernel.values.facts import (
    EvidenceRow,
    HistoryKind,
    HistoryLine,
    ItemEvent,
    ItemEventKind,
    ItemHistory,
    SeenItems,
    TurnPlace,
    Witness,
)
from core.knowledge.evidence_rows import QUOTE_LEFT_OUT, LogRows, item_hash

LINE_WORDS = {
    HistoryKind.PROPOSED: tr("proposed by the model"),
    HistoryKind.ACCEPTED: "accepted",
    HistoryKind.REJECTED: tr("left out by you"),
    HistoryKind.EDITED: tr("changed by you"),
    HistoryKind.CONFIRMED: tr("said again"),
    HistoryKind.REPLACES: "replaces",
    HistoryKind.REPLACED_BY: tr("replaced by"),
    HistoryKind.MERGED_FROM: tr("merged from"),
    HistoryKind.MERGED_INTO: tr("merged into"),
    HistoryKind.FORGOTTEN: tr("forgotten"),
    HistoryKind.DELETED: tr("deleted"),
    HistoryKind.RESTORED: tr("restored"),
    HistoryKind.HELD: tr("not written yet: the program cannot read the file for this fact"),
    HistoryKind.UNDONE: tr("undone"),
    HistoryKind.USED: tr("used in a reply"),
}
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
OBJECT_CHARS = 120
"""Characters of each item that a line names."""

PLACE_WORDS = {
    TurnPlace.LIST: "",
    TurnPlace.TRASH: tr("in the trash"),
    TurnPlace.FILE: tr("in a file of another program"),
    TurnPlace.GONE: tr("the conversation is gone"),
}


def day(at: str) -> str:
    """Day and minute of an event, UTC, as they are shown."""
    return at[:16].replace("T", " ")


def witness_line(witness: Witness) -> str:
    """The source of an item: the conversation, and where it is now."""
    place = PLACE_WORDS[witness.place]
    if witness.row.quote and not witness.is_there and witness.place in {TurnPlace.LIST, TurnPlace.TRASH}:
        place = ", ".join(
            filter(
                None,
                (
                    place,
                    tr("the message is gone") if not witness.turn else tr("the message has changed since"),
                ),
            )
        )
    name = scrubbed_line(witness.name or witness.row.source, 100)
    talk = talk_day(witness.row.source)
    parts = (name, tr("of {talk}", talk=talk) if talk else "", tr("harvested {at}", at=day(witness.row.at)))
    return f"{', '.join(filter(None, parts))}{f' ({place})' if place else ''}"


def talk_day(source: str) -> str:
    """Day of a conversation, as its name in provenance begins with it; empty where that has none."""
    with suppress(ValueError):
        return date.fromisoformat(source[:10]).isoformat() if source[10:11] == "-" else ""
    return ""


def quote_words(witness: Witness) -> str:
    """Sentence where there is no quote to show: none was named, or the one that was is not true; else empty.

    Old evidence does not tell the two apart, so that no more is said than is known.
    """
    if witness.row.quote:
        return ""
    return QUOTE_LEFT_OUT if witness.row.is_unfound else tr("This item quotes no words of the conversation.")


def role_words(role: str) -> str:
    """Heading of a turn: its speaker."""
    return _ROLES.get(role, tr("{role} said:", role=role.capitalize()) if role else "")


_ROLES = {"user": tr("You said:"), "assistant": tr("The model said:"), "tool": tr("A tool answered:")}


def quote_in(turn: str, quote: str) -> str:
    """The quote with the blanks that it has in its turn; empty where it does not stand there. O(n)."""
    words = [re.escape(word) for word in quote.split()]
    found = re.search(r"\s+".join(words), turn) if words else None
    return "" if found is None else found[0]


def source_names(told: ItemHistory) -> dict[str, str]:
    """Names of conversations as the person knows them, by their names in provenance, as far as this history tells."""
    return {one.row.source: one.name for one in told.witnesses if one.name}


def no_evidence(told: ItemHistory) -> str:
    """The reason why an item has no known evidence."""
    if told.source:
        return tr(
            "from {source}; the program no longer has the words of this conversation",
            source=scrubbed_line(told.source, 100),
        )
    return tr("written by hand, or before the program kept evidence")


def line_text(line: HistoryLine, names: Mapping[str, str] = _NO_NAMES) -> str:
    """Line of a history in words: when, what became of it, the others it names, why, from which conversation.

    Args:
        names: of conversations, as of `source_names`.
    """
    event, said = line.event, LINE_WORDS[line.kind]
    named = "; ".join(scrubbed_line(one, OBJECT_CHARS) for one in line.objects)
    if event.fact and not event.item and line.kind in _OF_FACTS:
        said, named = _OF_FACTS[line.kind], ""
    source = tr("from {names}", names=names.get(event.source, event.source)) if event.source else ""
    undone = tr("undone since") if line.is_undone else ""
    more = ", ".join(filter(None, (event.reason.removesuffix("."), source, undone)))
    more = f" ({more})" if more else ""
    if line.kind is HistoryKind.EDITED:
        return f"{day(event.at)}  {said}{more}{tr(', before: {named}', named=named) if named else ''}"
    return f"{day(event.at)}  {said}{f': {named}' if named else ''}{more}"


_OF_FACTS = {
    HistoryKind.DELETED: tr("left out of requests to models"),
    HistoryKind.RESTORED: tr("back in requests to models"),
}


def history_lines(told: ItemHistory) -> Iterator[str]:
    """The history as text, a line each."""
    yield f"{told.category.replace('_', ' ')}: {' '.join(told.text.split())}"
    yield (
        tr("based on:")
        if told.witnesses
        else tr("based on: no known conversation ({reason})", reason=no_evidence(told))
    )
    for witness in told.witnesses:
        yield f"  {witness_line(witness)}"
        if witness.row.quote:
            yield f'    "{witness.row.quote}"'
        else:
            yield f"    {quote_words(witness)}"
    names = source_names(told)
    if told.lines:
        yield "history:"
        yield from (f"  {line_text(line, names)}" for line in told.lines)
    yield (
        tr("requests with this item: {injected}", injected=len(told.injected))
        if told.injected
        else tr("no recorded request contained this item")
    )
    for event in told.injected:
        yield f"  {day(event.at)}  {event.discussion}  {event.model}"
    if told.torn:
        yield tr("the program skipped {torn} unreadable lines of the logs", torn=told.torn)


def history_data(told: ItemHistory) -> dict[str, Any]:
    """The history as plain data."""
    return {
        "item": told.item,
        "fact": told.fact,
        "category": told.category,
        "text": told.text,
        "evidence": [witness_data(one) for one in told.witnesses],
        "events": [line_data(one) for one in told.lines],
        "injected": [event_data(one) for one in told.injected],
        "torn_lines": told.torn,
    }


def witness_data(one: Witness) -> dict[str, Any]:
    """Evidence as plain data, with the turn as it can be read now."""
    row: dict[str, Any] = builtins_of(one.row)
    row.pop("item", None)
    row.pop("talks", None)
    row.setdefault("is_unfound", False)
    return {
        "discussion": "",
        "fact": "",
        "turns": [],
        "quote": "",
        "quote_sha256": "",
        **row,
        "place": one.place.value,
        "name": one.name,
        "role": one.role,
        "turn": one.turn,
        "is_there": one.is_there,
    }


def line_data(line: HistoryLine) -> dict[str, Any]:
    """Line of a history as plain data: its event, and how it concerns this item."""
    said = {"line": line.kind.value, "objects": list(line.objects), "is_undone": line.is_undone}
    return {**event_data(line.event), **said}


def event_data(event: ItemEvent) -> dict[str, Any]:
    """An event as plain data, every field there."""
    return {name: _plain(getattr(event, name)) for name in ItemEvent.__struct_fields__}


def seen_lines(seen: tuple[SeenItems, ...]) -> Iterator[str]:
    """Items that entered requests, as text."""
    for one in seen:
        told = count(len(one.event.items), tr("item"), tr("items")) + (
            f", {count(len(one.event.facts), tr('fact'), tr('facts'))}" if one.event.facts else ""
        )
        yield f"{day(one.event.at)}  {one.event.discussion}  {one.event.model}: {told}"
        yield from (
            f"  {item.category.replace('_', ' ')}: {scrubbed_line(item.text, 200)}" for item in one.items
        )
        yield from (
            tr("  structured {category}: {text}", category=item.category, text=scrubbed_line(item.text, 200))
            for item in one.facts
        )
        if one.missing:
            yield tr("  items that no longer exist: {missing}", missing=one.missing)


def seen_data(one: SeenItems) -> dict[str, Any]:
    """Items that entered requests, as plain data."""
    items = [{"category": item.category, "text": item.text} for item in one.items]
    known = {"at": one.event.at, "discussion": one.event.discussion, "message": one.event.message}
    facts = [{"category": fact.category, "text": fact.text} for fact in one.facts]
    return {**known, "model": one.event.model, "items": items, "facts": facts, "missing": one.missing}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


# History of an item: what its words were before, what they stand on, and which requests they entered.

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


TO_ARCHIVE = "put into the archive"
"""Reason of a `deleted` event of an item that is kept in the archive."""

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
    """The quoted evidence of an item, the oldest first, once for each conversation."""
    names = frozenset(ancestors(item, rows))
    return _once(row for row in reversed(rows.evidence) if row.item in names)


def evidence_for_fact(fact_id: str, rows: LogRows) -> tuple[EvidenceRow, ...]:
    """The quoted evidence of a structured fact, the oldest first, once for each conversation."""
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
        item=item,
        category=category,
        text=text,
        witnesses=(),
        lines=tale(names, known),
        injected=_injected(names, facts, known),
        torn=rows.torn,
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
    return ItemHistory(
        item="",
        category=category,
        text=text,
        witnesses=(),
        lines=tale(names, rows, fact_id),
        injected=injected,
        torn=rows.torn,
        fact=fact_id,
    )


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
            lines.append(
                HistoryLine(
                    kind=kind,
                    event=event,
                    objects=objects,
                    is_undone=bool(event.apply) and event.apply in undone,
                )
            )
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
    """Line about an event for the item with these names, None where the event concerns another item."""
    if event.kind in {ItemEventKind.INJECTED, ItemEventKind.UNDONE}:
        return None
    if event.kind is ItemEventKind.USED:
        is_used = names.intersection(event.items) or (fact_id and fact_id in event.facts)
        return HistoryKind.USED if is_used else None
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
