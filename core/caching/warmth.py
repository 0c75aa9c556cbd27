"""Warmth of a discussion's prefix: one rule for the step, the window and what a change would lose. Pure."""

from __future__ import annotations

from datetime import datetime

from core.values.cache import DiscussionCacheState


def is_alive(cache: DiscussionCacheState, now: datetime | None) -> bool:
    """True while the lifetime of what a provider was given runs; None of either time: it is taken to."""
    until = last_expiry(cache)
    return cache.caching_enabled and (until is None or now is None or until > now)


def last_expiry(cache: DiscussionCacheState) -> datetime | None:
    """Time when nothing of it is left; None where the provider manages that."""
    if cache.expires_at is None or cache.long_until is None:
        return cache.expires_at
    return max(cache.expires_at, cache.long_until)


def warm_until(cache: DiscussionCacheState, now: datetime | None) -> datetime | None:
    """Time when most of what still lives ends, or when the last of it did; None where the provider manages that."""
    if cache.expires_at is None or cache.long_until is None:
        return cache.expires_at
    is_mostly_long = 2 * cache.long_tokens >= cache.tokens_cached
    if now is not None and (cache.expires_at <= now or (is_mostly_long and cache.long_until > now)):
        return last_expiry(cache)
    return cache.expires_at


def held_tokens(cache: DiscussionCacheState, now: datetime | None) -> int:
    """Tokens that the provider is believed to hold still: all, or the part that lives longer."""
    if now is None or cache.expires_at is None or cache.expires_at > now:
        return cache.tokens_cached
    return cache.long_tokens if cache.long_until is not None and cache.long_until > now else 0


def is_warm(cache: DiscussionCacheState, now: datetime | None) -> bool:
    """True if a provider is believed to hold something of a discussion, which it could lose."""
    return cache.tokens_cached > 0 and is_alive(cache, now)
