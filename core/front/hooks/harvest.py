"""The harvest over HTTP: how it stands; look, preview, apply, undo, cancel, answered when begun, or when ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from core.app.app_messages import Command
from core.app.execution import ACT_S, begin, is_over
from core.front.hooks.fields import MAX_CHOSEN, Body, PageQuery, PathText, RefusedError, unknown
from core.front.hooks.harvest_answers import HarvestData
from core.front.hooks.operation import Answer, Operation, Request, Resource, Run, operation
from core.kernel.figures import time_limit
from core.kernel.language import tr
from core.kernel.values.harvest import ArtifactClass, HarvestPreview, HarvestState
from core.kernel.values.knowledge import MergeProposal
from core.kernel.values.settings import AfterHarvest
from core.kernel.values.state import AppState, Cause, CommandOutcome
from core.kernel.values.updates import outcome_of
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    BatchHarvest,
    CancelBatches,
    CancelHarvest,
    EditHarvestItem,
    EditMergeGroup,
    HarvestCommand,
    LookForHarvest,
    MoveHarvestItem,
    PreviewHarvest,
    ReplaceKnownItem,
    RunCommand,
    TickHarvestItems,
    TickMergeGroups,
    UndoHarvest,
)

RUN_S = 86_400.0


Wait = Annotated[bool, Meta(description="Answer when the run has ended, not when the run has begun.")]


class RunBody(Body, frozen=True, kw_only=True):
    """A run of the harvest."""

    wait: Wait = False


Candidates = Annotated[
    tuple[PathText, ...],
    Meta(
        max_length=MAX_CHOSEN,
        description="`path` of rows of `artifacts`; without any, all rows of class `harvest`.",
    ),
]


PastLimit = Annotated[
    bool,
    Meta(
        description="Go past the day's limit, or use a model without a known price; only with the approval token."
    ),
]


class PreviewBody(RunBody, frozen=True):
    """The conversations to read."""

    paths: Candidates = ()
    over_limit: PastLimit = False


class AgreedBody(RunBody, frozen=True, kw_only=True):
    """A run that may take much out of a category."""

    is_agreed: Annotated[
        bool,
        Meta(
            description="The list in `question`, which a refusal with `needs_yes` leaves, was seen and agreed to: by a person, with "
            "the approval token."
        ),
    ] = False


class ApplyBody(AgreedBody, frozen=True):
    """Items to write, or to give up."""

    items: Annotated[
        Literal["all"] | Annotated[tuple[str, ...], Meta(max_length=MAX_CHOSEN)] | msgspec.UnsetType,
        Meta(
            description="Ids of the proposed items to write, the others are unticked; or 'all'; as ticked without."
        ),
    ] = msgspec.UNSET
    paths: Annotated[
        tuple[PathText, ...],
        Meta(
            max_length=MAX_CHOSEN,
            description="Without a preview: `path` of candidates that go to the trash unharvested.",
        ),
    ] = ()
    after: Annotated[
        AfterHarvest | None,
        Meta(description="What happens to conversations that were read; as the settings say without."),
    ] = None


class BatchBody(RunBody, frozen=True):
    """The conversations to submit, and the batches to collect."""

    paths: Candidates = ()
    submits: Annotated[bool, Meta(description="False: collect what has ended, submit nothing.")] = True
    over_limit: Annotated[
        bool,
        Meta(description="Submit although a batch goes past the day's limit; with the approval token alone."),
    ] = False


class CancelBody(RunBody, frozen=True):
    """The batches to stop."""

    tags: Annotated[
        tuple[Annotated[str, Meta(max_length=200)], ...],
        Meta(max_length=MAX_CHOSEN, description="`tag` of open batches; none: all of them."),
    ] = ()


class UndoBody(AgreedBody, frozen=True):
    """The apply to take back."""

    apply_id: Annotated[
        str, Meta(max_length=200, description="Of a row of `applies`; without one, the newest that stands.")
    ] = ""


async def get_harvest(request: Request[PageQuery]) -> Answer:
    """The harvest: phase, progress, conversations with their class, what was proposed, ledger, applies, reports."""
    return Answer(data=HarvestData.of(request.state.harvest, request.fields))


async def look_harvest(request: Request[RunBody]) -> Answer:
    """Look at the conversations, the ledger and the applies; changes nothing on disk."""
    async with request.desk.harvest_lock:
        run = await begun(request, LookForHarvest())
    return await _answer(run)


async def preview_harvest(request: Request[PreviewBody]) -> Answer:
    """Look, then have the model read conversations and propose items."""
    request.check_writable()
    paths = request.fields.paths
    async with request.desk.harvest_lock:
        await _looked(request)
        check_candidates(request.state, paths)
        run = await begun(request, PreviewHarvest(paths=paths, over_limit=request.fields.over_limit))
    return await _answer(run)


async def apply_harvest(request: Request[ApplyBody]) -> Answer:
    """Write what is ticked, prove it, reclaim the previewed conversations and prune the empty ones."""
    request.check_writable()
    async with request.desk.harvest_lock:
        found = request.state.harvest
        _check_idle(found)
        proposed = found.preview
        if proposed is None:
            paths = await _given_up(request)
        else:
            paths = ()
            _tick(request, proposed)
        asked = ApplyHarvest(
            paths=paths, is_agreed=request.fields.is_agreed, after=request.fields.after or ""
        )
        run = await begun(request, asked)
    return await _answer(run)


async def batch_harvest(request: Request[BatchBody]) -> Answer:
    """Collect the batches that have ended, and submit what has no reply yet to the provider's batch service."""
    request.check_writable()
    asked = request.fields
    async with request.desk.harvest_lock:
        await _looked(request)
        check_candidates(request.state, asked.paths)
        run = await begun(
            request, BatchHarvest(paths=asked.paths, submits=asked.submits, over_limit=asked.over_limit)
        )
    return await _answer(run)


