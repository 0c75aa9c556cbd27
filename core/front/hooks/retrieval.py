"""Search over HTTP: an answer with its hits, and how the index stands."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, get_args

from msgspec import Meta

from core.front.hooks.context import RecalledPassageData
from core.front.hooks.fields import Count, Data, Query, RefusedError, Time, filled
from core.front.hooks.operation import Answer, Request, Resource, operation
from core.kernel.language import tr
from core.kernel.values.retrieval import (
    ChunkKind,
    Corpus,
    IndexReport,
    Retriever,
    SearchAnswer,
    SearchFilters,
    SearchHit,
    SearchMode,
    SentRecall,
)
from core.kernel.values.state import AppState
from core.retrieval.retrieval_messages import RetrievalCommand, SearchMemory
from core.retrieval.retrieval_report import server_name
from core.retrieval.retrieval_step import DAY_REMEDY, day_of

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
    """A further passage of a source. `date`: its own day, empty where it has none."""

    first_line: Count
    last_line: Count
    heading: str
    score: float
    text: str
    date: str
    newer: str


class SearchHitData(Data, frozen=True):
    """A source by its best passage. A score of -1: that retriever did not find it. `newer`: place of a newer passage that says
    the like, empty where there is none.
    """

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
    scope: str
    newer: str


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


class IndexProgressData(Data, frozen=True):
    """Progress of a run: files read of `total`, vectors made of `bare`; `doing`: the file in work."""

    files: Count
    total: Count
    vectors: Count
    bare: Count
    doing: str


class PassedOverData(Data, frozen=True):
    """A file that gave nothing, with the reason."""

    path: str
    reason: str


class IndexRunData(Data, frozen=True):
    """Last run that came to its end. `no_vectors`, `server`: why vectors are missing, why the server is behind; `left_out`: files
    among the notes that were not read, by the ending of their names, which is empty for a name without one.
    """

    at: Time | None
    read: Count
    unchanged: Count
    removed: Count
    vectors: Count
    no_vectors: str
    server: str
    passed_over: list[PassedOverData]
    left_out: dict[str, Count]


class NavigationData(Data, frozen=True):
    """Index files of notes: how many say what they list; those that do not, are left over, or are a person's own."""

    fresh: Count
    stale: list[str]
    orphans: list[str]
    own: list[str]
    problems: list[str]


class SentRecallData(Data, frozen=True):
    """Recall that went out with a message."""

    discussion_id: str
    message_id: str
    at: Time
    words: str
    tokens_est: Count
    passages: list[RecalledPassageData]


class RetrievalData(Data, frozen=True):
    """The index as it stands, and what goes with messages.

    `is_on`: retrieval is switched on for this project; `embedder`: server that makes vectors, empty for the model that
    comes with the program; `server`: host and database of the index beside this machine's; `would_read`: files of each
    corpus, whether it is on or not; `sent`: what went with messages of late.
    """

    is_on: bool
    is_running: bool
    is_paused: bool
    is_ambient: bool
    corpora: list[Corpus]
    folders: list[str]
    problems: list[str]
    problem: str
    remedy: str
    embedder: str
    embedding_model: str
    server: str
    counts: list[CorpusCountData]
    would_read: list[CorpusCountData]
    kept_out: list[str]
    progress: IndexProgressData | None
    last_run: IndexRunData | None
    navigation: NavigationData | None
    sent: list[SentRecallData]

    @classmethod
    def of(cls, state: AppState) -> RetrievalData:
        """The state as it is answered with."""
        retrieval, settings = state.retrieval, state.config.settings.retrieval
        places, report, preview = retrieval.places, retrieval.report, retrieval.preview
        navigation = retrieval.navigation
        return filled(
            cls,
            settings,
            is_on=retrieval.asked is not None,
            is_running=retrieval.progress is not None,
            is_paused=retrieval.is_paused,
            is_ambient=settings.ambient,
            corpora=list(retrieval.asked.corpora) if retrieval.asked is not None else [],
            folders=list(places.scopes) if places is not None else [],
            problems=list(places.problems) if places is not None else [],
            problem=retrieval.problem,
            remedy=retrieval.remedy,
            server=server_name(settings.server) if settings.server else "",
            counts=[filled(CorpusCountData, one) for one in report.counts] if report is not None else [],
            would_read=[filled(CorpusCountData, one) for one in preview.counts]
            if preview is not None
            else [],
            kept_out=list(settings.kept_out),
            progress=filled(IndexProgressData, retrieval.progress)
            if retrieval.progress is not None
            else None,
            last_run=None if report is None else _run(report, retrieval.indexed_at),
            navigation=None if navigation is None else filled(NavigationData, navigation),
            sent=[_sent(one) for one in state.context.sent_recall],
        )


