"""Belief of what a provider still holds of the request that a discussion sent last: its state by the ledger's entries."""

from __future__ import annotations

from datetime import datetime, timedelta
from operator import itemgetter

from msgspec.structs import replace

from core.caching.ledger import live_entries
from core.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    DiscussionCache,
    DiscussionCacheState,
    SentKnowledge,
)

_TOKENS = itemgetter(0)


def believed(
    cache: DiscussionCache, ledger: CacheLedger, discussion_id: str, now: datetime
) -> DiscussionCacheState | None:
    """The state of a discussion's cache, with what lives longer than it says.

    A reply tells of its own entries alone; one of an earlier call, or of a call whose reply never ended, may
    outlive them.

    Args:
        cache: what is kept of the discussion; ledger: of all that is known.

    Returns:
        The state as it was where the provider manages the lifetime, where nothing lives longer, and where what was
        held was let go.
    """
    state, sent = cache.state, cache.sent
    held = [] if sent is None else _held(sent, ledger, now)
    if sent is None or not held or (state is not None and state.provider != sent.scope.provider):
        return state
    if state is None:
        tokens, deepest = held[-1]
        cached_at = deepest.expires_at - timedelta(seconds=deepest.ttl_s)
        state = DiscussionCacheState(discussion_id, sent.scope.provider, cached_at, deepest.expires_at)
        state = replace(state, tokens_cached=tokens)
    if state.expires_at is None or not state.tokens_cached:
        return state
    until = state.expires_at
    if state.long_until is not None and state.long_until > now:
        until = max(until, state.long_until)
    longer = [(tokens, entry) for tokens, entry in held if entry.expires_at > until]
    if not longer:
        return state
    last = max(entry.expires_at for _, entry in longer)
    tokens = max(tokens for tokens, entry in longer if entry.expires_at == last)
    return replace(state, long_until=last, long_tokens=min(tokens, state.tokens_cached))


def _held(sent: SentKnowledge, ledger: CacheLedger, now: datetime) -> list[tuple[int, CacheLedgerEntry]]:
    """Tokens up to each living entry of the request and that entry, deepest last. What has a name ends by its own rule."""
    live = live_entries(ledger, sent.scope, now)
    held = [(place.tokens, live[place.prefix_hash]) for place in sent.places if place.prefix_hash in live]
    return sorted([one for one in held if not one[1].name], key=_TOKENS)
