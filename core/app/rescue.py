"""Rescue of the loop where the program itself fails on a message: it is left out, and whoever waits for it is told."""

from __future__ import annotations

from msgspec.structs import replace

from core.app.app_messages import Effect, Event, Input
from core.kernel.errors import FailureKind
from core.kernel.reports import OperationFailed, command_id_of
from core.kernel.values.discussion import CallPhase, LiveCall
from core.kernel.values.messages import TextPart
from core.kernel.values.outcomes import CommandOutcome
from core.kernel.values.provider import Failure
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import Result, conclude, notify, without_call
from core.kernel.values.usage import SpentElsewhere, Usage
from core.services.settings.settings_messages import SettingsSettled, TellSettled
from core.services.spending.limits import call_of
from core.services.spending.spending_messages import ClaimReserve, ReserveClaimed
from core.talk.discussion.discussion_messages import AppendRecords, LoadDiscussion, WriteFailed
from core.talk.turn.sending import find_call
from core.talk.turn.turn_messages import CallFailed, CallProvider, SendRequest
from core.talk.turn.turn_replies import failed

LOOK = "What was kept before stands. See the log file, and report it."


def after_failed_step(state: AppState, given: Input, error: Exception) -> Result:
    """Decide what follows from a command or an event that the step could not take.

    A call that it was about ends as a failed one, with the text that had arrived; one whose reply was being stored
    ends without a word more, and its discussion is read again.

    Args:
        state: before the message; given: the message; error: raised by the step.

    Raises:
        Nothing.
    """
    body = given.body
    text = f"The program failed on {type(body).__name__}: {type(error).__name__}: {error}"
    state = conclude(
        replace(state, now=given.at),
        CommandOutcome(command_id=command_id_of(body), problem=text, remedy=LOOK),
    )
    call = _call_of(state, body)
    discussion_id = getattr(body, "discussion_id", "") if call is None else call.discussion_id
    if call is not None and call.phase is CallPhase.STORING:
        state = without_call(state, call.discussion_id)
        return _told(state, body, text, discussion_id), (LoadDiscussion(discussion_id=call.discussion_id),)
    if call is None:
        return _told(state, body, text, discussion_id), ()
    parts = (TextPart(call.text),) if call.text else ()
    failure = Failure(kind=FailureKind.BAD_REPLY, what=text, remedy="What arrived is kept. See the log file.")
    try:
        return failed(
            state,
            given,
            CallFailed(call_id=call.id, failure=failure, parts=parts, usage=call.usage or Usage()),
        )
    except Exception:  # noqa: BLE001 - what stands of the call is what the step failed on
        return _told(without_call(state, call.discussion_id), body, text, discussion_id), ()


def unbegun(effect: Effect, error: Exception) -> Event:
    """The event that ends an effect which the outside could not begin, where somebody or something waits for one."""
    text = f"The program could not begin {type(effect).__name__}: {type(error).__name__}: {error}"
    match effect:
        case CallProvider() | SendRequest():
            return CallFailed(
                call_id=effect.call_id,
                failure=Failure(kind=FailureKind.BAD_REPLY, what=text, remedy=LOOK),
                parts=(),
                usage=Usage(),
            )
        case ClaimReserve():
            return ReserveClaimed(key=effect.key, reservation=effect.reservation, elsewhere=SpentElsewhere())
        case TellSettled():
            return SettingsSettled(effect.number)
        case AppendRecords():
            return WriteFailed(
                discussion_id=effect.discussion_id,
                token=effect.token,
                text=text,
                detail=LOOK,
                records=effect.records,
            )
        case _:
            return OperationFailed(
                subject=type(effect).__name__, text=text, detail=LOOK, command_id=command_id_of(effect)
            )


def _call_of(state: AppState, body: object) -> LiveCall | None:
    call_id = getattr(body, "call_id", "") or getattr(getattr(body, "token", None), "call_id", "")
    if isinstance(body, ReserveClaimed):
        call_id = call_of(body.key)
    return find_call(state, call_id) if call_id else None


def _told(state: AppState, body: object, text: str, discussion_id: str) -> AppState:
    known = discussion_id if discussion_id in state.discussions.summaries else ""
    return notify(state, f"failed/{type(body).__name__}", Level.ERROR, text, LOOK, discussion_id=known)
