"""Rounds of a turn: a reply that asks for tools begins their calls; with all results on disk the model is asked again."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from core.agent import calls, delegation
from core.agent.agent_messages import CallDone
from core.agent.agent_pages import (
    call_of_turn,
    open_calls,
    page_of,
    with_page,
    with_tool_call,
    with_turn,
    without_turn,
)
from core.agent.calls import STOPPED_BEFORE, advance, closed, result_record
from core.agent.delegation import (
    ENDED,
    children_at_work,
    creation_id,
    result_of,
    with_delegation,
)
from core.agent.leaked_calls import is_leaked
from core.agent.tool import ToolAnswer
from core.kernel.figures import count
from core.kernel.ids import Stamp
from core.kernel.language import english, in_english, tr
from core.kernel.structures import without
from core.kernel.values.agent import AgentTurn, CallState, Delegation, ToolCall
from core.kernel.values.discussion import CallPhase, LiveCall
from core.kernel.values.messages import (
    Message,
    Role,
    Status,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.provider import WHOLE_REPLY, StopKind
from core.kernel.values.records import MarkRecord, MessageRecord, UsageRecord
from core.kernel.values.state import AppState
from core.kernel.values.updates import Result, calls_in, is_busy, outcome_of, with_open
from core.kernel.values.usage import LimitScope
from core.kernel.values.window import LineKind, ViewLine
from core.services.spending.limits import reached_limits
from core.talk.discussion.cuts import line_record
from core.talk.discussion.discussion_messages import AppendRecords, RecordsAppended, ReplyToken, ResultToken
from core.talk.turn import prompt_queue, sending, turn_step
from core.talk.turn.turn_messages import CallEnded, RetrySend

MOST_CALLS = 64
"""Tool calls that one reply may ask for."""

NUDGE_PROMPT = "nudge.md"

TOO_MANY = f"Not run: a reply may ask for {MOST_CALLS} calls at once. Ask again for what is still needed."
NOT_WHOLE = "Not run: the reply was cut off before it was whole."
STOPPED_REPLY = "Not run: the person stopped the reply."
NO_TOOLS = "Not run: tools are switched off in this discussion."
_BEFORE_LEFT = tr("The program ended during the previous turn. Retry continues from the saved part.")
_BEFORE_TURN = tr("The previous turn was stopped.")


def replied(state: AppState, given: Stamp, event: RecordsAppended) -> Result:
    """A reply is on disk, calls included: they begin. To be asked while its call is still under way."""
    assert isinstance(event.token, ReplyToken)
    call = sending.find_call(state, event.token.call_id)
    if call is None:
        return state, ()
    summary = state.discussions.summaries.get(call.discussion_id)
    if summary is not None and summary.meta.has_tools:
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
        state = _told(state, call, asked) if why == NO_TOOLS else state
        return state, (
            AppendRecords(
                discussion_id=call.discussion_id, records=results, token=ResultToken(asked[0].call_id)
            ),
        )
    if state.program.is_closing:
        return state, ()  # nothing of it has begun: the next start asks
    return _begun(state, given, call, asked)


def _begun(state: AppState, given: Stamp, call: LiveCall, asked: list[ToolCallPart]) -> Result:
    before = state.agent.turns.get(call.discussion_id)
    turn = before or AgentTurn(discussion_id=call.discussion_id, turn_id=call.user_message_id)
    calls = tuple(map(_tool_call, asked[:MOST_CALLS]))
    turn = replace(turn, calls=calls, goes_on=True, judging_id="", is_left=False, was_nudged=False)
    state, effects = advance(with_turn(state, turn), given, turn)
    too_many = tuple(
        result_record(given, MOST_CALLS + number, part.call_id, TOO_MANY, CallState.FAILED)
        for number, part in enumerate(asked[MOST_CALLS:])
    )
    if too_many:
        token = ResultToken(asked[MOST_CALLS].call_id)
        effects = (AppendRecords(discussion_id=call.discussion_id, records=too_many, token=token), *effects)
    return state, effects


def _told(state: AppState, call: LiveCall, asked: list[ToolCallPart]) -> AppState:
    """The turn goes on once behind calls of tools that are off: its model is told so, and answers without them."""
    turn = state.agent.turns.get(call.discussion_id)
    turn = turn or AgentTurn(discussion_id=call.discussion_id, turn_id=call.user_message_id)
    if turn.was_nudged:
        return state
    over = tuple(replace(_tool_call(part), state=CallState.INTERRUPTED) for part in asked)
    return with_turn(state, replace(turn, calls=over, goes_on=True, is_left=False, was_nudged=True))


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
    page = page_of(state, call.discussion_id)
    usd = sum(one.usage.cost_usd or 0.0 for one in event.records if isinstance(one, UsageRecord))
    before = page.usd if call.is_round else 0.0
    state = with_page(state, call.discussion_id, replace(page, usd=before + usd))
    return delegation.with_cost(state, call.discussion_id, usd)


def nudged(state: AppState, given: Stamp, event: CallEnded) -> Result | None:
    """Ask the model again after an empty reply. None if this room has no part in the turn."""
    call = sending.find_call(state, event.call_id)
    if call is None or call.refused:
        return None
    is_empty = not turn_step.says_something(event.parts) and not any(
        isinstance(part, ToolCallPart) for part in event.parts
    )
    if event.stopped.kind not in WHOLE_REPLY or not is_empty or call.phase is CallPhase.STOPPING:
        return None
    turn = state.agent.turns.get(call.discussion_id) or AgentTurn(
        discussion_id=call.discussion_id, turn_id=call.user_message_id
    )
    words = state.config.prompts.get(NUDGE_PROMPT, "").strip()
    if turn.was_nudged or turn.is_stopping or not words:
        return None
    behind = _last_sent(state, call)
    state = with_turn(state, replace(turn, was_nudged=True, goes_on=True))
    line = line_record(
        given.make_id(3), given.at, ViewLine(message_id=behind, text=words, kind=LineKind.NUDGE)
    )
    return turn_step.asked_again(state, given, call, event.usage, (line,))


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
        state = prompt_queue.hold(without_turn(state, discussion_id), discussion_id, _BEFORE_TURN)
        return state, ()
    if turn.is_left:  # nobody has answered: a start spends nothing
        return prompt_queue.hold(without_turn(state, discussion_id), discussion_id, _BEFORE_LEFT), ()
    if not turn.goes_on or turn.has_yielded:
        return prompt_queue.go_on(without_turn(state, discussion_id), given, discussion_id)
    if turn.rounds >= most:
        words = tr(
            "The program asked the model {most} in this turn and stopped. Send again to continue.",
            most=count(most, tr("time"), tr("times")),
        )
        state = prompt_queue.hold(without_turn(state, discussion_id), discussion_id, words)
        return state, (
            AppendRecords(
                discussion_id=discussion_id,
                records=(MarkRecord(id=given.make_id(0), at=given.at, kind="rounds", text=english(words)),),
            ),
        )
    state = with_turn(state, replace(turn, rounds=turn.rounds + 1, goes_on=False))
    again = RetrySend(discussion_id=discussion_id)
    state, effects = sending.save_then_call(state, given, again, turn.turn_id, (), is_round=True)
    if discussion_id in state.turns.calls:
        return state, effects
    refusal = state.discussions.open[discussion_id].refusal
    why = "" if refusal is None else refusal.sentence
    return prompt_queue.hold_at_limit(without_turn(state, discussion_id), discussion_id, why), effects


def interrupted(state: AppState, given: Stamp, discussion_id: str) -> Result:
    """The person stops a turn: what runs is told so, what has not begun never will."""
    turn = state.agent.turns.get(discussion_id)
    if turn is None or turn.is_stopping:
        return state, ()
    state, effects = closed(state, given, turn, STOPPED_BEFORE)
    if discussion_id in state.turns.calls:
        return state, effects  # the reply's own end says it
    mark = MarkRecord(id=given.make_id(10), at=given.at, kind=StopKind.CANCELLED.value, text="Stopped.")
    return state, (*effects, AppendRecords(discussion_id=discussion_id, records=(mark,)))


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
    turn = AgentTurn(
        discussion_id=discussion_id,
        turn_id=turn_id,
        rounds=_rounds(said),
        calls=calls,
        goes_on=True,
        is_left=True,
    )
    return advance(state, given, turn) if calls and turn_id else (state, ())


def _tool_call(part: ToolCallPart) -> ToolCall:
    return ToolCall(
        id=part.call_id,
        name=part.name,
        arguments_json=part.arguments_json,
        is_recovered=is_leaked(part.call_id),
    )


def _rounds(said: tuple[Message, ...]) -> int:
    """Replies since the person's last message."""
    count = 0
    for message in reversed(said):
        if message.role is Role.USER:
            break
        count += message.role is Role.ASSISTANT
    return max(1, count)


