"""Rounds of a turn: a reply that asks for tools begins their calls; with all results on disk the model is asked again."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from core.agent import delegation
from core.agent.calls import STOPPED_BEFORE, advance, closed, result_record
from core.agent.leaked_calls import is_leaked
from core.agent.pages import open_calls, page_of, with_page, with_turn, without_turn
from core.base.figures import count
from core.base.stamp import Stamp
from core.discussion.cuts import line_record
from core.discussion.messages import AppendRecords, RecordsAppended, ReplyToken, ResultToken
from core.turn import queue, replies, sending
from core.turn.messages import CallEnded, RetrySend
from core.values.agent import AgentTurn, CallState, ToolCall
from core.values.discussion import CallPhase, LiveCall
from core.values.messages import Message, ReasoningPart, Role, Status, ToolCallPart, ToolResultPart
from core.values.provider import WHOLE_REPLY, StopKind
from core.values.records import MarkRecord, MessageRecord, UsageRecord
from core.values.state import AppState
from core.values.updates import Result
from core.values.window import LineKind, ViewLine

MOST_CALLS = 64
"""Tool calls that one reply may ask for."""

NUDGE_PROMPT = "nudge.md"

TOO_MANY = f"Not run: a reply may ask for {MOST_CALLS} calls at once. Ask again for what is still needed."
NOT_WHOLE = "Not run: the reply was cut off before it was whole."
STOPPED_REPLY = "Not run: the person stopped the reply."
NO_TOOLS = "Not run: tools are switched off in this discussion."
_BEFORE_LEFT = "The program ended in the turn before it. A retry goes on with what is there."
_BEFORE_TURN = "The turn before it was stopped."


def replied(state: AppState, given: Stamp, event: RecordsAppended) -> Result:
    """A reply is on disk, calls included: they begin. To be asked while its call is still under way."""
    assert isinstance(event.token, ReplyToken)
    call = sending.find_call(state, event.token.call_id)
    if call is None:
        return state, ()
    state = _with_cost(state, call, event)
    said = (one for one in event.records if isinstance(one, MessageRecord))
    reply = next((one for one in said if one.id == call.reply_id), None)
    asked = [] if reply is None else [part for part in reply.parts if isinstance(part, ToolCallPart)]
    if reply is None or not asked:
        return state, ()
    why = _why_not(state, call, reply)
    if why:
        results = tuple(
            result_record(given, number, part.call_id, why, CallState.INTERRUPTED)
            for number, part in enumerate(asked)
        )
        return state, (AppendRecords(call.discussion_id, results, ResultToken(asked[0].call_id)),)
    if state.program.is_closing:
        return state, ()  # nothing of it has begun: the next start asks
    return _begun(state, given, call, asked)


def _begun(state: AppState, given: Stamp, call: LiveCall, asked: list[ToolCallPart]) -> Result:
    before = state.agent.turns.get(call.discussion_id)
    turn = before or AgentTurn(call.discussion_id, call.user_message_id)
    calls = tuple(map(_tool_call, asked[:MOST_CALLS]))
    turn = replace(turn, calls=calls, goes_on=True, judging_id="", is_left=False, was_nudged=False)
    state, effects = advance(with_turn(state, turn), given, turn)
    too_many = tuple(
        result_record(given, MOST_CALLS + number, part.call_id, TOO_MANY, CallState.FAILED)
        for number, part in enumerate(asked[MOST_CALLS:])
    )
    if too_many:
        token = ResultToken(asked[MOST_CALLS].call_id)
        effects = (AppendRecords(call.discussion_id, too_many, token), *effects)
    return state, effects


def _why_not(state: AppState, call: LiveCall, reply: MessageRecord) -> str:
    """Reason for which no call of a reply is begun, empty where they are."""
    turn = state.agent.turns.get(call.discussion_id)
    if reply.status is Status.INTERRUPTED or (turn is not None and turn.is_stopping):
        return STOPPED_REPLY
    if reply.status is not Status.COMPLETE:
        return NOT_WHOLE
    return "" if delegation.has_tools(state, call.discussion_id) else NO_TOOLS


def _with_cost(state: AppState, call: LiveCall, event: RecordsAppended) -> AppState:
    """Add what a call cost to the task's."""
    summary = state.discussions.summaries.get(call.discussion_id)
    if summary is None or not summary.meta.has_tools:
        return state
    page = page_of(state, call.discussion_id)
    usd = sum(one.usage.cost_usd or 0.0 for one in event.records if isinstance(one, UsageRecord))
    before = page.usd if call.is_round else 0.0
    state = with_page(state, call.discussion_id, replace(page, usd=before + usd))
    return delegation.with_cost(state, call.discussion_id, usd)


def nudged(state: AppState, given: Stamp, event: CallEnded) -> Result | None:
    """Ask once more where a model with tools sends nothing. None where that is no matter of this room."""
    call = sending.find_call(state, event.call_id)
    summary = state.discussions.summaries.get(call.discussion_id) if call is not None else None
    if call is None or summary is None or not summary.meta.has_tools or call.refused:
        return None
    is_empty = all(isinstance(part, ReasoningPart) for part in event.parts)
    if event.stopped.kind not in WHOLE_REPLY or not is_empty or call.phase is CallPhase.STOPPING:
        return None
    turn = state.agent.turns.get(call.discussion_id) or AgentTurn(call.discussion_id, call.user_message_id)
    words = state.config.prompts.get(NUDGE_PROMPT, "").strip()
    if turn.was_nudged or turn.is_stopping or not words:
        return None
    behind = _last_sent(state, call)
    state = with_turn(state, replace(turn, was_nudged=True, goes_on=True))
    line = line_record(given.make_id(3), given.at, ViewLine(behind, words, LineKind.NUDGE))
    return replies.asked_again(state, given, call, event.usage, (line,))


