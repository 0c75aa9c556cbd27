"""Commands that go on behind their calls: begun with the result, their tail while they write, their end."""

from __future__ import annotations

from msgspec.structs import replace

from core.agent.agent_messages import CallTail, CommandEnded
from core.agent.agent_pages import call_of_turn, page_of, with_page, with_tool_call, with_turn
from core.kernel.ids import Stamp
from core.kernel.values.agent import CallState, ToolCall
from core.kernel.values.state import AppState

SHOWN_CHARS = 2_000
"""Of what it wrote last, in the panel, once it has ended."""


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
