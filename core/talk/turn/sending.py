"""A turn: the words to disk, then the call, the reply to disk, then shown as done."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.language import tr
from core.kernel.secrets import scrubbed_line
from core.kernel.structures import with_entry
from core.kernel.values.discussion import (
    CallPhase,
    ComparedModel,
    Draft,
    LiveCall,
    OpenDiscussion,
    QueuedPrompt,
)
from core.kernel.values.messages import AttachmentPart, Message, Role, TextPart
from core.kernel.values.provider import Failure, StopKind
from core.kernel.values.records import MessageRecord, Record, UsageRecord, ViewRecord
from core.kernel.values.retrieval import SentRecall
from core.kernel.values.spec import StackSpec
from core.kernel.values.state import AppState, CommandOutcome, Level
from core.kernel.values.updates import (
    Result,
    conclude,
    decline,
    dismiss,
    is_busy,
    notify,
    refused_files,
    with_call,
    with_open,
    with_summary,
    without_call,
)
from core.kernel.values.usage import ReachedLimit, SpendRefusal, SpentElsewhere, Usage
from core.kernel.values.window import ViewLine
from core.services.providers.attachments import attachment_problem
from core.services.providers.profiles import fitting_temperature
from core.services.providers.switches import REASONING, SWITCHES, mark_in, with_refused
from core.services.settings.settings_messages import RefreshModels
from core.services.settings.settings_rules import profile_of
from core.services.spending.estimates import next_call_usd, other_call_usd, reply_tokens
from core.services.spending.limits import call_of, is_counted, is_shared, reached_limits
from core.services.spending.spending_messages import SettleReserve
from core.talk.context.context_spec import stack_spec
from core.talk.context.token_scale import journal_line, must_make_room
from core.talk.discussion.cuts import calls_record, line_record, passing_calls
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    DiscussionEffect,
    PromptToken,
    ReplyToken,
    WriteDraft,
    WriteMeta,
)
from core.talk.discussion.lifecycle import HISTORY_LIMIT, is_unnamed, take_model
from core.talk.turn.turn_messages import (
    CallProvider,
    CallRetrying,
    CancelCall,
    CompareReplies,
    LeaveUnsent,
    PaidCommand,
    RecallSent,
    Remark,
    ReplyArrived,
    RequestBuilt,
    ResendMessage,
    SendPrompt,
    SendRequest,
    ServerRemarked,
    TurnEffect,
)

# Records that change what a model sees of a discussion, written with the words or the round that they go
# with.

UNTOLD = timedelta(hours=1)
"""A cache whose end nobody tells is taken for cold after so long without a request."""


def view_records(
    state: AppState, given: Stamp, opened: OpenDiscussion, message_id: str, records: tuple[Record, ...]
) -> tuple[ViewRecord, ...]:
    """Line about the journal, and the calls that leave the view.

    Args:
        message_id: the person's message that `records` hold; empty: a round of a running turn, whose bytes all stay.
    """
    told = _told(state, given, opened, message_id, records)
    if not message_id or not records or not is_cold(state, opened):
        return told
    calls = passing_calls(opened)
    return (*told, calls_record(given.make_id(8), given.at, calls)) if calls else told


def is_cold(state: AppState, opened: OpenDiscussion) -> bool:
    """True if nothing of a discussion is cached any more, as far as is known: what was sent may be told otherwise."""
    now, cache, request = state.now, state.caching.caches.get(opened.id), opened.last_request
    if now is None:
        return False
    if cache is not None and cache.expires_at is not None:
        return max(cache.expires_at, cache.long_until or cache.expires_at) <= now
    return request is None or request.at + UNTOLD <= now


def _told(
    state: AppState, given: Stamp, opened: OpenDiscussion, message_id: str, records: tuple[Record, ...]
) -> tuple[ViewRecord, ...]:
    """Line that tells the model to write its journal, behind words or results that no request has held yet."""
    if message_id:
        last = message_id if records else ""
    else:
        newest = next(reversed(opened.messages), None)
        is_fresh = newest is not None and newest.role is Role.TOOL and newest.id != opened.sent_through
        last = newest.id if newest is not None and is_fresh else ""
    said = (r for r in records if isinstance(r, MessageRecord) and r.id == message_id)
    message = next((Message(id=r.id, at=r.at, role=r.role, parts=r.parts) for r in said), None)
    line = journal_line(state, opened.id, message) if last else ""
    return (line_record(given.make_id(9), given.at, ViewLine(message_id=last, text=line)),) if line else ()


HELD = tr("You cannot send: another window or terminal has open tool calls in this discussion.")
HELD_REMEDY = tr("Answer the tool calls in the other window or terminal, or close it")

MOST_SENT_RECALL, SENT_WORDS_CHARS = 50, 80
"""Messages whose recall is remembered, and how much of their words."""


def send(state: AppState, given: Stamp, command: SendPrompt) -> Result:
    """Write the prompt to disk; the call follows when it stands there."""
    opened = state.discussions.open.get(command.discussion_id)
    text = clean(command.text)
    if opened is None:
        return ignore(state, command, tr("The discussion is not open."))
    if not text.strip() and not opened.draft.attachments:
        return ignore(state, command, tr("There is nothing to send."))
    parts = prompt_parts(text, opened.draft.attachments)
    record = MessageRecord(id=given.make_id(0), at=given.at, role=Role.USER, parts=parts)
    return save_then_call(state, given, command, record.id, (record,))


def has_words(state: AppState, command: SendPrompt) -> bool:
    """True if there is something to send, in a discussion that is open."""
    opened = state.discussions.open.get(command.discussion_id)
    return opened is not None and bool(command.text.strip() or opened.draft.attachments)


def unfit_attachment(state: AppState, discussion_id: str) -> str:
    """Reason of the chosen model not to take an attached file, in a sentence; empty where it takes all.

    The call would fail before anything is sent, and the words would stand in the log below a failure that a retry cannot mend.
    """
    opened = state.discussions.open.get(discussion_id)
    meta = state.discussions.summaries[discussion_id].meta if opened is not None else None
    if opened is None or meta is None or not meta.provider:
        return ""
    profile = profile_of(state, meta.provider, meta.model)
    return next(filter(None, (attachment_problem(one, profile) for one in opened.draft.attachments)), "")


def prompt_parts(text: str, attachments: tuple[AttachmentPart, ...]) -> tuple[TextPart | AttachmentPart, ...]:
    """Parts of a message of the person; blank text gives no part."""
    return (*((TextPart(text),) if text.strip() else ()), *attachments)


def ignore(state: AppState, command: PaidCommand, why: str) -> Result:
    """There is nothing to do; who waits for the command is told why."""
    return conclude(state, CommandOutcome(command_id=command.command_id, problem=why)), ()


def refuse(state: AppState, command: PaidCommand, refusal: SpendRefusal) -> Result:
    """Refuse a send because of a limit: write and call nothing; offer the command that a yes would send, or let it wait."""
    if command.awaits_limit:
        waits = replace(command, command_id="")
        opened = replace(state.discussions.open[command.discussion_id], refusal=None, awaits_limit=waits)
        return conclude(with_open(state, opened), CommandOutcome(command_id=command.command_id)), ()
    if command.command_id:
        return conclude(
            state, CommandOutcome(command_id=command.command_id, problem=refusal.sentence, refusal=refusal)
        ), ()
    return with_open(state, replace(state.discussions.open[command.discussion_id], refusal=refusal)), ()


def leave(state: AppState, asked: LeaveUnsent) -> AppState:
    """Drop the message that waits for a limit."""
    opened = state.discussions.open.get(asked.discussion_id)
    if opened is None or opened.awaits_limit is None:
        return state
    return with_open(state, replace(opened, awaits_limit=None))


def refusal_of(command: PaidCommand, reached: tuple[ReachedLimit, ...]) -> SpendRefusal:
    """Limits that stand against a command, and the same with the person's yes."""
    return SpendRefusal(reached, replace(command, over_limit=True, awaits_limit=False, command_id=""))


