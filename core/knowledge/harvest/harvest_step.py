"""The harvest in the state: one run at a time, its proposals, the person's choices, and the result."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.values.harvest import (
    BatchReport,
    HarvestLook,
    HarvestPhase,
    HarvestPreview,
    HarvestReport,
    HarvestState,
    Review,
    UndoReport,
)
from core.kernel.values.knowledge import DraftReport, MergeProposal, MergeReport, RemovalQuestion
from core.kernel.values.state import AppState, Cause, CommandOutcome, Level
from core.kernel.values.updates import Handlers, Result, conclude, follow, follow_effects, notify, on
from core.kernel.values.usage import Payment, SpentElsewhere
from core.knowledge.harvest.admission import look_after_batches, reviewed, run, write_automatic
from core.knowledge.harvest.batch_step import batched, with_batches
from core.knowledge.harvest.harvest_messages import (
    NOTICE,
    ApplyHarvest,
    ApplyMerge,
    BatchesFound,
    BatchHarvest,
    CancelBatches,
    CancelHarvest,
    DiscardMerge,
    DiscardPreview,
    EditHarvestItem,
    EditMergeGroup,
    GraduatePlaybook,
    HarvestCalling,
    HarvestEnded,
    HarvestFailed,
    HarvestLooked,
    HarvestPaid,
    HarvestProgressed,
    HarvestProposed,
    HarvestReported,
    LeaveBatch,
    LeaveRemoval,
    LetHarvestCall,
    LookForHarvest,
    MoveHarvestItem,
    PreviewHarvest,
    ProposeMerge,
    ReplaceKnownItem,
    ReviewCommand,
    TickHarvestItems,
    TickMergeGroups,
    UndoHarvest,
    WriteReview,
)
from core.knowledge.harvest.modes import without_old_notice
from core.knowledge.harvest.preview import (
    edited,
    folded,
    grown,
    moved,
    replacing,
    ticked,
    without,
)
from core.knowledge.knowledge_step import read_again
from core.knowledge.parts import REMEDY
from core.services.spending.limits import (
    add_payments,
    batch_past_limit,
    is_counted,
    limit_reached,
    limit_words,
    reached_limits,
    release,
    reserve,
)
from core.talk.discussion.discussion_messages import LoadSummaries, UndoDelete
from core.talk.discussion.lifecycle import vanished

HELD = "harvest"
"""The money that the call under way holds back."""


def _leave_batch(state: AppState, _asked: LeaveBatch) -> Result:
    return _with(state, replace(state.harvest, batch=None, is_past_limit=False)), ()


def tick(state: AppState) -> Result:
    """Look after open batches where that is due."""
    return look_after_batches(state)


def _cancel(state: AppState) -> Result:
    if not state.harvest.is_busy:
        return state, ()
    return _with(state, replace(state.harvest, is_cancelling=True)), (CancelHarvest(),)


def review(state: AppState, command: ReviewCommand) -> Result:
    """Review of the proposals, kept on disk. While they are being written nothing is changed."""
    harvest = state.harvest
    preview = harvest.preview
    if preview is None or harvest.phase is HarvestPhase.APPLYING:
        return state, ()
    made = _reviewed(preview, command, is_busy=harvest.is_busy)
    if made == preview:
        return state, ()
    review = without(harvest.review, preview.sources) if made is None else harvest.review
    return _kept(_with(state, replace(harvest, preview=made, review=review)))


def got_on(state: AppState, event: HarvestProgressed | HarvestProposed | HarvestPaid) -> AppState:
    """Take in a run's progress, its findings and its cost, which counts towards the day's limit."""
    harvest = state.harvest
    match event:
        case HarvestProgressed():
            harvest = replace(harvest, done=event.done, total=event.total, doing=event.doing)
        case HarvestProposed():
            harvest = replace(harvest, preview=grown(harvest.preview, event.part, harvest.review))
        case HarvestPaid(use):
            state = release(state, HELD)
            if use.cost_usd:
                payment = Payment(use.cost_usd, use.usage.is_estimate)
                key = use.payment_id or f"harvest/{len(state.spending.own)}"
                state = add_payments(state, {key: payment})
            preview = harvest.preview and replace(harvest.preview, calls=harvest.preview.calls + use.calls)
            harvest = replace(harvest, use=harvest.use + use, run_use=harvest.run_use + use, preview=preview)
    return replace(state, harvest=harvest)


RunOver = HarvestLooked | HarvestEnded | HarvestReported | HarvestFailed
"""Events with which a run is over."""


def ended(state: AppState, event: RunOver) -> Result:
    """A run is over. What it changed on disk is read anew. A command that waited for the end is begun."""
    held = state.harvest.held
    state, effects = _over(replace(state, harvest=replace(state.harvest, held=None)), event)
    if held is None:
        return state, effects
    state, more = run(state, held)
    return state, (*effects, *more)


def _over(state: AppState, event: RunOver) -> Result:
    fault, cause = ("", ""), Cause.FAILED
    if isinstance(event, HarvestFailed):
        fault = event.text, event.detail
    elif isinstance(event, HarvestReported) and isinstance(event.result, RemovalQuestion):
        fault, cause = (event.result.sentence, REMEDY), Cause.NEEDS_YES
    begun = state
    is_quiet = state.harvest.is_quiet
    outcome = CommandOutcome(
        command_id=state.harvest.command_id, problem=fault[0], remedy=fault[1], cause=cause
    )
    state = state if is_quiet else conclude(state, outcome)
    state = release(state, HELD)
    idle = replace(
        state.harvest,
        is_automatic=False,
        is_quiet=False,
        phase=HarvestPhase.IDLE,
        command_id="",
        done=0,
        total=0,
        doing="",
        is_cancelling=False,
        problem=state.harvest.problem if is_quiet else "",
        remedy=state.harvest.remedy if is_quiet else "",
    )
    match event:
        case HarvestLooked():
            return _with(state, _looked(idle, event.look, state)), ()
        case HarvestEnded():
            state = _with(state, replace(idle, problem=event.problem))
            return (state, ()) if event.problem else _automatic(begun, state)
        case HarvestReported():
            return _reported(state, idle, event)
        case HarvestFailed() if is_quiet:
            return _with(state, idle), ()
        case HarvestFailed():
            state = notify(state, NOTICE, Level.ERROR, event.text, event.detail)
            return _with(state, replace(idle, problem=event.text, remedy=event.detail)), ()


def _reported(state: AppState, idle: HarvestState, event: HarvestReported) -> Result:
    """Take in what a run came to. `idle`: the harvest as it is once that is done."""
    look = event.look
    match event.result:
        case HarvestReport() as report:
            left = _unwritten(idle.preview, report, look)
            done = replace(
                idle,
                preview=left if report.stopped or state.harvest.is_automatic else None,
                review=_unapplied(idle, left),
                report=report,
                problem=report.stopped,
            )
            state, write = _kept(_with(state, _looked(done, look, state)))
            state, effects = _changed(state, report.reclaimed)
            return state, (*write, *effects)
        case BatchReport() as report:
            before = state.harvest
            state = _with(state, _looked(idle, look, state))
            state, follow = batched(state, before, report)
            return run(state, follow) if follow is not None and event.previews else (state, ())
        case UndoReport() as report:
            done = replace(idle, report=None, undone=report, merged=None, drafted=None)
            return _changed(_with(state, _looked(done, look, state)))
        case RemovalQuestion() as question:
            return _with(state, replace(idle, question=question)), ()
        case MergeProposal() as proposal:
            paid = replace(proposal, calls=idle.run_use.calls, cost_usd=idle.run_use.cost_usd)
            return _with(state, replace(idle, merge=paid)), ()
        case MergeReport() as report:
            done = replace(idle, merge=None, merged=report, undone=None)
            return _changed(_with(state, _looked(done, look, state)))
        case DraftReport() as report:
            state = notify(
                state,
                NOTICE,
                Level.INFO,
                tr("The program wrote a draft of the playbook."),
                tr(
                    "Nothing reads or runs the draft until you rename it to {becomes}: {path}",
                    becomes=report.becomes,
                    path=report.path,
                ),
                action=UndoHarvest(apply_id=report.apply_id),
                action_label=tr("Undo"),
            )
            return _changed(_with(state, _looked(replace(idle, drafted=report), look, state)))


def _automatic(begun: AppState, ended: AppState) -> Result:
    """Write what the mode lets be written. Whoever waits for the preview waits for that too."""
    state, effects = write_automatic(ended)
    if not effects:
        return ended, ()
    harvest = replace(state.harvest, command_id=begun.harvest.command_id)
    program = replace(state.program, outcomes=begun.program.outcomes)
    return replace(state, harvest=harvest, program=program), effects


NOT_COUNTED = tr("The program is still adding up today's spend. Try again in a moment.")


def claimed(state: AppState, elsewhere: SpentElsewhere) -> Result:
    """Let the call go that the run waits with, whose money is held back where other programs see it; or end the run.

    The call that reaches the limit is still made and read; a batch that would go past it is asked about first. None is
    made before the day was counted.
    """
    if not is_counted(state):
        return release(state, HELD), (CancelHarvest(why=NOT_COUNTED),)
    if state.harvest.is_over_limit:
        return state, (LetHarvestCall(),)
    held, reader = state.spending.reserved.get(HELD), (state.harvest.provider, state.harvest.model)
    usd = held.usd if held is not None else 0.0
    if state.harvest.phase is HarvestPhase.BATCHING:
        why = batch_past_limit(state, usd, reader, besides=HELD, elsewhere_usd=elsewhere.reserved_usd)
        if not why:
            return state, (LetHarvestCall(),)
        asking = _with(state, replace(state.harvest, is_past_limit=True))
        return release(asking, HELD), (CancelHarvest(why=why),)
    reached = reached_limits(
        state, besides=HELD, elsewhere_usd=elsewhere.reserved_usd, model=reader, is_priced=usd > 0
    )
    if reached:
        return release(state, HELD), (CancelHarvest(why=limit_words(reached)),)
    return state, (LetHarvestCall(),)


def limit_effects(before: AppState, after: AppState) -> tuple[CancelHarvest, ...]:
    """Stop a preview, or the question for a merge, when the day's money goes, whoever spends it or holds it back."""
    is_held = after.harvest.phase in {HarvestPhase.PREVIEWING, HarvestPhase.MERGING}
    if not is_held or after.harvest.is_over_limit or _money(before) == _money(after):
        return ()
    why = limit_reached(after, besides=HELD)
    return (CancelHarvest(why=why),) if why else ()


