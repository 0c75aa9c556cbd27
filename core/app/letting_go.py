"""Letting go of loaded discussions: all but the newest leave in which nothing is under way and that a log gives back whole.

Opening one again reads the same from the disk. Its place, its folds and its draft are kept elsewhere. Pure.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from core.kernel.values.agent import AgentPage
from core.kernel.values.discussion import OpenDiscussion
from core.kernel.values.state import AppState
from core.kernel.values.updates import follow, is_busy
from core.talk.caching.accounts import is_warm, last_expiry

KEPT_OPEN = 8
"""Discussions that stay loaded, so that a person who goes back and forth between a few waits for none."""
RESTS = timedelta(seconds=20)
"""Time for which one stays loaded after it was shown, read or changed: longer than any front end waits for its answer."""
MANAGED = timedelta(hours=1)
"""Time for which a cache is taken to be warm whose end only the provider knows."""

_HERE_ALONE = [
    "asked_version",
    "awaits_limit",
    "comparison",
    "draft",
    "failure",
    "held_calls",
    "is_held_at_limit",
    "kept_out",
    "left_calls",
    "queue",
    "queue_hold",
    "refusal",
]
"""Fields that no log holds, or that wait for somebody: as long as one of them says something, the discussion stays."""
_FRESH = OpenDiscussion(id="")
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def let_go(state: AppState) -> AppState:
    """The state without the discussions that nothing needs any more, oldest first. O(open discussions), mostly O(1)."""
    spare, now = len(state.discussions.open) - KEPT_OPEN, state.now
    if spare <= 0 or now is None:
        return state
    used = ((state.discussions.used.get(name, _LONG_AGO), name) for name in state.discussions.open)
    over = sorted((at, name) for at, name in used if not at <= now < at + RESTS)
    gone = [name for _, name in over if may_leave(state, name)][:spare]
    return _without(state, frozenset(gone)) if gone else state


def may_leave(state: AppState, discussion_id: str) -> bool:
    """True for an open discussion that nobody looks at, in which nothing is under way, and that a log gives back whole."""
    row, opened = state.discussions.summaries.get(discussion_id), state.discussions.open[discussion_id]
    if row is None or not row.meta.model or discussion_id == state.discussions.selected_id:
        return False
    if any(getattr(opened, name) != getattr(_FRESH, name) for name in _HERE_ALONE):
        return False
    return not (_is_at_work(state, discussion_id) or _is_warm(state, discussion_id))


def _is_at_work(state: AppState, discussion_id: str) -> bool:
    """True while a call, a tool, a cut, a task, a write or a payment of a discussion is under way, or it acts by itself."""
    agent, autonomy = state.agent, state.attention.autonomy
    if discussion_id in agent.turns or discussion_id in agent.compactions or is_busy(state, discussion_id):
        return True
    if discussion_id in agent.delegations or agent.pages.get(discussion_id, _NO_PAGE).commands:
        return True
    own = (
        *(one.parent_id for one in agent.delegations.values()),
        *(one.discussion_id for one in state.discussions.pending.values()),
        *(one.discussion_id for one in state.spending.reserved.values()),
        *(getattr(one, "discussion_id", "") for one in state.config.held_commands),
        "" if autonomy is None else autonomy.discussion_id,
    )
    return discussion_id in own


_NO_PAGE = AgentPage()


def _is_warm(state: AppState, discussion_id: str) -> bool:
    """True while a provider holds what the next request begins with: what was sent last is needed to extend it."""
    cache, now = state.caching.caches.get(discussion_id), state.now
    if cache is None or not is_warm(cache, now):
        return False
    return last_expiry(cache) is not None or now is None or now < cache.cached_at + MANAGED


def _without(state: AppState, gone: frozenset[str]) -> AppState:
    discussions, context, caching = state.discussions, state.context, state.caching
    return replace(
        state,
        discussions=replace(
            discussions,
            open={name: one for name, one in discussions.open.items() if name not in gone},
            used={name: at for name, at in discussions.used.items() if name not in gone},
        ),
        context=replace(
            context, reports={name: one for name, one in context.reports.items() if name not in gone}
        ),
        caching=replace(
            caching, plans={name: one for name, one in caching.plans.items() if name not in gone}
        ),
    )


FOLLOWS = follow("discussions now", lambda _before, after, _moment: (let_go(after), ()))
