"""The spend limits: what has been spent against them, and whether the next send must ask and background work stops."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.spending.messages import SpentCounted
from core.values.discussion import DiscussionMeta
from core.values.records import Record, UsageRecord
from core.values.spending import LimitScope, ReachedLimit
from core.values.state import AppState

DAY = timedelta(days=1)


def counted(state: AppState, event: SpentCounted) -> AppState:
    """What was spent since the person's midnight is known."""
    return replace(
        state, spending=replace(state.spending, day_start=event.day_start, spent_today_usd=event.usd)
    )


def add_spent(state: AppState, records: tuple[Record, ...]) -> AppState:
    """Add what calls cost to the day's sum; unknown prices add nothing."""
    if state.spending.spent_today_usd is None:
        return state
    cost = sum(r.usage.cost_usd or 0.0 for r in records if isinstance(r, UsageRecord))
    return (
        replace(
            state, spending=replace(state.spending, spent_today_usd=state.spending.spent_today_usd + cost)
        )
        if cost
        else state
    )


def new_day(state: AppState) -> AppState:
    """Begin the day's sum anew past the person's midnight."""
    start, now = state.spending.day_start, state.now
    if start is None or now is None or now < start + DAY:
        return state
    return replace(
        state,
        spending=replace(state.spending, day_start=start + DAY * ((now - start) // DAY), spent_today_usd=0.0),
    )


def discussion_limit_usd(state: AppState, meta: DiscussionMeta) -> float | None:
    """A discussion's own limit, else the one of the settings."""
    return (
        meta.spend_limit_usd if meta.spend_limit_usd is not None else state.config.settings.ai.spend_limit_usd
    )


def left_today_usd(state: AppState) -> float | None:
    """What is left of the day's limit beside what calls under way are expected to cost; None for no limit."""
    limit = state.config.settings.caching.day_limit_usd
    if limit is None:
        return None
    return max(0.0, limit - (state.spending.spent_today_usd or 0.0) - _under_way_usd(state))


def _under_way_usd(state: AppState) -> float:
    return sum(call.reserved_usd for call in state.turns.calls.values())


def limit_reached(state: AppState, discussion_id: str = "") -> str:
    """Why no more is to be spent without asking, in a sentence; empty while there is money left.

    Args:
        discussion_id: whose own limit counts beside the day's, none where empty. A sum that is not known stops nothing.
    """
    reached = reached_limits(state, discussion_id)
    return reached[0].sentence if reached else ""


def reached_limits(state: AppState, discussion_id: str = "") -> tuple[ReachedLimit, ...]:
    """The limits that stand against spending more, the discussion's own before the day's. As `limit_reached`.

    Calls under way count with what they are expected to cost, so that many at once stop where as many in a row would.
    """
    summary = state.discussions.summaries.get(discussion_id)
    own = None if summary is None else discussion_limit_usd(state, summary.meta)
    spent = None if summary is None else summary.usage.cost_usd
    own_call = state.turns.calls.get(discussion_id)
    own_under_way = own_call.reserved_usd if own_call is not None else 0.0
    day = state.config.settings.caching.day_limit_usd
    sums = (
        (LimitScope.DISCUSSION, own, spent or 0.0, own_under_way),
        (LimitScope.DAY, day, state.spending.spent_today_usd or 0.0, _under_way_usd(state)),
    )
    return tuple(
        ReachedLimit(scope, limit, spent, reserved)
        for scope, limit, spent, reserved in sums
        if limit is not None and spent + reserved >= limit
    )
