"""Compaction's part of the step: a cut is planned, told of by a journal or a paid summary, written to the log, and shown.

A call that needs room waits for it before anything is sent. Nothing of a running turn changes but for an overflow.
"""

from __future__ import annotations

from msgspec.structs import replace

from core.agent.agent_messages import (
    CompactDiscussion,
    CompactionEvent,
    PlanView,
    StopSummary,
    SummariseView,
    ViewPlanned,
    ViewSummarised,
)
from core.agent.cut_plan import COMPRESSION_PROMPT, SUMMARY_TOKENS, with_summary, without_summary
from core.kernel.figures import count, money
from core.kernel.ids import Stamp
from core.kernel.language import as_sentences, in_english, tr
from core.kernel.structures import with_entry, without
from core.kernel.values.discussion import LiveCall, OpenDiscussion
from core.kernel.values.messages import Message
from core.kernel.values.records import MarkRecord, UsageRecord
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import Handlers, Result, conclude, follow, is_busy, notify, on_stamped
from core.kernel.values.usage import SpentElsewhere, Usage, UsageKind
from core.kernel.values.window import Compaction, CompactionPhase, CutReason, ViewCut
from core.services.providers.profiles import takes_seals_alone
from core.services.settings.settings_messages import LoadSettings
from core.services.spending.limits import (
    add_spent,
    has_room,
    limit_reached,
    payments_of,
    release,
    reserve,
    upkeep_key,
)
from core.services.spending.spending_messages import SettleReserve
from core.talk.context.context_spec import stack_spec
from core.talk.context.token_scale import FULL_PERCENT, context_window, is_told
from core.talk.discussion.cuts import cut_record
from core.talk.discussion.discussion_messages import AppendRecords, UpkeepToken, WriteFailed
from core.talk.discussion.log_content import model_view
from core.talk.turn import sending, turn_step

NO_PROMPT = tr("The prompt {COMPRESSION_PROMPT} is empty.", COMPRESSION_PROMPT=COMPRESSION_PROMPT)


def _asked(state: AppState, given: Stamp, asked: CompactDiscussion) -> Result:
    """Begin a compaction that a person asked for, or let it wait for the turn that runs."""
    opened = state.discussions.open.get(asked.discussion_id)
    if opened is None or asked.discussion_id not in state.discussions.summaries:
        return _declined(state, asked, tr("The discussion is not open."))
    if asked.discussion_id in state.agent.compactions:
        return _declined(state, asked, tr("The program is already compacting this discussion."))
    if opened.held_calls:
        return _declined(
            state, asked, tr("Another window or terminal has open tool calls in this discussion.")
        )
    one = Compaction(
        discussion_id=opened.id,
        job=given.make_id(0),
        why=CutReason.ASKED,
        phase=CompactionPhase.WAITING,
        command_id=asked.command_id,
    )
    return _with(state, one), ()


def _view_planned(state: AppState, given: Stamp, happened: ViewPlanned) -> Result:
    one = _waiting_for(state, happened)
    return (state, ()) if one is None else _planned(state, given, one, happened)


def _view_summarised(state: AppState, given: Stamp, happened: ViewSummarised) -> Result:
    """A summary that nobody waits for any more is paid for and nothing else."""
    return _summarised(state, given, _waiting_for(state, happened), happened)


def _waiting_for(state: AppState, happened: CompactionEvent) -> Compaction | None:
    one = state.agent.compactions.get(happened.discussion_id)
    return one if one is not None and one.job == happened.job else None


def claimed(state: AppState, given: Stamp, key: str, elsewhere: SpentElsewhere) -> Result:
    """Let a summary be asked for, whose money is held back where other programs see it; or go on without one."""
    one = state.agent.compactions.get(discussion_of(key))
    if one is None or one.plan is None or one.phase is not CompactionPhase.RESERVING:
        return release(state, key), ()
    others = elsewhere.reserved_usd
    if not _may_pay(state, one, others_usd=others, besides=key):
        return _without_summary(release(state, key), given, one, _limit_words(state, one))
    meta = state.discussions.summaries[one.discussion_id].meta
    held = state.spending.reserved.get(key)
    effect = SummariseView(
        discussion_id=one.discussion_id,
        job=one.job,
        record_id="" if held is None else held.record_id,
        provider=meta.provider,
        model=meta.model,
        name=meta.name,
        template=state.config.prompts.get(COMPRESSION_PROMPT, ""),
        plan=one.plan,
    )
    return _with(state, replace(one, phase=CompactionPhase.SUMMARISING)), (effect,)


def key_of(discussion_id: str) -> str:
    """Key under which the summary of a discussion reserves."""
    return f"{UsageKind.COMPACTION}/{discussion_id}"


