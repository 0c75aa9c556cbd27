"""End of a call: the reply and its usage go to the log, and only then is the call over."""

from __future__ import annotations

from msgspec.structs import replace

from core.base.errors import FailureKind
from core.base.stamp import Stamp
from core.base.text import clean
from core.discussion.messages import AppendRecords, ReplyToken
from core.providers.endings import NO_CALL, told_of
from core.turn.call_ids import used_ids, with_own_ids
from core.turn.messages import CallEnded, CallFailed, RetrySend
from core.turn.queue import hold, hold_after, hold_at_limit
from core.turn.room import make_room
from core.turn.sending import find_call
from core.values.discussion import CallPhase, LiveCall
from core.values.messages import Part, Role, Status, TextPart, ToolCallPart
from core.values.provider import FAILED, WHOLE_REPLY, Failure, StopKind
from core.values.records import MarkRecord, MessageRecord, Record, UsageRecord
from core.values.spending import UNPRICED_REMEDY, SpendRefusal
from core.values.state import AppState, Level
from core.values.updates import Result, notify, with_call, with_open, without_call
from core.values.usage import Usage

FAILURE_OF_STOP = {
    StopKind.TRUNCATED: FailureKind.CUT_OFF,
    StopKind.REFUSED: FailureKind.DECLINED,
    StopKind.BROKEN: FailureKind.BAD_REPLY,
    StopKind.UNKNOWN: FailureKind.UNKNOWN_END,
}
"""Half a reply is no reply: where it is not whole the call has failed, in every front end, and what came is kept."""

_AGAIN = "Press Retry, or choose another model."


def ended(state: AppState, given: Stamp, event: CallEnded) -> Result:
    """A reply is whole, was stopped by the person, or was ended before its end."""
    call = find_call(state, event.call_id)
    if call is None:
        return state, ()
    if call.refused:
        return _refused(state, given, call)
    kind = event.stopped.kind
    if kind in WHOLE_REPLY and (why := _what_is_missing(event)):
        empty = Failure(FailureKind.BAD_REPLY, why, _AGAIN)
        return failed(state, given, CallFailed(event.call_id, empty, event.parts, event.usage))
    state = hold_after(state, call.discussion_id, kind)
    if kind in WHOLE_REPLY:
        return _store(state, given, call, event.parts, Status.COMPLETE, event.usage, ())
    if kind is StopKind.CANCELLED:
        mark = MarkRecord(given.make_id(2), given.at, kind.value, "Stopped.")
        return _store(state, given, call, event.parts, Status.INTERRUPTED, event.usage, (mark,))
    what, remedy = told_of(event.stopped)
    failure = Failure(FAILURE_OF_STOP[kind], what, f"{remedy}.")
    state = _with_failure(state, call, failure, Level.WARNING)
    mark = MarkRecord(given.make_id(2), given.at, kind.value, f"{what}.")
    return _store(state, given, call, event.parts, Status.PARTIAL, event.usage, (mark,))


def _what_is_missing(event: CallEnded) -> str:
    """Thing that a reply lacks which its provider ended as a whole one, in a sentence; empty for nothing."""
    calls = [part for part in event.parts if isinstance(part, ToolCallPart)]
    if event.stopped.kind is StopKind.TOOL_CALLS and not calls:
        return f"{NO_CALL} ({event.stopped.detail})" if event.stopped.detail else NO_CALL
    has_words = any(isinstance(part, TextPart) and part.text.strip() for part in event.parts)
    return "" if calls or has_words else "The model sent an empty reply"


def asked_again(
    state: AppState, given: Stamp, call: LiveCall, usage: Usage, records: tuple[Record, ...]
) -> Result:
    """End a call that brought no reply: what it cost goes to the log with these records, and the turn goes on."""
    return _store(state, given, call, (), Status.COMPLETE, usage, records)


def _refused(state: AppState, given: Stamp, call: LiveCall) -> Result:
    """A limit stood against a call when its cost was known: nothing was sent, the words are kept, a yes sends them."""
    refusal = SpendRefusal(call.refused, RetrySend(call.discussion_id, over_limit=True))
    remedy = "Send it again past the limit, or raise the limit in Caching, Overview."
    if refusal.is_unpriced:
        remedy = f"Send it again past the limit. {UNPRICED_REMEDY}."
    failure = Failure(FailureKind.SPEND_LIMIT, refusal.sentence.removesuffix("."), remedy)
    state, effects = failed(state, given, CallFailed(call.id, failure, (), Usage()))
    state = hold_at_limit(state, call.discussion_id, refusal.sentence)
    opened = state.discussions.open[call.discussion_id]
    return with_open(state, replace(opened, refusal=refusal)), effects


