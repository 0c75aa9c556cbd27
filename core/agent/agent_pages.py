"""Changes of the agent's state: turns, their calls, and the page of a discussion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.structures import with_entry, without
from core.kernel.values.agent import AgentPage, AgentTurn, CallState, Mode, ToolCall
from core.kernel.values.state import AppState, Level
from core.kernel.values.updates import Result, notify
from core.talk.discussion.lifecycle import change_meta

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


# End of the mode that accepts edits: as grants, it ends with the program, the project, a branch and the
# start of autonomy.

RESTARTED = tr("your choice to accept edits ended when the program closed")
MOVED = tr("your choice to accept edits holds only in its project, while you trust it")
UNWATCHED = tr("the program asks before edits again: nobody watches during autonomy")
BRANCHED = tr("your choice to accept edits applies to the original discussion, not to this branch")


def chosen(state: AppState, discussion_id: str, mode: Mode) -> AppState:
    """The person chose a mode."""
    page, accepts = page_of(state, discussion_id), mode is Mode.ACCEPT_EDITS
    if page.accepts_edits is accepts:
        return state
    return with_page(state, discussion_id, replace(page, accepts_edits=accepts))


def restarted(state: AppState, discussion_id: str) -> Result:
    """A discussion was read: what an earlier program accepted is asked again. A command that only reads writes nothing."""
    summary = state.discussions.summaries.get(discussion_id)
    if summary is None or state.agent.is_headless or mode_of(state, discussion_id) is summary.meta.mode:
        return state, ()
    state, effects = change_meta(state, discussion_id, mode=Mode.ASK)
    return _said(state, discussion_id, RESTARTED), effects


def moved(state: AppState) -> Result:
    """Another project is open, or its trust is another."""
    effects: tuple[Any, ...] = ()
    for discussion_id, page in tuple(state.agent.pages.items()):
        if page.accepts_edits:
            state, written = _ended(state, discussion_id, MOVED)
            effects = (*effects, *written)
    return state, effects


def unwatched(state: AppState, discussion_id: str) -> Result:
    """A discussion becomes autonomous: what the person allowed it while they saw what it does ends, grants and mode."""
    page = page_of(state, discussion_id)
    if page.grants:
        state = with_page(state, discussion_id, replace(page, grants=()))
    return _ended(state, discussion_id, UNWATCHED) if page.accepts_edits else (state, ())


def branched(state: AppState, discussion_id: str) -> AppState:
    """A branch is there: it asks where the discussion that it came from accepts edits."""
    summary = state.discussions.summaries.get(discussion_id)
    if (
        summary is None
        or summary.meta.delegated_by
        or mode_of(state, summary.meta.parent_id) is not Mode.ACCEPT_EDITS
    ):
        return state
    return _said(state, discussion_id, BRANCHED)


def _ended(state: AppState, discussion_id: str, why: str) -> Result:
    page = replace(page_of(state, discussion_id), accepts_edits=False)
    state, written = change_meta(with_page(state, discussion_id, page), discussion_id, mode=Mode.ASK)
    return _said(state, discussion_id, why), written


def _said(state: AppState, discussion_id: str, why: str) -> AppState:
    summary = state.discussions.summaries.get(discussion_id)
    if summary is None or not summary.meta.has_tools:
        return state
    text = tr(
        "In {discussion!r}, the program asks before edits again: {why}.",
        discussion=summary.meta.name,
        why=why,
    )
    return notify(state, f"mode/{discussion_id}", Level.INFO, text, discussion_id=discussion_id)
