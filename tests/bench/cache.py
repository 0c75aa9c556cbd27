"""Replays a person's days under the program and under peers' policies; says what each costs, and what is least.

`make bench-cache` runs all of it. `python -m tests.bench cache --seeds 3 --parts days` is enough to look at a change: parts are
`days` (without tool turns), `tools` (with them), `rules`, `talks` (short discussions), `odds` (what the right odds would
save), `foresight` (what no rule without it can save), `edits`, `money`, `wire`, `parallel`, `short` (short discussions one after another), `first` (a first turn that is not marked), `heavy` (tools all day, with compactions), `thinking` (tools with a model that thinks, beside a client that sends turns back exactly), `changes` (days of switches, of tasks and of a compaction, beside that client), `estimates` (what is said of a request over its bill, with thinking that is not shown), `speed`, `vendors`. The tables for docs/benchmarks.md go to `out/tests/bench/cache.md`.
"""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from statistics import fmean

from core.talk.caching.accounts import MOST_LOST
from tests.bench.__main__ import OUT, Row, row
from tests.bench.cache_before import ALL_READS, SEEDS, Before, before, title
from tests.bench.cache_days import BUSY, DAYS, DESK, NIGHTS, SPARSE
from tests.bench.cache_odds import odds_rows
from tests.bench.cache_parallel import parallel_rows
from tests.bench.cache_policies import FIXED_HOUR
from tests.bench.cache_replay import ANY, MAIN, OFF, ON, SAME, SETTINGS, TEXT, Replayed, Talk, Task, replay
from tests.bench.cache_tables import tables

VENDORS = ("tests.bench.cache_openai", "tests.bench.cache_gemini")
"""Modules with the days of other vendors, each with `rows(seeds)`. Claude Code's turns are in `make optional`: it needs npm."""
PARTS: dict[str, Callable[[Sequence[int]], list[Row]]] = {
    "parallel": parallel_rows,
    "odds": odds_rows,
    "foresight": lambda seeds: _rows_of("tests.bench.cache_rules", seeds),
    "edits": lambda _: _rows_of("tests.bench.cache_edits"),
    "money": lambda _: _rows_of("tests.bench.cache_money"),
    "wire": lambda _: _rows_of("tests.bench.cache_wire"),
    "vendors": lambda seeds: [row for name in VENDORS for row in _rows_of(name, seeds)],
    "short": lambda seeds: _rows_of("tests.bench.cache_short", seeds),
    "first": lambda seeds: _rows_of("tests.bench.cache_first", seeds),
    "heavy": lambda seeds: _rows_of("tests.bench.cache_heavy", seeds),
    "thinking": lambda seeds: _rows_of("tests.bench.cache_thinking", seeds),
    "changes": lambda seeds: _rows_of("tests.bench.cache_changes", seeds),
    "estimates": lambda seeds: _rows_of("tests.bench.cache_estimates", seeds),
    "speed": lambda _: _rows_of("tests.bench.cache_speed"),
}
"""Parts beside the replayed days. Speed comes last: nothing may run beside it."""
REPLAYED = ("days", "tools", "rules", "talks")
TOOL_SEEDS = 10
TALK_TURNS = (1, 2, 3, 5, 8, 13, 21)
LEAST_TURNS = 2
"""Of a discussion by itself that must not cost more than without caching: nobody knows of the first that it is the last."""
AGAINST_BEFORE = {(DESK.name, OFF): 0.92, (DESK.name, ON): 0.88}
OVER_ANY = {(DESK.name, ON): 1.15, (SPARSE.name, ON): 1.25, (BUSY.name, OFF): 1.05, (BUSY.name, ON): 1.05}
OVER_SAME = {(DESK.name, OFF): 1.08}


def rows(arguments: Sequence[str] = ()) -> list[Row]:
    """All figures, over held-out seeds; every policy replays the same days."""
    chosen = _parsed(arguments)
    seeds = SEEDS[: chosen.seeds]
    wanted = tasks(chosen.parts, seeds)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        replayed = list(pool.map(replay, wanted, chunksize=1))
    days: dict[str, list[Replayed]] = {}
    talks: dict[tuple[str, int], list[Replayed]] = {}
    for task, one in zip(wanted, replayed, strict=True):
        if task.turns:
            talks.setdefault((task.day.name, task.turns), []).append(one)
        else:
            days.setdefault(title(task), []).append(one)
    found: list[Row] = []
    for name, part in days.items():
        found += _day_rows(name, part, seeds[: len(part)])
    found += _talk_rows(days, talks)
    for part_name, measure in PARTS.items():
        if part_name in chosen.parts:
            found += measure(seeds)
    OUT.mkdir(parents=True, exist_ok=True)
    Path(OUT / "cache.md").write_text(tables(days), encoding="utf-8")
    return found