def save_then_call(
    state: AppState,
    given: Stamp,
    command: PaidCommand,
    user_message_id: str,
    records: tuple[Record, ...],
    *,
    version_of: str = "",
    queued: QueuedPrompt | None = None,
    is_round: bool = False,
    compared: ComparedModel | None = None,
    is_beside: bool = False,
) -> Result:
    """Open a call in phase SAVING and append `records`, none where the log has the words.

    The call starts when the disk has come to that and settings that were asked for before are loaded: all of it is in
    what it sends. One call at a time in a discussion, none beside tool calls that another program has there, and none past
    a spend limit without the person's yes.

    Args:
        version_of: the reply that the one to come is another version of; queued: the queue's prompt that `records`
            hold, None where they are of the composer or of the log.
        is_round: it goes on with a turn after tool results; compared: who answers instead of the discussion's model.
        is_beside: another call of the same comparison runs, and the log has the words.
    """
    opened = state.discussions.open[command.discussion_id]
    turn = state.agent.turns.get(opened.id)
    at_work = turn is not None and any(
        not one.is_kept for one in turn.calls
    )  # a round goes when all results are on disk
    is_called = opened.id in state.turns.calls
    if not is_beside and (is_called or (is_busy(state, opened.id) and (at_work or not is_round))):
        return ignore(state, command, tr("A reply is under way in this discussion."))
    if (
        opened.held_calls
    ):  # a request would tell the model that they were interrupted, and mix two turns in one log
        return decline(state, command.command_id, f"call/{opened.id}", HELD, HELD_REMEDY), ()
    model = (compared.provider, compared.model) if compared is not None else None
    reached = () if command.over_limit else reached_limits(state, opened.id, model=model)
    if reached:
        return refuse(state, command, refusal_of(command, reached))
    state, named = take_model(state, opened.id)
    meta = state.discussions.summaries[opened.id].meta
    asked = compared or ComparedModel(provider=meta.provider, model=meta.model)
    kept_out = opened.kept_out if queued is None else queued.kept_out
    earlier = state.context.kept_out_of.get(user_message_id, ())  # however often it is sent
    if kept_out := tuple(dict.fromkeys((*earlier, *kept_out))):
        state = keep_out_of(state, user_message_id, kept_out)
    words = _words(command, queued)
    call = LiveCall(
        id=given.make_id(1),
        discussion_id=opened.id,
        user_message_id=user_message_id,
        reply_id=given.make_id(2),
        provider=asked.provider,
        model=asked.model,
        started_at=given.at,
        command_id=command.command_id,
        reserved_usd=next_call_usd(state, opened.id, words)
        if compared is None
        else other_call_usd(state, opened.id, asked.provider, asked.model, words),
        over_limit=command.over_limit,
        version_of=version_of,
        was_queued=queued is not None,
        kept_out=kept_out,
        after_change=state.config.asked,
        is_round=is_round,
        compared=compared,
    )
    hold = opened.queue_hold if opened.queue else ""
    if opened.refusal is not None or opened.awaits_limit is not None or hold != opened.queue_hold:
        state = with_open(state, replace(opened, refusal=None, awaits_limit=None, queue_hold=hold))
    state = with_call(state, call)
    state = dismiss(state, f"call/{opened.id}")
    queued_id = "" if queued is None else queued.id
    token = PromptToken(call.id, is_draft=isinstance(command, SendPrompt | CompareReplies))
    records = (*records, *view_records(state, given, opened, "" if is_round else user_message_id, records))
    if (is_round or is_beside) and not records:  # the log has all of it
        state, started = _call_or_wait(state, given, call)
        return state, (*named, *started)
    return state, (
        *named,
        AppendRecords(discussion_id=opened.id, records=records, token=token, queued_id=queued_id),
    )


