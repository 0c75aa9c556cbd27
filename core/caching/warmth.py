"""Whether the prefix of a discussion is warm: one rule for the step, the window and what a change would lose. Pure."""

from __future__ import annotations

from datetime import datetime

from core.values.cache import DiscussionCacheState


def is_alive(cache: DiscussionCacheState, now: datetime | None) -> bool:
    """Whether the lifetime of what a provider was given still runs; None of either time: it is taken to."""
    return cache.caching_enabled and (cache.expires_at is None or now is None or cache.expires_at > now)


def is_warm(cache: DiscussionCacheState, now: datetime | None) -> bool:
    """Whether a provider is believed to hold something of a discussion, which it could lose."""
    return cache.tokens_cached > 0 and is_alive(cache, now)
