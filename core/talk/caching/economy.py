"""Cost of a cached token over the turns to come, by lifetime; and the odds of the gap before the next turn that it rests on.

Costs are multiples of the price of a fresh input token, for one token of a prefix that each later turn repeats. The recursion
is ours.
"""

from __future__ import annotations

import math
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, repeat
from math import floor
from operator import truediv

import msgspec
from msgspec.structs import replace

from core.kernel.values.cache import CachePrices, GapStats, Habits, Mechanism, Talk, TtlPrice, TurnGap

# The hours in which a person is there, learned from their turns: a clock that stands still at night. Days of the week are not
# learned: that saved less than 1 % on every kind of day.

_HOUR_S = 3600.0
_DAY = 24
_HOUR_DAYS = 15.0
"""Weight of what is assumed of an hour of the day, in days: after as many quiet nights it is taken to be half as quiet."""
_LEAST = 0.05
"""No hour is ever taken to be quieter than this, against the mean of all."""


class Hours(msgspec.Struct, frozen=True):
    """Presence of the person in each hour of a day, 1 on the mean.

    Args:
        up_to: of all hours of the day up to each, in seconds; 25 figures, the first is 0.
    """

    up_to: Sequence[float]

    @property
    def mean(self) -> float:
        """Seconds of presence in a second."""
        return self.up_to[-1] / (_DAY * _HOUR_S)

    def between(self, start_s: float, end_s: float) -> float:
        """Seconds of presence between two Unix times."""
        return self._until(end_s) - self._until(start_s)

    def waiting(self, start_s: float) -> Callable[[float], float]:
        """From a Unix time on: how many of the clock's seconds hold so many of presence."""
        up_to, begin = self.up_to, self._until(start_s)
        day = up_to[-1]

        def after(waited: float) -> float:
            days, rest = divmod(begin + waited, day)
            slot = min(_DAY - 1, bisect_right(up_to, rest) - 1)
            share = (rest - up_to[slot]) / (up_to[slot + 1] - up_to[slot])
            return max(0.0, ((days * _DAY) + slot + share) * _HOUR_S - start_s)

        return after

    def _until(self, at_s: float) -> float:
        days, rest = divmod(at_s / _HOUR_S, _DAY)
        slot = min(_DAY - 1, int(rest))
        return (
            days * self.up_to[-1]
            + self.up_to[slot]
            + (rest - slot) * (self.up_to[slot + 1] - self.up_to[slot])
        )


