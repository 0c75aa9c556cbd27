"""An item's history in words and as plain data, the same for every front end. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date
from types import MappingProxyType
from typing import Any

import msgspec

from core.base.figures import count
from core.base.secrets import scrubbed_line
from core.evidence.quotes import QUOTE_LEFT_OUT
from core.values.evidence import (
    HistoryKind,
    HistoryLine,
    ItemEvent,
    ItemHistory,
    SeenItems,
    TurnPlace,
    Witness,
)

LINE_WORDS = {
    HistoryKind.PROPOSED: "proposed by the model",
    HistoryKind.ACCEPTED: "accepted",
    HistoryKind.REJECTED: "left out by you",
    HistoryKind.EDITED: "changed by you",
    HistoryKind.CONFIRMED: "said again",
    HistoryKind.REPLACES: "replaces",
    HistoryKind.REPLACED_BY: "replaced by",
    HistoryKind.MERGED_FROM: "merged from",
    HistoryKind.MERGED_INTO: "merged into",
    HistoryKind.FORGOTTEN: "forgotten",
    HistoryKind.DELETED: "deleted",
    HistoryKind.RESTORED: "put back",
    HistoryKind.HELD: "waits for its file of facts to be readable",
    HistoryKind.UNDONE: "undone",
}
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
OBJECT_CHARS = 120
"""Of each item that a line names."""

PLACE_WORDS = {
    TurnPlace.LIST: "",
    TurnPlace.TRASH: "in the trash",
    TurnPlace.FILE: "a file of another program",
    TurnPlace.GONE: "the conversation is not here any more",
}


def day(at: str) -> str:
    """Day and minute of an event, UTC, as they are shown."""
    return at[:16].replace("T", " ")


def witness_line(witness: Witness) -> str:
    """Place where an item was said: the conversation, and what became of it."""
    place = PLACE_WORDS[witness.place]
    if witness.row.quote and not witness.is_there and witness.place in {TurnPlace.LIST, TurnPlace.TRASH}:
        place = ", ".join(
            filter(
                None,
                (
                    place,
                    "the message is not there any more"
                    if not witness.turn
                    else "its words were changed since",
                ),
            )
        )
    name = scrubbed_line(witness.name or witness.row.source, 100)
    talk = talk_day(witness.row.source)
    parts = (name, f"of {talk}" if talk else "", f"harvested {day(witness.row.at)}")
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
    return QUOTE_LEFT_OUT if witness.row.is_unfound else "No words of the conversation are quoted for this."


def role_words(role: str) -> str:
    """Head over a turn: who said it."""
    return _ROLES.get(role, f"{role.capitalize()} said:" if role else "")


_ROLES = {"user": "You said:", "assistant": "The model said:", "tool": "A tool answered:"}


def quote_in(turn: str, quote: str) -> str:
    """The quote with the blanks that it has in its turn; empty where it does not stand there. O(n)."""
    words = [re.escape(word) for word in quote.split()]
    found = re.search(r"\s+".join(words), turn) if words else None
    return "" if found is None else found[0]


def source_names(told: ItemHistory) -> dict[str, str]:
    """Names of conversations as the person knows them, by their names in provenance, as far as this history tells."""
    return {one.row.source: one.name for one in told.witnesses if one.name}


def no_evidence(told: ItemHistory) -> str:
    """Reason why an item stands on nothing that is known."""
    if told.source:
        return f"from {scrubbed_line(told.source, 100)}, whose words are gone or were never kept"
    return "written by hand, or before evidence was kept"


def line_text(line: HistoryLine, names: Mapping[str, str] = _NO_NAMES) -> str:
    """Line of a history in words: when, what became of it, the others it names, why, from which conversation.

    Args:
        names: of conversations, as of `source_names`.
    """
    event, said = line.event, LINE_WORDS[line.kind]
    named = "; ".join(scrubbed_line(one, OBJECT_CHARS) for one in line.objects)
    if event.fact and not event.item and line.kind in _OF_FACTS:
        said, named = _OF_FACTS[line.kind], ""
    source = f"from {names.get(event.source, event.source)}" if event.source else ""
    undone = "undone since" if line.is_undone else ""
    more = ", ".join(filter(None, (event.reason.removesuffix("."), source, undone)))
    more = f" ({more})" if more else ""
    if line.kind is HistoryKind.EDITED:
        return f"{day(event.at)}  {said}{more}{f', before: {named}' if named else ''}"
    return f"{day(event.at)}  {said}{f': {named}' if named else ''}{more}"


_OF_FACTS = {HistoryKind.DELETED: "left out of prompts", HistoryKind.RESTORED: "back in prompts"}


def history_lines(told: ItemHistory) -> Iterator[str]:
    """The history as text, a line each."""
    yield f"{told.category.replace('_', ' ')}: {' '.join(told.text.split())}"
    yield "stands on:" if told.witnesses else f"stands on: nothing that is known ({no_evidence(told)})"
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
    yield f"entered requests: {len(told.injected)}" if told.injected else "entered no request that was noted"
    for event in told.injected:
        yield f"  {day(event.at)}  {event.discussion}  {event.model}"
    if told.torn:
        yield f"{told.torn} lines of the logs could not be read and were passed over"


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
    row: dict[str, Any] = msgspec.to_builtins(one.row)
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
        told = count(len(one.event.items), "item") + (
            f", {count(len(one.event.facts), 'fact')}" if one.event.facts else ""
        )
        yield f"{day(one.event.at)}  {one.event.discussion}  {one.event.model}: {told}"
        yield from (
            f"  {item.category.replace('_', ' ')}: {scrubbed_line(item.text, 200)}" for item in one.items
        )
        yield from (f"  structured {item.category}: {scrubbed_line(item.text, 200)}" for item in one.facts)
        if one.missing:
            yield f"  {one.missing} that are not known any more"


def seen_data(one: SeenItems) -> dict[str, Any]:
    """Items that entered requests, as plain data."""
    items = [{"category": item.category, "text": item.text} for item in one.items]
    known = {"at": one.event.at, "discussion": one.event.discussion, "message": one.event.message}
    facts = [{"category": fact.category, "text": fact.text} for fact in one.facts]
    return {**known, "model": one.event.model, "items": items, "facts": facts, "missing": one.missing}


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
