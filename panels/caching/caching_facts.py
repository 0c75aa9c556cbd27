"""Facts of caches in words and figures: warm or not, how long still, hit rates, savings. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import islice

import msgspec
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.values.messages import Entry, Message, Role
from core.kernel.values.provider import ProviderKind
from core.kernel.values.state import AppState
from core.kernel.values.usage import Upkeep, Usage
from core.talk.caching import accounts
from core.talk.caching.accounts import held_tokens, is_alive, last_expiry, warm_until
from panels.base import selection
from panels.base.selection import Memo
from panels.base.ui import Series, Tone

RECENT = 8
"""Number of messages back in which the last reply's usage is looked for."""
MANAGED = {
    ProviderKind.COMPATIBLE: "Cached by {}; TTL: server-managed",
    ProviderKind.EMBEDDED: "Cached by {}; kept until deleted, within its disk budget",
    ProviderKind.CLAUDE_CODE: "Cached by {}; TTL: its own",
}
"""The specification's lines, for the tooltip."""
KEEPERS = {
    ProviderKind.COMPATIBLE: "The server decides how long it is kept",
    ProviderKind.EMBEDDED: "Kept until deleted, within its disk budget",
}


class CacheLook(msgspec.Struct, frozen=True):
    """Look of one discussion's cache.

    Args:
        is_warm: whether a provider holds a prefix of it now; ttl_s: how long most of it still, None where that is not ours.
        ttl_text: `expires: … (in 4:32)` or who manages it, as the specification has it; words: the same as a person
            says it; both empty where nothing is cached.
    """

    is_warm: bool
    ttl_s: float | None = None
    ttl_text: str = ""
    words: str = ""
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
        if at is None or state.now is None or at > state.now:
            return cold
        words = f"Expired {fmt.at_moment(at, state.now)}"
        return replace(cold, ttl_text=f"expired: {_stamp(at)}", words=words)
    if cache.expires_at is None:
        text, words = managed_text(state, cache.provider), keeper_words(state, cache.provider)
        return replace(cold, is_warm=True, ttl_text=text, words=words)
    left = (cache.expires_at - state.now).total_seconds() if state.now else 0.0
    end, words = _until(cache.expires_at, left), _end_words(state, cache.expires_at, left)
    if cache.long_until is not None:
        longer = (cache.long_until - state.now).total_seconds() if state.now else 0.0
        long_end, long_words = _until(cache.long_until, longer), _end_words(state, cache.long_until, longer)
        if left <= 0:
            left, end, words = longer, long_end, long_words
        else:
            kept = f"{fmt.tokens(cache.long_tokens)} of {fmt.tokens(cache.tokens_cached)} tokens"
            end, words = f"{end}; {kept}: {long_end}", f"{words}; {kept} {long_words}"
    until = warm_until(cache, state.now)
    if until is not None and state.now is not None:
        left = (until - state.now).total_seconds()
    return replace(cold, is_warm=True, ttl_s=left, ttl_text=f"expires: {end}", words=f"Expires {words}")


def is_of_model(state: AppState, discussion_id: str) -> bool:
    """True if what is cached of a discussion is its model's: not that of one which was chosen before."""
    cache, row = state.caching.caches.get(discussion_id), state.discussions.summaries.get(discussion_id)
    if cache is None or row is None or cache.provider != row.meta.provider:
        return False
    opened = state.discussions.open.get(discussion_id)
    recent = islice(selection.latest(opened), RECENT) if opened is not None else iter(())
    last = next((one for one in recent if one.usage is not None), None)
    return last is None or (last.provider, last.model) == (row.meta.provider, row.meta.model)


def _end_words(state: AppState, at: datetime, left_s: float) -> str:
    """`in 4 minutes, at 14:09`."""
    return f"{fmt.in_time(left_s)}, {fmt.at_moment(at, state.now)}"


def keeper_words(state: AppState, provider: str) -> str:
    """Keeper of the cache where the lifetime is not ours, in words."""
    status = state.config.providers.get(provider)
    known = KEEPERS.get(status.kind) if status is not None else None
    return known or f"{selection.provider_label(state, provider)} decides how long it is kept"


def _until(at: datetime, left_s: float) -> str:
    return f"{_stamp(at)} (in {fmt.countdown(left_s)})"


def _stamp(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%dT%H:%M}"


