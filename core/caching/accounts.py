"""What a discussion's cache state becomes after usage and invalidation, and when money has run out."""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec.structs import replace

from core.values.cache import CacheLedger, CachePlan, DiscussionCache, DiscussionCacheState
from core.values.provider import ContentsReport, StoredContent
from core.values.usage import Usage


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
    ledger = CacheLedger({}, cache.ledger.cannot_extend)
    return replace(cache, state=state, ledger=ledger, epoch=cache.epoch + 1)
