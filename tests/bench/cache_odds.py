"""The program with the right odds: it knows how days are drawn, not what comes. What odds alone could save, and no more.

Of each turn and each look at an idle prefix the person's days are drawn on from what was seen so far: the gaps of their kind
of day, the odds of moving, the lengths of discussions that are still possible. The program's own choices are made by these
odds in place of those that it learns. A column of the bench: nothing of it is in the product.

It knows more than habits can tell who meets a person today: that `TURNS` are shared among the day's discussions, so that one which
was left for eighty turns is still returned to. With keepalive that is what busy days differ by: told to the pings alone, the right
odds save as much as told to all.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import product
from unittest.mock import patch

from core.kernel.values.cache import CacheSettings, GapStats
from core.talk.caching import keepalive, pings, planner
from core.talk.caching.cache_book import CacheBook, gaps_of
from core.talk.caching.economy import Odds
from tests.bench.__main__ import Row, row
from tests.bench.cache_bound import AsSent, least_any, least_same
from tests.bench.cache_days import (
    DAYS,
    DIGEST,
    HOURS_S,
    IDENTITY,
    MOVE,
    MOVE_LATER,
    Ask,
    Day,
    make_day,
    next_gap,
    shuffled_lengths,
)
from tests.bench.cache_ours import Ours
from tests.bench.cache_policies import MODELS
from tests.bench.cache_replay import ANY, MAIN, OFF, ON, SAME, SETTINGS

KNOWS = "by one who knows the odds, not the future"
SEEDS_OF_ODDS = 4
"""So many of the days: drawing them on takes longer than playing them."""
_DRAWN = 200
_POSSIBLE = 4_000
_NEVER = 1e6
_LEAST, _MOST = 0.001, 0.985


class TrueOdds:
    """Odds of what comes on a day, for one who saw it up to now.

    Args:
        day: its kind; seed: of what is drawn on, nothing of the day itself.
    """

    def __init__(self, day: Day, seed: int) -> None:
        self._day = day
        self._draw = random.Random(f"odds of {day.name} {seed}")
        self._possible = [shuffled_lengths(self._draw) for _ in range(_POSSIBLE)]
        self._asked = [0, 0, 0]
        self._last_s: dict[int, float] = {}
        self._at = 0

    def turn(self, at: int, at_s: float) -> None:
        """See a turn of a discussion begin."""
        self._asked[at] += 1
        self._last_s[at] = at_s
        self._at = at
        asked = self._asked
        self._possible = [
            lengths
            for lengths in self._possible
            if all(length >= count for length, count in zip(lengths, asked, strict=True))
        ] or [list(asked)]

    def own(self, at: int, now_s: float) -> Odds:
        """Odds of the next turn of a discussion, from its last one, given that none came until now."""
        gaps: list[float] = []
        for _ in range(_DRAWN):
            times = (time for time, to in self._drawn_on(now_s) if to == at)
            if (once := next(times, None)) is not None:
                gaps.append(once - self._last_s[at])
        return _odds(gaps, len(gaps) / _DRAWN)

    def shared(self, longest_s: float, now_s: float) -> Odds:
        """Odds of the next turn that finds nothing but the shared prefix alive, from the last turn before it."""
        found: list[float] = []
        for _ in range(_DRAWN):
            seen, before = dict(self._last_s), now_s
            for time, to in self._drawn_on(now_s):
                if self._draw.random() < DIGEST + IDENTITY:
                    break
                if time - seen.get(to, -math.inf) > longest_s:
                    found.append(time - before)
                    break
                seen[to] = before = time
        return _odds(found, len(found) / _DRAWN)

    def _drawn_on(self, now_s: float) -> Iterator[tuple[float, int]]:
        """Turns as they might come, each with its discussion."""
        draw, at = self._draw, self._at
        lengths = draw.choice(self._possible)
        left = [length - count for length, count in zip(lengths, self._asked, strict=True)]
        time = self._last_s[at]
        while any(left):
            gap_s = self._gap(time, now_s)
            time += gap_s
            others = [number for number, turns in enumerate(left) if turns and number != at]
            moves = draw.random() < (MOVE_LATER if gap_s > 3_600 else MOVE)
            if not left[at] or (moves and others):
                at = draw.choices(others, [left[number] for number in others])[0]
            left[at] -= 1
            yield time, at

    def _gap(self, time: float, now_s: float) -> float:
        """The person's gap from a time on, given that it is not over yet."""
        waited = now_s - time
        if waited >= HOURS_S[0]:  # what is left are long gaps, evenly so in their logarithm
            last = max(HOURS_S[1], waited + 1.0)
            return math.exp(self._draw.uniform(math.log(waited), math.log(last)))
        while (gap_s := next_gap(self._day, self._draw, time)) <= waited:
            pass
        return gap_s