def keep_out_of(state: AppState, message_id: str, sources: tuple[str, ...]) -> AppState:
    """Keep sources out of what is recalled for a message, whenever its reply is asked for."""
    known = with_entry(state.context.kept_out_of, message_id, sources)
    return replace(state, context=replace(state.context, kept_out_of=known))


def _words(command: PaidCommand, queued: QueuedPrompt | None) -> str:
    if queued is not None:
        return queued.text
    return command.text if isinstance(command, SendPrompt | ResendMessage | CompareReplies) else ""


def _as_asked(state: AppState, call: LiveCall) -> AppState:
    """The state in which a call's model is the discussion's: a comparison asks others."""
    summary = state.discussions.summaries[call.discussion_id]
    meta = replace(summary.meta, provider=call.provider, model=call.model)
    meta = replace(
        meta, temperature=fitting_temperature(profile_of(state, call.provider, call.model), meta.temperature)
    )
    return with_summary(state, replace(summary, meta=meta))


def _spec_of(state: AppState, call: LiveCall, message: Message) -> StackSpec:
    """Inputs of the stack of a call; without memory where a comparison asks so."""
    spec = stack_spec(
        state if call.compared is None else _as_asked(state, call),
        call.discussion_id,
        message,
        call.kept_out,
        is_round=call.is_round,
        version_of=call.version_of,
    )
    if call.compared is None or call.compared.has_memory:
        return spec
    knowledge = replace(spec.knowledge, digest_enabled=False)
    return replace(spec, knowledge=knowledge, fact_domains=(), recall=None)


