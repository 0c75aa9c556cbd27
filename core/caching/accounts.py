"""Accounts of a discussion's cache state after usage and invalidation, and when money has run out."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec.structs import replace

from core.values.cache import (
    Balance,
    CacheLedger,
    CachePlan,
    CachePrices,
    DiscussionCache,
    DiscussionCacheState,
)
from core.values.provider import ContentsReport, StoredContent
from core.values.usage import Usage

MOST_LOST = 2.0
"""Caching never loses more on one discussion, pings, prewarms and rent included, than so many times its largest request's input costs fresh.

A write is a bet on another turn. One that is lost costs a quarter of the request (5 minutes) or all of it (an hour) more
than no caching; what was lost counts against the bets that follow until reads have earned it back."""


def total_allowed(balance: Balance, total_tokens: int) -> float:
    """Amount that a request may cost more than without caching, in tokens of fresh input."""
    return balance.saved + MOST_LOST * max(balance.largest_tokens, total_tokens)


def balanced(
    balance: Balance, plan: CachePlan, usage: Usage, prices: CachePrices, rent_usd: float | None = 0.0
) -> Balance:
    """The balance after a call: what its input would have cost without caching, less what it cost.

    Args:
        rent_usd: what storing cost beside its tokens.

    Returns:
        Without superseded text, which nobody would send who does not cache. Unchanged where the provider did not
        report what it read and wrote.
    """
    total = usage.input_tokens
    if total is None or (usage.cache_read_tokens is None and usage.cache_write_tokens is None):
        return balance
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    longest = max([*(one.ttl_s for one in plan.writes), *(one.ttl_s for one in plan.marks)], default=0)
    long = (
        usage.cache_write_1h_tokens if usage.cache_write_12h_tokens is None else usage.cache_write_12h_tokens
    )
    short = 0 if long is None else max(0, written - long)
    extra = short * (prices.write_at(prices.writes[0].ttl_s) - 1.0) if prices.writes else 0.0
    extra += (written - short) * (prices.write_at(longest) - 1.0)
    if rent_usd and prices.input_usd:
        extra += rent_usd / prices.input_usd
    planned = plan.read_tokens + plan.write_tokens + plan.fresh_tokens
    superseded = plan.superseded_tokens * total / planned if planned else 0.0
    saved = balance.saved + read * (1.0 - prices.read) - extra - superseded
    return Balance(saved, max(balance.largest_tokens, total))


def after_upkeep(balance: Balance, usage: Usage, prices: CachePrices) -> Balance:
    """The balance after a ping or a prewarm: nobody would send it who does not cache, so that it costs all that it costs."""
    if prices.input_usd == 0.0:
        return balance
    total = usage.input_tokens or 0
    read = min(total, usage.cache_read_tokens or 0)
    written = min(total - read, usage.cache_write_tokens or 0)
    longest = prices.writes[-1].ttl_s if prices.writes else 0
    short = 0 if usage.cache_write_1h_tokens is None else max(0, written - usage.cache_write_1h_tokens)
    cost = read * prices.read + (written - short) * prices.write_at(longest) + total - read - written
    cost += short * prices.write_at(prices.writes[0].ttl_s) if prices.writes else short
    return replace(balance, saved=balance.saved - cost)


def after_rent(balance: Balance, usd: float | None, input_usd: float | None) -> Balance:
    """The balance after rent of what was stored for the discussion; `input_usd`: price of a fresh token."""
    return replace(balance, saved=balance.saved - usd / input_usd) if usd and input_usd else balance


def after_usage(
    state: DiscussionCacheState | None,
    discussion_id: str,
    provider: str,
    plan: CachePlan,
    usage: Usage,
    started_at: datetime,
) -> DiscussionCacheState | None:
    """The state after a call's usage came.

    Args:
        started_at: start of the request: lifetimes count from there.

    Returns:
        Unchanged where the provider reported no cache fields, or neither read nor wrote.
    """
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    if read is None and written is None:
        return state
    held = (read or 0) + (written or 0)
    if not held:
        return state
    ttl_s = max((w.ttl_s for w in plan.writes[-1:]), default=plan.hit_ttl_s)
    old = state or DiscussionCacheState(discussion_id, provider, started_at, None)
    long_s, long_tokens = _longest(plan, ttl_s, held)
    return replace(
        old,
        long_until=started_at + timedelta(seconds=long_s) if long_tokens else None,
        long_tokens=long_tokens,
        provider=provider,
        cached_at=started_at if written or state is None else old.cached_at,
        expires_at=started_at + timedelta(seconds=ttl_s) if plan.marks or plan.contents is not None else None,
        hit_count=old.hit_count + (1 if read else 0),
        tokens_cached=held,
    )


def _longest(plan: CachePlan, ttl_s: int, held: int) -> tuple[int, int]:
    """The lifetime and the tokens of what a request leaves that outlives its last mark; no tokens where nothing does.

    The plan's tokens are estimates: they are scaled by what was reported.
    """
    entries = [(write.ttl_s, write.tokens) for write in plan.writes]
    if plan.read_tokens:
        entries.append((plan.hit_ttl_s, plan.read_tokens))
    longest = max((ttl for ttl, _ in entries), default=0)
    if not plan.marks or longest <= ttl_s:
        return 0, 0
    tokens = max(tokens for ttl, tokens in entries if ttl == longest)
    planned = max(plan.read_tokens + plan.write_tokens, tokens)
    return longest, round(held * tokens / planned)


def after_contents(
    state: DiscussionCacheState | None, contents: ContentsReport | None, now: datetime
) -> DiscussionCacheState | None:
    """The state after a call by a stored prefix: it ends when the provider says, which use does not put off.

    One that was gone when it was to be used is held no longer.
    """
    if state is None or contents is None:
        return state
    if contents.stored is not None:
        return replace(state, expires_at=contents.stored.expires_at)
    return released(state, now) if contents.lost_name else state


def adopted(
    state: DiscussionCacheState | None, provider: str, content: StoredContent
) -> DiscussionCacheState:
    """The state after a start that found what is still stored for the discussion."""
    old = state or DiscussionCacheState(content.discussion_id, provider, content.created_at, None)
    return replace(
        old,
        provider=provider,
        cached_at=content.created_at,
        expires_at=content.expires_at,
        tokens_cached=content.tokens,
    )


def released(state: DiscussionCacheState, now: datetime) -> DiscussionCacheState:
    """The state after what was stored is deleted, by us or by someone else."""
    return replace(state, expires_at=now, tokens_cached=0, long_until=None, long_tokens=0)


def invalidated(cache: DiscussionCache, now: datetime) -> DiscussionCache:
    """The cache after Invalidate: nothing is known to be held, the salt of layer 1 is counted up.

    What the provider must be told beside (deleting a Gemini content, a saved prefix) is the caller's.
    """
    state = cache.state
    if state is not None:
        state = replace(released(state, now), last_invalidated_at=now)
    return replace(cache, state=state, ledger=CacheLedger(), epoch=cache.epoch + 1)
