"""Gemini's cached contents: whether a stable prefix is worth its rent, which content to use, when to let it go.

Source: caching-facts.md, B: read 0.1, made at the price of input, stored by token and hour, not renewed by use.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from core.base.figures import lifetime
from core.caching.gaps import Odds
from core.providers.blocks import MarkPlace, Wire
from core.values.cache import (
    CacheLedgerEntry,
    CacheOrphan,
    CachePlan,
    CachePrices,
    CacheSettings,
    ContentsPlan,
    ContentsUse,
    PlannedWrite,
)
from core.values.provider import ContentsReport, StoredContent

_HOUR_S = 3600.0
_DEFAULT_TTL_S = 3600
_STEPS = 120
"""A lifetime is counted through in so many steps."""


def contents_plan(
    wire: Wire,
    prices: CachePrices,
    live: Mapping[str, CacheLedgerEntry],
    odds: Odds,
    settings: CacheSettings,
    now: datetime,
) -> CachePlan:
    """Use the deepest content that fits, make one where it pays, or send everything inline.

    A new one is billed as input, and read at once by the request that it is made for.
    """
    total = wire.total_tokens
    without = total * _turns(odds)
    for index in range(len(wire.hashes) - 1, -1, -1):
        entry = live.get(wire.hashes[index])
        if entry is not None and entry.name:
            return _used(wire, prices, index, entry, odds, settings, now)
    through = _through(wire, prices)
    ttl_s = min(settings.ttl_s or _DEFAULT_TTL_S, settings.longest_ttl_s)
    saving = paid = 0.0
    if through >= 0:
        tokens = wire.ends[through]
        saving = tokens * (1.0 - prices.read) * turns_within(odds, ttl_s)
        paid = tokens * prices.read + _rent(prices, tokens, ttl_s)
    if saving <= paid:
        why = "nothing large enough to store" if through < 0 else "storing it would cost more than it saves"
        return _plan(prices, wire, 0, None, without, without, f"Everything is sent inline: {why}.")
    made = ContentsPlan(ContentsUse.CREATE, wire.blocks[through].key, wire.hashes[through], ttl_s)
    writes = (PlannedWrite(wire.hashes[through], wire.ends[through], ttl_s),)
    text = (
        f"{wire.ends[through]:,} tokens are stored for {lifetime(ttl_s)}: about {saving - paid:,.0f} saved."
    )
    return _plan(prices, wire, 0, made, without + paid - saving, without, text, writes, extra=paid)


def is_worth_rent(tokens: int, left_s: float, idle_s: float, prices: CachePrices, odds: Odds) -> bool:
    """Whether a stored content that nobody uses just now is expected to save more than its rent.

    Args:
        left_s: until it expires; idle_s: since the last turn of its discussion.
    """
    stayed_away = 1.0 - odds.go_on * odds.within(idle_s)
    returns = odds.go_on * (odds.within(idle_s + left_s) - odds.within(idle_s))
    saving = tokens * (1.0 - prices.read) * returns / stayed_away if stayed_away > 0 else 0.0
    return saving > _rent(prices, tokens, max(0.0, left_s))


def contents_usd(prices: CachePrices, contents: ContentsReport | None) -> float | None:
    """What a call paid for a stored prefix beside its own tokens: making it, and its rent up to the end asked for.

    Returns:
        US dollars, 0.0 where it asked for nothing; None where the price is unknown. One that is deleted before its
        end costs less: this is the most.
    """
    stored = contents.stored if contents is not None else None
    if contents is None or stored is None or not (contents.is_new or contents.kept_s):
        return 0.0
    if prices.input_usd is None or not prices.storage_usd:
        return None
    made = prices.input_usd if contents.is_new else 0.0
    return stored.tokens * (made + prices.storage_usd * contents.kept_s / _HOUR_S)


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
    wire: Wire,
    prices: CachePrices,
    index: int,
    entry: CacheLedgerEntry,
    odds: Odds,
    settings: CacheSettings,
    now: datetime,
) -> CachePlan:
    """Use a content; it is extended, where that pays, by no more than a new one would get."""
    read = wire.ends[index]
    without = wire.total_tokens * _turns(odds)
    ttl_s = min(entry.ttl_s, settings.longest_ttl_s)
    left_s = (entry.expires_at - now).total_seconds()
    later = turns_within(odds, left_s)
    more = turns_within(odds, ttl_s) - later
    rent = _rent(prices, read, max(0.0, ttl_s - left_s))
    is_worth = read * (1.0 - prices.read) * more >= rent
    kept_s = ttl_s if is_worth else 0
    use = ContentsPlan(ContentsUse.USE, wire.blocks[index].key, entry.prefix_hash, kept_s, entry.name)
    text = f"{read:,} tokens are read from the stored prefix" + (
        "." if is_worth else "; keeping it for longer would cost more than it saves."
    )
    return _plan(prices, wire, read, use, without - read * (1.0 - prices.read) * (1.0 + later), without, text)


def _through(wire: Wire, prices: CachePrices) -> int:
    """The last block of layers 9 and 10, else of the stable ones, if all up to there is large enough."""
    for index in (wire.last(MarkPlace.BASE), wire.last(MarkPlace.STABLE)):
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


@lru_cache(maxsize=32)
def turns_within(odds: Odds, ttl_s: float) -> float:
    """Turns to expect in so many seconds from now, each gap rounded up: rather too few than too many."""
    step = max(0.0, ttl_s) / _STEPS
    odds_up_to = [0.0, *(odds.within(number * step) for number in range(1, _STEPS + 1))]
    shares = [late - early for early, late in pairwise(odds_up_to)]
    found = [0.0]
    for left in range(1, _STEPS + 1):
        found.append(odds.go_on * sum(shares[gap] * (1.0 + found[left - gap - 1]) for gap in range(left)))
    return found[-1]


def _plan(
    prices: CachePrices,
    wire: Wire,
    read: int,
    contents: ContentsPlan | None,
    expected: float,
    without: float,
    sentence: str,
    writes: tuple[PlannedWrite, ...] = (),
    extra: float = 0.0,
) -> CachePlan:
    total, usd = wire.total_tokens, prices.input_usd
    now = total - read * (1.0 - prices.read) + extra
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