def managed_text(state: AppState, provider: str) -> str:
    """Keeper of the cache where the lifetime is not ours: `Cached by OpenAI; TTL: provider-managed`."""
    status = state.config.providers.get(provider)
    form = MANAGED.get(status.kind) if status is not None else None
    return (form or "Cached by {}; TTL: provider-managed").format(selection.provider_label(state, provider))


def used_providers(state: AppState, memo: Memo) -> tuple[str, ...]:
    """Providers that were called since the start, or that hold something, in the order of the settings."""
    return accounts.used_providers(state, _newest_expiries(state, memo))


def provider_line(state: AppState, memo: Memo, provider: str) -> str:
    """A provider's summary in the specification's form, for the tooltip."""
    return accounts.provider_line(state, _newest_expiries(state, memo), provider)


def _newest_expiries(state: AppState, memo: Memo) -> accounts.Expiries:
    caches = state.caching.caches
    return memo.get("cache expiries", (caches,), lambda: accounts.newest_expiries(caches))


def saved_text(saved_usd: float | None) -> str:
    """Worth of caching, in words."""
    if saved_usd is None:
        return f"What caching saved is not known: {fmt.PRICE_UNKNOWN}"
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
    rates = [t.usage for t in state.caching.totals.values() if accounts.hit_percent(t.usage) is not None]
    label, whose = "hit rate", "of all that was sent since the start"
    if not rates:
        row = selection.selected(state)
        rates = [row.usage] if row and accounts.hit_percent(row.usage) is not None else []
        whose = "of all that was sent in this discussion"
    if not rates:
        return Figure(value="–", label=label, tone="faint", tip="No provider has reported a cache read yet")
    read = sum(usage.cache_read_tokens or 0 for usage in rates)
    sent = sum(usage.input_tokens or 0 for usage in rates)
    tip = f"{read:,} of {sent:,} tokens {whose} were read from a cache"
    return Figure(
        value=f"{100 * read // sent}%", label=label, tone="ok" if 2 * read >= sent else "text", tip=tip
    )


def _saved_figure(state: AppState) -> Figure:
    known = [t.saved_usd for t in state.caching.totals.values() if t.saved_usd is not None]
    if not known:
        return Figure(
            value="–",
            label="saved",
            tone="faint",
            tip="Nothing was sent since the start, or its price is unknown",
        )
    saved, is_loss = sum(known), sum(known) < 0
    tip = f"{saved_text(saved)}, since the start"
    if len(known) < len(state.caching.totals):
        tip += "; calls of unknown price are left out"
    value = fmt.dollars(abs(saved)) if abs(saved) >= 0.005 else fmt.money(abs(saved))
    return Figure(
        value=f"-{value}" if is_loss else value, label="saved", tone="warn" if is_loss else "accent", tip=tip
    )


def _ttl_figure(state: AppState) -> Figure:
    look = look_of(state, state.discussions.selected_id)
    if look.ttl_s is not None:
        tone: Tone = "warn" if look.ttl_s < 60 else "text"
        return Figure(
            value=fmt.left(look.ttl_s),
            label="time left",
            tone=tone,
            tip=f"{look.provider}: {look.words}\n{look.ttl_text}",
        )
    if look.is_warm:
        return Figure(value="open", label="time left", tone="muted", tip=f"{look.words}\n{look.ttl_text}")
    return Figure(
        value="–",
        label="time left",
        tone="faint",
        tip=look.words or "Nothing of this discussion is cached now",
    )


def turn_series(entries: Iterable[Entry]) -> tuple[Series, ...]:
    """Hit rate and cost of each reply of a discussion, each only where some reply told it; cost not where all is free."""
    replies = [e for e in entries if isinstance(e, Message) and e.role is Role.ASSISTANT and not e.is_deleted]
    told = [(float(turn), m.usage) for turn, m in enumerate(replies, 1) if m.usage is not None]
    turns = tuple(turn for turn, _ in told)
    rates = tuple(_rate(usage) for _, usage in told)
    costs = tuple(usage.cost_usd for _, usage in told)
    found: list[Series] = []
    if any(rate is not None for rate in rates):
        found.append(Series(label="hit rate", xs=turns, ys=rates, kind="area", tone="accent", unit="%"))
    if any(costs):
        found.append(Series(label="cost", xs=turns, ys=costs, kind="bars", tone="warn", unit="$"))
    return tuple(found)


def _rate(usage: Usage) -> float | None:
    if usage.cache_read_tokens is None or not usage.input_tokens:
        return None
    return 100 * usage.cache_read_tokens / usage.input_tokens
