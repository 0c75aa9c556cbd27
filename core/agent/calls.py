"""Tool calls of a turn: judged, asked, noted as begun, run, their results to disk; commands that go on behind their calls."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from core.agent import delegation
from core.agent.agent_messages import (
    CallDone,
    CallJudged,
    CallPutOff,
    CallTail,
    CommandEnded,
    JudgeCall,
    RunCall,
    StopCalls,
)
from core.agent.agent_pages import call_of_turn, page_of, running, with_page, with_tool_call, with_turn
from core.agent.hunks import with_changes
from core.agent.tool import ToolPlaces
from core.agent.tool_policy import Standing, rule
from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.language import english
from core.kernel.values.agent import ActKind, AgentTurn, CallState, ToolCall
from core.kernel.values.messages import AttachmentPart, CallEnd, Role, Status, ToolResultPart
from core.kernel.values.records import MessageRecord, StartRecord
from core.kernel.values.settings import PolicyAnswer
from core.kernel.values.spec import ToolOffer
from core.kernel.values.state import AppState
from core.kernel.values.updates import Result
from core.services.settings.settings_rules import asked_places
from core.talk.context.context_spec import tools_offered
from core.talk.discussion.discussion_messages import AppendRecords, ResultToken, StartToken

# Commands that go on behind their calls: begun with the result, their tail while they write, their end.

SHOWN_CHARS = 2_000
"""Characters of a command's last output that the panel shows once it has ended."""


def begun(state: AppState, discussion_id: str, call_id: str) -> AppState:
    """A call has its result. Its command is listed while it goes on; it may have ended before the result was told."""
    page = page_of(state, discussion_id)
    call = next((one for one in reversed(page.activity) if one.id == call_id), None)
    if call is None or not call.is_background or call.ended_at is not None:
        return state
    return with_page(state, discussion_id, replace(page, commands=(*page.commands, call)))


def wrote(state: AppState, event: CallTail) -> AppState:
    """More output of a command that goes on."""
    page = page_of(state, event.discussion_id)
    call = next((one for one in page.commands if one.id == event.call_id), None)
    return state if call is None else _with_call(state, event.discussion_id, replace(call, tail=event.tail))


def ended(state: AppState, given: Stamp, event: CommandEnded) -> AppState:
    """A command has ended: it is listed no more, and its call says how it ended and what it wrote last."""
    turn = state.agent.turns.get(event.discussion_id)
    page = page_of(state, event.discussion_id)
    call = next((one for one in page.commands if one.id == event.call_id), None)
    if call is None and turn is not None and (early := call_of_turn(turn, event.call_id)) is not None:
        return with_turn(state, with_tool_call(turn, replace(early, ended_at=given.at)))
    if call is None:
        return state
    said = "\n".join(filter(None, (call.result, event.tail[-SHOWN_CHARS:].rstrip("\n"), end_words(event))))
    call = replace(call, state=end_state(event), tail="", ended_at=given.at, result=said)
    state = _with_call(state, event.discussion_id, call)
    page = page_of(state, event.discussion_id)
    left = tuple(one for one in page.commands if one.id != event.call_id)
    return with_page(state, event.discussion_id, replace(page, commands=left))


def end_words(event: CommandEnded) -> str:
    """End of it in sentences: by itself, at a bound, or because it was wanted."""
    is_known = event.exit_code is not None and not event.is_wanted
    code = f"It ended with exit code {event.exit_code}." if is_known else ""
    return " ".join(filter(None, (code, event.notes))) or "It was ended."


def end_state(event: CommandEnded) -> CallState:
    """State of its call from then on: what somebody ended is not done, nor what says that it failed."""
    if event.is_wanted or event.exit_code is None:
        return CallState.INTERRUPTED
    return CallState.FAILED if event.exit_code else CallState.DONE