# Children of delegation at work: made, given their task, stopped with their parent, and their result told
# to it.


def created(state: AppState, given: Stamp, child_id: str) -> Result:
    """A child stands on disk: its task is sent, unless its parent was stopped meanwhile."""
    one = state.agent.delegations.get(child_id)
    if one is None or one.has_begun:
        return state, ()
    state = with_delegation(state, replace(one, has_begun=True))
    if one.is_stopping or state.program.is_closing:
        return state, ()
    return _given(state, given, one, RetrySend(discussion_id=child_id))


def _given(state: AppState, given: Stamp, one: Delegation, command: RetrySend) -> Result:
    record = MessageRecord(
        id=given.make_id(0), at=given.at, role=Role.USER, parts=(TextPart(one.words),), is_autonomous=True
    )
    return sending.save_then_call(state, given, command, record.id, (record,))


def paid(state: AppState, given: Stamp, turn: AgentTurn, call: ToolCall, one: Delegation) -> Result:
    """The person's yes to one request of a task whose price nobody knows. A limit that is reached by now is none of it."""
    turn = with_tool_call(replace(turn, is_left=False), replace(call, state=CallState.RUNNING))
    state = with_delegation(with_turn(state, turn), replace(one, unpriced=None))
    opened = state.discussions.open.get(one.child_id)
    if opened is None:
        return state, ()
    stands = reached_limits(state, one.child_id)
    is_agreed = all(limit.scope is LimitScope.UNPRICED for limit in stands)
    command = RetrySend(discussion_id=one.child_id, over_limit=is_agreed)
    prompt_id = prompt_queue.prompt_of(opened.entries, "")
    if not prompt_id:
        return _given(state, given, one, command)
    if opened.failed_message_id:
        return prompt_queue.retry(state, given, command)
    return sending.save_then_call(state, given, command, prompt_id, (), is_round=True)


