"""Summaries of what a provider's cache was worth: the specification's line for tooltips and scripts, and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from core.base import figures as fmt
from core.caching.warmth import last_expiry, warm_until
from core.values.cache import DiscussionCacheState
from core.values.provider import ProviderKind
from core.values.state import AppState
from core.values.usage import Usage

OWN_TTL = frozenset({ProviderKind.COMPATIBLE, ProviderKind.EMBEDDED, ProviderKind.CLAUDE_CODE})
"""Kinds whose lifetime is never the person's choice."""

Expiries = Mapping[str, datetime | None]
"""The latest expiry by provider; None where the provider manages all that it holds."""


def newest_expiries(caches: Mapping[str, DiscussionCacheState]) -> Expiries:
    """The latest expiry of each provider that holds something. What is off does not count. O(caches)."""
    found: dict[str, datetime | None] = {}
    for cache in caches.values():
        if cache.caching_enabled:
            both = (found.get(cache.provider), last_expiry(cache))
            found[cache.provider] = max(filter(None, both), default=None)
    return found


def used_providers(state: AppState, newest: Expiries) -> tuple[str, ...]:
    """Providers that were called since the start, or that hold something, in the order of the settings."""
    used = {name for name, totals in state.caching.totals.items() if totals.usage != Usage()}
    used |= newest.keys()
    known = [name for name in state.config.providers if name in used]
    return (*known, *sorted(used.difference(known)))


def hit_percent(usage: Usage) -> int | None:
    """Cache read over input in whole per cent, rounded down; None where either was not reported."""
    if usage.cache_read_tokens is None or not usage.input_tokens:
        return None
    return 100 * usage.cache_read_tokens // usage.input_tokens


def provider_sentence(state: AppState, provider: str) -> str:
    """Tokens that a provider read from its cache since the start: `Anthropic: 836 of 82,100 tokens from the cache`."""
    usage, label = _usage(state, provider), _label(state, provider)
    if usage.input_tokens == 0:
        return f"{label}: nothing was sent yet"
    if usage.input_tokens is None:
        return f"{label}: it does not report what was sent"
    if usage.cache_read_tokens is None:
        return f"{label}: {usage.input_tokens:,} tokens sent; it does not report what its cache gave"
    return f"{label}: {usage.cache_read_tokens:,} of {usage.input_tokens:,} tokens from the cache"


def provider_line(state: AppState, newest: Expiries, provider: str) -> str:
    """A provider's summary: `[Anthropic] in:340 cache:80 hit:23% ttl:4:32`."""
    usage = _usage(state, provider)
    percent = hit_percent(usage)
    hit = "n/a" if usage.input_tokens == 0 else fmt.NOT_REPORTED if percent is None else f"{percent}%"
    figures = f"in:{fmt.tokens(usage.input_tokens)} cache:{fmt.tokens(usage.cache_read_tokens)}"
    return f"[{_label(state, provider)}] {figures} hit:{hit} ttl:{_ttl_word(state, newest, provider)}"


def _usage(state: AppState, provider: str) -> Usage:
    totals = state.caching.totals.get(provider)
    return totals.usage if totals is not None else Usage(input_tokens=0, cache_read_tokens=0)


def _label(state: AppState, provider: str) -> str:
    status = state.config.providers.get(provider)
    return (status.label if status else "") or provider


def _ttl_word(state: AppState, newest: Expiries, provider: str) -> str:
    """Time left of the selected discussion's prefix where the provider holds it, else of the one that lives longest."""
    selected = state.caching.caches.get(state.discussions.selected_id)
    is_of = selected is not None and selected.provider == provider and selected.caching_enabled
    at = warm_until(selected, state.now) if selected is not None and is_of else None
    if at is None or (state.now is not None and at <= state.now):
        at = newest.get(provider)
    if at is not None and state.now is not None and at > state.now:
        return fmt.countdown((at - state.now).total_seconds())
    status = state.config.providers.get(provider)
    is_theirs = (provider in newest and at is None) or (status is not None and status.kind in OWN_TTL)
    return "n/a" if is_theirs else "none"
