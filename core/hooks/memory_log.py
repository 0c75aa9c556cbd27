"""The memory's logs over HTTP: why the model knows an item, and what it saw."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from core.hooks.fields import Body, Count, Data, Rows, Time
from core.hooks.knowledge import ItemPlace, stored_item
from core.hooks.operation import NO_DISCUSSION, Resource, operation
from core.hooks.queries import PageQuery
from core.hooks.refusals import RefusedError, unknown
from core.hooks.request import Answer, Request
from core.knowledge.history_text import event_data, line_data, seen_data, witness_data
from core.knowledge.messages import ExplainFact, ExplainItem, ListSeenItems
from core.values.evidence import HistoryKind, ItemEvent, ItemEventKind, ItemHistory, TurnPlace
from core.values.facts import FactCategory
from core.values.knowledge import Category


class SeenQuery(PageQuery, frozen=True):
    """Rows, of all discussions or of one."""

    discussion_id: Annotated[str, Meta(max_length=200, description="Only of this discussion.")] = ""


class EvidenceData(Data, frozen=True):
    """Words that an item stands on, and the message as it can be read now.

    `turns`: ids of the messages that hold the quote; `turn`: its words, scrubbed, empty where it cannot be read;
    `is_there`: the quote still stands in it; `is_unfound`: the model named a quote that stands nowhere in what it read.
    """

    at: Time
    source: str
    path: str
    sha256: str
    discussion: str
    fact: str
    turns: list[str]
    quote: str
    quote_sha256: str
    is_unfound: bool
    place: TurnPlace
    name: str
    role: str
    turn: str
    is_there: bool


class ItemEventData(Data, frozen=True):
    """Event in the life of an item. `was`: hashes of the items that it took the place of; fields that say nothing are empty."""

    kind: ItemEventKind
    at: Time
    item: str
    category: str
    text: str
    was: list[str]
    source: str
    apply: str
    reason: str
    discussion: str
    message: str
    model: str
    items: list[str]
    fact: str
    facts: list[str]


class HistoryLineData(ItemEventData, frozen=True):
    """A line of a history: an event, and how it concerns the item that was asked about.

    `objects`: words of the other items that it names; `is_undone`: it was taken back since.
    """

    line: HistoryKind
    objects: list[str]
    is_undone: bool


class NamedFact(Body, frozen=True):
    """A structured fact by its id."""

    fact_id: Annotated[str, Meta(max_length=200)]


class HistoryData(Data, frozen=True):
    """History of an item, or of a structured fact.

    `item`: hash of the item, empty for a fact; `fact`: id of the fact, empty for an item; `category`: of items, or of
    facts; `torn_lines`: of the logs, passed over.
    """

    item: str
    fact: str
    category: str
    text: str
    evidence: list[EvidenceData]
    events: Rows[HistoryLineData]
    injected: Rows[ItemEventData]
    torn_lines: Count


class ItemWordsData(Data, frozen=True):
    """Words of an item."""

    category: Category
    text: str


class FactWordsData(Data, frozen=True):
    """Words of a structured fact."""

    category: FactCategory
    text: str


class SeenItemsData(Data, frozen=True):
    """Items that a model saw from one request on. `missing`: items that are known by their hash alone."""

    at: Time
    discussion: str
    message: str
    model: str
    items: list[ItemWordsData]
    facts: list[FactWordsData]
    missing: Count


class SeenData(Data, frozen=True):
    """Items that entered requests, each change once, newest first."""

    seen: Rows[SeenItemsData]


async def explain_item(request: Request[ItemPlace]) -> Answer:
    """Tell why the model knows an item: its quotes and their turns, its history, the requests that it entered."""
    item = stored_item(request.state, request.fields)
    state = await request.do(ExplainItem(item))
    told = state.evidence.shown
    if told is None or (told.category, told.text) != (item.category, item.text):
        raise RefusedError(503, "slow", "Another item was asked about at the same time", "Try again")
    return Answer(_history(told))


async def explain_fact(request: Request[NamedFact]) -> Answer:
    """Tell why the model knows a structured fact: its quotes and their turns, its history, the requests that it entered."""
    wanted = request.fields.fact_id
    if all(fact.id != wanted for fact in request.state.knowledge.facts.facts):
        raise unknown("fact", wanted, "See GET /api/knowledge/facts")
    state = await request.do(ExplainFact(wanted))
    told = state.evidence.shown
    if told is None or told.fact != wanted:
        raise RefusedError(503, "slow", "Something else was asked about at the same time", "Try again")
    return Answer(_history(told))


def _history(told: ItemHistory) -> HistoryData:
    page = PageQuery()
    events = [HistoryLineData(**line_data(one)) for one in told.lines]
    injected = [_event(one) for one in told.injected]
    evidence = [EvidenceData(**witness_data(one)) for one in told.witnesses]
    return HistoryData(
        told.item,
        told.fact,
        told.category,
        told.text,
        evidence,
        page.part(events),
        page.part(injected),
        told.torn,
    )


async def get_seen_items(request: Request[SeenQuery]) -> Answer:
    """Tell what entered requests: which items a model saw from when on."""
    query = request.fields
    if query.discussion_id and query.discussion_id not in request.state.discussions.summaries:
        raise unknown("discussion", query.discussion_id, "See GET /api/discussions")
    state = await request.do(ListSeenItems(query.discussion_id))
    rows = [_seen(seen_data(one)) for one in query.of(state.evidence.seen)]
    return Answer(SeenData(Rows(len(state.evidence.seen), rows)))


def _event(event: ItemEvent) -> ItemEventData:
    return ItemEventData(**event_data(event))


def _seen(data: dict[str, Any]) -> SeenItemsData:
    items = [ItemWordsData(Category(one["category"]), one["text"]) for one in data["items"]]
    facts = [FactWordsData(FactCategory(one["category"]), one["text"]) for one in data["facts"]]
    return SeenItemsData(**{**data, "items": items, "facts": facts})


RESOURCE = Resource(
    (
        operation(
            "POST", "/api/knowledge/why", explain_item, {200: HistoryData}, {404: "no such item of knowledge"}
        ),
        operation(
            "POST", "/api/knowledge/facts/why", explain_fact, {200: HistoryData}, {404: "no such fact"}
        ),
        operation("GET", "/api/knowledge/seen", get_seen_items, {200: SeenData}, {404: NO_DISCUSSION}),
    ),
)
