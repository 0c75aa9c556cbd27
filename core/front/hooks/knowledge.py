"""Knowledge over HTTP: the files with their items, and the digest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, get_args

from msgspec import Meta

from core.app.app_messages import Command
from core.front.hooks.fields import Body, Count, Data, PageQuery, RefusedError, Rows, Time, filled, unknown
from core.front.hooks.operation import NO_DISCUSSION, READ_ONLY, Answer, Request, Resource, operation
from core.kernel.codecs import from_builtins
from core.kernel.language import tr
from core.kernel.values.facts import (
    FactCategory,
    FactProblem,
    HistoryKind,
    ItemEvent,
    ItemEventKind,
    ItemHistory,
    TurnPlace,
    fact_data,
)
from core.kernel.values.knowledge import (
    Category,
    CategoryFile,
    DigestSwitch,
    Item,
    NoteFile,
    NoteStatus,
    item_data,
)
from core.kernel.values.state import AppState
from core.knowledge.categories import note_name
from core.knowledge.fact_store import chosen_facts
from core.knowledge.history_text import event_data, line_data, seen_data, witness_data
from core.knowledge.knowledge_messages import (
    AddKnowledgeItem,
    AttachNotes,
    ExplainFact,
    ExplainItem,
    KnowledgeCommand,
    ListSeenItems,
    RegenerateDigest,
    SyncFacts,
)
from core.knowledge.knowledge_reader import digest_file
from core.knowledge.mcp_server.proposal_messages import RefuseProposals

FEW = 20
"""Items of each note file where notes are listed; the query's `file` gives all of one."""


class KnowledgeQuery(PageQuery, frozen=True):
    """Rows, of all files or of one."""

    file: Annotated[
        str, Meta(max_length=200, description="Only this file: `facts.md`, or the `file` of notes.")
    ] = ""


class ItemPlace(Body, frozen=True):
    """Place of an item for `POST /api/ui`, as `GET /api/knowledge` gives it: none that has changed is hit."""

    file: str
    first_line: Count
    text: str


class OriginData(Data, frozen=True):
    """Conversation that an item came from."""

    source: str
    date: str


class KnowledgeItemData(Data, frozen=True):
    """An item. Null source and date: none is written there; `also`: of a merged one, where it came from besides."""

    category: Category
    file: str
    first_line: Count
    last_line: Count
    section: str
    text: str
    source: str | None
    date: str | None
    also: list[OriginData]


class DigestData(Data, frozen=True):
    """The digest as it is injected while knowledge is on."""

    switch: DigestSwitch
    is_on: bool
    path: str
    size_bytes: Count
    text: str

    @classmethod
    def of(cls, state: AppState) -> DigestData:
        """The digest as it is answered with."""
        known, path = state.knowledge, str(digest_file(Path(state.program.home)))
        return filled(cls, known, path=path, size_bytes=known.digest_bytes, text=known.digest)


class CategoryData(Data, frozen=True):
    """A category's file."""

    file: str
    problem: str
    total: Count
    items: list[KnowledgeItemData]


class NoteData(Data, frozen=True):
    """Notes on a file."""

    file: str
    file_id: str
    heading: str
    path: str
    status: NoteStatus
    proposal: str
    problem: str
    total: Count
    items: list[KnowledgeItemData]


class ProposalData(Data, frozen=True):
    """An item that another program proposes, and that a person has not decided about. `near`: known items like it."""

    id: str
    category: Category
    text: str
    detail: str
    name: str
    source: str
    at: str
    near: list[str]


class KnowledgeData(Data, frozen=True):
    """Knowledge as it is now. `drafts`: paths of those that were made of playbooks and are not renamed.

    `proposals`: nothing of them is known; a person alone takes one.
    """

    switch: DigestSwitch
    is_on: bool
    digest: DigestData
    categories: list[CategoryData]
    notes: Rows[NoteData]
    drafts: list[str]
    proposals: list[ProposalData]
    problems: list[str]


