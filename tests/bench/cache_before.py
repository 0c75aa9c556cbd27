"""Costs of the program on the bench's days when they were made: the figures that later ones are held against.

`python -m tests.bench.cache_before` writes them anew, which is only right when the days themselves change.
"""

from __future__ import annotations

import dataclasses
import json
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import msgspec

from tests.bench.cache_days import DAYS, NIGHTS
from tests.bench.cache_replay import MAIN, OFF, ON, Replayed, Task, replay

FILE = Path(__file__).with_suffix(".json")
SEEDS = tuple(range(1, 21))
ALL_READS = (0.1, 0.05, 0.025)
HOW = (
    "Input cost of the program of 2026-11-22 (commit 36f9727, before the layers 6 and 7 were appended, odds were "
    "by discussion and changes were differences) on the days of tests.bench.cache_days, in tokens of fresh input, by seed "
    "from 1. `without`: the same days with nothing cached. Made by `python -m tests.bench.cache_before`."
)


class Before(msgspec.Struct, frozen=True):
    """Figures of one kind of day.

    Args:
        without: tokens without caching, by seed; off, on: costs by price of reading, then by seed.
    """

    without: tuple[int, ...]
    off: dict[str, tuple[int, ...]]
    on: dict[str, tuple[int, ...]]


class BeforeFile(msgspec.Struct, frozen=True):
    """The file: by the title of a kind of day."""

    how: str
    days: dict[str, Before]


@cache
def before() -> dict[str, Before]:
    """The figures that were frozen, by the title of a kind of day."""
    return msgspec.json.decode(FILE.read_bytes(), type=BeforeFile).days


def title(task: Task) -> str:
    """Title of a kind of day."""
    return f"{task.day.name} with tool turns" if task.has_tools else task.day.name


def kinds() -> list[Task]:
    """Kinds of day that are frozen, each with its seed left open: every price without tool turns, the middle
    one with them.
    """
    plain = [Task(day, 0, bounds=False, peers=False, reads=(MAIN,)) for day in (*DAYS, NIGHTS)]
    tools = [dataclasses.replace(task, has_tools=True) for task in plain if task.day in DAYS]
    others = [
        dataclasses.replace(task, reads=(read,))
        for task in plain
        if task.day in DAYS
        for read in ALL_READS
        if read != MAIN
    ]
    return [*plain, *tools, *others]


def main() -> None:
    """Write the file, kind by kind."""
    days: dict[str, Before] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for kind in kinds():
            part = list(pool.map(replay, (dataclasses.replace(kind, seed=seed) for seed in SEEDS)))
            name = title(kind)
            days[name] = _with(days.get(name), part, kind.reads[0])
            text = json.dumps(msgspec.to_builtins(BeforeFile(HOW, days)), indent=1, sort_keys=True)
            FILE.write_text(text + "\n", encoding="utf-8")


def _with(known: Before | None, part: list[Replayed], read: float) -> Before:
    known = known or Before(tuple(one.total for one in part), {}, {})
    off, on = (tuple(round(one.figures[name, read]) for one in part) for name in (OFF, ON))
    return Before(known.without, {**known.off, f"{read:g}": off}, {**known.on, f"{read:g}": on})


if __name__ == "__main__":
    main()
