"""Hold of a stored content after a turn: one rule for making, extending, keeping and letting go of it. Pure.

Rent is paid by the minute and a content can be deleted at any time, so that each idle time stands for itself: holding
until `h` costs the rent of the time until the person returns or `h` has passed, and saves what a return finds gone
would pay. All figures are for one token, in the price of a fresh one.

Source: caching-facts.md, B: made at the price of input, stored by token and hour, not renewed by use. The rule is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from core.caching.gaps import Odds
from core.values.cache import CachePrices

_HOUR_S = 3600.0
_FIRST_S = 15.0
_STEP = 1.1
_SPREAD = (0.8, 0.9, 1.0)
"""A gap that was seen stands for somewhat longer ones, too: a hold that ends just with it would miss half of them."""


class Hold(msgspec.Struct, frozen=True):
    """Worth of a content to a discussion with these odds.

    Args:
        times_s: since the last turn, ascending; gains: what holding until each saves over letting go at once.
        stored: later turns of a token that is stored, seen from a turn that has just used it.
        beside: of one that is sent inline beside a stored content; cold: of one while nothing is stored.
        never: of one that no content can hold.
        relief: of a token that a rewrite would leave out, the part that falls after the content has ended.
        pays: making one pays.
    """

    times_s: tuple[float, ...]
    gains: tuple[float, ...]
    stored: float
    beside: float
    cold: float
    never: float
    relief: float
    pays: bool

    def until_s(self, idle_s: float = 0.0) -> float:
        """Seconds since the last turn until which holding is worth its rent; `idle_s` itself: let go now.

        A later time is worth waiting for only where what it adds is more than the rent until then.
        """
        so_far = _at(self.times_s, self.gains, idle_s)
        later = [(gain, time) for time, gain in zip(self.times_s, self.gains, strict=True) if time > idle_s]
        gain, time = max(later, key=lambda pair: (pair[0], -pair[1]), default=(so_far, idle_s))
        return time if gain > so_far else idle_s


@lru_cache(maxsize=64)
def hold_of(prices: CachePrices, odds: Odds, longest_s: float) -> Hold:
    """Value a content, every gap being drawn from the same odds.

    Args:
        odds: of the next turn of the discussion; longest_s: never held for longer after a turn.
    """
    go_on, read, rent = odds.go_on, prices.read, rent_share(prices, 1.0)
    inline = 1.0 / (1.0 - go_on)
    if rent == float("inf"):
        later = go_on * inline
        return Hold((0.0,), (0.0,), later, later, later, later, later, pays=False)
    times = _times(longest_s)
    shares, paid = _shares(times, odds, rent)
    # A return that finds nothing makes it anew: 1 for the tokens, and the read of either.
    gains = [go_on * share - cost for share, cost in zip(shares, paid, strict=True)]
    best = max(range(len(times)), key=lambda place: (gains[place], -place))
    pays = gains[best] > read
    if pays:
        stored = (paid[best] + go_on * (read + 1.0 - shares[best])) / (1.0 - go_on)
        cold = 1.0 + read + stored
    else:  # one that stands already is used while that pays, and none is made after it
        cold = inline
        values = [_kept(go_on, share, cost, read, cold) for share, cost in zip(shares, paid, strict=True)]
        best = min(range(len(times)), key=lambda place: (values[place], place))
        stored = values[best]
        lost = max(0.0, cold - read - stored)
        gains = [go_on * lost * share - cost for share, cost in zip(shares, paid, strict=True)]
    beside = _kept(go_on, shares[best], 0.0, 1.0, cold)
    relief = _kept(go_on, shares[best], 0.0, 0.0, cold)
    idle, never = go_on * cold, go_on * inline
    return Hold(tuple(times), tuple(gains), stored, beside, idle, never, relief, pays)


def rent_share(prices: CachePrices, seconds: float) -> float:
    """Cost of storing a token for so long, in the price of a fresh one; without a price of input it is too much."""
    if not prices.storage_usd:
        return 0.0
    return prices.storage_usd * seconds / _HOUR_S / prices.input_usd if prices.input_usd else float("inf")


def _kept(go_on: float, share: float, paid: float, each: float, cold: float) -> float:
    """Later turns of a token that costs `each` at every return that comes in time, and `cold` from the first that does not."""
    return (paid + go_on * (share * each + (1.0 - share) * cold)) / (1.0 - go_on * share)


def _times(longest_s: float) -> list[float]:
    times = [0.0]
    time = _FIRST_S
    while time < longest_s:
        times.append(time)
        time *= _STEP
    return [*times, longest_s] if longest_s > 0 else times


def _shares(times: Sequence[float], odds: Odds, rent: float) -> tuple[list[float], list[float]]:
    """For each time: the share of returns until then, and the rent to expect, which nobody's return ends earlier."""
    shares = [sum(odds.within(time * factor) for factor in _SPREAD) / len(_SPREAD) for time in times]
    paid = [0.0]
    for (early, late), share in zip(pairwise(times), shares[:-1], strict=True):
        paid.append(paid[-1] + rent * (late - early) * (1.0 - odds.go_on * share))
    return shares, paid


def _at(times: Sequence[float], values: Sequence[float], time: float) -> float:
    """The value at a time between two that were computed."""
    for (early, late), (before, after) in zip(pairwise(times), pairwise(values), strict=True):
        if early <= time < late:
            return before + (after - before) * (time - early) / (late - early)
    return values[-1]