def stopped(state: AppState, given: Stamp, parent_id: str) -> Result:
    """A parent's turn was interrupted: interrupt the turns of its children too."""
    effects: tuple[Any, ...] = ()
    for child_id in children_at_work(state, parent_id):
        one = state.agent.delegations[child_id]
        if one.is_stopping:
            continue
        state = with_delegation(state, replace(one, is_stopping=True))
        own = Stamp(given.at, f"{given.seed}/child/{child_id}")
        state, stops = interrupted(state, own, child_id)
        effects = (*effects, *stops)
        for call in calls_in(state, child_id):
            state, cancels = sending.cancel(state, call)
            effects = (*effects, *cancels)
            if child_id not in state.turns.calls:
                state = prompt_queue.hold_after(state, child_id, StopKind.CANCELLED)
    return state, effects


def followed(state: AppState, given: Stamp) -> Result:
    """Tell parents what came of the tasks that are over."""
    effects: tuple[Any, ...] = ()
    for one in tuple(state.agent.delegations.values()):
        state = _asked_about(state, Stamp(given.at, f"{given.seed}/price/{one.child_id}"), one)
        done = _done(state, state.agent.delegations[one.child_id])
        if done is None:
            continue
        delegations = without(state.agent.delegations, one.child_id)
        state = replace(state, agent=replace(state.agent, delegations=delegations))
        state, more = calls.done(state, Stamp(given.at, f"{given.seed}/told/{one.child_id}"), done)
        effects = (*effects, *more)
    return state, effects


def _asked_about(state: AppState, given: Stamp, one: Delegation) -> AppState:
    """Ask the person, by the parent's call, where nothing but an unknown price stands against a task's next request."""
    opened, turn = state.discussions.open.get(one.child_id), state.agent.turns.get(one.parent_id)
    call = call_of_turn(turn, one.call_id)
    if (
        opened is None
        or opened.refusal is None
        or not opened.refusal.is_unpriced
        or turn is None
        or call is None
    ):
        return state
    is_over = one.is_stopping or turn.is_stopping or state.program.is_closing
    if is_over or call.state is not CallState.RUNNING or is_busy(state, one.child_id):
        return state
    state = with_turn(
        state, with_tool_call(turn, delegation.priced_question(one, call, opened.refusal, given))
    )
    state = with_delegation(state, replace(one, unpriced=opened.refusal))
    return with_open(state, replace(opened, refusal=None))


def _done(state: AppState, one: Delegation) -> CallDone | None:
    """Result of a parent's call, None while its child is at work."""
    made = outcome_of(state, creation_id(one.child_id))
    if not one.has_begun:
        if made is None or not made.problem:
            return None
        words = f"Its discussion could not be made: {english(made.problem)}"
        return CallDone(
            discussion_id=one.parent_id, call_id=one.call_id, answer=ToolAnswer(text=words, is_error=True)
        )
    call = call_of_turn(state.agent.turns.get(one.parent_id), one.call_id)
    if is_busy(state, one.child_id) or (call is not None and call.state is CallState.ASKING):
        return None
    with in_english():  # the parent's model reads it
        result = result_of(one, state.discussions.open.get(one.child_id))
    is_ended = state.program.is_closing and result.is_error
    text = ENDED if is_ended else result.text
    return CallDone(
        discussion_id=one.parent_id,
        call_id=one.call_id,
        answer=ToolAnswer(text=text, is_error=result.is_error),
        is_interrupted=result.is_interrupted or is_ended,
    )