async def get_knowledge(request: Request[KnowledgeQuery]) -> Answer:
    """All knowledge: category files and notes with their items, the digest as it is injected, the switch."""
    state, query = request.state, request.fields
    categories = [one for one in state.knowledge.categories if query.file in {"", one.name}]
    notes = [one for one in state.knowledge.notes if query.file in {"", note_name(one.file_id)}]
    if query.file and not categories and not notes:
        raise unknown(tr("knowledge file"), query.file, tr("See GET /api/knowledge"))
    few = query if query.file else PageQuery(FEW)
    listed = PageQuery() if query.file else query
    return Answer(
        data=filled(
            KnowledgeData,
            state.knowledge,
            digest=DigestData.of(state),
            categories=[_category_data(one, query) for one in categories],
            notes=Rows(len(notes), [_note_data(one, few) for one in listed.of(notes)]),
            drafts=sorted(set(state.knowledge.drafts.values())),
            proposals=[
                filled(ProposalData, one, near=list(state.proposals.near.get(one.id, ())))
                for one in state.proposals.waiting
            ],
        )
    )


def _category_data(file: CategoryFile, page: PageQuery) -> CategoryData:
    items = [_item_data(item) for item in page.of(file.items)]
    return filled(CategoryData, file, file=file.name, total=len(file.items), items=items)


def _note_data(note: NoteFile, page: PageQuery) -> NoteData:
    items = [_item_data(item) for item in page.of(note.items)]
    return filled(NoteData, note, file=note_name(note.file_id), total=len(note.items), items=items)


def _item_data(item: Item) -> KnowledgeItemData:
    return from_builtins(item_data(item), KnowledgeItemData)


async def make_digest(request: Request[None]) -> Answer:
    """Make the digest from the category files, which turns knowledge on."""
    request.check_writable()
    state = await request.do(RegenerateDigest())
    return Answer(data=DigestData.of(state))


def stored_item(state: AppState, place: ItemPlace) -> Item:
    """The item that stands there and says this. Raises RefusedError (404)."""
    known = state.knowledge
    held = [one.items for one in known.categories] + [one.items for one in known.notes]
    for item in (item for items in held for item in items):
        if (item.first_line, item.file, item.text) == (place.first_line, place.file, place.text):
            return item
    raise RefusedError(
        404,
        "not_found",
        tr("The file {file!r} has no such item", file=place.file[:80]),
        tr("See GET /api/knowledge"),
    )


def _check(state: AppState, command: Command) -> None:
    if isinstance(command, AddKnowledgeItem) and command.category is Category.FILES:
        raise RefusedError(
            422, "wrong_body", tr("Only a harvest adds notes on files"), tr("Choose another category")
        )
    if isinstance(command, AttachNotes):
        _check_notes(state, command.file_id, command.path)


def _check_notes(state: AppState, file_id: str, path: str) -> None:
    """Check that these notes are there and the path is an absolute one. Raises RefusedError (404, 422)."""
    if all(note.file_id != file_id for note in state.knowledge.notes):
        raise unknown("notes", file_id, tr("See `notes` of GET /api/knowledge"))
    if not os.path.isabs(path) or os.path.normpath(path) != path:
        raise RefusedError(
            422,
            "wrong_body",
            tr("{path!r} is not an absolute path", path=path[:80]),
            tr("Give a path without `.` and `..` parts"),
        )


_ALL = "/api/knowledge"

RESOURCE = Resource(
    operations=(
        operation("GET", _ALL, get_knowledge, {200: KnowledgeData}, {404: "no such file of knowledge"}),
        operation("POST", f"{_ALL}/digest", make_digest, {200: DigestData}, {409: READ_ONLY}),
    ),
    panels={"knowledge": (*get_args(KnowledgeCommand), RefuseProposals)},
    check=_check,
)


# Structured facts over HTTP: looked up, and brought in step with their index.


class FactQuery(PageQuery, frozen=True):
    """Rows, of all facts or of those that are asked for."""

    domain: Annotated[str, Meta(max_length=100, description="A repository, an agent, or `global`.")] = ""
    category: FactCategory | None = None
    tag: Annotated[str, Meta(max_length=100, description="Only facts with it.")] = ""


class FactRowData(Data, frozen=True):
    """A structured fact. Null days: none is given."""

    id: str
    fact: str
    category: FactCategory
    domain: str
    confidence: float
    effective_confidence: float
    harvests_since_confirmed: int
    tags: list[str]
    source_count: Count
    first_seen: str | None
    last_confirmed: str | None
    expires: str | None
    related: list[str]
    stale: bool
    held: bool
    withdrawn: bool


class FactProblemData(Data, frozen=True):
    """Problem of a file of facts."""

    file: str
    line: Count
    text: str
    is_warning: bool


class FactsData(Data, frozen=True):
    """Structured facts as the index holds them."""

    facts: Rows[FactRowData]
    problems: Rows[FactProblemData]