def column_failed(state: AppState, call: LiveCall, problem: str) -> AppState:
    """Say in its column why a compared reply is not whole."""
    opened = state.discussions.open[call.discussion_id]
    if opened.comparison is None:
        return state
    return with_open(
        state, replace(opened, comparison=opened.comparison.with_column(call.id, problem=problem))
    )


def start_call(state: AppState, given: Stamp, call: LiveCall, number: int = 0) -> Result:
    """The words are on disk, and what was asked for before holds: call the provider.

    Args:
        number: of the calls that start at once, from 0.
    """
    opened = state.discussions.open[call.discussion_id]
    message = _message(opened, call.user_message_id)
    if message is None:
        state = conclude(
            state,
            CommandOutcome(
                command_id=call.command_id, problem=tr("The message was deleted in the meantime.")
            ),
        )
        return without_call(state, call), ()
    state = conclude(state, CommandOutcome(command_id=call.command_id, made_id=message.id))
    may_cut = call.compared is None and not (call.had_view or call.is_round)
    if may_cut and must_make_room(state, opened.id, message):
        waits = replace(call, phase=CallPhase.COMPACTING, is_saved=False, awaits_view=True)
        return with_call(state, waits), ()
    call = replace(call, phase=CallPhase.WAITING, started_at=given.at, is_saved=False)
    state = with_call(state, call)
    state = with_open(state, replace(opened, failed_message_id="", failure=None))
    spec = _spec_of(state, call, message)
    length = reply_tokens(state, call.discussion_id)
    call_effect = CallProvider(
        call_id=call.id,
        reply_id=call.reply_id,
        request_id=given.make_id(3 + number),
        user_message_id=message.id,
        spec=spec,
        reply_tokens=length,
        version_of=call.version_of,
        is_compared=call.compared is not None,
    )
    if call.model:
        return state, (call_effect,)
    return state, (
        call_effect,
        RefreshModels(call.provider),
    )  # the server may refuse: the retry then knows its first


def _message(opened: OpenDiscussion, message_id: str) -> Message | None:
    for entry in reversed(opened.entries):
        if isinstance(entry, Message) and entry.id == message_id and not entry.is_deleted:
            return entry
    return None


def prompt_saved(
    state: AppState, given: Stamp, call: LiveCall, records: tuple[Record, ...], *, is_draft: bool
) -> Result:
    """The prompt's records are on disk and applied: empty the draft when it was that, then call.

    A call that was stopped while it saved is not made; the prompt can be sent again.
    """
    opened = state.discussions.open[call.discussion_id]
    effects: tuple[DiscussionEffect, ...] = ()
    message = _message(opened, call.user_message_id)
    is_prompt = is_draft or call.was_queued
    if is_prompt and message is not None and any(record.id == message.id for record in records):
        state, effects = _take_over(state, opened, message, is_draft=is_draft)
    if call.phase is CallPhase.STOPPING:
        return _stopped(state, call), effects
    state, started = _call_or_wait(state, given, call)
    return state, (*effects, *started)


def _call_or_wait(state: AppState, given: Stamp, call: LiveCall) -> Result:
    """Call the provider once what was asked for before holds; the log has what the call answers."""
    if call.after_change > state.config.settled:
        return with_call(state, replace(call, is_saved=True)), ()
    return start_call(state, given, call)


def settled(state: AppState, given: Stamp) -> Result:
    """Changed settings are saved: start the calls that waited for them, in the order of the requests."""
    due = [c for c in state.turns.calls.values() if c.is_saved and c.after_change <= state.config.settled]
    effects: list[TurnEffect] = []
    for number, call in enumerate(sorted(due, key=lambda one: (one.started_at, one.id))):
        if call.phase is CallPhase.STOPPING:
            state = _stopped(state, call)
            continue
        state, started = start_call(state, given, call, number)
        effects += started
    return state, tuple(effects)