def discussion_of(key: str) -> str:
    """Discussion of such a key, empty where it is another call's."""
    kind, _, discussion_id = key.partition("/")
    return discussion_id if kind == UsageKind.COMPACTION else ""


def unwritten(state: AppState, given: Stamp, happened: WriteFailed) -> Result:
    """Drop a cut that could not be written."""
    one = state.agent.compactions.get(happened.discussion_id)
    if one is None or not one.record_id or all(record.id != one.record_id for record in happened.records):
        return state, ()
    return _over(
        state, given, one, tr("The program could not save the compaction: {text}", text=happened.text)
    )


def followed(before: AppState, after: AppState, given: Stamp) -> Result:
    """Begin summaries that a call or a person waits for, end the others, and send a call whose view is in the log."""
    state, effects = _with_warnings(before, after), ()
    for call in tuple(state.turns.calls.values()):
        if call.awaits_view and not state.program.is_closing:
            state = _awaited(state, given, call)
    for one in tuple(state.agent.compactions.values()):
        own = Stamp(given.at, f"{given.seed}/view/{one.discussion_id}")
        state, more = _gone_on(state, own, one)
        effects = (*effects, *more)
    return state, effects


def _with_warnings(before: AppState, state: AppState) -> AppState:
    """Say in time what follows where nobody knows a window: a reply has filled much of the one that is assumed."""
    for name in before.turns.calls.keys() - state.turns.calls.keys():
        window = context_window(state, name)
        if window is None or not window.is_assumed or not is_told(window.used_tokens, window.limit_tokens):
            continue
        report = state.context.reports.get(name)
        usd = None if report is None or report.cost_usd is None else report.cost_usd
        written = 0.0 if report is None else (report.output_usd_per_token or 0.0) * SUMMARY_TOKENS
        price = tr("an unknown price") if usd is None else tr("about {usd}", usd=money(usd + written))
        state = notify(
            state,
            f"window/{name}",
            Level.INFO,
            tr(
                "This model's context window is unknown. The program assumes {limit_tokens:,} tokens, and {share} % of them are used.",
                limit_tokens=window.limit_tokens,
                share=round(window.share * 100),
            ),
            tr(
                "At {percent} %, the model stops reading the beginning of the discussion. Instead, it reads its journal, or a summary for {price}. The log keeps everything.",
                percent=FULL_PERCENT,
                price=price,
            ),
            discussion_id=name,
        )
    return state


def _awaited(state: AppState, given: Stamp, call: LiveCall) -> AppState:
    """Note that a call waits: for the compaction under way, or for one of its own."""
    one = state.agent.compactions.get(call.discussion_id)
    why = CutReason.FULL if call.overflow is None else CutReason.OVERFLOW
    if one is not None:
        if one.call_id == call.id:
            return state
        is_early = one.phase is CompactionPhase.WAITING
        return _with(state, replace(one, call_id=call.id, why=why if is_early else one.why))
    job = Stamp(given.at, f"{given.seed}/{call.id}").make_id()
    return _with(
        state,
        Compaction(
            discussion_id=call.discussion_id, job=job, why=why, phase=CompactionPhase.WAITING, call_id=call.id
        ),
    )


def _gone_on(state: AppState, given: Stamp, one: Compaction) -> Result:
    opened = state.discussions.open.get(one.discussion_id)
    call = state.turns.calls.get(one.discussion_id)
    is_left = one.call_id and (call is None or call.id != one.call_id or not call.awaits_view)
    if opened is None or one.discussion_id not in state.discussions.summaries or state.program.is_closing:
        return _dropped(state, one)
    if is_left and one.why is not CutReason.ASKED:
        return _dropped(state, one)
    match one.phase:
        case CompactionPhase.WAITING if one.call_id or not is_busy(state, one.discussion_id):
            return _begun(state, given, one, opened, call)
        case CompactionPhase.STORING if opened.cut is not None and opened.cut.id == one.record_id:
            state = conclude(
                _without(state, one), CommandOutcome(command_id=one.command_id, made_id=one.record_id)
            )
            return sending.view_ready(state, given, one.discussion_id)
        case _:
            return state, ()


