"""Reads files of other programs, and documents, with one thing in each that its program would not write; prints a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from tests.core.talk.discussion import document_fuzz
from tests.core.talk.transcripts import shape_fuzz

FILES = 40_000


def main(arguments: Sequence[str]) -> int:
    """Try each file with changes by chance. Returns 1 where one raised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES, help="how many files in all")
    options = parser.parse_args(arguments)
    rows = [
        *((one.kind.value, one.id, partial(shape_fuzz.problem, one)) for one in shape_fuzz.SEEDS),
        *(("document", one.id, partial(document_fuzz.problem, one)) for one in document_fuzz.SEEDS),
    ]
    share = -(-options.files // len(rows))
    failed = 0
    for kind, name, problem in rows:
        wrong = [said for number in range(share) if (said := problem(number))]
        failed += len(wrong)
        told = f"{len(wrong)} FAILED, the first: {wrong[0]}" if wrong else "all held"
        sys.stdout.write(f"{kind:16}{share:7}  {told}  ({name})\n")
    sys.stdout.write(f"{share * len(rows)} files, {f'{failed} FAILED' if failed else 'all held'}\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