def _stopped(state: AppState, call: LiveCall) -> AppState:
    """The state after a call that was stopped before it was made: its words are kept."""
    state = conclude(state, CommandOutcome(command_id=call.command_id, made_id=call.user_message_id))
    opened = state.discussions.open[call.discussion_id]
    state = with_open(state, replace(opened, failed_message_id=call.user_message_id))
    return without_call(state, call)


def end_while_saving(call: LiveCall) -> StopKind:
    """End of a call that has saved its prompt: stopped meanwhile, or none yet."""
    return StopKind.CANCELLED if call.phase is CallPhase.STOPPING else StopKind.COMPLETED


def draft_after(draft: Draft, text: str, attachments: tuple[AttachmentPart, ...]) -> Draft:
    """Rest of a draft that stays in the composer once these words and files have left it."""
    later = draft.text if draft.text.strip() != text.strip() else ""
    return Draft(later, tuple(part for part in draft.attachments if part not in attachments))


def _take_over(state: AppState, opened: OpenDiscussion, message: Message, *, is_draft: bool) -> Result:
    """Forget the draft that was sent, remember the prompt, and name an unnamed discussion after it."""
    effects: list[DiscussionEffect] = []
    if is_draft:
        draft = draft_after(opened.draft, message.text, message.attachments)
        state = dismiss(state, refused_files(opened.id))
        gone = state.context.kept_out_of.get(message.id, ())
        later = tuple(source for source in opened.kept_out if source not in gone)
        state = with_open(state, replace(opened, draft=draft, kept_out=later))
        effects.append(WriteDraft(opened.id, draft))
    if message.text:
        history = (*(p for p in state.discussions.prompt_history if p != message.text), message.text)
        state = replace(
            state, discussions=replace(state.discussions, prompt_history=history[-HISTORY_LIMIT:])
        )
    summary = state.discussions.summaries[opened.id]
    if message.text and is_unnamed(summary.meta, opened):
        meta = replace(summary.meta, name=scrubbed_line(message.text, 48))
        state = with_summary(state, replace(summary, meta=meta))
        effects.append(WriteMeta(meta))
    return state, tuple(effects)


def cancel(state: AppState, call: LiveCall) -> Result:
    """Stop a call; what has arrived is kept. A call that is still saving stops when it has saved."""
    if call.phase in (CallPhase.STOPPING, CallPhase.STORING):
        return state, ()
    if call.awaits_view:
        return _stopped(state, call), ()
    stopping = replace(call, phase=CallPhase.STOPPING)
    return with_call(state, stopping), (CancelCall(call.id),)


def find_call(state: AppState, call_id: str) -> LiveCall | None:
    """The live call with that id."""
    return next((call for call in state.turns.calls.values() if call.id == call_id), None)


def request_built(state: AppState, event: RequestBuilt) -> Result:
    """Take in a call's cost, known now. It goes when other programs see what it reserves, at once where they need not.

    An unexplained change of the prefix is said; a request that parts from a warm one though nobody asked for that is held until
    the person has seen its price.
    """
    call = find_call(state, event.call_id)
    if call is None:
        return state, ()
    if event.warning:
        state = notify(
            state,
            f"prefix/{call.discussion_id}",
            Level.WARNING,
            event.warning,
            discussion_id=call.discussion_id,
        )
    reserved_usd = call.reserved_usd if event.usd is None else event.usd
    call = replace(call, built=event.record, reserved_usd=reserved_usd, is_priced=event.usd is not None)
    views = (AppendRecords(discussion_id=call.discussion_id, records=event.views),) if event.views else ()
    if event.unasked and call.compared is None:
        held = replace(call, phase=CallPhase.STOPPING, held=event.unasked)
        return with_call(state, held), (*views, CancelCall(call.id))
    if is_shared(state, call.discussion_id, reserved_usd):
        return with_call(state, call), views
    state, effects = _admit(state, replace(call, is_claimed=True))
    return state, (*views, *effects)