def _with_call(state: AppState, discussion_id: str, call: ToolCall) -> AppState:
    """The call wherever it is shown: in the turn while that runs, in the activity, among the commands."""
    turn = state.agent.turns.get(discussion_id)
    known = call_of_turn(turn, call.id)
    if turn is not None and known is not None:
        call = replace(call, is_kept=known.is_kept)
        state = with_turn(state, with_tool_call(turn, call))
    page = page_of(state, discussion_id)

    def renewed(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        return tuple(call if one.id == call.id else one for one in calls)

    page = replace(page, activity=renewed(page.activity), commands=renewed(page.commands))
    return with_page(state, discussion_id, page)


# Tool calls of a turn: judged one after the other, asked, noted as begun, run, and their results to disk.

MOST_AT_ONCE = 8
"""Calls that run beside each other."""


_ACTS = frozenset({ActKind.EDIT, ActKind.COMMAND, ActKind.SERVER})

STOPPED_BEFORE = "Not run: the person stopped the turn."
LEFT_OUT = "Not run: the person went on with something else."
_LEFT = "The program ended before this was done."


def places_of(state: AppState) -> ToolPlaces:
    """Folders that tools work in."""
    project, tools = state.config.project, state.config.settings.tools
    return ToolPlaces(
        root=project.root,
        allowed_roots=project.allowed_roots,
        home=state.program.home,
        is_trusted=project.is_trusted,
        bounds=tools.bounds,
        shown=project.policies.shown,
    )


def advance(state: AppState, given: Stamp, turn: AgentTurn) -> Result:
    """Begin what may begin, and judge the next call. While settings or the project are being read nothing is judged:
    whose folder it is, and what the person trusts, is not known then (`judge_held`).
    """
    effects: list[Any] = []
    for number, call in enumerate(turn.calls):
        if call.state is CallState.PREPARING and call.let_by and _may_begin(turn, number):
            stopped = _not_any_more(state, given, turn, call)
            if stopped is not None:
                state, more = stopped
                return state, (*effects, *more)
            turn = with_tool_call(turn, replace(call, state=CallState.RUNNING, started_at=given.at))
            started = _start(state, given, number, call)
            effects.append(
                AppendRecords(discussion_id=turn.discussion_id, records=(started,), token=StartToken(call.id))
            )
    following = _next_to_judge(turn) if state.config.is_settled else None
    if following is not None:
        turn = replace(turn, judging_id=following.id)
        is_next = all(one.state.is_over for one in _before(turn, following.id))
        effects.append(
            JudgeCall(
                discussion_id=turn.discussion_id,
                turn_id=turn.turn_id,
                call_id=following.id,
                name=following.name,
                arguments_json=following.arguments_json,
                places=places_of(state),
                searched=asked_places(state),
                is_next=is_next,
                offer=_offer(state, turn.discussion_id),
            )
        )
    return with_turn(state, turn), tuple(effects)


def _offer(state: AppState, discussion_id: str) -> ToolOffer | None:
    """The tools that a discussion is offered."""
    row = state.discussions.summaries.get(discussion_id)
    return None if row is None else tools_offered(state, row.meta)


def _not_any_more(state: AppState, given: Stamp, turn: AgentTurn, call: ToolCall) -> Result | None:
    """Refuse or ask a call that was let run and waited: mode, grants or trust may be others by now. None: it may begin."""
    if call.approval is None:
        return None
    ruling = rule(call.approval, _standing(state, turn, call, must_ask=False))
    if ruling.answer is PolicyAnswer.REFUSE:
        return _ended(state, given, turn, call, CallState.REFUSED, ruling.refusal)
    if ruling.answer is PolicyAnswer.ASK and call.let_by == "policy":
        asked = replace(ruling.approval, asked_at=given.at)
        turn = with_tool_call(turn, replace(call, state=CallState.ASKING, approval=asked, let_by=""))
        return advance(state, given, turn)
    return None


def judge_held(state: AppState, given: Stamp) -> Result:
    """Judge what waited for the settings that hold now."""
    effects: tuple[Any, ...] = ()
    for turn in tuple(state.agent.turns.values()) if state.config.is_settled else ():
        if _next_to_judge(turn) is not None:
            own = Stamp(given.at, f"{given.seed}/judge/{turn.discussion_id}")
            state, more = advance(state, own, turn)
            effects = (*effects, *more)
    return state, effects


def _approval_id(call: ToolCall) -> str:
    return call.approval.id if call.approval is not None else ""


def _start(state: AppState, given: Stamp, number: int, call: ToolCall) -> StartRecord:
    """The record of a call that begins. `number`: of it in its reply, from 0."""
    sandbox = (state.agent.sandbox.name or "none") if call.kind is ActKind.COMMAND else ""
    record_id = given.make_id(20 + 2 * number)
    return StartRecord(
        id=record_id,
        at=given.at,
        call_id=call.id,
        approval_id=_approval_id(call),
        let_by=call.let_by,
        sandbox=sandbox,
    )


def _may_begin(turn: AgentTurn, number: int) -> bool:
    """True if a call that was let run may begin now."""
    at_work, call = running(turn), turn.calls[number]
    if len(at_work) >= MOST_AT_ONCE or (call.name == delegation.NAME and delegation.is_full(at_work)):
        return False
    unfinished = [one for one in turn.calls[:number] if not one.state.is_over]
    return not unfinished if _acts(call) else not any(map(_acts, unfinished))


def _acts(call: ToolCall) -> bool:
    """True if a call may write or run something, by itself or by a discussion that it gives a task to, or keeps the order."""
    return call.kind in _ACTS or call.keeps_order or delegation.may_write(call)


def _next_to_judge(turn: AgentTurn) -> ToolCall | None:
    """The first call that was not judged, unless one before it acts and is not over, or it was put off and one is not."""
    if turn.judging_id or turn.is_stopping:
        return None
    is_first = True
    for call in turn.calls:
        if call.state.is_over:
            continue
        if call.kind is None:
            return call if is_first or not call.keeps_order else None
        if _acts(call):
            return None
        is_first = False
    return None


def _before(turn: AgentTurn, call_id: str) -> tuple[ToolCall, ...]:
    """Calls of a reply that stand before one."""
    return tuple(takewhile(lambda one: one.id != call_id, turn.calls))


def judged(state: AppState, given: Stamp, event: CallJudged) -> Result:
    """Run a judged call, ask about it, or refuse it."""
    turn = state.agent.turns.get(event.discussion_id)
    call = call_of_turn(turn, event.call_id)
    if turn is None or call is None or turn.judging_id != event.call_id:
        return state, ()
    turn = replace(turn, judging_id="")
    approval = event.approval
    call = replace(
        call,
        kind=approval.kind,
        summary=""
        if event.problem
        else approval.title,  # it may be for no arguments at all: they tell more then
        approval=approval,
        keeps_order=event.keeps_order,
    )
    if event.problem:  # behind a refusal: what cannot be done tells what is there
        ruling = rule(approval, _standing(state, turn, call, must_ask=False))
        is_refused = ruling.answer is PolicyAnswer.REFUSE
        how = CallState.REFUSED if is_refused else CallState.FAILED
        return _ended(state, given, turn, call, how, ruling.refusal or event.problem)
    if turn.is_stopping:
        return _ended(state, given, turn, call, CallState.INTERRUPTED, STOPPED_BEFORE)
    if why := delegation.refusal(state, turn, call.name):
        return _ended(state, given, turn, call, CallState.FAILED, why)
    if call.name == delegation.NAME:
        turn = replace(turn, delegated=turn.delegated + 1)
    return _ruled(state, given, turn, call, must_ask=event.must_ask)


def put_off(state: AppState, given: Stamp, event: CallPutOff) -> Result:
    """A call is judged when all before it are over; by now they may be."""
    turn = state.agent.turns.get(event.discussion_id)
    call = call_of_turn(turn, event.call_id)
    if turn is None or call is None or turn.judging_id != event.call_id:
        return state, ()
    turn = with_tool_call(replace(turn, judging_id=""), replace(call, keeps_order=True))
    return advance(state, given, turn)


def _ruled(state: AppState, given: Stamp, turn: AgentTurn, call: ToolCall, *, must_ask: bool) -> Result:
    approval = call.approval
    assert approval is not None
    if turn.is_left:
        approval = replace(approval, reasons=(*approval.reasons, _LEFT))
    ruling = rule(approval, _standing(state, turn, call, must_ask=must_ask))
    call = replace(call, approval=ruling.approval)
    match ruling.answer:
        case PolicyAnswer.REFUSE:
            return _ended(state, given, turn, call, CallState.REFUSED, ruling.refusal)
        case PolicyAnswer.ASK:
            asked = replace(ruling.approval, asked_at=given.at)
            turn = with_tool_call(turn, replace(call, state=CallState.ASKING, approval=asked))
        case PolicyAnswer.ALLOW:
            turn = with_tool_call(turn, replace(call, let_by="policy"))
    return advance(state, given, turn)


def _standing(state: AppState, turn: AgentTurn, call: ToolCall, *, must_ask: bool) -> Standing:
    return Standing(
        mode=delegation.mode_of(state, turn.discussion_id),
        sandbox=state.agent.sandbox,
        is_trusted=state.config.project.is_trusted,
        grants=page_of(state, turn.discussion_id).grants,
        policies=state.config.project.policies,
        must_ask=must_ask,
        is_recovered=call.is_recovered,
    )


def approved(
    state: AppState, given: Stamp, turn: AgentTurn, call: ToolCall, taken: tuple[int, ...] | None, words: str
) -> Result:
    """The person's yes. `words`: for the model, of the hunks that were left out."""
    left = words if taken is not None else ""
    call = replace(call, state=CallState.PREPARING, let_by="person", taken=taken, left_words=left)
    turn = with_tool_call(replace(turn, is_left=False), call)
    return advance(state, given, turn)


def refused(
    state: AppState, given: Stamp, turn: AgentTurn, call: ToolCall, words: str, *, by_person: bool = True
) -> Result:
    """A no; one that no person gave lets nothing go on that an ended program has left."""
    turn = replace(turn, is_left=turn.is_left and not by_person)
    words += delegation.left_task(state, turn.discussion_id, call)
    return _ended(state, given, turn, call, CallState.REFUSED, words)


def reconsidered(state: AppState, given: Stamp, discussion_id: str) -> Result:
    """The mode or the grants are others: what is asked may need no yes any more, or get a no."""
    effects: tuple[Any, ...] = ()
    asking = state.agent.turns.get(discussion_id)
    for old in () if asking is None or asking.is_left else asking.calls:
        turn = state.agent.turns[discussion_id]
        call = call_of_turn(turn, old.id)
        if call is None or call.state is not CallState.ASKING or call.approval is None:
            continue
        answer = rule(call.approval, _standing(state, turn, call, must_ask=False)).answer
        if answer is not PolicyAnswer.ASK:
            state, more = _ruled(state, given, turn, replace(call, state=CallState.PREPARING), must_ask=False)
            effects = (*effects, *more)
    return state, effects


def started(state: AppState, given: Stamp, discussion_id: str, call_id: str) -> Result:
    """Run a call whose beginning is on disk, unless the person has stopped it."""
    turn = state.agent.turns.get(discussion_id)
    call = call_of_turn(turn, call_id)
    if turn is None or call is None or call.state is not CallState.RUNNING:
        return state, ()
    run = RunCall(
        discussion_id=discussion_id,
        turn_id=turn.turn_id,
        call_id=call_id,
        name=call.name,
        arguments_json=call.arguments_json,
        places=places_of(state),
        approval_id=_approval_id(call),
        hunks=call.taken,
        searched=asked_places(state),
        has_yes=call.let_by == "person",
        files=call.approval.files if call.approval is not None else {},
    )
    if call.name == delegation.NAME:
        return delegation.begin(state, given, turn, call)
    stop = (StopCalls(discussion_id=discussion_id, call_ids=(call_id,)),) if turn.is_stopping else ()
    return state, (run, *stop)


def unstarted(state: AppState, given: Stamp, discussion_id: str, call_id: str, problem: str) -> Result:
    """It could not be noted that a call begins: it is not run."""
    turn = state.agent.turns.get(discussion_id)
    call = call_of_turn(turn, call_id)
    if turn is None or call is None or call.state is not CallState.RUNNING:
        return state, ()
    words = f"Not run: it could not be noted on disk that it begins. {english(problem)}"
    return _ended(state, given, turn, call, CallState.FAILED, words)


def done(state: AppState, given: Stamp, event: CallDone) -> Result:
    """A call has its result: to disk with it."""
    turn = state.agent.turns.get(event.discussion_id)
    call = call_of_turn(turn, event.call_id)
    if turn is None or call is None or call.state is not CallState.RUNNING:
        return state, ()
    answer = event.answer
    call = replace(call, attachments=answer.attachments, is_background=answer.is_background)
    page = page_of(state, event.discussion_id)
    if answer.changes:
        page = replace(page, changes=with_changes(page.changes, answer.changes))
    if answer.todo is not None:
        page = replace(page, todo=answer.todo)
    state = with_page(state, event.discussion_id, page)
    turn = replace(turn, has_yielded=turn.has_yielded or answer.is_yield)
    how = CallState.FAILED if answer.is_error else CallState.DONE
    if event.is_interrupted:
        how = CallState.INTERRUPTED
    text = f"{answer.text} {call.left_words}" if call.left_words else answer.text
    state, effects = _ended(state, given, turn, call, how, text)
    return begun(state, event.discussion_id, call.id), effects


def kept(state: AppState, discussion_id: str, call_ids: frozenset[str]) -> AppState:
    """Results are on disk."""
    turn = state.agent.turns.get(discussion_id)
    if turn is None:
        return state
    calls = tuple(replace(one, is_kept=True) if one.id in call_ids else one for one in turn.calls)
    return with_turn(state, replace(turn, calls=calls))


def closed(state: AppState, given: Stamp, turn: AgentTurn, words: str) -> Result:
    """No call of a turn that has not begun will; those that run are told to stop."""
    effects: tuple[Any, ...] = ()
    turn = replace(turn, is_stopping=True, judging_id="")
    state = with_turn(state, turn)
    for call in turn.calls:
        if call.state in {CallState.PREPARING, CallState.ASKING}:
            current = state.agent.turns[turn.discussion_id]
            if delegation.unpriced_task(state, turn.discussion_id, call) is not None:
                # Its task has begun: what comes of that is its result.
                state = with_turn(state, with_tool_call(current, replace(call, state=CallState.RUNNING)))
                continue
            state, more = _ended(state, given, current, call, CallState.INTERRUPTED, words)
            effects = (*effects, *more)
    return state, (StopCalls(discussion_id=turn.discussion_id), *effects)


def _ended(
    state: AppState, given: Stamp, turn: AgentTurn, call: ToolCall, how: CallState, words: str
) -> Result:
    """A call is over: its result goes to disk, and the next one may go."""
    words = clean(words)
    number = next(i for i, one in enumerate(turn.calls) if one.id == call.id)
    over = replace(call, state=how, result=words[:SHOWN_CHARS])
    if not call.is_background:  # else its command goes on, or has told its end already
        over = replace(over, ended_at=given.at, tail="")
    turn = with_tool_call(turn, over)
    record = result_record(given, number, call.id, words, how, call.attachments)
    state, effects = advance(state, given, turn)
    return state, (
        AppendRecords(discussion_id=turn.discussion_id, records=(record,), token=ResultToken(call.id)),
        *effects,
    )


def result_record(
    given: Stamp,
    number: int,
    call_id: str,
    words: str,
    how: CallState,
    files: tuple[AttachmentPart, ...] = (),
) -> MessageRecord:
    """The record of a result. `number`: of the call in its reply, from 0; `files`: pictures in it."""
    is_error = how is not CallState.DONE
    ended = None if how in {CallState.DONE, CallState.FAILED} else CallEnd(how)
    part = ToolResultPart(call_id=call_id, text=words, is_error=is_error, attachments=files, ended=ended)
    status = Status.INTERRUPTED if how is CallState.INTERRUPTED else Status.COMPLETE
    return MessageRecord(
        id=given.make_id(21 + 2 * number), at=given.at, role=Role.TOOL, parts=(part,), status=status
    )
