"""The share of foresight without keepalive: the best rule that does not know when the person comes back.

Each prefix by itself, as in `least_same`, and a hit goes on for an hour for nothing. Gaps are drawn one like the other, so what
is left to choose is one lifetime to write at, for prefixes that discussions share and for those of one: the best of the
three, chosen after the days are over; told which use of a prefix is its last, or not. A program plans whole requests, within
the marks that a vendor allows, and learns its odds as it goes: it cannot be expected to cost less.
A column of the bench: nothing of it is in the product.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product

from bench.__main__ import Row, row
from bench.cache_bound import AsSent, Sent, least_any, least_same
from bench.cache_days import DAYS, Day, make_day
from bench.cache_ours import Ours
from bench.cache_policies import MODELS
from bench.cache_replay import ANY, MAIN, OFF, SAME, SETTINGS

RULES = ((1.0, 0.0), (1.25, 300.0), (2.0, 3600.0))
"""Ways with a prefix that is not held: price, and how long it lives then."""
HOUR_S = 3600.0
TOLD = "best rule for each prefix that is told only its last use"
UNTOLD = "best rule for each prefix, told nothing"


def rule_costs(
    requests: Sequence[Sent], discussions: Sequence[str], read: float, *, knows_last: bool
) -> dict[tuple[bool, int], float]:
    """Cost of a day by each of `RULES`, for what is shared and what is not, in tokens of fresh input.

    Args:
        discussions: of each request.
    """
    times: dict[int, list[float]] = defaultdict(list)
    tokens: dict[int, int] = {}
    users: dict[int, set[str]] = defaultdict(set)
    for sent, discussion in zip(requests, discussions, strict=True):
        for block in sent.blocks:
            times[block.prefix].append(sent.at_s)
            tokens[block.prefix] = block.tokens
            users[block.prefix].add(discussion)
    found: dict[tuple[bool, int], float] = defaultdict(float)
    for prefix, number in product(times, range(len(RULES))):
        cost = by_rule(times[prefix], number, read, knows_last=knows_last)
        found[len(users[prefix]) > 1, number] += tokens[prefix] * cost
    return found


def by_rule(times: Sequence[float], rule: int, read: float, *, knows_last: bool) -> float:
    """Cost of a token that is asked for at these times, ascending, by one of `RULES`."""
    price, ttl_s = RULES[rule]
    cost, until = 0.0, -math.inf
    for number, time in enumerate(times):
        if time < until:
            cost += read
            until = time + HOUR_S
        elif knows_last and number == len(times) - 1:
            cost += 1.0
        else:
            cost += price
            until = time + ttl_s
    return cost


def best_rules(costs: Sequence[dict[tuple[bool, int], float]]) -> float:
    """Cost of days by the rules that would have been best for all of them together."""
    return sum(
        min(sum(one.get((is_shared, number), 0.0) for one in costs) for number in range(len(RULES)))
        for is_shared in (True, False)
    )


Played = tuple[float, float, list[dict[tuple[bool, int], float]]]


def play(task: tuple[Day, int]) -> Played:
    """The bounds of one day, and its costs by the rules, told and untold."""
    day, seed = task
    asks = make_day(day, seed)
    line = AsSent(MODELS[MAIN])
    Ours(MAIN, SETTINGS[OFF], line=line).replay(asks)
    discussions = [ask.discussion for ask in asks]
    costs = [rule_costs(line.requests, discussions, MAIN, knows_last=knows) for knows in (True, False)]
    return least_same(line.requests, MAIN), least_any([line.requests], MAIN), costs


def rows(seeds: Sequence[int]) -> list[Row]:
    """For each kind of day what the best rules cost over the bounds of those who know the future."""
    tasks = list(product(DAYS, seeds))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        played = list(pool.map(play, tasks, chunksize=1))
    found = []
    for day in DAYS:
        part = [one for (kind, _), one in zip(tasks, played, strict=True) if kind is day]
        same, anyhow = sum(one[0] for one in part), sum(one[1] for one in part)
        for number, title in enumerate((TOLD, UNTOLD)):
            best = best_rules([costs[number] for _, _, costs in part])
            found.append(_row(f"{day.name}, {OFF}, {title}, over the {SAME}", best / same, len(part)))
        found.append(_row(f"{day.name}, {OFF}, {SAME}, over the {ANY}", same / anyhow, len(part)))
    return found


def _row(name: str, value: float, runs: int) -> Row:
    return row(name, round(value, 4), "times", runs=runs)
