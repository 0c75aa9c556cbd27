"""Replays working days under the planner and under peers' policies; says what each costs against no caching."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

from msgspec.structs import replace

from bench.__main__ import Row
from bench.cache_bound import bound
from bench.cache_days import BUSY, DAYS, DESK, SPARSE, Ask, Day, make_day
from bench.cache_parallel import at_once
from bench.cache_policies import PEERS, Bill, NoExtension, Ours, canonical_requests, mark_on_tail, replay_peer
from bench.cache_speed import speed_rows
from bench.cache_wire import wire_rows
from core.values.cache import CacheSettings

SEEDS = tuple(range(1, 21))
"""Held out: the planner was written looking at seeds from 100 on."""
READS = (0.1, 0.05, 0.025)
KEPT_BARS = {0.1: 0.40, 0.05: 0.33, 0.025: 0.30}
BARS = {0.1: 0.43, 0.05: 0.38, 0.025: 0.36}
PEER_BARS = {
    DESK.name: {0.1: 0.70, 0.05: 0.62, 0.025: 0.56},
    BUSY.name: {0.1: 0.72, 0.05: 0.65, 0.025: 0.60},
    SPARSE.name: {0.1: 1.0, 0.05: 1.0, 0.025: 1.0},
}
KEPT = CacheSettings(keepalive=True)
RULES = {
    "rule 2 off (edits in place)": replace(KEPT, appends_changes=False),
    "rule 3 off (5 min only)": replace(KEPT, ttl_s=300),
    "rule 3 off (1 h only)": replace(KEPT, ttl_s=3600),
    "rule 3, short entries not extended": replace(KEPT, extends=False),
    "rule 3, not extended, rule 4 off": CacheSettings(extends=False),
    "rule 4 off (no keepalive)": CacheSettings(),
    "rule 5 off (one mark)": replace(KEPT, all_marks=False),
    "rule 6 off (the tail is marked too)": replace(KEPT, pays_only=False),
}
RULE_ONE = "rule 1 off (layer 8 in its place)"
NOT_EXTENDED = "where the vendor does not extend, as the ledger finds out"
AT_TAIL, IN_PLACE = "layer 8 at the tail", "layer 8 in its place"

Figures = Mapping[tuple[str, float], tuple[float, float]]
"""By policy and price of reading: what a day cost in tokens of fresh input, and the share that was read."""


@dataclass(frozen=True, slots=True)
class Task:
    """A trace to be replayed under every policy; `rules`: the planner with each rule off, too."""

    day: Day
    seed: int
    has_tools: bool = True
    rules: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a trace cost."""

    total: int
    figures: Figures


def rows() -> list[Row]:
    """All figures, over held-out seeds; every policy replays the same traces."""
    kinds = [(day, True, day is DESK) for day in DAYS] + [(DESK, False, False)]
    tasks = [Task(day, seed, tools, rules) for day, tools, rules in kinds for seed in SEEDS]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        replayed = list(pool.map(replay, tasks))
    found = []
    for number, (day, tools, _) in enumerate(kinds):
        part = replayed[number * len(SEEDS) : (number + 1) * len(SEEDS)]
        found += _rows(day, f"{day.name}{'' if tools else ' without tool turns'}", part)
    return [*found, *_parallel_rows(), *wire_rows(), *speed_rows()]


def replay(task: Task) -> Replayed:
    """Replay one trace under all policies."""
    trace = make_day(task.day, task.seed, tool_turns=task.has_tools)
    figures: dict[tuple[str, float], tuple[float, float]] = {}
    total = 0
    for name, bill in _peers(trace):
        total = max(total, bill.total)
        for read in READS:
            figures[name, read] = (bill.cost(read), bill.read / bill.total)
    for read in READS:
        for name, settings, tail_last in _plans(task):
            bill = Ours(read, settings, tail_last=tail_last).replay(trace)
            figures[name, read] = (bill.cost(read), bill.read / bill.total)
        if task.rules:
            bill = Ours(read, KEPT, vendor=NoExtension).replay(trace)
            figures[NOT_EXTENDED, read] = (bill.cost(read), bill.read / bill.total)
        for kept in (True, False):
            figures[_bound(kept=kept), read] = (bound(trace, read, keepalive=kept), 0.0)
    return Replayed(total, figures)


