"""The share of foresight: the best rule that does not know when the person comes back, and whether.

Each prefix by itself, as in `least_same`, and a hit goes on for an hour for nothing. Gaps are drawn one like the other, so what
is left to choose is one lifetime to write at and, with keepalive, how many pings each use is worth at most: for prefixes that
discussions share and for those of one, the best of all such rules, chosen after the days are over; told which use of a prefix is
its last, or not. A program plans whole requests, within the marks that a vendor allows, and learns its odds as it goes: it
cannot be expected to cost less. With keepalive there is a third figure: a ping of a discussion reads what it shares with others,
too, which the bounds pay for once.

What every rule knows: layer 8 stands in one request only, and what a discussion no longer sends need not be kept.
A column of the bench: nothing of it is in the product.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

from tests.bench.__main__ import Row, row
from tests.bench.cache_bound import AsSent, Sent, least_any, least_same
from tests.bench.cache_days import DAYS, Day, make_day
from tests.bench.cache_ours import Ours
from tests.bench.cache_policies import MODELS, tail_of
from tests.bench.cache_replay import ANY, MAIN, OFF, ON, SAME, SETTINGS
from tests.bench.cache_turns import AFTER_S

WAYS = ((1.0, 0.0), (1.25, 300.0), (2.0, 3600.0))
"""Ways with a prefix that is not held: price, and how long it lives then."""
PINGS = {OFF: (0,), ON: (*range(9), 10, 12, 14, 16, 18, 20, 24, 30, 39)}
"""Most pings after a use that rules differ by; more than the last would cost as much as writing for an hour."""
HOUR_S = 3600.0
TOLD = "best rule for each prefix that is told only its last use"
UNTOLD = "best rule for each prefix, told nothing"
WHOLE = "best rule, told nothing, that pings whole discussions"

Costs = dict[int, float]
"""By the most pings after a use, in tokens of fresh input: at the best way to write."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Prefixes that were always asked for together.

    Args:
        uses: when, and by which discussion; kept_s: until then a discussion's last request holds them; tokens: of all.
    """

    uses: tuple[tuple[float, str], ...]
    kept_s: float
    tokens: int

    @property
    def times(self) -> list[float]:
        """Times of the uses, ascending."""
        return [at_s for at_s, _ in self.uses]

    @property
    def is_shared(self) -> bool:
        """True if more than one discussion asked."""
        return len({name for _, name in self.uses}) > 1


def asked_for(
    requests: Sequence[Sent], discussions: Sequence[str], tails: Sequence[int]
) -> tuple[list[Asked], int]:
    """Every prefix of a day, and the tokens of layer 8, which is sent fresh.

    Args:
        discussions: of each request; tails: how many of its last blocks are layer 8.
    """
    uses: dict[int, list[tuple[float, str]]] = defaultdict(list)
    tokens: dict[int, int] = {}
    holders: dict[int, set[str]] = defaultdict(set)
    let_go_s: dict[int, float] = {}
    sent_last: dict[str, set[int]] = {}
    fresh = 0
    for sent, name, tail in zip(requests, discussions, tails, strict=True):
        end = len(sent.blocks) - tail
        fresh += sum(block.tokens for block in sent.blocks[end:])
        now = {block.prefix for block in sent.blocks[:end]}
        for prefix in sent_last.get(name, set()) - now:
            holders[prefix].discard(name)
            let_go_s[prefix] = sent.at_s
        sent_last[name] = now
        for block in sent.blocks[:end]:
            uses[block.prefix].append((sent.at_s, name))
            tokens[block.prefix] = block.tokens
            holders[block.prefix].add(name)
    after_s = requests[-1].at_s + AFTER_S
    together: dict[tuple[tuple[tuple[float, str], ...], float], int] = defaultdict(int)
    for prefix, found in uses.items():
        kept_s = after_s if holders[prefix] else let_go_s[prefix]
        together[tuple(found), kept_s] += tokens[prefix]
    return [Asked(found, kept_s, size) for (found, kept_s), size in together.items()], fresh


def by_rule(
    times: Sequence[float],
    way: tuple[float, float],
    most: int,
    read: float,
    *,
    kept_s: float = math.inf,
    knows_last: bool,
) -> float:
    """Cost of a token that is asked for at these times, ascending, by one rule.

    Args:
        way: of `WAYS`; most: pings after a use, each of which lets it live for an hour; kept_s: they end then.
    """
    price, ttl_s = way
    cost, until, last = 0.0, -math.inf, len(times) - 1
    for number, time in enumerate(times):
        if time <= until:
            cost += read
            life_s = HOUR_S
        elif knows_last and number == last:
            cost += 1.0
            life_s = 0.0
        else:
            cost += price
            life_s = ttl_s
        until = time + life_s
        if life_s and not (knows_last and number == last):
            next_s = times[number + 1] if number < last else kept_s
            pings = min(most, math.ceil(max(0.0, min(next_s - until, most * HOUR_S)) / HOUR_S))
            cost += pings * read
            until += pings * HOUR_S
    return cost


def costs_by(
    part: Iterable[Asked], pings: Sequence[int], read: float, *, knows_last: bool
) -> dict[int, Costs]:
    """Cost of prefixes by each way of `WAYS` and each most of pings."""
    found: dict[int, Costs] = {way: dict.fromkeys(pings, 0.0) for way in range(len(WAYS))}
    for one in part:
        times = one.times
        for way, most in product(found, pings):
            cost = by_rule(times, WAYS[way], most, read, kept_s=one.kept_s, knows_last=knows_last)
            found[way][most] += one.tokens * cost
    return found


def with_pings_of(one: Asked, turns: dict[str, list[float]], most: int, end_s: float) -> list[float]:
    """Pings that a shared prefix takes part in, by time: so many an hour apart after each turn of a discussion that had it."""
    found = []
    for at_s, name in one.uses:
        own = turns[name]
        after = bisect_left(own, at_s) + 1
        next_s = own[after] if after < len(own) else end_s
        found += [at_s + number * HOUR_S for number in range(1, most + 1) if at_s + number * HOUR_S < next_s]
    return sorted(found)


def whole_costs(
    shared: Iterable[Asked], turns: dict[str, list[float]], pings: Sequence[int], read: float
) -> dict[tuple[int, int, int], float]:
    """Cost of what discussions share, by the way to write, the pings of each discussion and those of its own beside them."""
    found: dict[tuple[int, int, int], float] = defaultdict(float)
    end_s = max(times[-1] for times in turns.values()) + AFTER_S
    for one, most in product(shared, pings):
        times = sorted([*one.times, *with_pings_of(one, turns, most, end_s)])
        kept_s = max(one.kept_s, times[-1])
        for (way, (price, ttl_s)), more in product(enumerate(WAYS), pings):
            life_s = HOUR_S if ttl_s and most else ttl_s  # the first ping lets it live so long
            cost = by_rule(times, (price, life_s), more, read, kept_s=kept_s, knows_last=False)
            found[way, most, more] += one.tokens * cost
    return found


@dataclass(frozen=True, slots=True)
class Played:
    """One day by all rules.

    Args:
        ours: cost; same, anyhow: the bounds; fresh: tokens of layer 8; costs: by what is told, shared or not, way and pings;
            whole: as `whole_costs`.
    """

    ours: float
    same: float
    anyhow: float
    fresh: int
    costs: dict[tuple[bool, bool], dict[int, Costs]]
    whole: dict[tuple[int, int, int], float]


def play(task: tuple[Day, str, int]) -> Played:
    """Play one day with keepalive off or on, and count it by the rules."""
    day, policy, seed = task
    asks = make_day(day, seed)
    line = AsSent(MODELS[MAIN])
    ours = Ours(MAIN, SETTINGS[policy], line=line).replay(asks).cost(MAIN)
    names = [ask.discussion for ask in asks]
    asked, fresh = asked_for(line.requests, names, [tail_of(request) for request in line.asked])
    parts = {is_shared: [one for one in asked if one.is_shared is is_shared] for is_shared in (True, False)}
    pings = PINGS[policy]
    costs = {
        (knows, is_shared): costs_by(part, pings, MAIN, knows_last=knows)
        for knows, (is_shared, part) in product((True, False), parts.items())
    }
    turns: dict[str, list[float]] = defaultdict(list)
    for sent, name in zip(line.requests, names, strict=True):
        turns[name].append(sent.at_s)
    whole = whole_costs(parts[True], turns, pings, MAIN) if policy == ON else {}
    bounds = least_same(line.requests, MAIN), least_any([line.requests], MAIN)
    return Played(ours, *bounds, fresh, costs, whole)


def best_costs(part: Sequence[Played], *, knows_last: bool) -> float:
    """Cost of days by the rules that would have been best for all of them together."""
    found = float(sum(one.fresh for one in part))
    for is_shared in (True, False):
        kinds = [one.costs[knows_last, is_shared] for one in part]
        found += min(sum(kind[way][most] for kind in kinds) for way in kinds[0] for most in kinds[0][way])
    return found


def best_whole(part: Sequence[Played]) -> float:
    """As `best_costs`, told nothing, where each ping of a discussion reads what it shares."""
    own = [one.costs[False, False] for one in part]
    return sum(one.fresh for one in part) + min(
        sum(one.whole[way, most, more] for one in part)
        + min(sum(kind[other][most] for kind in own) for other in own[0])
        for way, most, more in part[0].whole
    )


def rows(seeds: Sequence[int]) -> list[Row]:
    """For each kind of day what the best rules cost over the bounds of those who know the future."""
    tasks = list(product(DAYS, (OFF, ON), seeds))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        played = list(pool.map(play, tasks, chunksize=1))
    found = []
    for day, policy in product(DAYS, (OFF, ON)):
        part = [one for task, one in zip(tasks, played, strict=True) if task[:2] == (day, policy)]
        least = sum(one.same if policy == OFF else one.anyhow for one in part)
        figures = {
            "the program": sum(one.ours for one in part),
            TOLD: best_costs(part, knows_last=True),
            UNTOLD: best_costs(part, knows_last=False),
        }
        if policy == ON:
            figures[WHOLE] = best_whole(part)
        over = SAME if policy == OFF else f"{ANY}, as sent with keepalive"
        for title, cost in figures.items():
            found.append(_row(f"{day.name}, {policy}, {title}, over the {over}", cost / least, len(part)))
        if policy == OFF:
            anyhow = sum(one.anyhow for one in part)
            title = f"{day.name}, {OFF}, {SAME}, over the {ANY}, as sent without keepalive"
            found.append(_row(title, least / anyhow, len(part)))
    return found


def _row(name: str, value: float, runs: int) -> Row:
    return row(name, round(value, 4), "times", runs=runs)
