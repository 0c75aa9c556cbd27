"""Gate for parallel calls: those wait whose prefix another is just writing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from core.kernel.structures import with_entry
from core.kernel.values.cache import CachePlan, DiscussionCacheState, LedgerScope
from core.kernel.values.state import AppState, ProviderTotals


class PlannedCall(msgspec.Struct, frozen=True):
    """A call that is about to be sent, or was sent and has not begun its answer (`is_out`)."""

    call_id: str
    scope: LedgerScope
    plan: CachePlan
    hashes: tuple[str, ...]
    is_out: bool = False


class Gate(msgspec.Struct, frozen=True):
    """Calls that may be sent now, and those that wait for another's first byte (`waits[call] = other`)."""

    go: tuple[str, ...]
    waits: tuple[tuple[str, str], ...]


def gate(calls: Sequence[PlannedCall]) -> Gate:
    """Let the first of the calls that share a prefix not yet in the cache go, hold the others back.

    An entry can be read once the answer of the request that writes it begins.

    Args:
        calls: in the order in which they were asked for; those already out first.
    """
    leaders: list[tuple[LedgerScope, frozenset[str], str]] = []
    go: list[str] = []
    waits: list[tuple[str, str]] = []
    for call in calls:
        prefixes = frozenset(call.hashes)
        leader = next((c for s, writes, c in leaders if s == call.scope and writes & prefixes), "")
        if leader and not call.is_out:
            waits.append((call.call_id, leader))
            continue
        fresh = frozenset(write.prefix_hash for write in call.plan.writes if write.is_new)
        leaders.append((call.scope, fresh, call.call_id))
        if not call.is_out:
            go.append(call.call_id)
    return Gate(tuple(go), tuple(waits))


# Reports of caches as they arrive: what was known later stands, whichever thread's report comes first.


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
