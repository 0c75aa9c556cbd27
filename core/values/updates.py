"""Updates that every part of the step shares: results, notices and small changes of the state."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from core.base.mapping import with_entry, without
from core.base.offer import OfferedCommand
from core.values.discussion import DiscussionSummary, LiveCall, OpenDiscussion
from core.values.outcomes import OUTCOMES_KEPT, CommandOutcome
from core.values.settings import Project
from core.values.state import AppState, Level, Notice

Result = tuple[AppState, tuple[Any, ...]]
"""The next state and what the outside must do."""


def notify(
    state: AppState,
    notice_id: str,
    level: Level,
    text: str,
    detail: str = "",
    *,
    action: OfferedCommand | None = None,
    action_label: str = "",
) -> AppState:
    """Add a notice, or replace the one with the same id."""
    notice = Notice(notice_id, level, text, detail, state.now, action, action_label)
    kept = tuple(n for n in state.program.notices if n.id != notice_id)
    return replace(state, program=replace(state.program, notices=(*kept, notice)))


def dismiss(state: AppState, notice_id: str) -> AppState:
    """Remove a notice."""
    if all(n.id != notice_id for n in state.program.notices):
        return state
    return replace(
        state,
        program=replace(state.program, notices=tuple(n for n in state.program.notices if n.id != notice_id)),
    )


def conclude(state: AppState, outcome: CommandOutcome) -> AppState:
    """Keep how a command ended for whoever waits for it; without an id nobody does. What was told first stands."""
    if not outcome.command_id or outcome_of(state, outcome.command_id) is not None:
        return state
    return replace(
        state,
        program=replace(state.program, outcomes=(*state.program.outcomes, outcome)[-OUTCOMES_KEPT:]),
    )


def decline(state: AppState, command_id: str, notice_id: str, text: str, detail: str = "") -> AppState:
    """Say why a command is not carried out: as a notice, and to whoever waits for it."""
    state = conclude(state, CommandOutcome(command_id, problem=text, remedy=detail))
    return notify(state, notice_id, Level.WARNING, text, detail)


def outcome_of(state: AppState, command_id: str) -> CommandOutcome | None:
    """Outcome of the command of this id, None while it has not ended."""
    return next((one for one in reversed(state.program.outcomes) if one.command_id == command_id), None)


def is_under_way(state: AppState, command_id: str) -> bool:
    """True if a command that somebody waits for has not ended; without an id nobody waits."""
    return bool(command_id) and outcome_of(state, command_id) is None


def with_open(state: AppState, discussion: OpenDiscussion) -> AppState:
    """Replace an open discussion."""
    return replace(
        state,
        discussions=replace(
            state.discussions, open=with_entry(state.discussions.open, discussion.id, discussion)
        ),
    )


def with_summary(state: AppState, summary: DiscussionSummary) -> AppState:
    """Replace a row of the list."""
    return replace(
        state,
        discussions=replace(
            state.discussions, summaries=with_entry(state.discussions.summaries, summary.meta.id, summary)
        ),
    )


def with_call(state: AppState, call: LiveCall) -> AppState:
    """Replace the call of a discussion."""
    return replace(
        state, turns=replace(state.turns, calls=with_entry(state.turns.calls, call.discussion_id, call))
    )


def without_call(state: AppState, discussion_id: str) -> AppState:
    """Take a discussion's call away: it has ended."""
    return replace(state, turns=replace(state.turns, calls=without(state.turns.calls, discussion_id)))


def with_project(state: AppState, project: Project) -> AppState:
    """Replace the opened folder."""
    return replace(state, config=replace(state.config, project=project))
