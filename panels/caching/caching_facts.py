"""Facts of caches in words and figures: warm or not, how long still, hit rates, savings. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.messages import Entry, Message, Role
from core.kernel.values.provider import ProviderKind
from core.kernel.values.state import AppState
from core.kernel.values.usage import Upkeep, Usage
from core.talk.caching import accounts
from core.talk.caching.warmth import CacheStanding, CacheStatus, standing_of
from panels.base import view
from panels.base.ui import Series, Tone
from panels.base.view import Memo

MANAGED = {
    ProviderKind.COMPATIBLE: tr("Cached by {}; TTL: server-managed"),
    ProviderKind.EMBEDDED: tr("Cached by {}; kept until deleted, within its disk limit"),
    ProviderKind.CLAUDE_CODE: tr("Cached by {}; TTL: its own"),
}
"""The specification's lines, for the tooltip."""
KEEPERS = {
    ProviderKind.COMPATIBLE: tr("The server decides how long the cache lasts"),
    ProviderKind.EMBEDDED: tr("The cache stays on disk until deleted, within its disk limit"),
}


class CacheLook(msgspec.Struct, frozen=True):
    """Every sentence about one discussion's cache, derived from its one standing.

    Args:
        headline: who holds something, or that nothing is held; words: until when; both as a person says it.
        ttl_text: the same as the specification has it, for the tooltip.
        next_words: what the next request reads; empty where none was planned.
        short: the line in the status bar; empty where nothing is known.
        ttl_s: how long most of it still lives, None where that is not ours.
    """

    standing: CacheStanding
    headline: str
    provider: str = ""
    words: str = ""
    ttl_text: str = ""
    next_words: str = ""
    short: str = ""
    ttl_s: float | None = None

    @property
    def is_warm(self) -> bool:
        """True if a provider holds a prefix of it now."""
        return self.standing.status is CacheStatus.HELD

    @property
    def is_read(self) -> bool:
        """True if something is held and the next request reads of it, as far as is known."""
        return self.is_warm and self.standing.is_on and not self.standing.is_missed


def look_of(state: AppState, discussion_id: str) -> CacheLook:
    """Look of a discussion's cache at `state.now`."""
    standing = standing_of(state, discussion_id)
    label = view.provider_label(state, standing.provider) if standing.provider else ""
    base = CacheLook(
        standing=standing,
        headline=tr("Not cached"),
        provider=label,
        next_words=_next_words(standing),
        short=_short(standing),
    )
    if standing.status is CacheStatus.NONE:
        return base
    if standing.ended_at is not None:
        words = tr("Expired {moment}", moment=fmt.at_moment(standing.ended_at, state.now))
        return replace(
            base, ttl_text=tr("expired: {ended_at}", ended_at=_stamp(standing.ended_at)), words=words
        )
    base = replace(base, headline=tr("Cached by {label}", label=label))
    if not standing.ends:
        text, words = managed_text(state, standing.provider), keeper_words(state, standing.provider)
        return replace(base, ttl_text=text, words=words)
    first, *rest = standing.ends
    left = _left(state, first.at)
    ends, said = [_until(first.at, left)], [tr("Expires {moment}", moment=_end_words(state, first.at, left))]
    for one in rest:
        more = _left(state, one.at)
        part = tr(
            "{tokens} of {tokens2} tokens", tokens=fmt.tokens(one.tokens), tokens2=fmt.tokens(standing.tokens)
        )
        said.append(f"{part} {_end_words(state, one.at, more)}")
        ends.append(tr("{tokens} tokens: {at}", tokens=fmt.tokens(one.tokens), at=_until(one.at, more)))
    return replace(
        base, ttl_s=left, ttl_text=tr("expires: {ends}", ends="; ".join(ends)), words="; ".join(said)
    )


def _left(state: AppState, at: datetime) -> float:
    return (at - state.now).total_seconds() if state.now else 0.0


def _next_words(standing: CacheStanding) -> str:
    """Sentence on what the next request reads from a cache, one for all views."""
    if not standing.is_planned or standing.request is None:
        return ""
    if standing.read_tokens:
        whose = "" if standing.status is CacheStatus.HELD else tr(" that other discussions keep warm")
        return tr(
            "The next message reads {read_tokens} tokens from the cache{whose}.",
            read_tokens=fmt.tokens(standing.read_tokens),
            whose=whose,
        )
    if standing.is_missed:
        return tr("The next message misses the cache: something before the cached text changed.")
    return tr("The next message reads nothing from the cache.")


def _short(standing: CacheStanding) -> str:
    if not standing.is_on:
        return tr("caching is off")
    if standing.status is not CacheStatus.HELD:
        return tr("cache cold") if standing.status is CacheStatus.ENDED else ""
    if standing.is_missed:
        return tr("next message misses the cache")
    until = tr(" until {at}", at=fmt.clock(standing.ends[0].at)) if standing.ends else ""
    return tr("cache warm{until}", until=until)