def recall_sent(state: AppState, given: Stamp, event: RecallSent) -> AppState:
    """Keep what went along with a message, for the person to see, as long as the program runs."""
    recalled, words = event.recalled, scrubbed_line(event.words, SENT_WORDS_CHARS)
    sent = SentRecall(
        discussion_id=event.discussion_id,
        message_id=event.message_id,
        at=given.at,
        words=words,
        passages=recalled.passages,
        tokens_est=recalled.tokens_est,
    )
    others = tuple(one for one in state.context.sent_recall if one.message_id != sent.message_id)
    kept = (sent, *others)[:MOST_SENT_RECALL]
    return replace(state, context=replace(state.context, sent_recall=kept))


def claimed(state: AppState, key: str, elsewhere: SpentElsewhere) -> Result:
    """Go on after other programs see a call's reserve: send the call, hold it, or stop it at a limit.

    Args:
        elsewhere: what they had under way before it. One that is over by now reserves no more.
    """
    call = find_call(state, call_of(key))
    if call is None:
        return state, (SettleReserve(key, {}),)
    return _admit(state, replace(call, is_claimed=True, elsewhere_usd=elsewhere.reserved_usd))


def admit_held(state: AppState) -> Result:
    """Let go what was held for the day's count, known now, in the order in which it was asked for."""
    held = [call for call in state.turns.calls.values() if call.is_claimed and not call.is_out]
    effects: list[TurnEffect | DiscussionEffect] = []
    for call in sorted(held, key=lambda one: (one.started_at, one.id)):
        if call.phase is not CallPhase.STOPPING:
            state, more = _admit(state, call)
            effects += more
    return state, tuple(effects)


def _admit(state: AppState, call: LiveCall) -> tuple[AppState, tuple[TurnEffect | DiscussionEffect, ...]]:
    """The last word of the limits, whoever asked and whatever was expected before. What is sent is logged.

    Against a call count those that went before it, with what they are expected to cost, in other programs too. While a limit
    asks for what nobody has added up, it is held.
    """
    if call.phase is CallPhase.STOPPING:
        return with_call(state, call), ()
    if not call.over_limit:
        if not is_counted(state, call.discussion_id):
            return with_call(state, call), ()
        reached = reached_limits(
            _only_what_is_out(state),
            call.discussion_id,
            elsewhere_usd=call.elsewhere_usd,
            model=(call.provider, call.model),
            is_priced=call.is_priced,
        )
        if reached:
            stopped = replace(call, phase=CallPhase.STOPPING, refused=reached)
            return with_call(state, stopped), (CancelCall(call.id),)
    sent = (
        ()
        if call.built is None
        else (AppendRecords(discussion_id=call.discussion_id, records=(call.built,)),)
    )
    return with_call(state, replace(call, is_out=True)), (*sent, SendRequest(call.id))


def _only_what_is_out(state: AppState) -> AppState:
    """The state in which calls that were not let go cost nothing."""
    calls = {
        name: call if call.is_out else replace(call, reserved_usd=0.0)
        for name, call in state.turns.calls.items()
    }
    return replace(state, turns=replace(state.turns, calls=calls))


def grown(state: AppState, given: Stamp, event: ReplyArrived) -> AppState | None:
    """The state with more of a reply that is shown already; None where this delta is more than that."""
    turns = state.turns
    for name, call in turns.calls.items():
        if call.id != event.call_id:
            continue
        if call.first_token_at is None or call.retry_at is not None or call.phase not in _GROWING:
            return None
        text, reasoning = call.text + event.text, call.reasoning + event.reasoning
        calls = {**turns.calls, name: replace(call, text=text, reasoning=reasoning)}
        return replace(state, now=given.at, turns=replace(turns, calls=calls))
    return None


_GROWING = frozenset({CallPhase.STREAMING, CallPhase.STOPPING})


def arrived(state: AppState, given: Stamp, event: ReplyArrived) -> Result:
    """More of a reply."""
    call = find_call(state, event.call_id)
    if call is None:
        return state, ()
    phase = call.phase if call.phase is CallPhase.STOPPING else CallPhase.STREAMING
    call = replace(
        call,
        phase=phase,
        text=call.text + event.text,
        reasoning=call.reasoning + event.reasoning,
        first_token_at=call.first_token_at or given.at,
        retry_at=None,
        retry_reason="",
    )
    return with_call(state, call), ()