@lru_cache(maxsize=4)
def hours_of(shared: tuple[TurnGap, ...], now_s: float) -> Hours:
    """Learn the hours from when turns came; those of which nothing is known yet are as the mean.

    Args:
        shared: between turns of any discussion, with when they ended; now_s: Unix time.
    """
    slots = frozenset([int(gap.ended_s // _HOUR_S) for gap in shared if gap.ended_s])
    return _hours_of(slots, int(now_s // _HOUR_S))


@lru_cache(maxsize=4)
def _hours_of(slots: frozenset[int], now_slot: int) -> Hours:
    """As `hours_of`, by the hours in which turns came: most turns come in the same one as the last."""
    if not slots:
        return Hours(array("d", [_HOUR_S * number for number in range(_DAY + 1)]))
    first, last = min(slots), max(*slots, now_slot - 1)
    mean = len(slots) / (last - first + 1)
    by_hour = Counter(slot % _DAY for slot in slots)
    hours = [
        (by_hour[hour] + _HOUR_DAYS * mean) / (_passed(first, last, hour) + _HOUR_DAYS)
        for hour in range(_DAY)
    ]
    hours = [(hours[hour - 1] + 2 * hours[hour] + hours[(hour + 1) % _DAY]) / 4 for hour in range(_DAY)]
    return Hours(array("d", accumulate([max(_LEAST, hour / mean) * _HOUR_S for hour in hours], initial=0.0)))


def _passed(first: int, last: int, hour: int) -> int:
    """Count of how often the hours `first` to `last` hold this hour of the day."""
    return (last - hour) // _DAY - (first - 1 - hour) // _DAY


KEPT_GAPS = 256
KEPT_TALKS = 64
PRIOR = ((60.0, 2.4), (900.0, 1.0), (5400.0, 0.2), (3 * 3600.0, 0.2), (7 * 3600.0, 0.1), (15 * 3600.0, 0.1))
"""Prior before anything was seen, in seconds and turns' worth: most answers are followed soon."""
PERSON_TURNS = 30.0
"""Weight of all discussions together beside a discussion's own gaps, in turns' worth: they count until it has own."""
SHARED_PRIOR = ((TurnGap(60.0), 0.4), (TurnGap(900.0), 0.2), (TurnGap(3 * 3600.0), 0.4))
"""As `PRIOR`, of turns that need the shared prefix: after a move, or after hours."""
EDITS = 0.03
"""Rate at which the shared prefix is taken to change before a turn (the digest, an identity file): it is then
of no more use.
"""
_PRIOR_TURNS = sum(share for _, share in PRIOR)
_PRIOR = tuple([(TurnGap(gap_s), share) for gap_s, share in PRIOR])
_SPREAD = (0.75, 1.0, 1.33)
"""A long gap stands for gaps around it: what took three hours today takes four tomorrow."""
_LONG_S = 3600.0
_TALK_TURNS = 6.0
"""Weight of what is assumed of lengths, in turns."""
_FIRST_TURNS, _FIRST_END = 1.0, 0.3
"""As `_TALK_TURNS`, of a discussion's first, and how many are taken to end with it: who asks once differs from who works on."""
_LATE = 4.0
"""A return is taken to be possible until so many times as long as others took have passed."""
_STRANGE, _STARTS = 0.3, 4.0
"""So large a share of new discussions is taken to find no shared prefix of theirs; that weighs so many of them."""
_LONG_TURNS = 32
_AWAY_TURNS, _AWAY_SHARE = 4.0, 0.8
"""Share of those who come back that is assumed to ask elsewhere once before; the assumption weighs so many gaps."""
_LEAST_END = 0.02
"""Any turn may be a discussion's last."""


_Sample = list[tuple[Sequence[TurnGap], float]]
"""Gaps with the weight of each."""


class Odds(msgspec.Struct, frozen=True):
    """Gaps as a weighted sample, ascending.

    Args:
        gaps_s: seconds; cumulative: their weights up to each, the last is 1. Arrays of doubles where they were
            learned: dozens of such samples are kept, and float objects take four times as much.
        go_on: the probability that another turn of the discussion comes at all.
        pinged_s: for so long after a turn an idle entry may be pinged.
    """

    gaps_s: Sequence[float]
    cumulative: Sequence[float]
    go_on: float
    pinged_s: float = math.inf

    def within(self, seconds: float) -> float:
        """The probability that the next turn comes within so many seconds, if it comes."""
        index = bisect_right(self.gaps_s, seconds)
        return self.cumulative[index - 1] if index else 0.0

    def __hash__(self) -> int:
        """A cheap one: hundreds of figures need not be hashed to find odds again."""
        return hash((self.go_on, len(self.gaps_s), *self.gaps_s[-1:]))


def observed(habits: Habits, discussion_id: str, turns: int, own_gap_s: float | None, now_s: float) -> Habits:
    """Learn from a turn that begins.

    Args:
        turns: of its discussion, this one among them; own_gap_s: since the last of them, None for the first.
        now_s: Unix time. Gaps below zero (a clock that jumped) are passed over.
    """
    last_s = max((talk.last_s for talk in habits.talks.values()), default=None)
    talks = {**habits.talks, discussion_id: Talk(turns, now_s)}
    if len(talks) > KEPT_TALKS:
        del talks[min(talks, key=lambda name: (talks[name].last_s, name))]
    shared_gap_s = None if last_s is None else now_s - last_s
    return replace(
        habits,
        own=with_gap(habits.own, own_gap_s, now_s),
        shared=with_gap(habits.shared, shared_gap_s, now_s),
        talks=talks,
    )


def with_gap(gaps: tuple[TurnGap, ...], gap_s: float | None, now_s: float = 0.0) -> tuple[TurnGap, ...]:
    """Gaps with one more that ends now, the oldest forgotten."""
    if gap_s is None or not (gap_s >= 0 and math.isfinite(gap_s)):
        return gaps
    return (*gaps, TurnGap(gap_s, now_s))[-KEPT_GAPS:]


def stats_of(habits: Habits, discussion_id: str, own: tuple[TurnGap, ...], turns: int) -> GapStats:
    """Gaps as known of one discussion and of the person.

    Args:
        own: of the discussion; turns: of it so far, the one that is being planned among them.
    """
    talks = tuple(talk for name, talk in habits.talks.items() if name != discussion_id)
    return GapStats(
        own=own,
        person=habits.own,
        shared=habits.shared,
        turns=turns,
        talks=talks,
        starts=habits.starts,
        strange=habits.strange,
    )


@lru_cache(maxsize=4)
def own_odds(stats: GapStats, now_s: float = 0.0) -> Odds:
    """Odds of the next turn of the same discussion.

    Args:
        now_s: Unix time of the turn that it follows; 0.0: at no time of the day.
    """
    go_on = 1.0 - end_chance(stats, stats.turns, now_s)
    odds = _odds(_mixed(stats.own, stats.person), go_on, stats, now_s)
    if len(stats.own) < SEEN_GAPS:
        return odds
    longest_s = max([gap.seconds for gap in (*stats.own, *stats.person)])
    return replace(odds, pinged_s=longest_s * SEEN_FACTOR)


SEEN_GAPS, SEEN_FACTOR = 9, 2.0
"""A discussion with so many gaps tells how long its person stays away: at most so many times as long as ever before.

In a new discussion it is worth trying what is assumed of long gaps. One that went on for many turns without any has shown that
nobody comes back after one: there a ping only costs.
"""


def idle_odds(stats: GapStats, turn_s: float, now_s: float) -> Odds:
    """Odds of the next turn of a discussion that was left at a Unix time and is idle until now.

    The more the person asked elsewhere since, the likelier is it that they are done with it. Whoever stays away for long
    asks elsewhere all the while: so only the gaps that lasted longer than this one tell how likely, by those in which the
    person had asked as often elsewhere by then, and came back.
    """
    odds = own_odds(stats, turn_s)
    times = [gap.ended_s for gap in stats.shared]
    asked = len(times) - bisect_right(times, turn_s + 1.0)
    if not turn_s or asked <= 0:
        return odds
    idle_s = now_s - turn_s
    left_s = [gap.ended_s - gap.seconds for gap in stats.person if gap.ended_s and gap.seconds > idle_s]
    stayed = sum(bisect_left(times, at + idle_s) - bisect_right(times, at + 1.0) >= asked for at in left_s)
    share = (stayed + _AWAY_TURNS * _AWAY_SHARE**asked) / (len(left_s) + _AWAY_TURNS)
    goes_on = odds.go_on * share
    return replace(odds, go_on=goes_on / (goes_on + 1.0 - odds.go_on))


@lru_cache(maxsize=4)
def shared_odds(stats: GapStats, longest_s: float, now_s: float = 0.0) -> Odds:
    """Odds of the next turn that needs the shared prefix by itself: one whose discussion has no entry of its own left.

    Args:
        longest_s: for so long a discussion's own entries live at most; gaps are those since the last turn of any
            discussion, each of which renews the prefix.
    """
    own_s = {gap.ended_s: gap.seconds for gap in stats.person}
    needs = [gap for gap in stats.shared if own_s.get(gap.ended_s, math.inf) > longest_s and gap.ended_s]
    share = (len(needs) + 1) / (len(stats.shared) + 10)
    strange = (stats.strange + _STRANGE * _STARTS) / (stats.starts + _STARTS)
    go_on = share / (share + EDITS) * (1.0 - strange)
    prior: _Sample = [((gap,), share) for gap, share in SHARED_PRIOR]
    return _odds([*prior, (needs, 1.0)], go_on, stats, now_s)


def end_chance(stats: GapStats, turns: int, now_s: float) -> float:
    """The probability that a discussion of so many turns ends with them.

    Of the person's discussions, those that were about as long: which went on, and which have been left since for longer
    than the person takes to return. What is assumed falls with the length: who has asked often asks again.
    """
    low, high = _length_class(turns)
    assumed, weight = (_FIRST_END, _FIRST_TURNS) if high == 1 else (1.0 / (turns + 7), _TALK_TURNS)
    went_on, ended = max(0, min(stats.turns - 1, high) - low + 1), 0.0
    left_s = []
    for talk in stats.talks:
        went_on += max(0, min(talk.turns - 1, high) - low + 1)
        if low <= talk.turns <= high:
            left_s.append(now_s - talk.last_s)
    for still in _longer(stats.person, left_s):
        ended += assumed * (1.0 - still) / (assumed + (1.0 - assumed) * still)
    return max(_LEAST_END, (ended + assumed * weight) / (went_on + ended + weight))


def _longer(gaps: tuple[TurnGap, ...], times_s: Sequence[float]) -> list[float]:
    """For each time the share of returns that may still come after it; 1 where none has passed."""
    if not times_s:
        return []
    gaps_s = sorted([gap.seconds for gap in gaps])
    total = len(gaps_s) + _PRIOR_TURNS

    def longer(time_s: float) -> float:
        assumed = sum([share for gap_s, share in PRIOR if gap_s > time_s])
        return (len(gaps_s) - bisect_right(gaps_s, time_s) + assumed) / total

    return [longer(time_s / _LATE) if time_s > 0 else 1.0 for time_s in times_s]


def _length_class(turns: int) -> tuple[int, int]:
    """Lengths that are taken together: 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31, and all above."""
    low = 1 << (max(1, turns).bit_length() - 1)
    return (low, 2 * low - 1) if low < _LONG_TURNS else (_LONG_TURNS, sys.maxsize)


def _mixed(own: tuple[TurnGap, ...], person: tuple[TurnGap, ...]) -> _Sample:
    """A discussion's own gaps, and the person's as far as it has few."""
    total = sum([*[share for _, share in _PRIOR], *[1.0] * len(person)])
    scale = min(1.0, PERSON_TURNS / total)
    return [(own, 1.0), (person, scale), *[((gap,), share * scale) for gap, share in _PRIOR]]


def _odds(sample: _Sample, go_on: float, stats: GapStats, now_s: float) -> Odds:
    # Most gaps are short, and the same at every hour.
    short: list[tuple[float, float]] = []
    long: list[tuple[TurnGap, float]] = []
    for gaps, weight in sample:
        short += [(gap.seconds, weight) for gap in gaps if gap.seconds <= _LONG_S]
        long += [(gap, weight) for gap in gaps if gap.seconds > _LONG_S]
    if not now_s:
        spread = [(gap.seconds * f, weight / len(_SPREAD)) for gap, weight in long for f in _SPREAD]
        return _sampled(short, spread, go_on)
    hours = hours_of(stats.shared, (now_s // 3600 + 1) * 3600.0)
    return _sampled(short, _at_hour(long, hours, now_s), go_on)


def _sampled(short: list[tuple[float, float]], long: list[tuple[float, float]], go_on: float) -> Odds:
    pairs = sorted([*short, *long])
    gaps_s, weights = zip(*pairs, strict=True)
    total = sum(weights)
    shares = accumulate(map(truediv, weights, repeat(total)))
    return Odds(gaps_s=array("d", gaps_s), cumulative=array("d", shares), go_on=go_on)


def _at_hour(sample: list[tuple[TurnGap, float]], hours: Hours, now_s: float) -> list[tuple[float, float]]:
    """Long gaps as they would be from now on: as many of the person's hours, not as many of the clock's.

    A gap of the discussion is one of the person's, too: each is looked at once.
    """
    mean, after = hours.mean, hours.waiting(now_s)
    found: dict[TurnGap, list[float]] = {}
    pairs = []
    for gap, weight in sample:
        moved = found.get(gap)
        if moved is None:
            ended_s, gap_s = gap.ended_s, gap.seconds
            waited = hours.between(ended_s - gap_s, ended_s) if ended_s else gap_s * mean
            moved = found[gap] = [max(_LONG_S, after(waited * factor)) for factor in _SPREAD]
        share = weight / len(_SPREAD)
        pairs += [(moved_s, share) for moved_s in moved]
    return pairs


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
    # No ping is sent for the end of a prefix alone, whose front lives: it would read the front, too.
    lost = min(without, writes[-1].write + live[writes[-1].ttl_s]) if keepalive and writes else dead
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
        if due >= odds.pinged_s:
            break
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
