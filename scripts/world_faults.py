"""Sends changed answers of real servers through the whole way to the log; prints a table. Nothing may end it, nothing paid be lost."""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from tests.core.services.providers.typed_fuzz import bench, recordings
from tests.vendors.world.mutations import mutation, world

ANSWERS = 20_000
SEED = 2026
MOST_S = 240.0
"""Longest that it takes in all; a slow machine tries fewer, and says how many."""


def main(arguments: Sequence[str]) -> int:
    """Try so many changed answers. Returns 1 where one did what it must not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=ANSWERS, help="how many in all")
    parser.add_argument("--seed", type=int, default=SEED, help="of the changes")
    parser.add_argument("--seconds", type=float, default=MOST_S, help="longest that it takes")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="that share them")
    options = parser.parse_args(arguments)
    began, parts = time.monotonic(), max(1, options.processes)
    with ProcessPoolExecutor(parts, mp_context=multiprocessing.get_context("spawn")) as pool:
        shares = [
            pool.submit(problems, options.answers, options.seed, options.seconds, part, parts)
            for part in range(parts)
        ]
        tried = sum(share.result()[0] for share in shares)
        wrong = [said for share in shares for said in share.result()[1]]
    for said in wrong[:20]:
        sys.stdout.write(f"FAILED {said}\n")
    outcome = f"{len(wrong)} FAILED" if wrong else "all held"
    sys.stdout.write(
        f"{tried} changed answers of {len(world())} rows, seed {options.seed}, {outcome}, {time.monotonic() - began:.0f} s\n"
    )
    return int(bool(wrong))


def problems(answers: int, seed: int, seconds: float, part: int = 0, parts: int = 1) -> tuple[int, list[str]]:
    """Take each `parts`-th of the changed answers through. Returns how many were tried, and what went wrong."""
    logging.disable(logging.CRITICAL)
    recordings()  # loads the vendors' SDKs, which a call should not wait for
    rows, wrong, tried, ends = world(), [], 0, time.monotonic() + seconds
    with warnings.catch_warnings(), bench() as problem:
        warnings.simplefilter("ignore")
        for at in range(part, answers, parts):
            if time.monotonic() > ends:
                break
            tried += 1
            if said := problem(mutation(rows, at, seed), ()):
                wrong.append(f"{at} ({rows[at % len(rows)].api}-{rows[at % len(rows)].name}): {said}")
    logging.disable(logging.NOTSET)
    return tried, wrong


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