def _money(state: AppState) -> tuple[object, ...]:
    """Amounts that decide whether money stops a preview."""
    spending = state.spending
    held = tuple(one.usd for key, one in spending.reserved.items() if key != HELD)
    limit = state.config.settings.caching.day_limit_usd
    return limit, spending.spent_today_usd, held, tuple(c.reserved_usd for c in state.turns.calls.values())


def _reviewed(
    preview: HarvestPreview,
    command: ReviewCommand,
    *,
    is_busy: bool,
) -> HarvestPreview | None:
    match command:
        case TickHarvestItems():
            return ticked(preview, command.item_ids, is_ticked=command.is_ticked)
        case EditHarvestItem():
            return edited(preview, command.item_id, command.head, command.body)
        case MoveHarvestItem():
            return moved(preview, command.item_id, command.category)
        case ReplaceKnownItem():
            return replacing(preview, command.item_id, is_replacing=command.is_replacing)
        case DiscardPreview():
            return preview if is_busy else None


def _looked(harvest: HarvestState, look: HarvestLook | None, state: AppState) -> HarvestState:
    """Take in a look. Of reviews that were begun the disk tells at the first one; from then on they
    are here.
    """
    if look is None:
        return harvest
    review = look.review if harvest.looked_at is None else harvest.review
    return replace(harvest, look=look, looked_at=state.now, review=review)