def _begun(
    state: AppState, given: Stamp, one: Compaction, opened: OpenDiscussion, call: LiveCall | None
) -> Result:
    """Have a cut planned, of all that was said before the message that is sent; what stands in files is read again."""
    said = model_view(opened)
    message: Message | None = None
    is_running = call is not None and call.is_round
    if call is not None:
        message = next((m for m in opened.messages if m.id == call.user_message_id), None)
        if message is not None and not is_running:
            said = said[: next((at for at, m in enumerate(said) if m.id == message.id), len(said))]
    kept_out = None if call is None else call.kept_out
    version_of = "" if call is None else call.version_of
    effect = PlanView(
        discussion_id=opened.id,
        job=one.job,
        spec=stack_spec(state, opened.id, message, kept_out, is_round=is_running, version_of=version_of),
        messages=said,
        previous=opened.cut,
        why=one.why,
        at=given.at,
        sources=_neighbours(state, opened.id),
        is_running=is_running,
        attempt=max(1, call.overflows) if call is not None else 1,
        gone=opened.gone_calls,
        keeps_seals=_keeps_seals(state, opened.id),
        template=state.config.prompts.get(COMPRESSION_PROMPT, ""),
    )
    return _with(state, replace(one, phase=CompactionPhase.PLANNING)), (LoadSettings(), effect)


def _keeps_seals(state: AppState, discussion_id: str) -> bool:
    status = state.config.providers.get(state.discussions.summaries[discussion_id].meta.provider)
    return status is not None and takes_seals_alone(status.kind)


def _neighbours(state: AppState, discussion_id: str) -> dict[str, str]:
    """Names of the other discussions of the same project, by id; of none where it was started in none."""
    rows = state.discussions.summaries
    folder = rows[discussion_id].meta.folder
    if not folder:
        return {}
    return {
        name: row.meta.name
        for name, row in rows.items()
        if row.meta.folder == folder and name != discussion_id
    }


def _planned(state: AppState, given: Stamp, one: Compaction, happened: ViewPlanned) -> Result:
    plan = happened.plan
    if plan.cut is None:
        return _over(state, given, one, plan.problem)
    one = replace(one, plan=plan, reserved_usd=happened.usd or 0.0)
    if not plan.to_summarise:
        return _stored(state, given, one, plan.cut)
    if not state.config.prompts.get(COMPRESSION_PROMPT, "").strip():
        return _without_summary(state, given, one, NO_PROMPT)
    if not _may_pay(state, one):
        return _without_summary(state, given, one, _limit_words(state, one))
    key, usd = key_of(one.discussion_id), one.reserved_usd
    state = reserve(state, key, usd, one.discussion_id, record_id=given.make_id(3))
    return _with(state, replace(one, phase=CompactionPhase.RESERVING)), ()


def _may_pay(state: AppState, one: Compaction, *, others_usd: float = 0.0, besides: str = "") -> bool:
    """True if the limits let a summary be paid for, or the person said yes to the send that waits for it."""
    call = state.turns.calls.get(one.discussion_id)
    if call is not None and call.id == one.call_id and call.over_limit:
        return True
    return has_room(state, one.reserved_usd, one.discussion_id, besides=besides, elsewhere_usd=others_usd)


def _limit_words(state: AppState, one: Compaction) -> str:
    return limit_reached(state, one.discussion_id) or tr(
        "The summary may exceed a limit, or today's spend is not known yet."
    )


def _summarised(state: AppState, given: Stamp, one: Compaction | None, happened: ViewSummarised) -> Result:
    """Book what a summary cost, whatever becomes of it, first: what was reserved for it ends with that record."""
    key = upkeep_key(UsageKind.COMPACTION, happened.record_id)
    state = release(state, key_of(happened.discussion_id))
    booked: tuple[AppendRecords | SettleReserve, ...] = (SettleReserve(key, {}),)
    if happened.usage != Usage():
        record = UsageRecord(
            id=happened.record_id, at=given.at, message_id=UsageKind.COMPACTION.value, usage=happened.usage
        )
        state, is_there = add_spent(state, (record,)), happened.discussion_id in state.discussions.summaries
        append = AppendRecords(
            discussion_id=happened.discussion_id, records=(record,), token=UpkeepToken(key)
        )
        booked = (append if is_there else SettleReserve(key, payments_of((record,))),)
    if one is None or one.plan is None or one.phase is not CompactionPhase.SUMMARISING:
        return state, booked
    if happened.problem:
        state, effects = _without_summary(state, given, one, happened.problem)
    else:
        state, effects = _stored(state, given, one, with_summary(one.plan, happened.text))
    return state, (*booked, *effects)


def _without_summary(state: AppState, given: Stamp, one: Compaction, why: str) -> Result:
    """The oldest whole turns leave untold, and that is said. Where a person asked and nothing is full, nothing leaves."""
    assert one.plan is not None
    if one.why is CutReason.ASKED and not one.call_id:
        return _over(
            state,
            given,
            one,
            tr("The program did not compact the discussion: there is no summary. {why}", why=why),
        )
    state = notify(
        state,
        f"compaction/{one.discussion_id}",
        Level.WARNING,
        tr("The model no longer reads the oldest turns, and there is no summary"),
        why,
        discussion_id=one.discussion_id,
    )
    return _stored(state, given, one, without_summary(one.plan))


