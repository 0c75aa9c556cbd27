"""Facts of caches in words and figures: warm or not, how long still, hit rates, savings. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.base import figures as fmt
from core.caching.warmth import held_tokens, is_alive, last_expiry
from core.values.cache import DiscussionCacheState
from core.values.messages import Entry, Message, Role
from core.values.provider import ProviderKind
from core.values.state import AppState
from core.values.usage import Upkeep, Usage
from panels.base import selection
from panels.base.memo import Memo
from panels.base.ui import Series, Tone

MANAGED = {
    ProviderKind.COMPATIBLE: "Cached by {}; TTL: server-managed",
    ProviderKind.EMBEDDED: "Cached by {}; kept until deleted, within its disk budget",
    ProviderKind.CLAUDE_CODE: "Cached by {}; TTL: its own",
}
OWN_TTL = frozenset({ProviderKind.COMPATIBLE, ProviderKind.EMBEDDED, ProviderKind.CLAUDE_CODE})
"""Kinds whose lifetime is never the person's choice."""


class CacheLook(msgspec.Struct, frozen=True):
    """Look of one discussion's cache.

    Args:
        is_warm: whether a provider holds a prefix of it now; ttl_s: how long still, None where that is not ours.
        ttl_text: of the card, `expires: … (in 4:32)` or who manages it; empty where nothing is cached.
    """

    is_warm: bool
    ttl_s: float | None = None
    ttl_text: str = ""
    provider: str = ""
    tokens: int = 0
    hits: int = 0


def look_of(state: AppState, discussion_id: str) -> CacheLook:
    """Look of a discussion's cache at `state.now`."""
    cache = state.caching.caches.get(discussion_id)
    if cache is None:
        return CacheLook(is_warm=False)
    label = selection.provider_label(state, cache.provider)
    held = held_tokens(cache, state.now)
    cold = CacheLook(is_warm=False, provider=label, tokens=held, hits=cache.hit_count)
    if not is_alive(cache, state.now):
        at = last_expiry(cache)
        is_over = at is not None and state.now is not None and at <= state.now
        return replace(cold, ttl_text=f"expired: {_stamp(at)}" if at is not None and is_over else "")
    if cache.expires_at is None:
        return replace(cold, is_warm=True, ttl_text=managed_text(state, cache.provider))
    left = (cache.expires_at - state.now).total_seconds() if state.now else 0.0
    if cache.long_until is None:
        return replace(cold, is_warm=True, ttl_s=left, ttl_text=f"expires: {_until(cache.expires_at, left)}")
    longer = (cache.long_until - state.now).total_seconds() if state.now else 0.0
    if left <= 0:
        return replace(
            cold, is_warm=True, ttl_s=longer, ttl_text=f"expires: {_until(cache.long_until, longer)}"
        )
    text = (
        f"expires: {_until(cache.expires_at, left)}; {fmt.tokens(cache.long_tokens)} of"
        f" {fmt.tokens(cache.tokens_cached)} tokens: {_until(cache.long_until, longer)}"
    )
    return replace(cold, is_warm=True, ttl_s=left, ttl_text=text)


def _until(at: datetime, left_s: float) -> str:
    return f"{_stamp(at)} (in {fmt.countdown(left_s)})"


def _stamp(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%dT%H:%M}"


def managed_text(state: AppState, provider: str) -> str:
    """Keeper of the cache where the lifetime is not ours: `Cached by OpenAI; TTL: provider-managed`."""
    status = state.config.providers.get(provider)
    form = MANAGED.get(status.kind) if status is not None else None
    return (form or "Cached by {}; TTL: provider-managed").format(selection.provider_label(state, provider))


def hit_percent(usage: Usage) -> int | None:
    """Cache read over input in whole per cent, rounded down; None where either was not reported."""
    if usage.cache_read_tokens is None or not usage.input_tokens:
        return None
    return 100 * usage.cache_read_tokens // usage.input_tokens


def percent(value: int | None) -> str:
    """`23%`, or that it was not reported."""
    return fmt.NOT_REPORTED if value is None else f"{value}%"


def used_providers(state: AppState, memo: Memo) -> tuple[str, ...]:
    """Providers that were called since the start, or that hold something, in the order of the settings."""
    used = {name for name, totals in state.caching.totals.items() if totals.usage != Usage()}
    used |= _newest_expiries(state, memo).keys()
    known = [name for name in state.config.providers if name in used]
    return (*known, *sorted(used.difference(known)))


def provider_line(state: AppState, memo: Memo, provider: str) -> str:
    """A provider's summary: `[Anthropic] in:340 cache:80 hit:23% ttl:4:32`."""
    totals = state.caching.totals.get(provider)
    usage = totals.usage if totals is not None else Usage(input_tokens=0, cache_read_tokens=0)
    label = selection.provider_label(state, provider)
    hit = "n/a" if usage.input_tokens == 0 else percent(hit_percent(usage))
    figures = f"in:{fmt.tokens(usage.input_tokens)} cache:{fmt.tokens(usage.cache_read_tokens)}"
    return f"[{label}] {figures} hit:{hit} ttl:{_ttl_word(state, memo, provider)}"