async def cancel_batches(request: Request[CancelBody]) -> Answer:
    """Stop open batches at the provider; what is answered by now is kept, and what was sent is deleted there."""
    request.check_writable()
    async with request.desk.harvest_lock:
        await _looked(request)
        check_batches(request.state, request.fields.tags)
        run = await begun(request, CancelBatches(request.fields.tags))
    return await _answer(run)


async def undo_harvest(request: Request[UndoBody]) -> Answer:
    """Take an apply back: items out, conversations out of the trash."""
    request.check_writable()
    apply_id = request.fields.apply_id
    async with request.desk.harvest_lock:
        await _looked(request)
        check_apply(request.state, apply_id)
        run = await begun(request, UndoHarvest(apply_id=apply_id, is_agreed=request.fields.is_agreed))
    return await _answer(run)


async def cancel_harvest(request: Request[RunBody]) -> Answer:
    """Stop the run under way; what is being written is finished."""
    under_way = request.state.harvest
    if not under_way.is_busy:
        raise RefusedError(409, "nothing_runs", tr("No harvest is running"))
    request.desk.front.send(CancelHarvest())
    return await _answer(_FollowedRun(request, under_way.command_id))


async def _looked(request: Request[RunBody]) -> None:
    """Have the conversations as they are now. Raises RefusedError."""
    before = request.state.harvest.look
    found = (await (await begun(request, LookForHarvest())).ended()).harvest
    if found.look is before:
        raise RefusedError(
            409,
            "not_now",
            found.problem or tr("The search for conversations to harvest was stopped"),
            tr("Try again"),
        )


async def _given_up(request: Request[ApplyBody]) -> tuple[str, ...]:
    """Without a preview: the conversations that go unharvested. Raises RefusedError (404, 409)."""
    if request.fields.items is not msgspec.UNSET:
        raise RefusedError(
            409,
            "no_preview",
            tr("There is no harvest preview yet"),
            tr("Send POST /api/harvest/preview first"),
        )
    await _looked(request)
    paths = request.fields.paths
    check_candidates(request.state, paths)
    return paths


