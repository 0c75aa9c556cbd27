"""A turn's part of the step: the words to disk, then the call, the reply to disk, then shown as done."""

from __future__ import annotations

from typing import assert_never

from core.base.stamp import Stamp
from core.discussion.messages import DiscussionCreated, PromptToken, RecordsAppended, ReplyToken, WriteFailed
from core.discussion.queue_messages import PromptGone, QueueWritten
from core.turn import queue, renewal, replies, sending
from core.turn.messages import (
    CallEnded,
    CallFailed,
    CallRetrying,
    CancelReply,
    ContinueReply,
    KnowledgeSent,
    RegenerateReply,
    ReplyArrived,
    RequestBuilt,
    ResendMessage,
    RetrySend,
    SendPrompt,
    SendQueued,
    TakeBackQueued,
    TurnCommand,
    TurnEvent,
)
from core.values.outcomes import CommandOutcome
from core.values.state import AppState
from core.values.updates import Result, conclude, without_call


def command(state: AppState, given: Stamp, asked: TurnCommand) -> Result:
    """Decide what follows from a command."""
    match asked:
        case SendPrompt():
            if (
                asked.may_queue
                and asked.discussion_id in state.turns.calls
                and sending.has_words(state, asked)
            ):
                return queue.enqueue(state, given, asked)
            return sending.send(state, given, asked)
        case SendQueued():
            return queue.send_now(state, given, asked)
        case TakeBackQueued():
            return queue.take_back(state, asked)
        case CancelReply():
            return sending.cancel(state, asked.discussion_id)
        case RetrySend():
            return renewal.retry(state, given, asked)
        case RegenerateReply():
            return renewal.regenerate(state, given, asked)
        case ResendMessage():
            return renewal.resend(state, given, asked)
        case ContinueReply():
            return renewal.go_on(state, given, asked)
        case _:
            assert_never(asked)


def event(state: AppState, given: Stamp, happened: TurnEvent) -> Result:
    """Decide what follows from an event."""
    match happened:
        case RequestBuilt():
            return sending.request_built(state, happened)
        case KnowledgeSent():
            return state, ()  # the room of knowledge keeps what entered
        case ReplyArrived():
            return sending.arrived(state, given, happened)
        case CallRetrying():
            return sending.retrying(state, given, happened)
        case CallEnded():
            return replies.ended(state, given, happened)
        case CallFailed():
            return replies.failed(state, given, happened)
        case _:
            assert_never(happened)


def admit_held(state: AppState) -> Result:
    """Let go, or stop, what was held until the day's sum was known."""
    return sending.admit_held(state)


def saved(state: AppState, given: Stamp, happened: RecordsAppended) -> Result:
    """Let what waited for a write go on: the call after its prompt, the end after its reply."""
    if happened.token is None:
        return state, ()
    call = sending.find_call(state, happened.token.call_id)
    if call is None:
        return state, ()
    match happened.token:
        case PromptToken():
            state = queue.hold_after(state, call.discussion_id, sending.end_while_saving(call))
            is_draft = happened.token.is_draft
            return sending.prompt_saved(state, given, call, happened.records, is_draft=is_draft)
        case ReplyToken():
            return queue.go_on(replies.reply_saved(state, call), given, call.discussion_id)
        case _:
            assert_never(happened.token)


def branched(state: AppState, given: Stamp, happened: DiscussionCreated) -> Result:
    """Ask in a branch what it was made for."""
    return renewal.branched(state, given, happened)


def queued(state: AppState, given: Stamp, happened: QueueWritten | PromptGone) -> Result:
    """Take in how a queue stands on disk; what of it may go is sent."""
    match happened:
        case QueueWritten():
            return queue.written(state, given, happened)
        case PromptGone():
            return queue.gone(state, given, happened)
        case _:
            assert_never(happened)


def limits_changed(before: AppState, after: AppState, given: Stamp) -> Result:
    """Send what a limit held that is raised."""
    return queue.limits_changed(before, after, given)


def unsaved(state: AppState, happened: WriteFailed) -> AppState:
    """A call whose prompt cannot be written is not made; the prompt stays in the composer, or in the queue."""
    if not isinstance(happened.token, PromptToken):
        return state
    call = sending.find_call(state, happened.token.call_id)
    if call is None:
        return state
    state = conclude(state, CommandOutcome(call.command_id, problem=happened.text, remedy=happened.detail))
    state = queue.hold(state, call.discussion_id, f"{happened.text}.")
    return without_call(state, call.discussion_id)
