"""Reads files of other programs with one thing in each that its program would not write; prints a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.core.talk.transcripts.shape_fuzz import SEEDS, problem

FILES = 40_000


def main(arguments: Sequence[str]) -> int:
    """Try each file with changes by chance. Returns 1 where one raised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES, help="how many files in all")
    options = parser.parse_args(arguments)
    share = -(-options.files // len(SEEDS))
    failed = 0
    for seed in SEEDS:
        wrong = [said for number in range(share) if (said := problem(seed, number))]
        failed += len(wrong)
        told = f"{len(wrong)} FAILED, the first: {wrong[0]}" if wrong else "all held"
        sys.stdout.write(f"{seed.kind.value:16}{share:7}  {told}  ({seed.id})\n")
    sys.stdout.write(f"{share * len(SEEDS)} files, {f'{failed} FAILED' if failed else 'all held'}\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