def _tick(request: Request[ApplyBody], proposed: HarvestPreview) -> None:
    """Take what the request names into the choice, and everything else out of it. Raises RefusedError."""
    if request.fields.paths:
        raise RefusedError(
            409,
            "has_preview",
            tr("There is a preview, so you can harvest only its conversations"),
            tr("Send no paths, or discard the preview (POST /api/ui, panel harvest, discard_preview)"),
        )
    wanted = request.fields.items
    if wanted is msgspec.UNSET:
        return
    every = tuple(one.id for one in proposed.items)
    if wanted == "all":
        wanted = every
    check_proposed(proposed, wanted)
    request.desk.front.send(TickHarvestItems(every, is_ticked=False))
    request.desk.front.send(TickHarvestItems(wanted, is_ticked=True))


class _FollowedRun(msgspec.Struct, frozen=True):
    """A run that was begun, or has ended already. `command_id`: of the command that began it, empty for another's."""

    request: Request[RunBody]
    command_id: str = ""

    def is_over(self, state: AppState) -> bool:
        """True if it has ended, well or not."""
        return not state.harvest.is_busy or state.harvest.command_id != self.command_id

    async def ended(self) -> AppState:
        """Wait for its end. Raises RefusedError: 409 it was not begun; 500 it could not go on."""
        state = await self.request.desk.watch.until(self.is_over, RUN_S)
        if state is None:
            raise RefusedError(
                503,
                "slow",
                tr("The harvest has not ended within {RUN_S}", RUN_S=time_limit(RUN_S)),
                tr("Cancel the run"),
            )
        _check(outcome_of(state, self.command_id))
        return state


def _check(outcome: CommandOutcome | None) -> None:
    if outcome is not None and not outcome.is_done:
        status = 500 if outcome.cause is Cause.FAILED else 409
        raise RefusedError(status, outcome.cause.value, outcome.problem, outcome.remedy)


def _check_idle(found: HarvestState) -> None:
    if found.is_busy:
        raise RefusedError(
            409,
            "busy",
            tr("A harvest is still running ({phase})", phase=found.phase.value),
            tr("Wait until that is done, or cancel it"),
        )


async def begun(request: Request[Any], command: RunCommand) -> _FollowedRun:
    """Send a command and wait until its run is under way, or over.

    Raises:
        RefusedError: 409 another run is under way, or there is nothing to do; 503 nothing happened in time.
    """
    _check_idle(request.state.harvest)
    command_id = begin(request.desk.front, command)
    state = await request.desk.watch.until(
        lambda now: now.harvest.command_id == command_id or is_over(now, command_id), ACT_S
    )
    if state is None:
        raise RefusedError(
            503,
            "slow",
            tr("The program did not answer within {ACT_S}", ACT_S=time_limit(ACT_S)),
            tr("Try again"),
        )
    _check(outcome_of(state, command_id))
    return _FollowedRun(request, command_id)


async def _answer(run: _FollowedRun) -> Answer:
    """The harvest once the run has ended where that is asked for, else as it is now."""
    waits = run.request.fields.wait
    state = await run.ended() if waits else run.request.state
    return Answer(data=HarvestData.of(state.harvest, PageQuery()), status=200 if waits else 202)


def check_candidates(state: AppState, paths: Iterable[str]) -> None:
    """Check that each is the path of a conversation that may be harvested. Raises RefusedError (404, 409)."""
    by_path = {one.facts.path: one for one in state.harvest.look.artifacts}
    for path in paths:
        artifact = by_path.get(path)
        if artifact is None:
            raise unknown(
                "conversation", path, tr("Choose a path from `artifacts` in the answer of GET /api/harvest")
            )
        if artifact.kind is not ArtifactClass.HARVEST:
            reason = f"{artifact.kind.value}, {artifact.why}".removesuffix(", ")
            why = tr("{path!r} cannot be harvested: {reason}", path=path[:80], reason=reason)
            raise RefusedError(
                409,
                "no_candidate",
                why,
                tr("Choose a path from `artifacts` in the answer of GET /api/harvest"),
            )


