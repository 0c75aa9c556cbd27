"""A turn's part of the step: the words to disk, then the call, the reply to disk, then shown as done."""

from __future__ import annotations

from typing import Any, assert_never

from core.kernel.ids import Stamp
from core.kernel.values.outcomes import CommandOutcome
from core.kernel.values.provider import StopKind
from core.kernel.values.state import AppState
from core.kernel.values.tables import Handlers, follow, keep, on, on_stamped
from core.kernel.values.updates import Result, conclude, without_call
from core.kernel.values.usage import SpentElsewhere
from core.services.spending.limits import is_looked_up, reached_limits
from core.talk.discussion.discussion_messages import (
    PromptGone,
    PromptToken,
    QueueWritten,
    RecordsAppended,
    ReplyToken,
    WriteFailed,
)
from core.talk.turn import prompt_queue, sending, turn_replies
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallRetrying,
    CancelReply,
    ContinueReply,
    KnowledgeSent,
    LeaveUnsent,
    PaidCommand,
    ReasoningRefused,
    RecallSent,
    RegenerateReply,
    ReplyArrived,
    RequestBuilt,
    ResendMessage,
    RetrySend,
    SendPrompt,
    SendQueued,
    ServerRemarked,
    TakeBackQueued,
    TurnCommand,
)


def _send_prompt(state: AppState, given: Stamp, asked: SendPrompt) -> Result:
    if prompt_queue.must_wait(state, asked):
        return prompt_queue.enqueue(state, given, asked)
    return sending.send(state, given, asked)


def _cancel_reply(state: AppState, asked: CancelReply) -> Result:
    was_asked = asked.discussion_id in state.turns.calls
    state, effects = sending.cancel(state, asked.discussion_id)
    if was_asked and asked.discussion_id not in state.turns.calls:
        state = prompt_queue.hold_after(state, asked.discussion_id, StopKind.CANCELLED)
    return state, effects


def is_past_limit(state: AppState, asked: TurnCommand) -> bool:
    """True if a spend limit, as far as it is known, stands against a call that is asked for without a yes."""
    is_asking = isinstance(asked, PaidCommand) and not asked.over_limit
    return is_asking and bool(reached_limits(state, asked.discussion_id))


def wants_price(state: AppState, asked: TurnCommand) -> bool:
    """True if a limit asks what a call costs, and nobody has looked its price up."""
    if not isinstance(asked, PaidCommand) or asked.over_limit:
        return False
    return not is_looked_up(state, asked.discussion_id)


def claimed(state: AppState, key: str, elsewhere: SpentElsewhere) -> Result:
    """Let a call go, or stop it, now that other programs see what it reserves."""
    return sending.claimed(state, key, elsewhere)


def settled(state: AppState, given: Stamp) -> Result:
    """Let what waited for changes of settings go on; a queue whose call was stopped meanwhile waits for the person."""
    before = state.turns.calls
    state, effects = sending.settled(state, given)
    for name, call in before.items():
        if name not in state.turns.calls:
            state = prompt_queue.hold_after(state, name, sending.end_while_saving(call))
    return state, effects


def admit_held(state: AppState) -> Result:
    """Let go, or stop, what was held until the day's sum was known."""
    return sending.admit_held(state)


def saved(state: AppState, given: Stamp, happened: RecordsAppended) -> Result:
    """Let what waited for a write go on: the call after its prompt, the end after its reply."""
    if not isinstance(happened.token, PromptToken | ReplyToken):
        return state, ()
    call = sending.find_call(state, happened.token.call_id)
    if call is None:
        return state, ()
    match happened.token:
        case PromptToken():
            state = prompt_queue.hold_after(state, call.discussion_id, sending.end_while_saving(call))
            is_draft = happened.token.is_draft
            return sending.prompt_saved(state, given, call, happened.records, is_draft=is_draft)
        case ReplyToken():
            return prompt_queue.go_on(turn_replies.reply_saved(state, call), given, call.discussion_id)
        case _:
            assert_never(happened.token)


def queued(state: AppState, given: Stamp, happened: QueueWritten | PromptGone) -> Result:
    """Take in how a queue stands on disk; what of it may go is sent."""
    match happened:
        case QueueWritten():
            return prompt_queue.written(state, given, happened)
        case PromptGone():
            return prompt_queue.gone(state, given, happened)
        case _:
            assert_never(happened)


def limits_changed(before: AppState, after: AppState, given: Stamp) -> Result:
    """Send what a limit held that is raised: what the person let wait for it, else what stands in the queue."""
    effects: tuple[Any, ...] = ()
    for opened in tuple(after.discussions.open.values()):
        waits = opened.awaits_limit is not None or opened.is_held_at_limit
        if not waits or not prompt_queue.has_other_limit(before, after, opened.id):
            continue
        own = Stamp(given.at, f"{given.seed}/{opened.id}")
        if isinstance(opened.awaits_limit, TurnCommand):
            after, more = HANDLERS(sending.leave(after, LeaveUnsent(opened.id)), opened.awaits_limit, own)
        else:
            after, more = prompt_queue.go_on(after, own, opened.id)
        effects = (*effects, *more)
    return after, effects


def unsaved(state: AppState, happened: WriteFailed) -> AppState:
    """A call whose prompt cannot be written is not made; the prompt stays in the composer, or in the queue."""
    if not isinstance(happened.token, PromptToken):
        return state
    call = sending.find_call(state, happened.token.call_id)
    if call is None:
        return state
    state = conclude(
        state, CommandOutcome(command_id=call.command_id, problem=happened.text, remedy=happened.detail)
    )
    state = prompt_queue.hold(state, call.discussion_id, f"{happened.text}.")
    return without_call(state, call.discussion_id)


HANDLERS = Handlers(
    on_stamped(SendPrompt, _send_prompt),
    on_stamped(SendQueued, prompt_queue.send_now),
    on(TakeBackQueued, prompt_queue.take_back),
    on(LeaveUnsent, lambda state, asked: (sending.leave(state, asked), ())),
    on(CancelReply, _cancel_reply),
    on_stamped(RetrySend, prompt_queue.retry),
    on_stamped(RegenerateReply, prompt_queue.regenerate),
    on_stamped(ResendMessage, prompt_queue.resend),
    on_stamped(ContinueReply, prompt_queue.continue_reply),
    on(RequestBuilt, sending.request_built),
    on_stamped(RecallSent, lambda state, given, happened: (sending.recall_sent(state, given, happened), ())),
    on(KnowledgeSent, keep),  # the room of knowledge keeps what entered
    on_stamped(ReplyArrived, sending.arrived),
    on(ReasoningRefused, lambda state, happened: (sending.reasoning_refused(state, happened), ())),
    on(ServerRemarked, lambda state, happened: (sending.server_remarked(state, happened), ())),
    on_stamped(CallRetrying, sending.retrying),
    on_stamped(CallEnded, turn_replies.ended),
    on_stamped(CallFailed, turn_replies.failed),
)
"""Each message of this room, with the function that decides what follows from it."""

FOLLOWS = follow(
    "config discussions", lambda before, after, moment: limits_changed(before, after, moment.given)
)
