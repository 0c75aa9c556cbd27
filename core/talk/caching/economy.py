"""Cost of a cached token over the turns to come, by lifetime: the arithmetic that every choice rests on.

All figures are multiples of the price of a fresh input token, for one token of a prefix that each later turn
repeats. The recursion is ours.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from math import floor

import msgspec
from msgspec.structs import replace

from core.kernel.values.cache import CachePrices, Mechanism, TtlPrice
from core.talk.caching.gaps import Odds

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
        dead: a later turn that begins without an entry, and all after it.
        live: by lifetime, all later turns, seen from a turn that just wrote or used an entry of it.
        kept: by lifetime, as `live`, seen from a later turn that found the entry alive.
        without: this turn and all after it, never caching at all.
        offers: until the next turn; go_on: probability that it comes.
        lifted: as `live`, of an entry of the shortest lifetime whose first ping lets it live for the longest; None where
            that is no better than its own.
        unpinged: as `live`, where nothing is pinged before the next turn: from then on it may be.
    """

    dead: float
    live: Mapping[int, float]
    kept: Mapping[int, float]
    without: float
    offers: Mapping[int, Offer]
    go_on: float
    lifted: float | None = None
    unpinged: Mapping[int, float] = msgspec.field(default_factory=dict)

    @property
    def idle(self) -> float:
        """All later turns, seen from a turn that leaves no entry."""
        return self.go_on * self.dead


@lru_cache(maxsize=16)
def outlook(
    prices: CachePrices,
    odds: Odds,
    *,
    ttls: tuple[int, ...],
    keepalive: bool = False,
    extends: bool = True,
    next_round: float = 0.0,
) -> Outlook:
    """Value each lifetime over the turns to come, whose gaps are all drawn from the same odds.

    Args:
        ttls: lifetimes that may be chosen, of those in `prices.writes`.
        keepalive: idle entries are read again as often as that pays.
        extends: a long mark behind a short-lived hit keeps the whole prefix for long, as A/B/C billing says.
        next_round: probability that the same turn sends another request, 0 to 1: it comes while every entry lives, and
            chooses anew how long they are to live.
    """
    writes = tuple(offer for offer in prices.writes if offer.ttl_s in ttls)
    lifts = keepalive and extends and _can_lift(prices, writes)
    dead, live, without = _steady(
        writes, prices.read, odds, keepalive=keepalive, extends=extends, lifts=lifts
    )
    kept = {
        ttl_s: min(live[other] for other in live if other == ttl_s or (extends and other > ttl_s))
        for ttl_s in live
    }
    offers = {
        offer.ttl_s: _offer(
            offer, prices.read, dead - prices.read - kept[offer.ttl_s], odds, keepalive=keepalive
        )
        for offer in writes
    }
    next_live = {
        ttl_s: odds.go_on * (offer.alive * (prices.read + kept[ttl_s]) + (1.0 - offer.alive) * dead)
        + offer.upkeep
        for ttl_s, offer in offers.items()
    }
    lifted = None
    if lifts:
        longest_s = writes[-1].ttl_s
        offer = _lifted(writes, prices.read, dead - prices.read - kept[longest_s], odds)
        if offer.pings:
            comes = offer.alive * (prices.read + kept[longest_s]) + (1.0 - offer.alive) * dead
            lifted = odds.go_on * comes + offer.upkeep
    lost = _dead_end(writes, prices.read, odds, live, kept, without) if keepalive else dead
    unpinged = {
        ttl_s: odds.go_on * (lost - odds.within(ttl_s) * (lost - prices.read - kept[ttl_s])) for ttl_s in live
    }
    found = Outlook(
        dead=dead,
        live=next_live,
        kept=kept,
        without=1.0 + odds.go_on * without,
        offers=offers,
        go_on=odds.go_on,
        lifted=lifted,
        unpinged=unpinged,
    )
    return found if not next_round else _in_turn(found, prices.read, without, next_round, extends=extends)