def _stored(state: AppState, given: Stamp, one: Compaction, cut: ViewCut) -> Result:
    """Write a cut; the view changes when it is on disk."""
    cut = replace(cut, id=given.make_id(1), at=given.at)
    with in_english():  # the log keeps it
        words = _words(state, one, cut)
    mark = MarkRecord(id=given.make_id(2), at=given.at, kind="cut", text=words)
    state = _with(state, replace(one, phase=CompactionPhase.STORING, record_id=cut.id))
    return state, (AppendRecords(discussion_id=one.discussion_id, records=(cut_record(cut), mark)),)


def _words(state: AppState, one: Compaction, cut: ViewCut) -> str:
    """Words for the person about a cut, with what made it needed where a request was too long."""
    call = state.turns.calls.get(one.discussion_id)
    overflow = call.overflow if call is not None and call.id == one.call_id else None
    why = overflow.what if overflow is not None else ""
    window = context_window(state, one.discussion_id)
    assumed = ""
    if window is not None and window.is_assumed and overflow is None:
        assumed = tr(
            "The model's context window is unknown: the program assumed {limit_tokens:,} tokens.",
            limit_tokens=window.limit_tokens,
        )
    shrunk = (
        tr(
            "The model sees only the beginning and the end of {shrunk}.",
            shrunk=count(len(cut.shrunk), tr("long result"), tr("long results")),
        )
        if cut.shrunk
        else ""
    )
    left = as_sentences(_left(cut), shrunk)
    return as_sentences(why, left or _WITHIN, tr("The log keeps everything."), assumed, is_closed=True)


_WITHIN = tr("The model still reads every message; only reasoning or tool calls were taken out.")


def _left(cut: ViewCut) -> str:
    if not cut.left_messages:
        return ""
    tokens = count(cut.left_tokens_est, tr("token"), tr("tokens"))
    if cut.left_messages == 1:
        messages = tr("The model no longer reads 1 message, about {tokens}.", tokens=tokens)
    else:
        messages = tr(
            "The model no longer reads {messages:,} messages, about {tokens}.",
            messages=cut.left_messages,
            tokens=tokens,
        )
    return as_sentences(messages, _INSTEAD[bool(cut.journal), bool(cut.summary)])


_INSTEAD = {
    (False, False): tr("The model gets nothing in place of these messages."),
    (True, False): tr("Instead of these messages, the model reads its journal."),
    (False, True): tr("Instead of these messages, the model reads a summary."),
    (True, True): tr("Instead of these messages, the model reads its journal and a summary."),
}
"""Sentence on the texts that replace messages, by a journal and a summary."""


def _over(state: AppState, given: Stamp, one: Compaction, problem: str) -> Result:
    """There is no cut: who asked is told; a call goes on as the view is, one that overflowed fails as it did."""
    state = conclude(_without(state, one), CommandOutcome(command_id=one.command_id, problem=problem))
    if not one.command_id and not one.call_id:
        state = notify(
            state,
            f"compaction/{one.discussion_id}",
            Level.INFO,
            problem,
            discussion_id=one.discussion_id,
        )
    call = state.turns.calls.get(one.discussion_id)
    if call is None or not call.awaits_view:
        return state, ()
    if call.overflow is not None:
        return turn_step.no_room(state, given, one.discussion_id, problem)
    return sending.view_ready(state, given, one.discussion_id)


def _dropped(state: AppState, one: Compaction) -> Result:
    """Nobody waits any more: a summary under way is stopped; what it cost is booked when that is known."""
    state = conclude(
        _without(state, one),
        CommandOutcome(command_id=one.command_id, problem=tr("The compaction was stopped.")),
    )
    if one.phase is CompactionPhase.RESERVING:
        state = release(state, key_of(one.discussion_id))
    return state, (StopSummary(one.discussion_id, one.job),)


def _declined(state: AppState, asked: CompactDiscussion, why: str) -> Result:
    return conclude(state, CommandOutcome(command_id=asked.command_id, problem=why)), ()


def _with(state: AppState, one: Compaction) -> AppState:
    found = with_entry(state.agent.compactions, one.discussion_id, one)
    return replace(state, agent=replace(state.agent, compactions=found))


def _without(state: AppState, one: Compaction) -> AppState:
    return replace(
        state, agent=replace(state.agent, compactions=without(state.agent.compactions, one.discussion_id))
    )


HANDLERS = Handlers(
    on_stamped(CompactDiscussion, _asked),
    on_stamped(ViewPlanned, _view_planned),
    on_stamped(ViewSummarised, _view_summarised),
)
"""Each message of compaction, with the function that decides what follows from it."""

FOLLOWS = follow(
    "turns.calls agent discussions.open", lambda before, after, moment: followed(before, after, moment.given)
)