def tasks(parts: Sequence[str], seeds: Sequence[int]) -> list[Task]:
    """The days to be replayed, by kind."""
    found = []
    if "days" in parts or "rules" in parts:
        found += [
            Task(day, seed, rules=day is DESK and "rules" in parts, reads=ALL_READS)
            for day in DAYS
            for seed in seeds
        ]
        found += [Task(NIGHTS, seed, reads=(MAIN,)) for seed in seeds]
    if "tools" in parts:
        found += [
            Task(day, seed, has_tools=True, reads=(MAIN,)) for day in DAYS for seed in seeds[:TOOL_SEEDS]
        ]
    if "talks" in parts:
        found += [
            Task(day, seed, turns=turns, reads=(MAIN,), bounds=False, peers=False)
            for day, turns, seed in product(DAYS, TALK_TURNS, seeds)
        ]
    return found


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("bench cache")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many of the 20, from the first")
    parser.add_argument("--parts", nargs="+", choices=(*REPLAYED, *PARTS), default=(*REPLAYED, *PARTS))
    return parser.parse_args(arguments)


def _rows_of(name: str, *given: Sequence[int]) -> list[Row]:
    measure: Callable[..., list[Row]] = importlib.import_module(name).rows
    return measure(*given)


# --- Days --------------------------------------------------------------------------------------------------------


def _day_rows(name: str, part: Sequence[Replayed], seeds: Sequence[int]) -> list[Row]:
    total = sum(one.total for one in part)
    costs = {key: sum(one.figures[key] for one in part) for key in part[0].figures}
    found = []
    for policy, read in product((OFF, ON), ALL_READS):
        if (policy, read) in costs:
            found += _program_rows(name, policy, read, part, costs, before().get(name), seeds)
    for (policy, read), cost in costs.items():
        if policy not in SETTINGS:
            found.append(_row(f"{name}, {policy}, read {read:g}", cost / total, "of no caching", None, part))
    return found


def _program_rows(
    name: str,
    policy: str,
    read: float,
    part: Sequence[Replayed],
    costs: Mapping[tuple[str, float], float],
    frozen: Before | None,
    seeds: Sequence[int],
) -> list[Row]:
    """Rows of the program's cost, and over what. Bars are of the middle price."""
    cost, total = costs[policy, read], sum(one.total for one in part)
    worst = max(one.figures[policy, read] / one.total for one in part)

    def bar(bars: Mapping[tuple[str, str], float]) -> float | None:
        return bars.get((name, policy)) if read == MAIN else None

    what = f"{name}, {policy}, read {read:g}"
    shares, pings = (
        fmean(one.shares[policy, read] for one in part),
        fmean(one.pings[policy, read] for one in part),
    )
    found = [
        _row(what, cost / total, "of no caching", None, part),
        _row(f"{what}, worst seed", worst, "of no caching", 1.0, part),
        _row(f"{what}, read from the cache", shares, "of input", None, part),
        _row(f"{what}, {FIXED_HOUR}", cost / costs[FIXED_HOUR, read], "times", None, part),
    ]
    for least, bars in ((SAME, OVER_SAME), (ANY, OVER_ANY), (TEXT, {})):
        if (least, read) in costs:
            over = cost / costs[least, read]
            found.append(_row(f"{what}, over the {least}", over, "times", bar(bars), part))
    if policy == ON:
        found.append(_row(f"{what}, pings", pings, "a day", None, part))
    if frozen is not None and f"{read:g}" in frozen.off:
        assert frozen.without[: len(seeds)] == tuple(one.total for one in part), (
            f"{name}: other days than before"
        )
        old = sum((frozen.off if policy == OFF else frozen.on)[f"{read:g}"][: len(seeds)])
        found.append(
            _row(f"{what}, against the program before", cost / old, "times", bar(AGAINST_BEFORE), part)
        )
    return found


# --- Discussions of every length ---------------------------------------------------------------------------------


def _talk_rows(
    days: Mapping[str, Sequence[Replayed]], talks: Mapping[tuple[str, int], Sequence[Replayed]]
) -> list[Row]:
    """Rows of a discussion's cost by length: by itself, with a program that knows nobody yet, within days."""
    found = []
    worst = 0.0
    for policy in SETTINGS:
        for (name, turns), part in talks.items():
            few = [talk for one in part for talk in one.talks[policy, MAIN]]
            worst = max(worst, *(_loss(talk) for talk in few))
            what = f"{name}, {policy}, a discussion of {turns} by itself"
            bar = 1.0 if turns >= LEAST_TURNS else None
            found.append(_row(what, fmean(t.cost / t.without for t in few), "of no caching", bar, few))
        for name, part in days.items():
            by_length: dict[str, list[Talk]] = {}
            for talk in (talk for one in part for talk in one.talks[policy, MAIN]):
                by_length.setdefault(_length(talk.turns), []).append(talk)
                worst = max(worst, _loss(talk))
            for length, few in sorted(by_length.items()):
                what = f"{name}, {policy}, discussions of {length} turns"
                found.append(_row(what, fmean(t.cost / t.without for t in few), "of no caching", 1.0, few))
    if found:
        what = "worst loss of a discussion over no caching"
        found.append(_row(what, worst, "of its largest input", MOST_LOST, [*days, *talks]))
    return found


def _length(turns: int) -> str:
    return "3 to 8" if turns <= 8 else "9 to 60" if turns <= 60 else "over 60"


def _loss(talk: Talk) -> float:
    return (talk.cost - talk.without) / talk.largest


def _row(name: str, value: float, unit: str, bar: float | None, part: Sequence[object]) -> Row:
    return row(name, round(value, 4), unit, bar, runs=len(part))
