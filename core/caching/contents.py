"""Gemini's cached contents: which a request uses or makes, by what holding it is worth, and until when it is asked for.

Source: caching-facts.md, B: read 0.1, made at the price of input, stored by token and hour, not renewed by use.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.base.figures import lifetime
from core.caching.gaps import Odds
from core.caching.hold import Hold, hold_of, rent_share
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
from core.values.stack import LayerId
from core.values.usage import Usage

LEASE_S = 3600
"""No content is asked for longer at a time: its rent ends by itself soon after a crash. A longer hold extends it."""


_SLACK_S, _SLACK = 30.0, 0.1
"""So much later, and so large a share of the time asked for, must a new end be to be worth asking."""

STAKE = 0.5
"""A new content, its rent included, is at most so large a share of what caching may still lose on the discussion: a run of
long gaps makes stakes smaller, and never ends them.
"""

_TURNS = f"{int(LayerId.TURNS)}/"
"""Keys of finished turns on the wire begin so."""


_LASTING = frozenset({MarkPlace.STABLE, MarkPlace.BASE})
"""Places of layers that do not change by turn."""


class _Way(msgspec.Struct, frozen=True):
    """One way to send a request, in tokens of fresh input.

    Args:
        place: the block that the content ends with, -1 for none; entry: the stored one, None: it is to be made.
        now: this request; total: with the turns after it.
    """

    place: int
    entry: CacheLedgerEntry | None
    now: float
    total: float


def contents_plan(
    wire: Wire,
    prices: CachePrices,
    live: Mapping[str, CacheLedgerEntry],
    odds: Odds,
    settings: CacheSettings,
    now: datetime,
    superseded_tokens: int = 0,
    most: float = math.inf,
) -> CachePlan:
    """Use a content that is stored, make one, or send everything inline: whatever costs least over the turns to come.

    A new one is billed as input, and read at once by the request that it is made for. It holds the turns so far, too,
    so that one made after a long gap need not be made again as the discussion grows.

    Args:
        odds: of the next turn of the discussion.
        superseded_tokens: of the request, those that a rewrite would leave out: carried until the content ends.
        most: that it may cost more than without caching, if nobody returns to it.
    """
    held = hold_of(prices, odds, settings.longest_ttl_s)
    stake = STAKE * (most - superseded_tokens)
    ways = _ways(wire, prices, live, held, settings, superseded_tokens, stake)
    best = min(ways, key=lambda way: way.total)
    without = wire.total_tokens / (1.0 - odds.go_on)
    made = _planned(wire, prices, best, held, settings, without, now)
    return replace(made, superseded_tokens=superseded_tokens)


def _planned(
    wire: Wire,
    prices: CachePrices,
    best: _Way,
    held: Hold,
    settings: CacheSettings,
    without: float,
    now: datetime,
) -> CachePlan:
    if best.place < 0:
        return _inline(prices, wire, best.total, without, settings)
    hold_s = held.until_s()
    if best.entry is not None:
        return _used(prices, wire, best, best.entry, hold_s, without, now)
    tokens, prefix, ttl_s = wire.ends[best.place], wire.hashes[best.place], _lease_s(hold_s)
    made = ContentsPlan(ContentsUse.CREATE, wire.blocks[best.place].key, prefix, ttl_s)
    text = (
        f"{tokens:,} tokens are stored, and held for {lifetime(ttl_s)} after a turn: so long your return is likely "
        "enough for their rent."
    )
    return _plan(prices, wire, best, made, without, text, (PlannedWrite(prefix, tokens, ttl_s),))


def longer_s(expires_at: datetime, idle_s: float, now: datetime, held: Hold) -> int:
    """Seconds from now on for which a content is to be asked for again, 0 where its end is late enough.

    Args:
        idle_s: since the discussion's last turn.
    """
    wanted_s = _lease_s(held.until_s(idle_s) - idle_s)
    left_s = max(0.0, (expires_at - now).total_seconds())
    return wanted_s if wanted_s > left_s + max(_SLACK_S, wanted_s * _SLACK) else 0


def contents_usd(prices: CachePrices, contents: ContentsReport | None) -> float | None:
    """Cost of making a stored prefix in a call, beside its own tokens. Its rent is booked as it falls due (`rent`).

    Returns:
        US dollars, 0.0 where it made none; None where the price is unknown.
    """
    stored = contents.stored if contents is not None else None
    if contents is None or stored is None or not contents.is_new:
        return 0.0
    return None if prices.input_usd is None else stored.tokens * prices.input_usd


def read_of(expected: Usage, contents: ContentsReport | None) -> Usage:
    """The expected input of a request of which it is known by now what stored prefix it was sent with.

    A plan that makes one reads nothing yet, and one that reads may find it gone: then all goes inline.

    Args:
        expected: by the plan; contents: None where nothing is known of one.
    """
    if contents is None or expected.input_tokens is None:
        return expected
    read = contents.stored.tokens if contents.stored is not None else 0
    return replace(expected, input_tokens=max(expected.input_tokens, read), cache_read_tokens=read)


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


def _ways(
    wire: Wire,
    prices: CachePrices,
    live: Mapping[str, CacheLedgerEntry],
    held: Hold,
    settings: CacheSettings,
    superseded: int,
    stake: float,
) -> Iterator[_Way]:
    """All ways; `stake`: what a new content may cost that nobody returns to, in tokens of fresh input."""
    total, read = wire.total_tokens, prices.read
    repeated = wire.ends[wire.head] if wire.head >= 0 else 0
    lost = read + rent_share(prices, held.until_s())
    places = _within(wire, prices, stake / lost if lost else math.inf)
    if places and places[0] not in _ends(wire, prices):  # nor will the next turn store more
        repeated = min(repeated, wire.ends[places[0]])
    without = repeated * held.cold + (total - repeated) * held.never
    yield _Way(-1, None, total, total + without - superseded * held.cold)

    def later(tokens: int) -> float:
        most = max(tokens, repeated)
        beside = (most - tokens) * held.beside + (total - most) * held.never
        return tokens * held.stored + beside - superseded * held.relief

    for place, prefix in enumerate(wire.hashes):
        entry, tokens = live.get(prefix), wire.ends[place]
        if entry is not None and entry.name:
            now = total - tokens * (1.0 - read)
            yield _Way(place, entry, now, now + later(tokens))
    if not (held.pays and settings.may_store and settings.has_answered):
        return
    for place in places:
        now = total + wire.ends[place] * read
        yield _Way(place, None, now, now + later(wire.ends[place]))


def _ends(wire: Wire, prices: CachePrices) -> tuple[int, ...]:
    """Places where a new content may end: behind the turns so far, behind layers 9 and 10, else behind the
    stable ones.

    Something must stand behind it: the vendor answers no request without content of its own.
    """
    talk = wire.last(MarkPlace.TALK)
    turns = next((i for i in range(talk - 1, -1, -1) if wire.blocks[i].key.startswith(_TURNS)), -1)
    is_asked = talk >= 0 and not wire.blocks[talk].key.startswith(_TURNS)
    base = wire.last(MarkPlace.BASE)
    places = (turns if is_asked else -1, base if base >= 0 else wire.last(MarkPlace.STABLE))
    return tuple(
        place for place in places if place >= 0 and wire.ends[place] >= max(1, prices.minimum_tokens)
    )


def _within(wire: Wire, prices: CachePrices, most: float) -> tuple[int, ...]:
    """Of `_ends`, those of at most so many tokens; where all are larger, the deepest block of layers 1 to 10 that is not."""
    ends = _ends(wire, prices)
    small = tuple(place for place in ends if wire.ends[place] <= most)
    if small or not ends:
        return small
    stable = max(0, wire.last(MarkPlace.STABLE))
    least = max(1, prices.minimum_tokens)
    blocks = (place for place in range(min(ends) - 1, stable - 1, -1) if wire.blocks[place].place in _LASTING)
    return tuple(place for place in blocks if least <= wire.ends[place] <= most)[:1]


def _lease_s(hold_s: float) -> int:
    return min(math.ceil(hold_s), LEASE_S)


def _used(
    prices: CachePrices,
    wire: Wire,
    way: _Way,
    entry: CacheLedgerEntry,
    hold_s: float,
    without: float,
    now: datetime,
) -> CachePlan:
    """Use a content. It is asked for again with the request only where it might end before the next look at it."""
    left_s = (entry.expires_at - now).total_seconds()
    ttl_s = _lease_s(hold_s) if left_s < hold_s / 2 else 0
    use = ContentsPlan(ContentsUse.USE, wire.blocks[way.place].key, entry.prefix_hash, ttl_s, entry.name)
    text = f"{wire.ends[way.place]:,} tokens are read from the stored prefix" + (
        f", which is held for {lifetime(round(hold_s))} after this turn."
        if hold_s > 0
        else "; keeping it for longer would cost more than it saves."
    )
    return _plan(prices, wire, way, use, without, text)


def _inline(
    prices: CachePrices, wire: Wire, expected: float, without: float, settings: CacheSettings
) -> CachePlan:
    if not _ends(wire, prices):
        why = "nothing large enough to store"
    elif not settings.may_store:
        why = "a command that ends at once stores nothing"
    elif not settings.has_answered:
        why = "nothing is stored with a model before it has answered once"
    else:
        why = "storing it would cost more than it saves"
    way = _Way(-1, None, wire.total_tokens, expected)
    return _plan(prices, wire, way, None, without, f"Everything is sent inline: {why}.")


def _plan(
    prices: CachePrices,
    wire: Wire,
    way: _Way,
    contents: ContentsPlan | None,
    without: float,
    sentence: str,
    writes: tuple[PlannedWrite, ...] = (),
) -> CachePlan:
    total, usd = wire.total_tokens, prices.input_usd
    read = wire.ends[way.place] if way.entry is not None else 0
    return CachePlan(
        contents=contents,
        read_tokens=read,
        fresh_tokens=total - read,
        cost_usd=None if usd is None else way.now * usd,
        read_cost_usd=None if usd is None else read * prices.read * usd,
        cost_without_usd=None if usd is None else total * usd,
        outlook=min(way.total, without),
        outlook_without=without,
        hit_hash=contents.prefix_hash if contents is not None and read else "",
        writes=writes,
        sentences=(sentence,),
        prices=prices,
    )
