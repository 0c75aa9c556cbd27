"""Days on which more happens than turns: tools and effort are switched, tasks are handed on, a talk is compacted.

Played and billed as the days of `cache_thinking`: the program beside a client that sends turns back exactly, with what changes
at the head of its requests, a task in a talk of its own, and a summary that is asked for in the talk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product

from core.kernel.values.provider import Effort
from tests.bench.__main__ import Row, row
from tests.bench.cache_before import SEEDS
from tests.bench.cache_thinking import (
    NO_GAPS,
    OFF,
    ON,
    PLAIN,
    SETTINGS,
    Figures,
    Ours,
    figures_of,
    make_day,
    play_plain,
)
from tests.bench.cache_vendors import (
    TOOLS,
    VENDORS,
    Turn,
)

SWITCHES: Mapping[int, tuple[Effort, int]] = {
    3: (Effort.HIGH, TOOLS + 6),
    5: (Effort.LOW, TOOLS + 6),
    7: (Effort.LOW, TOOLS),
    8: (Effort.HIGH, TOOLS + 3),
}
"""From which turn on which effort, and how many tools: a server of tools comes, goes, and another comes."""
HANDED_ON = (2, 5, 8)
"""Turns whose first call is a task: three turns of tools in a discussion of its own."""
CUT_AT = 6
TASK_TURNS, TASK_ROUNDS = 1, (2, 5)


def switched(seed: int) -> tuple[Turn, ...]:
    """A day on which tools and effort change while all is warm."""
    found, now = [], (Effort.HIGH, TOOLS)
    for number, turn in enumerate(make_day(seed, NO_GAPS)):
        now = SWITCHES.get(number, now)
        found.append(replace(turn, effort=now[0], tools=now[1]))
    return tuple(found)


def handed_on(seed: int) -> tuple[Turn, ...]:
    """A day of tasks."""
    return tuple(
        replace(turn, task=_task(seed, number)) if number in HANDED_ON else turn
        for number, turn in enumerate(make_day(seed, NO_GAPS))
    )


def _task(seed: int, number: int) -> tuple[Turn, ...]:
    turns = make_day(1_000 * (number + 1) + seed, NO_GAPS, TASK_TURNS, TASK_ROUNDS)
    return tuple(_renamed(turn, number) for turn in turns)


def _renamed(turn: Turn, number: int) -> Turn:
    """A turn under ids of its own: none of them is another discussion's."""
    mark = f"9{number}{turn.id[1:]}"
    replies = tuple(
        replace(one, id=f"t{mark}{one.id}", calls=tuple(replace(c, id=f"t{mark}{c.id}") for c in one.calls))
        for one in turn.replies
    )
    return replace(turn, id=f"m{mark}", replies=replies)


def compacted(seed: int) -> tuple[Turn, ...]:
    """A day in whose middle all but the last turn is left out for a summary."""
    return tuple(
        replace(turn, is_cut=number == CUT_AT) for number, turn in enumerate(make_day(seed, NO_GAPS))
    )


KINDS: Mapping[str, Callable[[int], tuple[Turn, ...]]] = {
    "switches of tools and effort": switched,
    "tasks handed on": handed_on,
    "compaction": compacted,
}


def played(task: tuple[str, str, str, int]) -> Figures:
    """One day, as a process of the bench plays it."""
    model, kind, way, seed = task
    turns, vendor = KINDS[kind](seed), VENDORS[model]()
    return figures_of(play_plain(turns, vendor) if way == PLAIN else Ours(vendor, SETTINGS[way]).play(turns))


def rows(seeds: Sequence[int] = SEEDS) -> list[Row]:
    """All figures, over held-out seeds."""
    ways = (PLAIN, OFF, ON)
    tasks = list(product(VENDORS, KINDS, ways, seeds))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        figures = dict(zip(tasks, pool.map(played, tasks), strict=True))
    found = []
    for model, kind in product(VENDORS, KINDS):
        plain = sum(figures[model, kind, PLAIN, seed].tokens for seed in seeds)
        for way in ways:
            part = [figures[model, kind, way, seed] for seed in seeds]
            name, cost = f"{kind}, {model}, {way}", sum(one.tokens for one in part)
            found.append(
                row(
                    f"{name}, cost",
                    round(cost / len(part)),
                    "tokens of fresh input a day",
                    None,
                    runs=len(part),
                )
            )
            broken, pairs = sum(one.breaks for one in part), sum(one.pairs for one in part)
            found.append(row(f"{name}, pairs broken", broken, f"of {pairs}", None, runs=len(part)))
            if way != PLAIN:
                found.append(
                    row(
                        f"{name}, over the plain client",
                        round(cost / plain, 4),
                        "times",
                        None,
                        runs=len(part),
                    )
                )
                twice = sum(one.twice for one in part)
                found.append(row(f"{name}, paid twice while warm", twice, "tokens", None, runs=len(part)))
    return found
