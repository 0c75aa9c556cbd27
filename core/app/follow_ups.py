"""Follow-ups of the rooms to a change of the state, in their order, and the work that only shows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec.structs import replace

from core.agent import agent_step as agent
from core.agent import compaction
from core.agent.attention import attention_step as attention
from core.app import lifecycle
from core.app.app_messages import Effect
from core.kernel.values.agent import CallState
from core.kernel.values.discussion import CallPhase
from core.kernel.values.state import AppState, Unshown
from core.kernel.values.tables import Follow, Moment, follow_effects
from core.kernel.values.updates import Result
from core.knowledge import knowledge_step as knowledge
from core.knowledge.harvest import harvest_step as harvest
from core.knowledge.harvest.modes import harvest_reader
from core.mcp import mcp_step as mcp
from core.retrieval import retrieval_step as retrieval
from core.services.settings import settings_step as settings
from core.services.spending import spending_step as spending
from core.signals import signals_step as signals
from core.talk.caching import caching_step as caching
from core.talk.caching.rewrites import rewrite_effects
from core.talk.context.context_spec import context_effects, left_effects
from core.talk.discussion.discussion_messages import IndexDiscussion
from core.talk.turn import turn_step as turn

ORDER: tuple[Follow, ...] = (
    mcp.FOLLOWS,  # first: a turn that goes on below is offered the servers that stand now
    agent.FOLLOWS,  # ends rounds or asks again, before anybody takes the discussion for free
    caching.FOLLOWS_BEGINNING,  # holds money back for what was just opened, before a limit lets more go
    turn.FOLLOWS,  # lets go what a raised limit held: a person's words go before a turn of its own
    attention.FOLLOWS,  # begins a turn of its own only where all above left the discussion free
    compaction.FOLLOWS,  # cuts the view of calls, those too that were begun above
    retrieval.FOLLOWS,  # asks for an index of the places as they are now
    harvest.FOLLOWS_MODE,  # drops a notice that does not hold any more, before a person is told of notices
    signals.FOLLOWS,  # tells of what ended, after all that could have begun anew has
    spending.FOLLOWS,  # shares what is held back: last of those that change money, so that it sees all of it
    # From here on nothing changes the state: effects alone, in the order in which they are begun.
    lifecycle.FOLLOWS_FILES,  # first, so that no change of a file is missed while the others work
    settings.FOLLOWS_SHOWN,
    settings.FOLLOWS_CACHED,
    follow_effects(  # the prices that a limit asks for
        "config discussions", lambda before, after: spending.price_effects(before, after, harvest_reader)
    ),
    knowledge.FOLLOWS,
    harvest.FOLLOWS_MONEY,  # ends a preview by the money as it is after this step
    caching.FOLLOWS_KNOWLEDGE,
    caching.FOLLOWS_ENDS,  # pings end before the stacks that they were made of are dropped
    follow_effects("discussions", left_effects),
    lifecycle.FOLLOWS_SELECTED,
)
"""Follow-ups of all rooms, each seeing what those above it changed, with the reason for its place."""

_GROUPS = tuple(sorted(frozenset().union(*(row.watches for row in ORDER)) - {"now"}))


def followed_up(before: AppState, after: AppState, moment: Moment) -> Result:
    """The state and all effects once each follow-up has run of which a watched group is another object than before.

    What one changes for those above it, they see in the next step: `changed_late` keeps its name until then.

    Args:
        before: the message; after: what the message itself changed; moment: with the message's own effects.
    """
    changed = {"now", *before.changed_late, *_changed(before, after)}
    late: set[str] = set()
    effects = list(moment.effects)
    for row in ORDER:
        if row.watches.isdisjoint(changed) and type(moment.body) not in row.messages:
            continue
        following, more = row.decide(before, after, moment)
        effects.extend(more)
        if following is not after:
            late.update(_changed(after, following))
            changed |= late
            after = following
    if late != before.changed_late:
        after = replace(after, changed_late=frozenset(late))
    return after, tuple(effects)


def _changed(before: AppState, after: AppState) -> list[str]:
    return [group for group in _GROUPS if getattr(before, group) is not getattr(after, group)]


# Work that only shows: previews, prices of rewrites and the list's index wait while a turn goes on to its
# next request.

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
        since = owed or Unshown(before=replace(before, unshown=None), since=was or now)
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
    for running in state.agent.turns.values():
        if running.is_left or running.is_stopping:
            continue
        call = state.turns.calls.get(running.discussion_id)
        if call is not None and call.phase in _BETWEEN:
            return not call.is_out or call.phase is CallPhase.STORING or waited < UNANSWERED
        if call is not None and call.phase is CallPhase.STREAMING:
            return state.unshown is not None and waited < ANSWERED
        if call is None and not any(one.state is CallState.ASKING for one in running.calls):
            return True
    return False
