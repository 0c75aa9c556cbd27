"""What a cached token costs over the turns to come, by lifetime: the arithmetic that every choice rests on.

All figures are multiples of the price of a fresh input token, for one token of a prefix that each later turn
repeats. Source: caching-facts.md, F1; the recursion is ours.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from math import floor

import msgspec

from core.caching.gaps import Odds
from core.values.cache import CachePrices, TtlPrice

PING_MARGIN_S = 180.0
"""A ping goes out so long before a lifetime of an hour ends; a twelfth of shorter ones."""


MOST_PINGS = 200
"""Never more in one idle time, however little a read costs."""


class Offer(msgspec.Struct, frozen=True):
    """A lifetime as it is used: how often a turn finds the entry alive, and what keeping it alive costs.

    Args:
        pings: how many pings an idle time is worth at most.
        alive: probability that the next turn comes while the entry lives, pings included.
        upkeep: expected cost of pings before the next turn, or before it is clear that none comes.
    """

    ttl_s: int
    write: float
    pings: int
    alive: float
    upkeep: float


class Outlook(msgspec.Struct, frozen=True):
    """Expected costs of the turns to come.

    Args:
        dead: a turn that begins without an entry, and all after it.
        live: by lifetime, all later turns, seen from a turn that just wrote or used an entry of it.
        without: as `dead`, never caching at all.
        offers: what `live` was computed with.
        go_on: probability that another turn comes.
    """

    dead: float
    live: Mapping[int, float]
    without: float
    offers: Mapping[int, Offer]
    go_on: float

    @property
    def idle(self) -> float:
        """All later turns, seen from a turn that leaves no entry."""
        return self.go_on * self.dead


@lru_cache(maxsize=32)
def outlook(
    prices: CachePrices, odds: Odds, *, ttls: tuple[int, ...], keepalive: bool = False, extends: bool = True
) -> Outlook:
    """Value each lifetime over the turns to come, every gap being drawn from the same odds.

    Args:
        ttls: lifetimes that may be chosen, of those in `prices.writes`.
        keepalive: idle entries are read again as often as that pays.
        extends: a long mark behind a short-lived hit keeps the whole prefix for long, as A/B/C billing says.
    """
    go_on = odds.go_on
    without = 1.0 / (1.0 - go_on)
    offers = {
        offer.ttl_s: _offer(offer, prices.read, odds, keepalive=keepalive)
        for offer in prices.writes
        if offer.ttl_s in ttls
    }
    best: tuple[float, dict[int, float]] = (without, dict.fromkeys(offers, go_on * without))
    for first in offers.values():
        for longest in offers.values():
            if longest.ttl_s >= first.ttl_s and (extends or longest is first):
                found = _policy(first, longest, offers, prices.read, go_on, without)
                best = min(best, found, key=lambda pair: pair[0])
    dead, live = best
    return Outlook(min(dead, without), live, without, offers, go_on)


def break_even_pings(prices: CachePrices, ttl_s: int) -> int:
    """How many pings cost as much as writing again: (w - r) / r, rounded down, 200 at most. Source: caching-facts.md, F1."""
    return _break_even(prices.write_at(ttl_s), prices.read)


def ping_window_s(ttl_s: float) -> float:
    """Seconds from the last use to the next ping: 4.7 minutes of 5, 57 of 60, as caching-facts.md, F1."""
    return ttl_s - min(PING_MARGIN_S, ttl_s * 0.06)


def best_pings(
    odds: Odds, ttl_s: int, read: float, lost: float, most: int, *, idle_pings: int = 0
) -> tuple[int, float]:
    """How many pings an idle time is worth.

    Args:
        lost: what a turn that finds the entry dead pays more than one that finds it alive, less the read.
        most: never more; idle_pings: pings already made in this idle time (they are paid for).

    Returns:
        Further pings that cost least from here, and what they save over letting the entry expire now.
    """
    window = ping_window_s(ttl_s)
    start = idle_pings * window
    gaps = odds.gaps_s
    first = bisect_left(gaps, start) if idle_pings else 0
    came = odds.cumulative[first - 1] if first else 0.0
    chance = odds.go_on * (1.0 - came)
    ends = 1.0 - odds.go_on
    if chance + ends <= 0:
        return 0, 0.0
    # Each ping is paid when nobody came before it; each widens the time in which a turn still hits.
    still, best, best_saving, saving = chance, 0, 0.0, 0.0
    for number in range(idle_pings + 1, idle_pings + most + 1):
        due = number * window
        still = odds.go_on * (1.0 - odds.within(due))
        saving -= read * (still + ends)
        saving += lost * odds.go_on * (odds.within(due + ttl_s) - odds.within(due - window + ttl_s))
        if saving > best_saving + 1e-12:
            best, best_saving = number - idle_pings, saving
    return best, best_saving / (chance + ends)


def _break_even(write: float, read: float) -> int:
    if read * MOST_PINGS <= write - read:
        return MOST_PINGS
    return max(0, floor((write - read) / read + 1e-9))


def _offer(offer: TtlPrice, read: float, odds: Odds, *, keepalive: bool) -> Offer:
    pings = 0
    if keepalive and read > 0:
        most = _break_even(offer.write, read)
        pings, _ = best_pings(odds, offer.ttl_s, read, offer.write - read, most)
    window = ping_window_s(offer.ttl_s)
    upkeep = 0.0
    for number in range(1, pings + 1):
        upkeep += read * (odds.go_on * (1.0 - odds.within(number * window)) + (1.0 - odds.go_on))
    alive = odds.within(pings * window + offer.ttl_s)
    return Offer(offer.ttl_s, offer.write, pings, alive, upkeep)


def _policy(
    first: Offer, longest: Offer, offers: dict[int, Offer], read: float, go_on: float, without: float
) -> tuple[float, dict[int, float]]:
    """Costs when a cold start writes at `first` and later turns extend to `longest`.

    Each `live` is linear in `dead`: live = fixed + share * dead.
    """
    fixed, share = _kept(longest, read, go_on)
    lines = {longest.ttl_s: (fixed, share)}
    for ttl_s, offer in offers.items():
        if ttl_s < longest.ttl_s and longest is not first:
            lines[ttl_s] = (
                go_on * offer.alive * (read + fixed) + offer.upkeep,
                go_on * (offer.alive * share + 1.0 - offer.alive),
            )
        elif ttl_s != longest.ttl_s:
            lines[ttl_s] = _kept(offer, read, go_on)
    fixed, share = lines[first.ttl_s]
    dead = min((first.write + fixed) / (1.0 - share), without) if share < 1 else without
    return dead, {ttl_s: line[0] + line[1] * dead for ttl_s, line in lines.items()}


def _kept(offer: Offer, read: float, go_on: float) -> tuple[float, float]:
    """An entry that every later turn renews at the same lifetime, as a line over `dead`."""
    stays = 1.0 - go_on * offer.alive
    if stays <= 0:
        return offer.upkeep, 0.0
    return (go_on * offer.alive * read + offer.upkeep) / stays, go_on * (1.0 - offer.alive) / stays
