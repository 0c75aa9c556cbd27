"""Checks the structured facts of a home: the same as `manual-slop knowledge validate`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from core.front.cli import main


def run(arguments: Sequence[str]) -> int:
    """Validate. Takes the options of the command line (`--home DIR`, `--json`). Returns 1 where something is wrong."""
    return main(["knowledge", "validate", *arguments])


if __name__ == "__main__":
    raise SystemExit(run(sys.argv[1:]))