def _kept(state: AppState) -> Result:
    """Have the disk keep the reviews as they are now."""
    harvest = state.harvest
    return state, () if state.program.is_home_read_only else (WriteReview(harvest.review, harvest.preview),)


def _unapplied(harvest: HarvestState, left: HarvestPreview | None) -> Review:
    """The reviews without what an apply has written."""
    review = harvest.review if harvest.preview is None else without(harvest.review, harvest.preview.sources)
    return folded(review, left)


def _unwritten(
    preview: HarvestPreview | None, report: HarvestReport, look: HarvestLook | None
) -> HarvestPreview | None:
    """Rest of a preview after an apply that ended early, with everything that the person did to it; None for
    nothing.
    """
    if preview is None:
        return None
    known = {one.facts.path for one in (look.artifacts if look is not None else ()) if one.facts.known_status}
    left = tuple(one for one in preview.sources if one.path not in known and one.id not in report.reclaimed)
    paths = {one.path for one in left}
    items = tuple(one for one in preview.items if one.artifact_path in paths)
    return replace(preview, sources=left, items=items) if left else None


def _changed(state: AppState, reclaimed: tuple[str, ...] = ()) -> Result:
    """Read anew what is on disk. Reclaimed conversations leave the list at once; the newest is shown in their place."""
    effects: list[Any] = []
    for gone in reclaimed:
        state = _told(state, gone)
        state, more = vanished(state, gone)
        effects += more
    return state, (*effects, *read_again(state), LoadSummaries())


