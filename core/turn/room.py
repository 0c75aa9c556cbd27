"""Room in the model's window for a call: it waits until the view is cut, and goes then; after an overflow once more."""

from __future__ import annotations

from msgspec.structs import replace

from core.base.stamp import Stamp
from core.discussion.messages import AppendRecords, ReplyToken
from core.spending.estimates import next_call_usd
from core.turn.sending import start_call
from core.values.discussion import CallPhase, LiveCall
from core.values.provider import Failure
from core.values.records import UsageRecord
from core.values.state import AppState
from core.values.updates import Result, with_call
from core.values.usage import Usage


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
    spent = () if usage == Usage() else (UsageRecord(given.make_id(1), given.at, call.id, usage),)
    return with_call(state, again), (AppendRecords(call.discussion_id, spent, ReplyToken(call.id)),)


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
