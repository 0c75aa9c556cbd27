"""A turn: the words to disk, then the call, the reply to disk, then shown as done."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from core.step.base import Input, Result, dismiss, notify, with_open, with_summary
from core.step.context import stack_spec
from core.step.discussions import HISTORY_LIMIT, UNNAMED
from core.text import clean, one_line
from core.values.commands import RetrySend, SendPrompt
from core.values.discussion import CallPhase, Draft, LiveCall, OpenDiscussion
from core.values.effects import AppendRecords, CallProvider, CancelCall, Effect, WriteDraft, WriteMeta
from core.values.events import CallRetrying, ReplyArrived, RequestBuilt
from core.values.mapping import with_entry, without
from core.values.messages import Message, Role, TextPart
from core.values.records import DeleteRecord, MessageRecord, Record
from core.values.state import AppState, Level


def send(state: AppState, given: Input, command: SendPrompt) -> Result:
    """Write the prompt to disk; the call follows when it stands there."""
    chosen = command.discussion_id
    opened = state.open.get(chosen)
    text = clean(command.text)
    if opened is None or chosen in state.calls:
        return state, ()
    if not text.strip() and not opened.draft.attachments:
        return state, ()
    parts = (*((TextPart(text),) if text.strip() else ()), *opened.draft.attachments)
    record = MessageRecord(given.make_id(0), given.at, Role.USER, parts)
    return _save_then_call(state, given, opened, record.id, (record,))


def _save_then_call(
    state: AppState, given: Input, opened: OpenDiscussion, user_message_id: str, records: tuple[Record, ...]
) -> Result:
    """Open a call in phase SAVING and append `records`; without any the call starts at once."""
    meta = state.summaries[opened.id].meta
    call = LiveCall(
        id=given.make_id(1),
        discussion_id=opened.id,
        user_message_id=user_message_id,
        reply_id=given.make_id(2),
        provider=meta.provider,
        model=meta.model,
        started_at=given.at,
    )
    state = replace(state, calls=with_entry(state.calls, opened.id, call))
    state = dismiss(state, f"call/{opened.id}")
    if records:
        return state, (AppendRecords(opened.id, records, token=call.id),)
    return start_call(state, given, call)


def start_call(state: AppState, given: Input, call: LiveCall) -> Result:
    """The words are on disk: call the provider."""
    opened = state.open[call.discussion_id]
    message = _message(opened, call.user_message_id)
    if message is None:
        return replace(state, calls=without(state.calls, call.discussion_id)), ()
    call = replace(call, phase=CallPhase.WAITING, started_at=given.at)
    state = replace(state, calls=with_entry(state.calls, call.discussion_id, call))
    state = with_open(state, replace(opened, failed_message_id="", failure=None))
    spec = stack_spec(state, call.discussion_id, message)
    return state, (CallProvider(call.id, call.reply_id, given.make_id(3), message.id, spec),)


def _message(opened: OpenDiscussion, message_id: str) -> Message | None:
    for entry in reversed(opened.entries):
        if isinstance(entry, Message) and entry.id == message_id and not entry.is_deleted:
            return entry
    return None


def prompt_saved(state: AppState, given: Input, call: LiveCall, records: tuple[Record, ...]) -> Result:
    """The prompt's records are on disk and applied: empty the draft when it was that, then call.

    A call that was stopped while it saved is not made; the prompt can be sent again.
    """
    opened = state.open[call.discussion_id]
    effects: tuple[Effect, ...] = ()
    message = _message(opened, call.user_message_id)
    if message is not None and any(record.id == message.id for record in records):
        state, effects = _clear_draft(state, opened, message)
    if call.phase is CallPhase.STOPPING:
        stopped = replace(state.open[opened.id], failed_message_id=call.user_message_id)
        state = replace(with_open(state, stopped), calls=without(state.calls, opened.id))
        return state, effects
    state, started = start_call(state, given, call)
    return state, (*effects, *started)


def _clear_draft(state: AppState, opened: OpenDiscussion, message: Message) -> Result:
    """Forget the draft that was sent, remember the prompt, and name an unnamed discussion after it."""
    later = opened.draft.text if opened.draft.text.strip() != message.text.strip() else ""
    draft = Draft(later)
    state = with_open(state, replace(opened, draft=draft))
    effects: list[Effect] = [WriteDraft(opened.id, draft)]
    if message.text:
        history = (*(p for p in state.prompt_history if p != message.text), message.text)
        state = replace(state, prompt_history=history[-HISTORY_LIMIT:])
    summary = state.summaries[opened.id]
    if summary.meta.name == UNNAMED and message.text:
        meta = replace(summary.meta, name=one_line(message.text, 48))
        state = with_summary(state, replace(summary, meta=meta))
        effects.append(WriteMeta(meta))
    return state, tuple(effects)


def retry(state: AppState, given: Input, command: RetrySend) -> Result:
    """Send again what failed. A part of a reply that came before the failure makes room (it stays in the log)."""
    opened = state.open.get(command.discussion_id)
    if opened is None or not opened.failed_message_id or command.discussion_id in state.calls:
        return state, ()
    return ask_again(state, given, opened, opened.failed_message_id)


def regenerate(state: AppState, given: Input, discussion_id: str) -> Result:
    """Ask again for the reply to the last user message."""
    opened = state.open.get(discussion_id)
    if opened is None or discussion_id in state.calls:
        return state, ()
    asked = [m for m in opened.messages if m.role is Role.USER]
    return ask_again(state, given, opened, asked[-1].id) if asked else (state, ())


def ask_again(state: AppState, given: Input, opened: OpenDiscussion, user_message_id: str) -> Result:
    """Delete what followed a user message and call anew."""
    messages = opened.messages
    position = next((i for i, m in enumerate(messages) if m.id == user_message_id), None)
    if position is None:
        return state, ()
    deleted: tuple[Record, ...] = tuple(
        DeleteRecord(given.make_id(10 + i), given.at, m.id) for i, m in enumerate(messages[position + 1 :])
    )
    return _save_then_call(state, given, opened, user_message_id, deleted)


def cancel(state: AppState, discussion_id: str) -> Result:
    """Stop a call; what has arrived is kept. A call that is still saving stops when it has saved."""
    call = state.calls.get(discussion_id)
    if call is None or call.phase in (CallPhase.STOPPING, CallPhase.STORING):
        return state, ()
    stopping = replace(call, phase=CallPhase.STOPPING)
    return replace(state, calls=with_entry(state.calls, discussion_id, stopping)), (CancelCall(call.id),)


def find_call(state: AppState, call_id: str) -> LiveCall | None:
    """The live call with that id."""
    return next((call for call in state.calls.values() if call.id == call_id), None)


def request_built(state: AppState, event: RequestBuilt) -> Result:
    """Log what is being sent; an unexplained change of the prefix is said."""
    call = find_call(state, event.call_id)
    if call is None:
        return state, ()
    if event.warning:
        state = notify(state, f"prefix/{call.discussion_id}", Level.WARNING, event.warning)
    return state, (AppendRecords(call.discussion_id, (*event.views, event.record)),)


def arrived(state: AppState, given: Input, event: ReplyArrived) -> Result:
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
    return replace(state, calls=with_entry(state.calls, call.discussion_id, call)), ()


def retrying(state: AppState, given: Input, event: CallRetrying) -> Result:
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
    return replace(state, calls=with_entry(state.calls, call.discussion_id, call)), ()
