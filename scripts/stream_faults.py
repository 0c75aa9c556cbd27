"""Sends vendors' recorded streams with fields of every other type through the whole way to the log; prints a table."""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import random
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any

from tests.core.services.providers.typed_fuzz import WRONG, Recording, bench, random_change, recordings

STREAMS = 100_000
SEED = 2026


def main(arguments: Sequence[str]) -> int:
    """Try each field with each wrong type, then changes by chance. Returns 1 where one did what it must not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=STREAMS, help="how many streams in all")
    parser.add_argument("--seed", type=int, default=SEED, help="of the changes by chance")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that share the streams")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    failed = 0
    recorded = recordings()
    share = -(-options.streams // len(recorded))
    sys.stdout.write(f"{'vendor':13}{'status':>7}{'events':>8}{'fields':>8}{'streams':>9}  outcome\n")
    for recording, wrong in zip(recorded, _tried(recorded, share, options), strict=True):
        failed += len(wrong)
        said = f"{len(wrong)} FAILED, the first: {wrong[0]}" if wrong else "all held"
        sys.stdout.write(
            f"{recording.kind:13}{recording.status:7}{len(recording.events):8}{len(recording.places()):8}"
            f"{share:9}  {said}\n"
        )
        sys.stdout.flush()
    outcome = f"{failed} FAILED" if failed else "all held"
    sys.stdout.write(f"{share * len(recorded)} streams, {outcome}, {time.monotonic() - began:.0f} s\n")
    return int(failed > 0)


def _tried(recorded: Sequence[Recording], share: int, options: argparse.Namespace) -> Iterator[list[str]]:
    """Faults of each recording's streams, in their order, by so many processes."""
    parts: int = options.processes
    if parts <= 1:
        yield from (problems(recording, share, options.seed) for recording in recorded)
        return
    with ProcessPoolExecutor(parts, mp_context=multiprocessing.get_context("spawn")) as pool:
        begun = [
            [pool.submit(problems, recording, share, options.seed, part, parts) for part in range(parts)]
            for recording in recorded
        ]
        for shared in begun:
            yield [wrong for one in shared for wrong in one.result()]


def problems(recording: Recording, share: int, seed: int, part: int = 0, parts: int = 1) -> list[str]:
    """Take one part of a recording's streams through: each `parts`-th of `share`. Returns what went wrong."""
    with _quiet(), bench() as problem:
        mine = islice(changes(recording, share, seed), part, None, parts)
        return [wrong for events in mine if (wrong := problem(recording, events))]


@contextmanager
def _quiet() -> Iterator[None]:
    """Neither our log nor what google-genai warns of values that its enumerations do not know."""
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def changes(recording: Recording, count: int, seed: int) -> Iterator[Sequence[Any]]:
    """So many streams: first each field with each value of another type, in turn, then by chance."""
    chance = random.Random(f"{seed}/{recording.kind}/{recording.model}/{len(recording.events)}")  # noqa: S311 - no secret
    in_turn = ((place, value) for value in WRONG for place in recording.places())
    for _ in range(count):
        following = next(in_turn, None)
        yield random_change(recording, chance) if following is None else recording.changed(*following)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