def _run(report: IndexReport, at: datetime | None) -> IndexRunData:
    passed_over = [PassedOverData(path, reason) for path, reason in report.passed_over]
    return filled(
        IndexRunData,
        report,
        at=None if at is None else at.isoformat(),
        passed_over=passed_over,
        left_out=dict(report.left_out or ()),
    )


def _sent(sent: SentRecall) -> SentRecallData:
    passages = [filled(RecalledPassageData, one) for one in sent.passages]
    return filled(SentRecallData, sent, at=sent.at.isoformat(), passages=passages)


async def search(request: Request[SearchQuery]) -> Answer:
    """Search notes, knowledge, past discussions and project files, as far as they are switched on here."""
    fields = request.fields
    for name, text in (("after", fields.after), ("before", fields.before)):
        try:
            day_of(text)
        except ValueError as error:
            raise RefusedError(422, "wrong_query", f"{name}: {error}", DAY_REMEDY) from error
    corpora = (fields.corpus,) if fields.corpus is not None else ()
    filters = SearchFilters(
        corpora=corpora, folder=fields.folder, tag=fields.tag, after=fields.after, before=fields.before
    )
    asked = SearchMemory(query=fields.q, count=fields.count, filters=filters)
    slow = tr("The search takes too long"), tr("Ask again")
    command_id, state = await request.carry_out(asked, ANSWER_S, slow=slow)
    answer = state.retrieval.answer_to(command_id)
    if answer is None:
        raise RefusedError(503, "slow", tr("The program no longer has the answer"), tr("Ask again"))
    return Answer(data=_answer(answer))


async def get_retrieval(request: Request[None]) -> Answer:
    """State of the index: the places that are searched, what it holds, and the run under way."""
    return Answer(data=RetrievalData.of(request.state))


def _answer(answer: SearchAnswer) -> SearchData:
    hits = [_hit(hit) for hit in answer.hits]
    return SearchData(
        query=answer.query,
        mode=answer.mode,
        degraded=answer.degraded,
        reason=answer.reason,
        remedy=answer.remedy,
        took_s=answer.took_s,
        hits=hits,
    )


def _hit(hit: SearchHit) -> SearchHitData:
    return SearchHitData(
        corpus=hit.corpus,
        kind=hit.kind,
        path=hit.path,
        title=hit.title,
        first_line=hit.lines.first,
        last_line=hit.lines.last,
        heading=hit.heading,
        text=hit.text,
        score=hit.score,
        keyword=hit.keyword,
        vector=hit.vector,
        found_by=list(hit.found_by),
        date=hit.date,
        tags=list(hit.tags),
        also=[
            PassageData(
                first_line=one.lines.first,
                last_line=one.lines.last,
                heading=one.heading,
                score=one.score,
                text=one.text,
                date=one.date,
                newer=one.newer,
            )
            for one in hit.also
        ],
        scope=hit.scope,
        newer=hit.newer,
    )


RESOURCE = Resource(
    operations=(
        operation("GET", "/api/search", search, {200: SearchData}, {409: "search is off in this project"}),
        operation("GET", "/api/retrieval", get_retrieval, {200: RetrievalData}),
    ),
    panels={"retrieval": get_args(RetrievalCommand)},
)
