"""Gemini's cached contents: whether a stable prefix is worth its rent, which content to use, when to let it go.

Source: caching-facts.md, B: read 0.1, made at the price of input, stored by token and hour, not renewed by use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from core.cache.blocks import Place, Wire
from core.cache.gaps import Odds
from core.values.cache import (
    CacheOrphan,
    CachePlan,
    CachePrices,
    CacheSettings,
    ContentsPlan,
    ContentsUse,
    LedgerEntry,
    PlannedWrite,
)
from core.values.provider import StoredContent

_HOUR_S = 3600.0
_DEFAULT_TTL_S = 3600


def contents_plan(
    wire: Wire, prices: CachePrices, live: Mapping[str, LedgerEntry], odds: Odds, settings: CacheSettings
) -> CachePlan:
    """Use the deepest content that fits, make one where it pays, or send everything inline."""
    total = wire.total_tokens
    without = total * _turns(odds)
    for index in range(len(wire.hashes) - 1, -1, -1):
        entry = live.get(wire.hashes[index])
        if entry is not None and entry.name:
            return _used(wire, prices, index, entry, odds, settings)
    through = _through(wire, prices)
    ttl_s = min(settings.ttl_s or _DEFAULT_TTL_S, settings.longest_ttl_s)
    saving = rent = 0.0
    if through >= 0:
        tokens = wire.ends[through]
        saving = tokens * (1.0 - prices.read) * _turns_within(odds, ttl_s)
        rent = _rent(prices, tokens, ttl_s)
    if saving <= rent:
        why = "nothing large enough to store" if through < 0 else "storing it would cost more than it saves"
        return _plan(prices, wire, 0, None, without, without, f"Everything is sent inline: {why}.")
    made = ContentsPlan(ContentsUse.CREATE, wire.blocks[through].key, wire.hashes[through], ttl_s)
    writes = (PlannedWrite(wire.hashes[through], wire.ends[through], ttl_s),)
    text = (
        f"{wire.ends[through]:,} tokens are stored for {ttl_s // 60} min: about {saving - rent:,.0f} saved."
    )
    return _plan(prices, wire, 0, made, without + rent - saving, without, text, writes)


def is_worth_rent(tokens: int, left_s: float, idle_s: float, prices: CachePrices, odds: Odds) -> bool:
    """Whether a stored content that nobody uses just now is expected to save more than its rent.

    Args:
        left_s: until it expires; idle_s: since the last turn of its discussion.
    """
    stayed_away = 1.0 - odds.go_on * odds.within(idle_s)
    returns = odds.go_on * (odds.within(idle_s + left_s) - odds.within(idle_s))
    saving = tokens * (1.0 - prices.read) * returns / stayed_away if stayed_away > 0 else 0.0
    return saving > _rent(prices, tokens, max(0.0, left_s))


def orphan_of(content: StoredContent, provider: str, prices: CachePrices) -> CacheOrphan:
    """A content whose discussion is gone, with its rent. Which discussion it was, its name says."""
    rent = prices.storage_usd * content.tokens if prices.storage_usd else None
    return CacheOrphan(
        provider,
        content.name,
        content.discussion_id,
        content.model,
        content.tokens,
        content.expires_at,
        rent,
    )


def living(orphans: Iterable[CacheOrphan], now: datetime | None) -> tuple[CacheOrphan, ...]:
    """Those that are still stored and billed."""
    return tuple(orphan for orphan in orphans if now is None or orphan.expires_at > now)


def _used(
    wire: Wire, prices: CachePrices, index: int, entry: LedgerEntry, odds: Odds, settings: CacheSettings
) -> CachePlan:
    """Use a content; it is extended by no more than a new one would get."""
    read = wire.ends[index]
    without = wire.total_tokens * _turns(odds)
    ttl_s = min(entry.ttl_s, settings.longest_ttl_s)
    use = ContentsPlan(ContentsUse.USE, wire.blocks[index].key, entry.prefix_hash, ttl_s, entry.name)
    text = f"{read:,} tokens are read from the stored prefix."
    return _plan(prices, wire, read, use, without - read * (1.0 - prices.read), without, text)


def _through(wire: Wire, prices: CachePrices) -> int:
    """The last block of layers 9 and 10, else of the stable ones, if all up to there is large enough."""
    for index in (wire.last(Place.BASE), wire.last(Place.STABLE)):
        if index >= 0 and wire.ends[index] >= max(1, prices.minimum_tokens):
            return index
    return -1


def _rent(prices: CachePrices, tokens: int, ttl_s: float) -> float:
    """What storing costs, in tokens of fresh input; without a price of input it is taken as too much."""
    if not prices.storage_usd:
        return 0.0
    if not prices.input_usd:
        return float("inf")
    return tokens * prices.storage_usd * (ttl_s / _HOUR_S) / prices.input_usd


def _turns(odds: Odds) -> float:
    return 1.0 / (1.0 - odds.go_on)


def _turns_within(odds: Odds, ttl_s: int) -> float:
    """Turns to expect while a content lives: gaps follow one another until one is too long, or the time is up."""
    near = odds.within(ttl_s) * odds.go_on
    weights = zip(odds.gaps_s, (0.0, *odds.cumulative), odds.cumulative, strict=False)
    inside = [(gap, high - low) for gap, low, high in weights if gap <= ttl_s]
    weight = sum(share for _, share in inside)
    if weight <= 0:
        return 0.0
    mean_s = max(1.0, sum(gap * share for gap, share in inside) / weight)
    return min(near / (1.0 - near) if near < 1 else ttl_s / mean_s, ttl_s / mean_s)


def _plan(
    prices: CachePrices,
    wire: Wire,
    read: int,
    contents: ContentsPlan | None,
    expected: float,
    without: float,
    sentence: str,
    writes: tuple[PlannedWrite, ...] = (),
) -> CachePlan:
    total, usd = wire.total_tokens, prices.input_usd
    now = total - read * (1.0 - prices.read)
    return CachePlan(
        contents=contents,
        read_tokens=read,
        fresh_tokens=total - read,
        cost_usd=None if usd is None else now * usd,
        cost_without_usd=None if usd is None else total * usd,
        outlook=expected,
        outlook_without=without,
        hit_hash=contents.prefix_hash if contents is not None and read else "",
        writes=writes,
        sentences=(sentence,),
    )
