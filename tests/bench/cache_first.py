"""A first turn that is not marked: what that would spare discussions of one turn, and what it costs all others.

No rule is at or below 1 for every length: where nobody tells that a discussion goes on, one may end with whichever turn was
marked first, and that one has paid for a write that nobody reads. Never marking a first turn, or only one that a second is
likely enough to follow, moves the loss to discussions of two.
So the program bets on the second turn by the odds that it has learned of the person (`core/talk/caching/economy.py`, `end_chance`).
A column of the bench: nothing of it is in the product.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product

from msgspec.structs import replace

from core.talk.caching.cache_book import BookedCall, gaps_of
from core.talk.caching.economy import own_odds
from tests.bench.__main__ import Row, row
from tests.bench.cache_days import DAYS, DESK, Ask, Day, make_day, make_serial
from tests.bench.cache_ours import Ours
from tests.bench.cache_replay import MAIN, OFF, SETTINGS
from tests.bench.cache_turns import market_for, turn_planned

SEEDS_OF_FIRSTS = 4
LENGTHS = (1, 2, 3, 5)
COUNT = 8
WAYS = {"as the program does": 0.0, "at odds of 0.8 of a second": 0.8, "never": 1.0}
"""Probability of a second turn from which on a first one is marked."""


class Waiting(Ours):
    """The program, which leaves the first turn of a discussion unmarked unless a second one is likely enough."""

    likely: float = 0.0

    def _plan(self, ask: Ask) -> BookedCall:
        gaps = gaps_of(self.book, ask.discussion)
        if gaps.turns > 1 or own_odds(gaps, ask.at_s).go_on >= self.likely:
            return super()._plan(ask)
        settings = replace(self.settings, is_enabled=False)
        return turn_planned(
            self.book, ask, market_for(self.book, ask, self.prices, settings, self.count), self.memos
        )


def _played(asks: Sequence[Ask], policy: str, likely: float) -> Waiting:
    program = Waiting(MAIN, SETTINGS[policy])
    program.likely = likely
    program.replay(asks)
    return program


def play_day(task: tuple[Day, str, str, int]) -> float:
    """Cost of a day, in tokens of fresh input. A task: kind of day, keepalive, way, seed."""
    day, policy, way, seed = task
    return _played(make_day(day, seed), policy, WAYS[way]).bill.cost(MAIN)


def play_serial(task: tuple[int, str, int]) -> list[float]:
    """Cost of each discussion over no caching, in their order, each in a project of its own. A task: turns of each, way, seed."""
    turns, way, seed = task
    bills = _played(make_serial(DESK, seed, turns, COUNT), OFF, WAYS[way]).bills
    return [bill.cost(MAIN) / bill.total for bill in bills.values()]


def rows(seeds: Sequence[int]) -> list[Row]:
    """All figures: days against the program's, discussions of few turns over no caching."""
    seeds = seeds[:SEEDS_OF_FIRSTS]
    days = list(product(DAYS, SETTINGS, WAYS, seeds))
    serials = list(product(LENGTHS, WAYS, seeds))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        costs = dict(zip(days, pool.map(play_day, days), strict=True))
        shares = dict(zip(serials, pool.map(play_serial, serials), strict=True))
    found = []
    base, *others = WAYS
    for day, policy, way in product(DAYS, SETTINGS, others):
        ours, other = (sum(costs[day, policy, one, seed] for seed in seeds) for one in (base, way))
        name = f"{day.name}, {policy}, a first turn marked {way}, against the program"
        found.append(row(name, round(other / ours, 4), "times", runs=len(seeds)))
    for turns, way in product(LENGTHS, WAYS):
        part = [shares[turns, way, seed] for seed in seeds]
        firsts, rest = [one[0] for one in part], [cost for one in part for cost in one[1:]]
        name = f"{COUNT} discussions of {turns} one after another, a first turn marked {way}"
        for whose, few in (("a new person's first", firsts), ("those that follow", rest)):
            found.append(
                row(f"{name}, {whose}", round(sum(few) / len(few), 4), "of no caching", runs=len(few))
            )
    return found