def _end_words(state: AppState, at: datetime, left_s: float) -> str:
    """`in 4 minutes, at 14:09`."""
    return f"{fmt.in_time(left_s)}, {fmt.at_moment(at, state.now)}"


def keeper_words(state: AppState, provider: str) -> str:
    """Keeper of the cache where the lifetime is not ours, in words."""
    status = state.config.providers.get(provider)
    known = KEEPERS.get(status.kind) if status is not None else None
    return known or tr("{state} decides how long the cache lasts", state=view.provider_label(state, provider))


def _until(at: datetime, left_s: float) -> str:
    return tr("{at} (in {left})", at=_stamp(at), left=fmt.countdown(left_s))


def _stamp(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%dT%H:%M}"


def managed_text(state: AppState, provider: str) -> str:
    """Keeper of the cache where the lifetime is not ours: `Cached by OpenAI; TTL: provider-managed`."""
    status = state.config.providers.get(provider)
    form = MANAGED.get(status.kind) if status is not None else None
    return (form or tr("Cached by {}; TTL: provider-managed")).format(view.provider_label(state, provider))


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
        return tr("Savings unknown: {PRICE_UNKNOWN}", PRICE_UNKNOWN=fmt.PRICE_UNKNOWN)
    if saved_usd < 0:
        return tr("{saved_usd} more than without caching", saved_usd=fmt.money(-saved_usd))
    if saved_usd == 0:
        return tr("Caching has saved nothing so far")
    return tr("{saved_usd} less than without caching", saved_usd=fmt.money(saved_usd))


def upkeep_text(upkeep: Upkeep) -> str:
    """Sum of pings, prewarms and storage, apart from turns: `3 keepalive pings, 1 prewarm: $0.012`; empty for none."""
    calls = [
        fmt.count(upkeep.pings, tr("keepalive request"), tr("keepalive requests")) if upkeep.pings else "",
        fmt.count(upkeep.prewarms, tr("prewarm"), tr("prewarms")) if upkeep.prewarms else "",
    ]
    calls.append(tr("storage") if upkeep.rent_usd else "")
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
    label, whose = tr("hit rate"), tr("sent since the program started")
    if not rates:
        row = view.selected(state)
        rates = [row.usage] if row and accounts.hit_percent(row.usage) is not None else []
        whose = tr("sent in this discussion")
    if not rates:
        return Figure(
            value="–", label=label, tone="faint", tip=tr("No provider has reported a cache read yet")
        )
    read = sum(usage.cache_read_tokens or 0 for usage in rates)
    sent = sum(usage.input_tokens or 0 for usage in rates)
    tip = tr("{read:,} of {sent:,} tokens {whose} came from a cache", read=read, sent=sent, whose=whose)
    return Figure(
        value=f"{100 * read // sent}%", label=label, tone="ok" if 2 * read >= sent else "text", tip=tip
    )


LEAST_LOSS_USD = 0.001
"""A loss that is too small for a figure is none: its tip tells of it."""


def _saved_figure(state: AppState) -> Figure:
    known = [t.saved_usd for t in state.caching.totals.values() if t.saved_usd is not None]
    if not known:
        return Figure(
            value="–",
            label=tr("saved"),
            tone="faint",
            tip=tr("You have sent nothing since the program started, or the price is unknown"),
        )
    saved = sum(known)
    is_loss = saved <= -LEAST_LOSS_USD
    tip = tr("{saved}, since the program started", saved=saved_text(saved))
    if len(known) < len(state.caching.totals):
        tip += tr("; requests of unknown price are left out")
    value = fmt.dollars(abs(saved)) if abs(saved) >= 0.005 else fmt.money(-saved if is_loss else saved)
    return Figure(
        value=f"-{value}" if is_loss else value,
        label=tr("saved"),
        tone="warn" if is_loss else "accent",
        tip=tip,
    )


def _ttl_figure(state: AppState) -> Figure:
    look = look_of(state, state.discussions.selected_id)
    if look.ttl_s is not None:
        tone: Tone = "warn" if look.ttl_s < 60 else "text"
        return Figure(
            value=fmt.left(look.ttl_s),
            label=tr("time left"),
            tone=tone,
            tip=f"{look.provider}: {look.words}\n{look.ttl_text}",
        )
    if look.is_warm:
        return Figure(value="open", label=tr("time left"), tone="muted", tip=f"{look.words}\n{look.ttl_text}")
    return Figure(
        value="–",
        label=tr("time left"),
        tone="faint",
        tip=look.words or look.headline,
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
        found.append(Series(label=tr("hit rate"), xs=turns, ys=rates, kind="area", tone="accent", unit="%"))
    if any(costs):
        found.append(Series(label=tr("cost"), xs=turns, ys=costs, kind="bars", tone="warn", unit="$"))
    return tuple(found)


def _rate(usage: Usage) -> float | None:
    if usage.cache_read_tokens is None or not usage.input_tokens:
        return None
    return 100 * usage.cache_read_tokens / usage.input_tokens
