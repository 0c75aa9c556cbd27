"""A turn's part of the step: the words to disk, then the call, the reply to disk, then shown as done."""

from __future__ import annotations

from typing import assert_never

from core.base.stamp import Stamp
from core.discussion.messages import DiscussionCreated, PromptToken, RecordsAppended, ReplyToken, WriteFailed
from core.turn import renewal, replies, sending
from core.turn.messages import (
    CallEnded,
    CallFailed,
    CallRetrying,
    CancelReply,
    ContinueReply,
    RegenerateReply,
    ReplyArrived,
    RequestBuilt,
    ResendMessage,
    RetrySend,
    SendPrompt,
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
            return sending.send(state, given, asked)
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
            is_draft = happened.token.is_draft
            return sending.prompt_saved(state, given, call, happened.records, is_draft=is_draft)
        case ReplyToken():
            return replies.reply_saved(state, call), ()
        case _:
            assert_never(happened.token)


def branched(state: AppState, given: Stamp, happened: DiscussionCreated) -> Result:
    """Ask in a branch what it was made for."""
    return renewal.branched(state, given, happened)


def unsaved(state: AppState, happened: WriteFailed) -> AppState:
    """A call whose prompt cannot be written is not made; the prompt stays in the composer."""
    if not isinstance(happened.token, PromptToken):
        return state
    call = sending.find_call(state, happened.token.call_id)
    if call is None:
        return state
    state = conclude(state, CommandOutcome(call.command_id, problem=happened.text, remedy=happened.detail))
    return without_call(state, call.discussion_id)