def _ttl_word(state: AppState, memo: Memo, provider: str) -> str:
    """Time left of the selected discussion's prefix where the provider holds it, else of the one that lives longest."""
    newest = _newest_expiries(state, memo)
    selected = state.caching.caches.get(state.discussions.selected_id)
    is_of = selected is not None and selected.provider == provider and selected.caching_enabled
    at = selected.expires_at if selected is not None and is_of else None
    if at is not None and state.now is not None and at <= state.now and selected is not None:
        at = last_expiry(selected)
    if at is None or (state.now is not None and at <= state.now):
        at = newest.get(provider)
    if at is not None and state.now is not None and at > state.now:
        return fmt.countdown((at - state.now).total_seconds())
    status = state.config.providers.get(provider)
    is_theirs = (provider in newest and at is None) or (status is not None and status.kind in OWN_TTL)
    return "n/a" if is_theirs else "none"


def _newest_expiries(state: AppState, memo: Memo) -> dict[str, datetime | None]:
    caches = state.caching.caches
    return memo.get("cache expiries", (caches,), lambda: _expiries(caches))


def _expiries(caches: Mapping[str, DiscussionCacheState]) -> dict[str, datetime | None]:
    """The latest expiry by provider; None where the provider manages all that it holds. What is off does not count."""
    found: dict[str, datetime | None] = {}
    for cache in caches.values():
        if cache.caching_enabled:
            both = (found.get(cache.provider), last_expiry(cache))
            found[cache.provider] = max(filter(None, both), default=None)
    return found


def saved_text(saved_usd: float | None) -> str:
    """Worth of caching, in words."""
    if saved_usd is None:
        return f"saved against no caching: {fmt.PRICE_UNKNOWN}"
    if saved_usd < 0:
        return f"{fmt.money(-saved_usd)} more than without caching"
    return f"{fmt.money(saved_usd)} saved against no caching"


def upkeep_text(upkeep: Upkeep) -> str:
    """Sum of pings, prewarms and storage, apart from turns: `3 keepalive pings, 1 prewarm: $0.012`; empty for none."""
    calls = [
        fmt.count(upkeep.pings, "keepalive ping") if upkeep.pings else "",
        fmt.count(upkeep.prewarms, "prewarm") if upkeep.prewarms else "",
    ]
    calls.append("storage" if upkeep.rent_usd else "")
    said = ", ".join(call for call in calls if call)
    usage = upkeep.usage
    return f"{said}: {fmt.money(usage.cost_usd, is_estimate=usage.is_estimate)}" if said else ""


class Figure(msgspec.Struct, frozen=True):
    """A large figure: its value, what it counts, and what it means in full."""

    value: str
    label: str
    tone: Tone
    tip: str


def figures(state: AppState) -> tuple[Figure, Figure, Figure]:
    """Hit rate, money saved, time left."""
    return _hit_figure(state), _saved_figure(state), _ttl_figure(state)


def _hit_figure(state: AppState) -> Figure:
    rates = [t.usage for t in state.caching.totals.values() if hit_percent(t.usage) is not None]
    label, whose = "hit rate", "of all that was sent since the start"
    if not rates:
        summary = selection.selected(state)
        rates = [summary.usage] if summary and hit_percent(summary.usage) is not None else []
        whose = "of all that was sent in this discussion"
    if not rates:
        return Figure("–", label, "faint", "No provider has reported a cache read yet")
    read = sum(usage.cache_read_tokens or 0 for usage in rates)
    sent = sum(usage.input_tokens or 0 for usage in rates)
    tip = f"{read:,} of {sent:,} tokens {whose} were read from a cache"
    return Figure(f"{100 * read // sent}%", label, "ok" if 2 * read >= sent else "text", tip)


def _saved_figure(state: AppState) -> Figure:
    known = [t.saved_usd for t in state.caching.totals.values() if t.saved_usd is not None]
    if not known:
        return Figure("–", "saved", "faint", "Nothing was sent since the start, or its price is unknown")
    saved, is_loss = sum(known), sum(known) < 0
    tip = f"{saved_text(saved)}, since the start"
    if len(known) < len(state.caching.totals):
        tip += "; calls of unknown price are left out"
    value = fmt.dollars(abs(saved)) if abs(saved) >= 0.005 else fmt.money(abs(saved))
    return Figure(f"-{value}" if is_loss else value, "saved", "warn" if is_loss else "accent", tip)


def _ttl_figure(state: AppState) -> Figure:
    look = look_of(state, state.discussions.selected_id)
    if look.ttl_s is not None:
        tone: Tone = "warn" if look.ttl_s < 60 else "text"
        return Figure(fmt.countdown(look.ttl_s), "TTL left", tone, f"{look.provider} {look.ttl_text}")
    if look.is_warm:
        return Figure("n/a", "TTL left", "muted", look.ttl_text)
    return Figure("–", "TTL left", "faint", look.ttl_text or "Nothing of this discussion is cached now")


def turn_series(entries: Iterable[Entry]) -> tuple[Series, ...]:
    """Hit rate and cost of each reply of a discussion, each only where some reply told it; cost not where all is free."""
    replies = [e for e in entries if isinstance(e, Message) and e.role is Role.ASSISTANT and not e.is_deleted]
    told = [(float(turn), m.usage) for turn, m in enumerate(replies, 1) if m.usage is not None]
    turns = tuple(turn for turn, _ in told)
    rates = tuple(_rate(usage) for _, usage in told)
    costs = tuple(usage.cost_usd for _, usage in told)
    found: list[Series] = []
    if any(rate is not None for rate in rates):
        found.append(Series("hit rate", turns, rates, "area", "accent", "%"))
    if any(costs):
        found.append(Series("cost", turns, costs, "bars", "warn", "$"))
    return tuple(found)


def _rate(usage: Usage) -> float | None:
    if usage.cache_read_tokens is None or not usage.input_tokens:
        return None
    return 100 * usage.cache_read_tokens / usage.input_tokens
