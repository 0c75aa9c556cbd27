"""Changes of the agent's state: turns, their calls, and the page of a discussion."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from core.base.mapping import with_entry, without
from core.values.agent import AgentPage, AgentTurn, CallState, Mode, ToolCall
from core.values.state import AppState

MOST_ACTIVITY = 10_000
"""Tool calls that a page keeps; the log has the rest."""


def page_of(state: AppState, discussion_id: str) -> AgentPage:
    """Page of what the agent did in a discussion."""
    return state.agent.pages.get(discussion_id) or AgentPage()


def with_page(state: AppState, discussion_id: str, page: AgentPage) -> AppState:
    """Replace a discussion's page."""
    pages = with_entry(state.agent.pages, discussion_id, page)
    return replace(state, agent=replace(state.agent, pages=pages))


def mode_of(state: AppState, discussion_id: str) -> Mode:
    """Mode that counts in a discussion. Accepting edits ends as grants do: with the program, the project, a branch."""
    summary = state.discussions.summaries.get(discussion_id)
    mode = summary.meta.mode if summary is not None else Mode.ASK
    return Mode.ASK if mode is Mode.ACCEPT_EDITS and not page_of(state, discussion_id).accepts_edits else mode


def with_turn(state: AppState, turn: AgentTurn) -> AppState:
    """Replace a turn that runs, and its calls on the page."""
    turns = with_entry(state.agent.turns, turn.discussion_id, turn)
    state = replace(state, agent=replace(state.agent, turns=turns))
    page = page_of(state, turn.discussion_id)
    activity = _with_calls(page.activity, turn.calls)
    return (
        state
        if activity is page.activity
        else with_page(state, turn.discussion_id, replace(page, activity=activity))
    )


def without_turn(state: AppState, discussion_id: str) -> AppState:
    """Take a turn away: it is over."""
    return replace(state, agent=replace(state.agent, turns=without(state.agent.turns, discussion_id)))


def call_of_turn(turn: AgentTurn | None, call_id: str) -> ToolCall | None:
    """A call of a turn by its id."""
    return None if turn is None else next((one for one in turn.calls if one.id == call_id), None)


def asked_calls(state: AppState, discussion_id: str) -> tuple[ToolCall, ...]:
    """Calls of a discussion that wait for a person."""
    turn = state.agent.turns.get(discussion_id)
    return () if turn is None else tuple(one for one in turn.calls if one.state is CallState.ASKING)


def with_tool_call(turn: AgentTurn, call: ToolCall) -> AgentTurn:
    """Replace a call of a turn."""
    return replace(turn, calls=tuple(call if one.id == call.id else one for one in turn.calls))


def open_calls(turn: AgentTurn) -> tuple[ToolCall, ...]:
    """The calls of a turn whose results are not on disk yet."""
    return tuple(call for call in turn.calls if not call.is_kept)


def running(turn: AgentTurn) -> tuple[ToolCall, ...]:
    """The calls of a turn that run."""
    return tuple(call for call in turn.calls if call.state is CallState.RUNNING)


def _with_calls(activity: tuple[ToolCall, ...], calls: Iterable[ToolCall]) -> tuple[ToolCall, ...]:
    """The activity with these calls in their places, new ones at the end. Most often they are its last."""
    found: list[ToolCall] | None = None
    for call in calls:
        shown = activity if found is None else found
        at = next((i for i in range(len(shown) - 1, -1, -1) if shown[i].id == call.id), None)
        if at is not None and shown[at] is call:
            continue
        found = list(activity) if found is None else found
        if at is None:
            found.append(call)
        else:
            found[at] = call
    return activity if found is None else tuple(found[-MOST_ACTIVITY:])