def _odds(gaps_s: Sequence[float], go_on: float) -> Odds:
    gaps = tuple(sorted(gaps_s)) or (_NEVER,)
    shares = tuple((number + 1) / len(gaps) for number in range(len(gaps)))
    return Odds(gaps, shares, min(_MOST, max(_LEAST, go_on)))


class Knowing(Ours):
    """The program on a day whose odds it knows."""

    def __init__(self, day: Day, seed: int, settings: CacheSettings) -> None:
        super().__init__(MAIN, settings)
        self._odds = TrueOdds(day, seed)
        self._now_s, self._of = 0.0, 0
        self._known: dict[Hashable, Odds] = {}

    def replay_knowing(self, day: Sequence[Ask]) -> float:
        """Cost of a day, in tokens of fresh input."""
        with ExitStack() as stack:
            stack.enter_context(patch.object(planner, "own_odds", self._own))
            stack.enter_context(patch.object(planner, "shared_odds", self._shared))
            stack.enter_context(patch.object(keepalive, "idle_odds", self._idle))
            stack.enter_context(patch.object(pings, "gaps_of", self._gaps_of))
            return self.replay(day).cost(MAIN)

    def _ask(self, ask: Ask, call_id: str) -> None:
        self._of, self._now_s = int(ask.discussion[1:]), ask.at_s
        self._known.clear()
        self._odds.turn(self._of, ask.at_s)
        super()._ask(ask, call_id)

    def _look(self, at_s: float, name: str) -> None:
        self._now_s = at_s
        self._known.clear()
        super()._look(at_s, name)

    def _gaps_of(self, book: CacheBook, name: str) -> GapStats:
        self._of = int(name[1:])
        return gaps_of(book, name)

    def _own(self, _stats: GapStats, _now_s: float = 0.0) -> Odds:
        return self._once(self._of, lambda: self._odds.own(self._of, self._now_s))

    def _idle(self, _stats: GapStats, _turn_s: float, _now_s: float) -> Odds:
        return self._own(_stats)

    def _shared(self, _stats: GapStats, longest_s: float, _now_s: float = 0.0) -> Odds:
        return self._once(("shared", longest_s), lambda: self._odds.shared(longest_s, self._now_s))

    def _once(self, what: Hashable, made: Callable[[], Odds]) -> Odds:
        """Odds are drawn once for a moment: all candidates are weighed by the same."""
        if what not in self._known:
            self._known[what] = made()
        return self._known[what]


def play_knowing(task: tuple[Day, int]) -> dict[str, float]:
    """Costs of one day: ours and by the right odds, each setting, and the bounds; in tokens of fresh input."""
    day, seed = task
    asks = make_day(day, seed)
    lines = {name: AsSent(MODELS[MAIN]) for name in SETTINGS}
    found: dict[str, float] = {}
    for name, settings in SETTINGS.items():
        found[name] = Ours(MAIN, settings, line=lines[name]).replay(asks).cost(MAIN)
        found[f"{name}, {KNOWS}"] = Knowing(day, seed, settings).replay_knowing(asks)
    found[SAME] = least_same(lines[OFF].requests, MAIN)
    found[ANY] = least_any([line.requests for line in lines.values()], MAIN)
    return found


def odds_rows(seeds: Sequence[int]) -> list[Row]:
    """For each kind of day what the right odds would save, and what of the bounds is left then to foresight."""
    seeds = seeds[:SEEDS_OF_ODDS]
    tasks = list(product(DAYS, seeds))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        played = list(pool.map(play_knowing, tasks, chunksize=1))
    found = []
    for day in DAYS:
        part = [one for (kind, _), one in zip(tasks, played, strict=True) if kind is day]
        costs = {name: sum(one[name] for one in part) for name in part[0]}
        for name, least in ((OFF, SAME), (OFF, ANY), (ON, ANY)):
            for what in (name, f"{name}, {KNOWS}"):
                title = f"{day.name}, {what}, same {len(part)} days, over the {least}"
                found.append(_row(title, costs[what] / costs[least], len(part)))
        for name in SETTINGS:
            over = costs[name] / costs[f"{name}, {KNOWS}"]
            found.append(_row(f"{day.name}, {name}, over {KNOWS}", over, len(part)))
    return found


def _row(name: str, value: float, runs: int) -> Row:
    return row(name, round(value, 4), "times", runs=runs)
