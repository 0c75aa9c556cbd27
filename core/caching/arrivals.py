"""Reports of caches as they arrive: what was known later stands, whichever thread's report comes first."""

from __future__ import annotations

from msgspec.structs import replace

from core.base.mapping import with_entry
from core.values.cache import DiscussionCacheState
from core.values.state import AppState, ProviderTotals


def with_totals(state: AppState, totals: ProviderTotals | None) -> AppState:
    """Keep a provider's totals, unless later ones are known. None: nothing is said of them."""
    if totals is None:
        return state
    known = state.caching.totals
    if totals.provider in known and known[totals.provider].booked > totals.booked:
        return state
    return replace(state, caching=replace(state.caching, totals=with_entry(known, totals.provider, totals)))


def with_cache(state: AppState, cache: DiscussionCacheState, order: int | None = None) -> AppState:
    """Keep what is known of a cache, unless a later word on it is known; whether it is on, the discussion itself says.

    Args:
        order: of the book of caches when this was so, None where it is no worker's word.
    """
    chosen, known = cache.discussion_id, state.caching.orders
    if order is not None and order < known.get(chosen, 0):
        return state
    orders = known if order is None else with_entry(known, chosen, order)
    summary = state.discussions.summaries.get(chosen)
    if summary is not None:
        cache = replace(cache, caching_enabled=summary.meta.caching_enabled)
    caches = with_entry(state.caching.caches, chosen, cache)
    return replace(state, caching=replace(state.caching, caches=caches, orders=orders))