def failed(state: AppState, given: Stamp, event: CallFailed) -> Result:
    """A call failed. What was received is kept and marked; the prompt can be sent again with one key."""
    call = find_call(state, event.call_id)
    if call is None:
        return state, ()
    failure = event.failure
    if _may_go_again(call, event):
        return make_room(state, given, call, failure, event.usage)
    state = hold(state, call.discussion_id, f"What came before it failed: {failure.what.removesuffix('.')}.")
    state = _with_failure(state, call, failure, Level.ERROR)
    mark = MarkRecord(given.make_id(2), given.at, FAILED, failure.what)
    return _store(state, given, call, event.parts, Status.PARTIAL, event.usage, (mark,))


def _with_failure(state: AppState, call: LiveCall, failure: Failure, level: Level) -> AppState:
    """The state in which a call has failed, told to the person with Retry."""
    opened = replace(
        state.discussions.open[call.discussion_id], failure=failure, failed_message_id=call.user_message_id
    )
    return notify(
        with_open(state, opened),
        f"call/{call.discussion_id}",
        level,
        f"{_name(state, call)}: {failure.what}",
        ". ".join(part for part in (failure.remedy.removesuffix("."), failure.where) if part),
        action=RetrySend(call.discussion_id),
        action_label="Retry",
        discussion_id=call.discussion_id,
    )


MOST_OVERFLOWS = 2
"""Times that a request which is longer than the window is sent again with less in it."""


def _may_go_again(call: LiveCall, event: CallFailed) -> bool:
    is_too_long = event.failure.kind is FailureKind.CONTEXT_TOO_LONG and not event.parts
    return is_too_long and call.overflows < MOST_OVERFLOWS and call.phase is not CallPhase.STOPPING


def no_room(state: AppState, given: Stamp, discussion_id: str, why: str) -> Result:
    """Nothing more could leave the view of a call whose request was too long: it fails as it was said then."""
    call = state.turns.calls.get(discussion_id)
    if call is None or call.overflow is None:
        return state, ()
    remedy = ". ".join(filter(None, (call.overflow.remedy.removesuffix("."), why)))
    failure = replace(call.overflow, remedy=remedy)
    call = replace(call, overflows=MOST_OVERFLOWS, awaits_view=False)
    return failed(with_call(state, call), given, CallFailed(call.id, failure, (), Usage()))


def _name(state: AppState, call: LiveCall) -> str:
    summary = state.discussions.summaries.get(call.discussion_id)
    return repr(summary.meta.name) if summary is not None else f"Discussion {call.discussion_id}"


def _store(
    state: AppState,
    given: Stamp,
    call: LiveCall,
    parts: tuple[Part, ...],
    status: Status,
    usage: Usage,
    marks: tuple[Record, ...],
) -> Result:
    """Append reply, usage and marks in one write; the call is over when they are on disk."""
    records: list[Record] = []
    opened = state.discussions.open[call.discussion_id]
    if any(isinstance(part, ToolCallPart) for part in parts):
        parts = with_own_ids(parts, used_ids(opened))
    parts = tuple(TextPart(clean(part.text)) if isinstance(part, TextPart) else part for part in parts)
    if parts:
        records.append(
            MessageRecord(
                call.reply_id,
                given.at,
                Role.ASSISTANT,
                parts,
                status,
                call.provider,
                call.model,
                call.version_of,
            )
        )
    if usage != Usage():
        records.append(UsageRecord(given.make_id(1), given.at, call.reply_id if parts else call.id, usage))
    storing = replace(call, phase=CallPhase.STORING, reserved_usd=usage.cost_usd or 0.0)
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    if len(texts) == 1:
        storing = replace(storing, text=texts[0])  # the same text once in memory: a reply may be large
    state = with_call(state, storing)
    return state, (AppendRecords(call.discussion_id, (*records, *marks), ReplyToken(call.id)),)


def reply_saved(state: AppState, call: LiveCall) -> AppState:
    """The reply is on disk: the call is over."""
    return without_call(state, call.discussion_id)
