"""The context stack over HTTP: its layers as they would be sent now, and the plan for the cache."""

from __future__ import annotations

from datetime import datetime

from core.context.messages import KeepOut, MeasureContext
from core.hooks.fields import Count, Data, Figure, Money, filled
from core.hooks.operation import NO_DISCUSSION, Resource, operation
from core.hooks.refusals import RefusedError
from core.hooks.request import Answer, Request
from core.spending.estimates import change_usd
from core.values.cache import CachePlan, ContentsUse
from core.values.discussion import OpenDiscussion
from core.values.retrieval import Corpus
from core.values.stack import ContextReport, layer_data
from core.values.state import AppState


class SegmentData(Data, frozen=True):
    """A part of a layer."""

    key: str
    sha256: str
    size_bytes: Count
    tokens_est: Count


class LayerData(Data, frozen=True):
    """A layer: where it stands and what it is, not its text."""

    layer: Count
    title: str
    offset_chars: Count
    length_chars: Count
    size_bytes: Count
    tokens_est: Count
    sha256: str
    segments: list[SegmentData]


class ChangeData(Data, frozen=True):
    """Difference of the stack from the last request."""

    layer: Figure
    byte_offset: Figure
    same_tokens_est: Count
    rewritten_tokens_est: Count
    rewritten_cost_usd: Money
    reason: str


class PlanMarkData(Data, frozen=True):
    """A mark of the cache."""

    after_key: str
    ttl_s: Count


class PlanContentsData(Data, frozen=True):
    """Plan for the provider's stored prefix."""

    use: ContentsUse
    through_key: str
    ttl_s: Count


class PlanData(Data, frozen=True):
    """Plan of the request's caching, with a sentence for each choice."""

    is_enabled: bool
    marks: list[PlanMarkData]
    openai_mode: str
    contents: PlanContentsData | None
    read_tokens: Count
    write_tokens: Count
    fresh_tokens: Count
    superseded_tokens: Count
    cost_usd: Money
    cost_without_usd: Money
    sentences: list[str]

    @classmethod
    def of(cls, plan: CachePlan) -> PlanData:
        """The plan as it is answered with."""
        contents = plan.contents
        return filled(
            cls,
            plan,
            marks=[filled(PlanMarkData, mark) for mark in plan.marks],
            contents=None if contents is None else filled(PlanContentsData, contents),
        )


class RecalledPassageData(Data, frozen=True):
    """A passage that goes with a message. `source`: name by which it is kept out; `is_whole`: else a line of it."""

    source: str
    corpus: Corpus
    place: str
    title: str
    why: str
    date: str
    score: float
    is_whole: bool


class RecalledData(Data, frozen=True):
    """Recall for the message in the composer. `problem`: why less was asked than is set up, empty where all was."""

    tokens_est: Count
    problem: str
    passages: list[RecalledPassageData]
    kept_out: list[str]


class ContextData(Data, frozen=True):
    """The stack as it would be sent now."""

    discussion_id: str
    layers: list[LayerData]
    stable_length_chars: Count
    total_tokens_est: Count
    limit_tokens: Figure
    cost_usd: Money
    is_exact: bool
    fits: bool
    problems: list[str]
    change: ChangeData | None
    plan: PlanData | None
    recalled: RecalledData

    @classmethod
    def of(
        cls,
        opened: OpenDiscussion,
        report: ContextReport,
        plan: CachePlan | None,
        change_cost_usd: float | None,
    ) -> ContextData:
        """The report as it is answered with. `change_cost_usd`: of what the last request did not have."""
        change, recalled = report.change, report.recalled
        return filled(
            cls,
            report,
            discussion_id=opened.id,
            layers=[LayerData(**layer_data(layer)) for layer in report.layers],
            change=None if change is None else filled(ChangeData, change, rewritten_cost_usd=change_cost_usd),
            plan=None if plan is None else PlanData.of(plan),
            recalled=RecalledData(
                recalled.tokens_est,
                recalled.problem,
                [filled(RecalledPassageData, one) for one in recalled.passages],
                list(opened.kept_out),
            ),
        )


async def context(request: Request[None]) -> Answer:
    """The stack of a discussion, assembled now."""
    chosen = (await request.opened()).id
    at = request.desk.now()
    state = await request.do(MeasureContext(chosen), lambda now: _is_fresh(now, chosen, at))
    report = state.context.reports.get(chosen)
    if report is None:
        raise RefusedError(404, "not_found", f"There is no discussion {chosen!r} any more")
    cost = change_usd(state, chosen)
    opened = state.discussions.open.get(chosen, OpenDiscussion(chosen))
    return Answer(ContextData.of(opened, report, state.caching.plans.get(chosen), cost))


def _is_fresh(state: AppState, chosen: str, at: datetime) -> bool:
    """True if the stack was read since then: one that was under way before may hold files as they were."""
    if chosen not in state.discussions.summaries:
        return True
    report = state.context.reports.get(chosen)
    return report is not None and report.read_at is not None and report.read_at >= at


_PATH = "/api/context/{discussion_id}"

RESOURCE = Resource(
    (operation("GET", _PATH, context, {200: ContextData}, {404: NO_DISCUSSION}),),
    {"context": (MeasureContext, KeepOut)},
)
