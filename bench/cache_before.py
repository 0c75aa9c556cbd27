"""What the program cost on the bench's days when they were made: the figures that later ones are held against.

`python -m bench.cache_before` writes them anew, which is only right when the days themselves change.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import msgspec

from bench.cache_days import DAYS, NIGHTS
from bench.cache_replay import OFF, ON, Replayed, Task, replay

FILE = Path(__file__).with_suffix(".json")
SEEDS = tuple(range(1, 21))
ALL_READS, MAIN = (0.1, 0.05, 0.025), 0.05
HOW = (
    "Input cost of the program of 2026-11-22 (commit 36f9727, before the layers 6 and 7 were appended, odds were "
    "by discussion and changes were differences) on the days of bench.cache_days, in tokens of fresh input, by seed "
    "from 1. `without`: the same days with nothing cached. Made by `python -m bench.cache_before`."
)


class Before(msgspec.Struct, frozen=True):
    """Figures of one kind of day.

    Args:
        without: tokens without caching, by seed; off, on: costs by price of reading, then by seed.
    """

    without: tuple[int, ...]
    off: dict[str, tuple[float, ...]]
    on: dict[str, tuple[float, ...]]


class BeforeFile(msgspec.Struct, frozen=True):
    """The file: by the title of a kind of day."""

    how: str
    days: dict[str, Before]


@cache
def before() -> dict[str, Before]:
    """The figures that were frozen, by the title of a kind of day."""
    return msgspec.json.decode(FILE.read_bytes(), type=BeforeFile).days


def title(task: Task) -> str:
    """What a kind of day is called."""
    return f"{task.day.name} with tool turns" if task.has_tools else task.day.name


def tasks() -> list[Task]:
    """What is frozen: every price without tool turns, the middle one with them."""
    plain = [
        Task(day, seed, bounds=False, peers=False, reads=ALL_READS if day in DAYS else (MAIN,))
        for day in (*DAYS, NIGHTS)
        for seed in SEEDS
    ]
    tools = [
        Task(day, seed, has_tools=True, bounds=False, peers=False, reads=(MAIN,))
        for day in DAYS
        for seed in SEEDS
    ]
    return [*plain, *tools]


def main() -> None:
    """Write the file."""
    wanted = tasks()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        replayed = list(pool.map(replay, wanted))
    days: dict[str, list[Replayed]] = {}
    for task, one in zip(wanted, replayed, strict=True):
        days.setdefault(title(task), []).append(one)
    found = {name: _frozen(part) for name, part in days.items()}
    text = json.dumps(msgspec.to_builtins(BeforeFile(HOW, found)), indent=1, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")


def _frozen(part: list[Replayed]) -> Before:
    reads = sorted({read for _, read in part[0].figures}, reverse=True)
    by_price = {
        name: {f"{read:g}": tuple(round(one.figures[name, read], 1) for one in part) for read in reads}
        for name in (OFF, ON)
    }
    return Before(tuple(one.total for one in part), by_price[OFF], by_price[ON])


if __name__ == "__main__":
    main()
