"""The spend limits: what has been spent against them, and whether the next send must ask and background work stops."""

from __future__ import annotations

from core.cache.accounts import spend_stop
from core.values.cache import SpendLimits
from core.values.discussion import DiscussionMeta
from core.values.state import AppState


def discussion_limit_usd(state: AppState, meta: DiscussionMeta) -> float | None:
    """A discussion's own limit, else the one of the settings."""
    return meta.spend_limit_usd if meta.spend_limit_usd is not None else state.settings.ai.spend_limit_usd


def limit_reached(state: AppState, discussion_id: str = "") -> str:
    """Why no more is to be spent without asking, in a sentence; empty while there is money left.

    Args:
        discussion_id: whose own limit counts beside the day's, none where empty. A sum that is not known stops nothing.
    """
    summary = state.summaries.get(discussion_id)
    own = None if summary is None else discussion_limit_usd(state, summary.meta)
    spent = 0.0 if summary is None else summary.usage.cost_usd or 0.0
    limits = SpendLimits(own, state.settings.caching.day_limit_usd)
    return spend_stop(limits, spent, state.spent_today_usd or 0.0)