def _dead_end(
    writes: tuple[TtlPrice, ...],
    read: float,
    odds: Odds,
    live: Mapping[int, float],
    kept: Mapping[int, float],
    without: float,
) -> float:
    """As `dead`, of the end of a prefix whose front lives: no ping is sent for the end alone, it would read the front, too."""
    ways = [without]
    if writes:
        ways.append(writes[-1].write + live[writes[-1].ttl_s])
    for offer in writes:
        alive = odds.go_on * odds.within(offer.ttl_s)
        stays = 1.0 - odds.go_on + alive
        if stays > 0:
            ways.append((offer.write + alive * (read + kept[offer.ttl_s])) / stays)
    return min(ways)


def _in_turn(own: Outlook, read: float, without: float, next_round: float, *, extends: bool) -> Outlook:
    """The outlook where another request of the same turn may come first. `without`: of all turns, never caching."""
    ends = 1.0 - next_round
    go_on = next_round + ends * own.go_on

    def again(ttl_s: int) -> float:
        return read + min(
            value for other, value in own.live.items() if other == ttl_s or (extends and other > ttl_s)
        )

    live, unpinged = (
        {ttl_s: next_round * again(ttl_s) + ends * value for ttl_s, value in values.items()}
        for values in (own.live, own.unpinged)
    )
    offers = {
        ttl_s: replace(
            offer,
            alive=(next_round + ends * own.go_on * offer.alive) / go_on,
            upkeep=ends * offer.upkeep,
        )
        for ttl_s, offer in own.offers.items()
    }
    lifted = None if own.lifted is None else next_round * again(min(live)) + ends * own.lifted
    without = 1.0 + go_on * without
    return replace(
        own, live=live, without=without, offers=offers, go_on=go_on, lifted=lifted, unpinged=unpinged
    )


def _steady(
    writes: tuple[TtlPrice, ...], read: float, odds: Odds, *, keepalive: bool, extends: bool, lifts: bool
) -> tuple[float, dict[int, float], float]:
    """Every gap being drawn from the same odds: `dead`, `live` and `without` of an `Outlook`."""
    go_on = odds.go_on
    without = 1.0 / (1.0 - go_on)
    offers = {
        offer.ttl_s: _offer(offer, read, offer.write - read, odds, keepalive=keepalive) for offer in writes
    }
    best: tuple[float, dict[int, float]] = (without, dict.fromkeys(offers, go_on * without))
    firsts = list(offers.values())
    if lifts:
        firsts.append(_lifted(writes, read, writes[0].write - read, odds))
    for first in firsts:
        for longest in offers.values():
            if longest.ttl_s >= first.ttl_s and (extends or longest is first):
                found = _policy(first, longest, offers, read, go_on, without)
                best = min(best, found, key=lambda pair: pair[0])
    dead, live = best
    return min(dead, without), live, without


def break_even_pings(prices: CachePrices, ttl_s: int) -> int:
    """Pings that cost as much as writing again: (w - r) / r, rounded down, 200 at most."""
    return _break_even(prices.write_at(ttl_s), prices.read)


def ping_window_s(ttl_s: float) -> float:
    """Seconds from the last use to the next ping: 4.7 minutes of 5, 57 of 60."""
    return ttl_s - min(PING_MARGIN_S, ttl_s * 0.06)


def best_pings(
    odds: Odds,
    ttl_s: int,
    read: float,
    lost: float,
    most: int,
    *,
    idle_s: float = 0.0,
    lifted_s: int = 0,
) -> tuple[int, float]:
    """Number of pings that an idle time is worth.

    Args:
        lost: what a turn that finds the entry dead pays more than one that finds it alive, less the read.
        most: never more; idle_s: from the last turn to the last ping, in which nobody came.
        lifted_s: lifetime from the first of them on; 0: as before.

    Returns:
        Further pings that cost least from here, and what they save over letting the entry expire now.
    """
    gaps = odds.gaps_s
    first = bisect_left(gaps, idle_s) if idle_s else 0
    came = odds.cumulative[first - 1] if first else 0.0
    chance = odds.go_on * (1.0 - came)
    ends = 1.0 - odds.go_on
    if chance + ends <= 0:
        return 0, 0.0
    # Each ping is paid when nobody came before it; each widens the time in which a turn still hits.
    best, best_saving, saving = 0, 0.0, 0.0
    until = odds.within(idle_s + ttl_s)
    for number in range(1, most + 1):
        due = idle_s + _due_s(number, ttl_s, lifted_s)
        still = odds.go_on * (1.0 - odds.within(due))
        later = odds.within(due + (lifted_s or ttl_s))
        saving += lost * odds.go_on * (later - until) - read * (still + ends)
        until = later
        if saving > best_saving + 1e-12:
            best, best_saving = number, saving
        if saving + lost * odds.go_on * (1.0 - until) <= best_saving:
            break  # whatever else is caught is worth less than was spent to get here
    return best, best_saving / (chance + ends)