def _last_sent(state: AppState, call: LiveCall) -> str:
    """Id of the last message that a call sends: the person's, or in a running turn the last result of a tool."""
    said = state.discussions.open[call.discussion_id].messages
    begin = next((at for at, one in enumerate(said) if one.id == call.user_message_id), len(said))
    last = call.user_message_id
    for one in said[begin + 1 :] if call.is_round else ():
        if call.version_of and call.version_of in {one.id, one.version_of}:
            break
        last = one.id if one.role is Role.TOOL else last
    return last


def went_on(state: AppState, given: Stamp) -> Result:
    """Ask the model again in each turn whose results are on disk, or end the turn."""
    effects: tuple[Any, ...] = ()
    for turn in tuple(state.agent.turns.values()):
        if turn.discussion_id in state.turns.calls or open_calls(turn):
            continue
        state, more = _round_over(state, Stamp(given.at, f"{given.seed}/round/{turn.discussion_id}"), turn)
        effects = (*effects, *more)
    return state, effects


def _round_over(state: AppState, given: Stamp, turn: AgentTurn) -> Result:
    discussion_id = turn.discussion_id
    opened = state.discussions.open.get(discussion_id)
    most = state.config.settings.tools.max_rounds
    if opened is None or state.program.is_closing:
        return without_turn(state, discussion_id), ()
    if turn.is_stopping:
        state = queue.hold(without_turn(state, discussion_id), discussion_id, _BEFORE_TURN)
        return state, ()
    if turn.is_left:  # nobody has answered: a start spends nothing
        return queue.hold(without_turn(state, discussion_id), discussion_id, _BEFORE_LEFT), ()
    if not turn.goes_on or turn.has_yielded:
        return queue.go_on(without_turn(state, discussion_id), given, discussion_id)
    if turn.rounds >= most:
        words = (
            f"Stopped: the model was asked {count(most, 'time')} in this turn. Send again to let it go on."
        )
        state = queue.hold(without_turn(state, discussion_id), discussion_id, words)
        return state, (
            AppendRecords(discussion_id, (MarkRecord(given.make_id(0), given.at, "rounds", words),)),
        )
    state = with_turn(state, replace(turn, rounds=turn.rounds + 1, goes_on=False))
    again = RetrySend(discussion_id)
    state, effects = sending.save_then_call(state, given, again, turn.turn_id, (), is_round=True)
    if discussion_id in state.turns.calls:
        return state, effects
    refusal = state.discussions.open[discussion_id].refusal
    why = "" if refusal is None else refusal.sentence
    return queue.hold_at_limit(without_turn(state, discussion_id), discussion_id, why), effects


def interrupted(state: AppState, given: Stamp, discussion_id: str) -> Result:
    """The person stops a turn: what runs is told so, what has not begun never will."""
    turn = state.agent.turns.get(discussion_id)
    if turn is None or turn.is_stopping:
        return state, ()
    state, effects = closed(state, given, turn, STOPPED_BEFORE)
    if discussion_id in state.turns.calls:
        return state, effects  # the reply's own end says it
    mark = MarkRecord(given.make_id(10), given.at, StopKind.CANCELLED.value, "Stopped.")
    return state, (*effects, AppendRecords(discussion_id, (mark,)))


def left(state: AppState, given: Stamp, discussion_id: str) -> Result:
    """A discussion was read, or the settings were: calls that a program which ended had not begun are asked about again.

    Where they would act is not known before the settings are.
    """
    if not state.config.settings_paths:
        return state, ()
    known = state.agent.turns.get(discussion_id)
    if known is not None and not known.is_left:
        return state, ()
    if known is not None:
        state = without_turn(state, discussion_id)
    opened = state.discussions.open.get(discussion_id)
    summary = state.discussions.summaries.get(discussion_id)
    if opened is None or not opened.left_calls or summary is None or not summary.meta.has_tools:
        return state, ()
    said = opened.messages
    told = {part.call_id for one in said for part in one.parts if isinstance(part, ToolResultPart)}
    waiting = {*opened.left_calls} - told
    parts = [
        part
        for message in said
        for part in message.parts
        if isinstance(part, ToolCallPart) and part.call_id in waiting
    ]
    turn_id = next((one.id for one in reversed(said) if one.role is Role.USER), "")
    calls = tuple(map(_tool_call, parts))
    turn = AgentTurn(discussion_id, turn_id, _rounds(said), calls, goes_on=True, is_left=True)
    return advance(state, given, turn) if calls and turn_id else (state, ())


def _tool_call(part: ToolCallPart) -> ToolCall:
    return ToolCall(part.call_id, part.name, part.arguments_json, is_recovered=is_leaked(part.call_id))


def _rounds(said: tuple[Message, ...]) -> int:
    """Replies since the person's last message."""
    count = 0
    for message in reversed(said):
        if message.role is Role.USER:
            break
        count += message.role is Role.ASSISTANT
    return max(1, count)