def _told(state: AppState, gone: str) -> AppState:
    """Say so where the person was just looking at it."""
    summary = state.discussions.summaries.get(gone)
    if summary is None or gone != state.discussions.selected_id or gone in state.turns.calls:
        return state
    return notify(
        state,
        "deleted",
        Level.INFO,
        tr("The program harvested {name!r} and moved it to the trash.", name=summary.meta.name),
        action=UndoDelete(gone),
        action_label=tr("Restore"),
    )


def _with(state: AppState, harvest: HarvestState) -> AppState:
    return replace(state, harvest=harvest)


HANDLERS = Handlers(
    on(LookForHarvest, run),
    on(PreviewHarvest, run),
    on(ApplyHarvest, run),
    on(UndoHarvest, run),
    on(BatchHarvest, run),
    on(ProposeMerge, run),
    on(ApplyMerge, run),
    on(GraduatePlaybook, run),
    on(CancelBatches, run),
    on(CancelHarvest, lambda state, _asked: _cancel(state)),
    on(LeaveBatch, _leave_batch),
    on(LeaveRemoval, lambda state, _asked: (_with(state, replace(state.harvest, question=None)), ())),
    on(TickHarvestItems, review),
    on(EditHarvestItem, review),
    on(MoveHarvestItem, review),
    on(ReplaceKnownItem, review),
    on(DiscardPreview, review),
    on(TickMergeGroups, lambda state, asked: (_with(state, reviewed(state.harvest, asked)), ())),
    on(EditMergeGroup, lambda state, asked: (_with(state, reviewed(state.harvest, asked)), ())),
    on(DiscardMerge, lambda state, asked: (_with(state, reviewed(state.harvest, asked)), ())),
    on(HarvestCalling, lambda state, happened: (reserve(state, HELD, happened.cost_usd), ())),
    on(BatchesFound, lambda state, happened: (with_batches(state, happened.batches), ())),
    on(HarvestProgressed, lambda state, happened: (got_on(state, happened), ())),
    on(HarvestProposed, lambda state, happened: (got_on(state, happened), ())),
    on(HarvestPaid, lambda state, happened: (got_on(state, happened), ())),
    on(HarvestLooked, ended),
    on(HarvestEnded, ended),
    on(HarvestReported, ended),
    on(HarvestFailed, ended),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS_MODE = follow("config", lambda before, after, _moment: (without_old_notice(before, after), ()))
FOLLOWS_MONEY = follow_effects(
    "config.settings turns.calls spending.spent_today_usd spending.reserved harvest.phase",
    limit_effects,
    needs="harvest.is_working",
)