async def get_facts(request: Request[FactQuery]) -> Answer:
    """Structured facts by domain, category and tag, sorted by id, with what is wrong in their files."""
    return Answer(data=_facts_data(request.state, request.fields))


async def sync_facts(request: Request[None]) -> Answer:
    """Bring the YAML files of facts and their index in step."""
    request.check_writable()
    state = await request.do(SyncFacts())
    return Answer(data=_facts_data(state, FactQuery()))


def _facts_data(state: AppState, query: FactQuery) -> FactsData:
    known = state.knowledge.facts
    category = "" if query.category is None else query.category.value
    found = chosen_facts(known.facts, query.domain, category, query.tag)
    facts = [FactRowData(**fact_data(fact)) for fact in query.of(found)]  # type: ignore[arg-type]
    problems = [_problem_data(one) for one in PageQuery().of(known.problems)]
    return FactsData(Rows(len(found), facts), Rows(len(known.problems), problems))


def _problem_data(problem: FactProblem) -> FactProblemData:
    return FactProblemData(
        file=problem.file, line=problem.line, text=problem.text, is_warning=problem.is_warning
    )


_FACTS_ALL = "/api/knowledge/facts"

FACTS = Resource(
    operations=(
        operation("GET", _FACTS_ALL, get_facts, {200: FactsData}),
        operation("POST", f"{_FACTS_ALL}/sync", sync_facts, {200: FactsData}, {409: READ_ONLY}),
    )
)


# The memory's logs over HTTP: why the model knows an item, and what it saw.


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
    tokens: Count


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
        raise RefusedError(
            503,
            "slow",
            tr("At the same moment, another request asked about a different item"),
            tr("Try again"),
        )
    return Answer(data=_history(told))


async def explain_fact(request: Request[NamedFact]) -> Answer:
    """Tell why the model knows a structured fact: its quotes and their turns, its history, the requests that it entered."""
    wanted = request.fields.fact_id
    if all(fact.id != wanted for fact in request.state.knowledge.facts.facts):
        raise unknown("fact", wanted, tr("See GET /api/knowledge/facts"))
    state = await request.do(ExplainFact(wanted))
    told = state.evidence.shown
    if told is None or told.fact != wanted:
        raise RefusedError(
            503,
            "slow",
            tr("At the same moment, another request asked about a different item or fact"),
            tr("Try again"),
        )
    return Answer(data=_history(told))


def _history(told: ItemHistory) -> HistoryData:
    page = PageQuery()
    events = [HistoryLineData(**line_data(one)) for one in told.lines]
    injected = [_event(one) for one in told.injected]
    evidence = [EvidenceData(**witness_data(one)) for one in told.witnesses]
    return HistoryData(
        item=told.item,
        fact=told.fact,
        category=told.category,
        text=told.text,
        evidence=evidence,
        events=page.part(events),
        injected=page.part(injected),
        torn_lines=told.torn,
    )


async def get_seen_items(request: Request[SeenQuery]) -> Answer:
    """Tell what entered requests: which items a model saw from when on."""
    query = request.fields
    if query.discussion_id and query.discussion_id not in request.state.discussions.summaries:
        raise unknown("discussion", query.discussion_id, tr("See GET /api/discussions"))
    state = await request.do(ListSeenItems(query.discussion_id))
    rows = [_seen(seen_data(one)) for one in query.of(state.evidence.seen)]
    return Answer(data=SeenData(Rows(len(state.evidence.seen), rows)))


def _event(event: ItemEvent) -> ItemEventData:
    return ItemEventData(**event_data(event))


def _seen(data: dict[str, Any]) -> SeenItemsData:
    items = [ItemWordsData(Category(one["category"]), one["text"]) for one in data["items"]]
    facts = [FactWordsData(FactCategory(one["category"]), one["text"]) for one in data["facts"]]
    return SeenItemsData(**{**data, "items": items, "facts": facts})


MEMORY_LOG = Resource(
    operations=(
        operation(
            "POST", "/api/knowledge/why", explain_item, {200: HistoryData}, {404: "no such item of knowledge"}
        ),
        operation(
            "POST", "/api/knowledge/facts/why", explain_fact, {200: HistoryData}, {404: "no such fact"}
        ),
        operation("GET", "/api/knowledge/seen", get_seen_items, {200: SeenData}, {404: NO_DISCUSSION}),
    ),
)
