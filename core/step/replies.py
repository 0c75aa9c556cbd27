"""How a call ends: the reply and its usage go to the log, and only then is the call over."""

from __future__ import annotations

from dataclasses import replace

from core.errors import FailureKind
from core.step.base import Input, Result, notify, with_open
from core.step.sending import find_call
from core.text import clean
from core.values.commands import RetrySend
from core.values.discussion import CallPhase, LiveCall
from core.values.effects import AppendRecords
from core.values.events import CallEnded, CallFailed
from core.values.mapping import with_entry, without
from core.values.messages import Part, Role, Status, TextPart
from core.values.provider import Failure, StopKind, Stopped
from core.values.records import MarkRecord, MessageRecord, Record, UsageRecord
from core.values.state import AppState, Level
from core.values.usage import Usage

REPLY_MARK = "reply/"
"""Head of the token of a write that holds a reply."""

STATUS_OF_STOP = {
    StopKind.COMPLETED: Status.COMPLETE,
    StopKind.TOOL_CALLS: Status.COMPLETE,
    StopKind.REFUSED: Status.COMPLETE,
    StopKind.TRUNCATED: Status.PARTIAL,
    StopKind.CANCELLED: Status.INTERRUPTED,
}

MARK_OF_STOP = {
    StopKind.TRUNCATED: "The reply was cut off at the output limit.",
    StopKind.REFUSED: "The model declined to answer.",
    StopKind.CANCELLED: "Stopped.",
}


def ended(state: AppState, given: Input, event: CallEnded) -> Result:
    """A reply is whole, or ended as asked."""
    call = find_call(state, event.call_id)
    if call is None:
        return state, ()
    kind = event.stopped.kind
    if kind is StopKind.COMPLETED and not event.parts:
        empty = Failure(
            FailureKind.BAD_REPLY, "The model sent an empty reply", "Press Retry, or choose another model."
        )
        return failed(state, given, CallFailed(event.call_id, empty, (), event.usage))
    marks = _marks(given, event.stopped)
    return _store(state, given, call, event.parts, STATUS_OF_STOP[kind], event.usage, marks)


def _marks(given: Input, stopped: Stopped) -> tuple[Record, ...]:
    text = MARK_OF_STOP.get(stopped.kind)
    if text is None:
        return ()
    told = f"{text} ({stopped.detail})" if stopped.detail and stopped.kind is not StopKind.CANCELLED else text
    return (MarkRecord(given.make_id(2), given.at, stopped.kind.value, told),)


def failed(state: AppState, given: Input, event: CallFailed) -> Result:
    """A call failed. What was received is kept and marked; the prompt can be sent again with one key."""
    call = find_call(state, event.call_id)
    if call is None:
        return state, ()
    failure = event.failure
    opened = replace(state.open[call.discussion_id], failure=failure, failed_message_id=call.user_message_id)
    state = notify(
        with_open(state, opened),
        f"call/{call.discussion_id}",
        Level.ERROR,
        f"{_name(state, call)}: {failure.what}",
        ". ".join(part for part in (failure.remedy.removesuffix("."), failure.where) if part),
        action=RetrySend(call.discussion_id),
        action_label="Retry",
    )
    mark = MarkRecord(given.make_id(2), given.at, "failed", failure.what)
    return _store(state, given, call, event.parts, Status.PARTIAL, event.usage, (mark,))


def _name(state: AppState, call: LiveCall) -> str:
    summary = state.summaries.get(call.discussion_id)
    return repr(summary.meta.name) if summary is not None else f"Discussion {call.discussion_id}"


def _store(
    state: AppState,
    given: Input,
    call: LiveCall,
    parts: tuple[Part, ...],
    status: Status,
    usage: Usage,
    marks: tuple[Record, ...],
) -> Result:
    """Append reply, usage and marks in one write; the call is over when they are on disk."""
    records: list[Record] = []
    parts = tuple(TextPart(clean(part.text)) if isinstance(part, TextPart) else part for part in parts)
    if parts:
        records.append(
            MessageRecord(call.reply_id, given.at, Role.ASSISTANT, parts, status, call.provider, call.model)
        )
    if usage != Usage():
        records.append(UsageRecord(given.make_id(1), given.at, call.reply_id if parts else call.id, usage))
    storing = replace(call, phase=CallPhase.STORING)
    state = replace(state, calls=with_entry(state.calls, call.discussion_id, storing))
    effect = AppendRecords(
        call.discussion_id, (*records, *marks), token=REPLY_MARK + call.id, drops_reply_journal=True
    )
    return state, (effect,)


def reply_saved(state: AppState, call: LiveCall) -> AppState:
    """The reply is on disk: the call is over."""
    return replace(state, calls=without(state.calls, call.discussion_id))
