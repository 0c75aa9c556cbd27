"""Sends vendors' recorded streams with fields of every other type through the whole way to the log; prints a table."""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.core.providers.typed_fuzz import WRONG, Recording, bench, random_change, recordings

STREAMS = 100_000
SEED = 2026


def main(arguments: Sequence[str]) -> int:
    """Try each field with each wrong type, then changes by chance. Returns 1 where one did what it must not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=STREAMS, help="how many streams in all")
    parser.add_argument("--seed", type=int, default=SEED, help="of the changes by chance")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    failed = 0
    recorded = recordings()
    share = -(-options.streams // len(recorded))
    sys.stdout.write(f"{'vendor':13}{'status':>7}{'events':>8}{'fields':>8}{'streams':>9}  outcome\n")
    with _quiet(), bench() as problem:
        for recording in recorded:
            wrong = [
                found
                for events in changes(recording, share, options.seed)
                if (found := problem(recording, events))
            ]
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
