"""Children of delegation at work: made, given their task, stopped with their parent, and their result told to it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from core.agent import calls, rounds
from core.agent.delegation import (
    ENDED,
    children_at_work,
    creation_id,
    result_of,
    with_delegation,
)
from core.agent.messages import CallDone
from core.base.mapping import without
from core.base.stamp import Stamp
from core.turn import queue, sending
from core.turn.messages import RetrySend
from core.values.agent import Delegation
from core.values.discussion import Draft, OpenDiscussion
from core.values.messages import Role, TextPart
from core.values.provider import StopKind
from core.values.records import MessageRecord
from core.values.state import AppState
from core.values.updates import Result, is_busy, outcome_of

KEPT_OPEN = 8
"""Children that are over and stay open, so that they are read at once."""


def created(state: AppState, given: Stamp, child_id: str) -> Result:
    """A child stands on disk: its task is sent, unless its parent was stopped meanwhile."""
    one = state.agent.delegations.get(child_id)
    if one is None or one.has_begun:
        return state, ()
    state = with_delegation(state, replace(one, has_begun=True))
    if one.is_stopping or state.program.is_closing:
        return state, ()
    record = MessageRecord(given.make_id(0), given.at, Role.USER, (TextPart(one.words),), is_autonomous=True)
    return sending.save_then_call(state, given, RetrySend(child_id), record.id, (record,))


def stopped(state: AppState, given: Stamp, parent_id: str) -> Result:
    """A parent's turn was interrupted: so are those of its children."""
    effects: tuple[Any, ...] = ()
    for child_id in children_at_work(state, parent_id):
        one = state.agent.delegations[child_id]
        if one.is_stopping:
            continue
        state = with_delegation(state, replace(one, is_stopping=True))
        own = Stamp(given.at, f"{given.seed}/child/{child_id}")
        state, stops = rounds.interrupted(state, own, child_id)
        was_called = child_id in state.turns.calls
        state, cancels = sending.cancel(state, child_id)
        if was_called and child_id not in state.turns.calls:
            state = queue.hold_after(state, child_id, StopKind.CANCELLED)
        effects = (*effects, *stops, *cancels)
    return state, effects


def followed(state: AppState, given: Stamp) -> Result:
    """Tell parents what came of the tasks that are over."""
    effects: tuple[Any, ...] = ()
    for one in tuple(state.agent.delegations.values()):
        done = _done(state, one)
        if done is None:
            continue
        delegations = without(state.agent.delegations, one.child_id)
        state = replace(state, agent=replace(state.agent, delegations=delegations))
        state, more = calls.done(state, Stamp(given.at, f"{given.seed}/told/{one.child_id}"), done)
        effects = (*effects, *more)
        state = _with_newest_open(state)
    return state, effects


def _with_newest_open(state: AppState) -> AppState:
    """Let go of children that are over, but for the newest: who wants to read one opens it."""
    rows = state.discussions.summaries
    over = [name for name, opened in state.discussions.open.items() if _may_leave(state, opened)]
    over.sort(key=lambda name: (rows[name].updated_at, name))
    if len(over) <= KEPT_OPEN:
        return state
    gone = frozenset(over[:-KEPT_OPEN])
    kept = {name: one for name, one in state.discussions.open.items() if name not in gone}
    return replace(state, discussions=replace(state.discussions, open=kept))


def _may_leave(state: AppState, opened: OpenDiscussion) -> bool:
    """True for a child in which nothing is under way, that nobody looks at, and to which nobody has spoken."""
    row = state.discussions.summaries.get(opened.id)
    if row is None or not row.meta.delegated_by or opened.id == state.discussions.selected_id:
        return False
    if opened.queue or opened.draft != Draft() or opened.id in state.agent.compactions:
        return False
    is_at_work = opened.id in state.agent.delegations or is_busy(state, opened.id)
    is_unwritten = any(one.discussion_id == opened.id for one in state.discussions.pending.values())
    is_spoken_to = any(one.role is Role.USER and not one.is_autonomous for one in opened.messages)
    return not (is_at_work or is_unwritten or is_spoken_to)


def _done(state: AppState, one: Delegation) -> CallDone | None:
    """Result of a parent's call, None while its child is at work."""
    made = outcome_of(state, creation_id(one.child_id))
    if not one.has_begun:
        if made is None or not made.problem:
            return None
        words = f"Its discussion could not be made: {made.problem}"
        return CallDone(one.parent_id, one.call_id, words, is_error=True)
    if is_busy(state, one.child_id):
        return None
    result = result_of(one, state.discussions.open.get(one.child_id))
    is_ended = state.program.is_closing and result.is_error
    text = ENDED if is_ended else result.text
    return CallDone(
        one.parent_id,
        one.call_id,
        text,
        result.is_error,
        is_interrupted=result.is_interrupted or is_ended,
    )