def retrying(state: AppState, given: Stamp, event: CallRetrying) -> Result:
    """The provider asked us to wait; say how long and why."""
    call = find_call(state, event.call_id)
    if call is None or call.phase is CallPhase.STOPPING:
        return state, ()
    call = replace(
        call,
        phase=CallPhase.RETRYING,
        retry_at=given.at + timedelta(seconds=event.wait_s),
        retry_reason=event.reason,
    )
    return with_call(state, call), ()


def server_remarked(state: AppState, event: ServerRemarked) -> AppState:
    """Say what a server did with a request, and plan nothing for a model that it has refused."""
    call = find_call(state, event.call_id)
    if call is None:
        return state
    name = call.model or call.provider
    text, detail, key = event.text, "", f"{event.kind}/{call.provider}/{call.model}"
    match event.kind:
        case Remark.OTHER:
            key = f"{key}/{text}"
        case Remark.REASONING:
            detail = text
            text = tr(
                "{model} refused its own earlier thinking. The program sent the request again without that thinking. It does so for this model for 30 days. Nothing is lost.",
                model=name,
            )
            state = dismiss(state, f"{Remark.THOUGHTS}/{call.provider}/{call.model}/{call.discussion_id}")
            state = _with_refused(state, mark_in(state, call.provider, call.model), REASONING)
        case Remark.THOUGHTS:
            detail, key = text, f"{key}/{call.discussion_id}"
            text = tr(
                "{model} refused earlier thinking of this discussion. The program sent the request again without that thinking. It leaves that thinking out from now on. Nothing is lost.",
                model=name,
            )
            mark = mark_in(state, call.provider, call.model, call.discussion_id)
            state = _with_refused(state, mark, event.through)
        case Remark.SWITCH:
            detail = text
            text = tr(
                "{model} refused your change in the middle of the discussion. So the program moved the change to the beginning and sent the request again. You pay for the whole discussion once more. For 30 days, changes for this model go to the beginning. Nothing is lost.",
                model=name,
            )
            state = _with_refused(state, mark_in(state, call.provider, call.model), SWITCHES)
    if not event.text:
        return state  # it was told when it was refused
    return notify(state, key, Level.WARNING, text, detail, discussion_id=call.discussion_id)


def _with_refused(state: AppState, mark: str, name: str) -> AppState:
    refusals = with_refused(state.caching.refusals, mark, [name])
    return replace(state, caching=replace(state.caching, refusals=refusals))


# Room in the model's window for a call: it waits until the view is cut, and goes then; after an overflow
# once more.


def make_room(state: AppState, given: Stamp, call: LiveCall, failure: Failure, usage: Usage) -> Result:
    """A request was longer than the model's window: its call waits until the view is cut, and goes again then.

    What it cost is booked, and its id is free: the same turn asks under another. The log is told why by the mark of the
    cut, or by that of the failure where none can be made.
    """
    again = replace(
        call,
        id=given.make_id(3),
        phase=CallPhase.COMPACTING,
        awaits_view=True,
        overflows=call.overflows + 1,
        overflow=failure,
        built=None,
        is_claimed=False,
        is_out=False,
        elsewhere_usd=0.0,
        retry_at=None,
        retry_reason="",
        reserved_usd=next_call_usd(state, call.discussion_id),
    )
    spent = (
        ()
        if usage == Usage()
        else (
            UsageRecord(
                id=given.make_id(1),
                at=given.at,
                message_id=call.id,
                usage=usage,
                paid_provider=call.provider,
                paid_model=call.model,
            ),
        )
    )
    return with_call(state, again), (
        AppendRecords(discussion_id=call.discussion_id, records=spent, token=ReplyToken(call.id)),
    )


def view_ready(state: AppState, given: Stamp, discussion_id: str) -> Result:
    """The model's view is as it shall be: the call that waited for that goes."""
    call = state.turns.calls.get(discussion_id)
    if call is None or not call.awaits_view:
        return state, ()
    call = replace(
        call, phase=CallPhase.SAVING, awaits_view=False, had_view=True, after_change=state.config.asked
    )
    if call.after_change > state.config.settled:  # configuration and memory files are being read anew
        return with_call(state, replace(call, is_saved=True)), ()
    return start_call(state, given, call)