def check_proposed(preview: HarvestPreview | None, item_ids: Iterable[str]) -> None:
    """Check that each is the id of an item of the preview. Raises RefusedError (404)."""
    known = frozenset(one.id for one in preview.items) if preview is not None else frozenset()
    for item_id in item_ids:
        if item_id not in known:
            raise unknown(tr("proposed item"), item_id, tr("See `preview` of GET /api/harvest"))


def check_groups(merge: MergeProposal | None, group_ids: Iterable[str]) -> None:
    """Check that each is the id of a proposed merge. Raises RefusedError (404)."""
    known = frozenset(group.id for group in merge.groups) if merge is not None else frozenset()
    for group_id in group_ids:
        if group_id not in known:
            raise unknown(tr("proposed merge"), group_id, tr("See GET /api/knowledge/merge"))


def check_apply(state: AppState, apply_id: str) -> None:
    """Check that an apply can be undone; empty: that any can. Raises RefusedError (404, 409)."""
    applies = state.harvest.look.applies
    chosen = [one for one in applies if one.id == apply_id or (not apply_id and not one.undone_at)]
    if apply_id and not chosen:
        raise unknown("apply", apply_id, tr("See `applies` of GET /api/harvest"))
    if not chosen or chosen[0].undone_at:
        raise RefusedError(409, "nothing_to_do", tr("There is nothing to undo"), tr("See `applies`"))


def check_batches(state: AppState, tags: Iterable[str]) -> None:
    """Check that each is the tag of an open batch. Raises RefusedError (404)."""
    known = {one.tag for one in state.harvest.look.batches}
    for tag in tags:
        if tag not in known:
            raise unknown(tr("open batch"), tag, tr("See `batches` of GET /api/harvest"))


def _check_command(state: AppState, command: Command) -> None:
    if isinstance(command, PreviewHarvest | ApplyHarvest | BatchHarvest):
        check_candidates(state, command.paths)
    elif isinstance(command, TickHarvestItems):
        check_proposed(state.harvest.preview, command.item_ids)
    elif isinstance(command, EditHarvestItem | MoveHarvestItem | ReplaceKnownItem):
        check_proposed(state.harvest.preview, (command.item_id,))
    elif isinstance(command, TickMergeGroups):
        check_groups(state.harvest.merge, command.group_ids)
    elif isinstance(command, EditMergeGroup):
        check_groups(state.harvest.merge, (command.group_id,))
    elif isinstance(command, CancelBatches):
        check_batches(state, command.tags)
    elif isinstance(command, UndoHarvest):
        check_apply(state, command.apply_id)


_ALL = "/api/harvest"
_RUN = {200: HarvestData, 202: HarvestData}
_NOT_NOW = "another run is going on, there is nothing to do, or the data folder is read-only"


def _run(name: str, run: Run, errors: dict[int, str]) -> Operation:
    """A run: begun, or with `wait` ended."""
    return operation("POST", f"{_ALL}/{name}", run, _RUN, errors, may_be_empty=True)


RESOURCE = Resource(
    operations=(
        operation("GET", _ALL, get_harvest, {200: HarvestData}),
        _run("look", look_harvest, {409: "another run is going on"}),
        _run("preview", preview_harvest, {404: "no such conversation", 409: _NOT_NOW}),
        _run("apply", apply_harvest, {404: "no such item or conversation", 409: _NOT_NOW}),
        _run("batch", batch_harvest, {404: "no such conversation", 409: _NOT_NOW}),
        _run("batch/cancel", cancel_batches, {404: "no such open batch", 409: _NOT_NOW}),
        _run("undo", undo_harvest, {404: "no such apply", 409: _NOT_NOW}),
        _run("cancel", cancel_harvest, {409: "no harvest is running"}),
    ),
    panels={"harvest": get_args(HarvestCommand)},
    check=_check_command,
)
