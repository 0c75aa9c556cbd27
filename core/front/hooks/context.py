"""The context stack over HTTP: its layers as they would be sent now, and the plan for the cache."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from core.front.hooks.fields import Body, Count, Data, Figure, Money, PathText, RefusedError, filled
from core.front.hooks.operation import NO_DISCUSSION, Answer, Request, Resource, operation
from core.kernel.codecs import builtins_of
from core.kernel.language import tr
from core.kernel.values.cache import CachePlan, ContentsUse
from core.kernel.values.curation import FileMode, Preset
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.retrieval import Corpus
from core.kernel.values.stack import ContextReport, layer_data
from core.kernel.values.state import AppState
from core.services.settings.asked_values import may_not_write
from core.services.settings.project_tables import MAX_ITEMS, item_table, name_flaw, read_preset
from core.services.spending.estimates import change_usd
from core.talk.context.context_messages import (
    AddItems,
    ChangePreset,
    CreatePreset,
    DeletePreset,
    InspectFile,
    KeepOut,
    LookUpFiles,
    MeasureContext,
    RenamePreset,
    RevertPreset,
    SavePreset,
)


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
    """A passage that goes with a message. `source`: name by which it is kept out; `words`: those that go along."""

    source: str
    corpus: Corpus
    place: str
    title: str
    why: str
    date: str
    score: float
    words: str


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
                tokens_est=recalled.tokens_est,
                problem=recalled.problem,
                passages=[filled(RecalledPassageData, one) for one in recalled.passages],
                kept_out=list(opened.kept_out),
            ),
        )


async def context(request: Request[None]) -> Answer:
    """The stack of a discussion, assembled now."""
    chosen = (await request.opened()).id
    at = request.desk.now()
    state = await request.do(MeasureContext(chosen), lambda now: _is_fresh(now, chosen, at))
    report = state.context.reports.get(chosen)
    if report is None:
        raise RefusedError(404, "not_found", tr("There is no longer a discussion {chosen!r}", chosen=chosen))
    cost = change_usd(state, chosen)
    opened = state.discussions.open.get(chosen, OpenDiscussion(id=chosen))
    return Answer(data=ContextData.of(opened, report, state.caching.plans.get(chosen), cost))


def _is_fresh(state: AppState, chosen: str, at: datetime) -> bool:
    """True if the stack was read since then: one that was under way before may hold files as they were."""
    if chosen not in state.discussions.summaries:
        return True
    report = state.context.reports.get(chosen)
    return report is not None and report.read_at is not None and report.read_at >= at


_PATH = "/api/context/{discussion_id}"

RESOURCE = Resource(
    operations=(operation("GET", _PATH, context, {200: ContextData}, {404: NO_DISCUSSION}),),
    panels={"context": (MeasureContext, KeepOut)},
)


# Context presets over HTTP: the list, and putting one.

LineNumber = Annotated[int, Meta(ge=1)]


class PresetItem(Body, frozen=True):
    """An item of a preset. An answer says every field."""

    path: PathText
    mode: FileMode = FileMode.WHOLE
    slices: list[Annotated[list[LineNumber], Meta(min_length=2, max_length=2)]] = msgspec.field(
        default_factory=list
    )
    symbols: list[str] = msgspec.field(default_factory=list)
    notes: str = ""
    pinned: bool = False
    enabled: bool = True
    include_ignored: bool = False


PresetItems = Annotated[tuple[PresetItem, ...], Meta(max_length=MAX_ITEMS)]


class PresetBody(Body, frozen=True):
    """The items of a preset in order; `save`: into the project's file too."""

    items: PresetItems
    save: bool = False


class PresetData(Data, frozen=True):
    """A preset with its items in order."""

    name: str
    is_saved: bool
    items: list[PresetItem]

    @classmethod
    def of(cls, state: AppState, preset: Preset) -> PresetData:
        """The preset as it is answered with."""
        items = [PresetItem(**item_table(item)) for item in preset.items]
        return cls(
            name=preset.name, is_saved=preset.name not in state.config.project.unsaved_presets, items=items
        )


class PresetsData(Data, frozen=True):
    """The project's presets."""

    presets: list[PresetData]


async def list_presets(request: Request[None]) -> Answer:
    """The project's context presets, unsaved work included."""
    state = request.state
    return Answer(
        data=PresetsData([PresetData.of(state, preset) for preset in state.config.project.presets.values()])
    )


async def put_preset(request: Request[PresetBody]) -> Answer:
    """Make a preset or replace its items. It works at once; `save` writes the project's file too."""
    request.check_writable()
    name, body = request.names["name"], request.fields
    padded = tr("a name must not begin or end with a space") if name != name.strip() else ""
    if reason := padded or name_flaw(name):
        raise RefusedError(422, "wrong_name", f"{name[:80]!r}: {reason}", tr("Choose another name"))
    wanted = preset_of(name, body.items)
    project = request.state.config.project
    if body.save and may_not_write(project, "presets", name):
        text = tr("The folder's manual_slop.toml asks for settings that you have not seen")
        raise RefusedError(409, "not_trusted", text, tr("Trust the folder first"))
    wanted = replace(wanted, items=tuple(sorted(wanted.items, key=lambda item: not item.pinned)))
    is_new = name not in project.presets
    command = (
        CreatePreset(name=name, items=wanted.items, is_used=False)
        if is_new
        else ChangePreset(name=name, items=wanted.items)
    )
    state = await request.do(command, lambda now: now.config.project.presets.get(name) == wanted)
    if body.save:
        state = await request.do(SavePreset(name), lambda now: name not in now.config.project.unsaved_presets)
    return Answer(data=PresetData.of(state, wanted), status=201 if is_new else 200)


def preset_of(name: str, items: Sequence[PresetItem]) -> Preset:
    """The preset that a request describes, judged as one of a file. Raises RefusedError (422)."""
    preset, flaws = read_preset(name, {"items": [builtins_of(item) for item in items]})
    if preset is None or flaws:
        raise RefusedError(422, "wrong_body", flaws[0].reason, tr("See docs/openapi.json"))
    return preset


_PUT = {200: PresetData, 201: PresetData}
_PUT_ERRORS = {409: "the data folder is read-only, or `save` where the folder is not trusted"}

PRESETS = Resource(
    operations=(
        operation("GET", "/api/presets", list_presets, {200: PresetsData}),
        operation("PUT", "/api/presets/{name}", put_preset, _PUT, _PUT_ERRORS),
    ),
    panels={
        "presets": (
            CreatePreset,
            ChangePreset,
            SavePreset,
            RevertPreset,
            RenamePreset,
            DeletePreset,
            InspectFile,
            LookUpFiles,
            AddItems,
        )
    },
)
