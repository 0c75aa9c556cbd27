"""Work that only shows: previews, prices of rewrites and the list's index wait while a turn goes on to its next request.

The model waits for what a turn does between a reply and the next request; nobody looks that fast. What is put off is
done once, for all that has changed meanwhile: while the model answers, when a person is asked, or after a while.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec.structs import replace

from core.app.messages import Effect
from core.caching.rewrites import rewrite_effects
from core.context.spec import context_effects
from core.discussion.messages import IndexDiscussion
from core.values.agent import CallState
from core.values.discussion import CallPhase
from core.values.state import AppState, Unshown
from core.values.updates import Result

LONGEST = timedelta(seconds=2)
"""Time for which it is put off at most; it ends with the first message behind that, a tick at the latest."""
UNANSWERED = timedelta(seconds=1)
"""The same while the model is asked and says nothing: then it is in nobody's way."""
ANSWERED = timedelta(milliseconds=250)
"""The same while the model answers: a reply that is over sooner, because it only asks for a tool, does not wait for it."""

_BETWEEN = frozenset({CallPhase.SAVING, CallPhase.WAITING, CallPhase.STORING})


def with_shown(
    before: AppState, after: AppState, effects: tuple[Effect, ...], was: datetime | None
) -> Result:
    """The effects with the work that only shows, or without it and with a note that it is owed.

    Args:
        effects: of the step so far; was: time of the step before.
    """
    owed, now = after.unshown, after.now
    if now is not None and _must_wait(after, timedelta() if owed is None else now - owed.since):
        since = owed or Unshown(replace(before, unshown=None), was or now)
        indexed = since.indexed.union(_indexed(effects))
        rest = tuple([one for one in effects if not isinstance(one, IndexDiscussion)])
        return replace(after, unshown=replace(since, indexed=indexed)), rest
    if owed is None:
        return after, (*effects, *context_effects(before, after, was), *rewrite_effects(before, after))
    indexed = owed.indexed.difference(_indexed(effects))
    return replace(after, unshown=None), (
        *effects,
        *map(IndexDiscussion, sorted(indexed)),
        *context_effects(owed.before, after, owed.since),
        *rewrite_effects(owed.before, after),
    )


def _indexed(effects: Iterable[Effect]) -> Iterable[str]:
    return [one.discussion_id for one in effects if isinstance(one, IndexDiscussion)]


def _must_wait(state: AppState, waited: timedelta) -> bool:
    """True while a turn with tools is between a reply and the answer to its next request, and nobody is asked anything."""
    if waited >= LONGEST:
        return False
    for turn in state.agent.turns.values():
        if turn.is_left or turn.is_stopping:
            continue
        call = state.turns.calls.get(turn.discussion_id)
        if call is not None and call.phase in _BETWEEN:
            return not call.is_out or call.phase is CallPhase.STORING or waited < UNANSWERED
        if call is not None and call.phase is CallPhase.STREAMING:
            return state.unshown is not None and waited < ANSWERED
        if call is None and not any(one.state is CallState.ASKING for one in turn.calls):
            return True
    return False