def _peers(trace: Sequence[Ask]) -> Iterator[tuple[str, Bill]]:
    for tail_last in (True, False):
        requests = canonical_requests(trace, tail_last=tail_last)
        for name, marks in PEERS.items():
            yield f"{name}, {AT_TAIL if tail_last else IN_PLACE}", replay_peer(trace, requests, marks)
    yield (
        "mark on a tail that changes",
        replay_peer(trace, canonical_requests(trace, tail_last=True, volatile=True), mark_on_tail),
    )


def _plans(task: Task) -> list[tuple[str, CacheSettings, bool]]:
    plain = [(_planner(kept=True), KEPT, True), (_planner(kept=False), CacheSettings(), True)]
    if not task.rules:
        return plain
    return [*plain, *((name, chosen, True) for name, chosen in RULES.items()), (RULE_ONE, KEPT, False)]


def _planner(*, kept: bool) -> str:
    return "planner" if kept else "planner without keepalive"


def _bound(*, kept: bool) -> str:
    return "bound" if kept else "bound without keepalive"


def _rows(day: Day, title: str, part: Sequence[Replayed]) -> list[Row]:
    total = sum(one.total for one in part)
    costs = {key: sum(one.figures[key][0] for one in part) for key in part[0].figures}
    found = [
        _row(f"{title}, {name}, read {read:g}", cost / total, "of no caching", None, part)
        for (name, read), cost in costs.items()
        if not name.startswith(("planner", "bound", "no caching"))
    ]
    for read, kept in product(READS, (True, False)):
        found += _planner_rows(day, title, part, costs, total, read, kept=kept)
    return found


def _planner_rows(
    day: Day,
    title: str,
    part: Sequence[Replayed],
    costs: Mapping[tuple[str, float], float],
    total: int,
    read: float,
    *,
    kept: bool,
) -> list[Row]:
    key = (_planner(kept=kept), read)
    name = f"{title}, {key[0]}, read {read:g}"
    bars = (KEPT_BARS if kept else BARS) if day is DESK else dict.fromkeys(READS, 1.0)
    best = min(cost for (peer, price), cost in costs.items() if peer.endswith(AT_TAIL) and price == read)
    worst = max(one.figures[key][0] / one.total for one in part)
    share = sum(one.figures[key][1] for one in part) / len(part)
    over = costs[key] / costs[_bound(kept=kept), read]
    return [
        _row(name, costs[key] / total, "of no caching", bars[read], part),
        _row(f"{name}, worst seed", worst, "of no caching", 1.0, part),
        _row(f"{name}, against the best peer", costs[key] / best, "times", PEER_BARS[day.name][read], part),
        _row(f"{name}, read from the cache", share, "of input", None, part),
        _row(f"{name}, over the bound that knows the future", over, "times", None, part),
    ]


def _parallel_rows() -> list[Row]:
    """Rule 7 is of calls that begin at once, which a day of one person's turns has none of."""
    words = {True: "rule 7 on (the others wait)", False: "rule 7 off"}
    return [
        _row(
            f"three first requests at once, {word}, read {read:g}",
            at_once(SEEDS, read, waits=waits),
            "of no caching",
            None,
            SEEDS,
        )
        for read, (waits, word) in product(READS, words.items())
    ]


def _row(name: str, value: float, unit: str, bar: float | None, part: Sequence[object]) -> Row:
    return Row(
        name=name,
        value=round(value, 4),
        unit=unit,
        bar="" if bar is None else f"at most {bar:g}",
        holds=bar is None or value <= bar,
        runs=len(part),
    )
