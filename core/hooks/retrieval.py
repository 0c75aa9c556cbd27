"""Search over HTTP: an answer with its hits, and how the index stands."""

from __future__ import annotations

from typing import Annotated, get_args

from msgspec import Meta

from core.app.execution import begin, is_over
from core.hooks.fields import Count, Data, Query
from core.hooks.operation import Resource, operation
from core.hooks.refusals import RefusedError
from core.hooks.request import Answer, Request
from core.retrieval.messages import RetrievalCommand, SearchMemory
from core.values.retrieval import (
    ChunkKind,
    Corpus,
    RetrievalState,
    Retriever,
    SearchAnswer,
    SearchFilters,
    SearchHit,
    SearchMode,
)
from core.values.updates import outcome_of

ANSWER_S = 120.0


class SearchQuery(Query, frozen=True):
    """A question and what narrows it."""

    q: Annotated[str, Meta(min_length=1, max_length=20_000, description="What is looked for.")]
    count: Annotated[int, Meta(ge=1, le=100, description="Sources that are wanted.")] = 10
    corpus: Annotated[Corpus | None, Meta(description="Only in this one.")] = None
    folder: Annotated[str, Meta(max_length=4_096, description="Only below this folder.")] = ""
    tag: Annotated[str, Meta(max_length=100, description="Only sources with this tag.")] = ""
    after: Annotated[str, Meta(max_length=10, description="Only from this ISO 8601 day on.")] = ""
    before: Annotated[str, Meta(max_length=10, description="Only up to this ISO 8601 day.")] = ""


class PassageData(Data, frozen=True):
    """A further passage of a source."""

    first_line: Count
    last_line: Count
    heading: str
    score: float


class SearchHitData(Data, frozen=True):
    """A source by its best passage. A score of -1: that retriever did not find it."""

    corpus: Corpus
    kind: ChunkKind
    path: str
    title: str
    first_line: Count
    last_line: Count
    heading: str
    text: str
    score: float
    keyword: float
    vector: float
    found_by: list[Retriever]
    date: str
    tags: list[str]
    also: list[PassageData]


class SearchData(Data, frozen=True):
    """Hits, best first. `degraded`: less than was configured answered, for `reason`."""

    query: str
    mode: SearchMode
    degraded: bool
    reason: str
    remedy: str
    took_s: float
    hits: list[SearchHitData]


class CorpusCountData(Data, frozen=True):
    """Content of the index for a corpus. `bare`: chunks that have no vector yet."""

    corpus: Corpus
    files: Count
    chunks: Count
    bare: Count


class RetrievalData(Data, frozen=True):
    """The index as it stands. `is_on`: retrieval is switched on for this project."""

    is_on: bool
    is_running: bool
    is_paused: bool
    corpora: list[Corpus]
    folders: list[str]
    problems: list[str]
    problem: str
    remedy: str
    counts: list[CorpusCountData]

    @classmethod
    def of(cls, retrieval: RetrievalState) -> RetrievalData:
        """The state as it is answered with."""
        places, report = retrieval.places, retrieval.report
        return cls(
            retrieval.asked is not None,
            retrieval.progress is not None,
            retrieval.is_paused,
            list(retrieval.asked.corpora) if retrieval.asked is not None else [],
            list(places.scopes) if places is not None else [],
            list(places.problems) if places is not None else [],
            retrieval.problem,
            retrieval.remedy,
            [CorpusCountData(c.corpus, c.files, c.chunks, c.bare) for c in report.counts]
            if report is not None
            else [],
        )


async def search(request: Request[SearchQuery]) -> Answer:
    """Search notes, knowledge, past discussions and project files, as far as they are switched on here."""
    fields = request.fields
    corpora = (fields.corpus,) if fields.corpus is not None else ()
    filters = SearchFilters(corpora, fields.folder, fields.tag, fields.after, fields.before)
    command_id = begin(request.desk.front, SearchMemory(fields.q, fields.count, filters))
    state = await request.desk.watch.until(lambda now: is_over(now, command_id), ANSWER_S)
    if state is None:
        raise RefusedError(503, "slow", "The search does not end", "Ask again")
    outcome = outcome_of(state, command_id)
    if outcome is not None and not outcome.is_done:
        raise RefusedError(409, "not_now", outcome.problem, outcome.remedy)
    return Answer(_answer(state.retrieval.answer or SearchAnswer(fields.q)))


async def get_retrieval(request: Request[None]) -> Answer:
    """State of the index: the places that are searched, what it holds, and the run under way."""
    return Answer(RetrievalData.of(request.state.retrieval))


def _answer(answer: SearchAnswer) -> SearchData:
    hits = [_hit(hit) for hit in answer.hits]
    return SearchData(
        answer.query, answer.mode, answer.degraded, answer.reason, answer.remedy, answer.took_s, hits
    )


def _hit(hit: SearchHit) -> SearchHitData:
    return SearchHitData(
        hit.corpus,
        hit.kind,
        hit.path,
        hit.title,
        hit.lines.first,
        hit.lines.last,
        hit.heading,
        hit.text,
        hit.score,
        hit.keyword,
        hit.vector,
        list(hit.found_by),
        hit.date,
        list(hit.tags),
        [PassageData(one.lines.first, one.lines.last, one.heading, one.score) for one in hit.also],
    )


RESOURCE = Resource(
    (
        operation("GET", "/api/search", search, {200: SearchData}, {409: "retrieval is off in this project"}),
        operation("GET", "/api/retrieval", get_retrieval, {200: RetrievalData}),
    ),
    {"retrieval": get_args(RetrievalCommand)},
)