def _due_s(number: int, ttl_s: int, lifted_s: int) -> float:
    """Seconds from the last use to the ping of a number, from 1 on."""
    return ping_window_s(ttl_s) + (number - 1) * ping_window_s(lifted_s or ttl_s)


def _break_even(write: float, read: float) -> int:
    if read * MOST_PINGS <= write - read:
        return MOST_PINGS
    return max(0, floor((write - read) / read + 1e-9))


def _can_lift(prices: CachePrices, writes: tuple[TtlPrice, ...]) -> bool:
    return prices.mechanism is Mechanism.MARKS and len(writes) > 1


def _lifted(writes: tuple[TtlPrice, ...], read: float, lost: float, odds: Odds) -> Offer:
    """The shortest lifetime, the longest from the first ping on: for who comes back at once it is as cheap."""
    return _offer(writes[0], read, lost, odds, keepalive=True, lifted_s=writes[-1].ttl_s)


def _offer(
    offer: TtlPrice, read: float, lost: float, odds: Odds, *, keepalive: bool, lifted_s: int = 0
) -> Offer:
    pings = 0
    if keepalive and read > 0 and lost > 0:
        most = _break_even(offer.write, read)
        pings, _ = best_pings(odds, offer.ttl_s, read, lost, most, lifted_s=lifted_s)
    upkeep = 0.0
    for number in range(1, pings + 1):
        due = _due_s(number, offer.ttl_s, lifted_s)
        upkeep += read * (odds.go_on * (1.0 - odds.within(due)) + (1.0 - odds.go_on))
    end = _due_s(pings, offer.ttl_s, lifted_s) + (lifted_s or offer.ttl_s) if pings else offer.ttl_s
    return Offer(ttl_s=offer.ttl_s, write=offer.write, pings=pings, alive=odds.within(end), upkeep=upkeep)


def _policy(
    first: Offer, longest: Offer, offers: dict[int, Offer], read: float, go_on: float, without: float
) -> tuple[float, dict[int, float]]:
    """Costs when a cold start writes at `first` and later turns extend to `longest`.

    Each `live` is linear in `dead`: live = fixed + share * dead.
    """
    fixed, share = _kept(longest, read, go_on)

    def line(offer: Offer) -> tuple[float, float]:
        if offer is longest:
            return fixed, share
        if offer.ttl_s <= longest.ttl_s and longest is not first:
            return (
                go_on * offer.alive * (read + fixed) + offer.upkeep,
                go_on * (offer.alive * share + 1.0 - offer.alive),
            )
        return _kept(offer, read, go_on)

    lines = {ttl_s: line(offer) for ttl_s, offer in offers.items()}
    fixed, share = line(first)
    dead = min((first.write + fixed) / (1.0 - share), without) if share < 1 else without
    return dead, {ttl_s: base + slope * dead for ttl_s, (base, slope) in lines.items()}


def _kept(offer: Offer, read: float, go_on: float) -> tuple[float, float]:
    """An entry that every later turn renews at the same lifetime, as a line over `dead`."""
    stays = 1.0 - go_on * offer.alive
    if stays <= 0:
        return offer.upkeep, 0.0
    return (go_on * offer.alive * read + offer.upkeep) / stays, go_on * (1.0 - offer.alive) / stays
