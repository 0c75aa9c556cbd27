"""End of the mode that accepts edits: as grants, it ends with the program, the project, a branch and the start of autonomy."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from core.agent.pages import mode_of, page_of, with_page
from core.discussion.choices import change_meta
from core.values.agent import Mode
from core.values.state import AppState, Level
from core.values.updates import Result, notify

RESTARTED = "accepting them ended with the program in which you chose it"
MOVED = "accepting them holds for the project in which you chose it, while that is trusted"
UNWATCHED = "accepting them ended with the start of autonomy, whose edits nobody sees"
BRANCHED = "accepting them stays with the discussion that it is a branch of"


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
    text = f"{summary.meta.name!r} asks before edits again: {why}."
    return notify(state, f"mode/{discussion_id}", Level.INFO, text, discussion_id=discussion_id)
