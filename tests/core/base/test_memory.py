"""Memory that was freed goes back to the system, seen from outside the allocator."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import psutil
from core.base.memory import give_back_freed
give_back_freed()
first = bytearray(30_000_000)  # glibc takes its end as a sign
del first
held = []
before = psutil.Process().memory_info().rss
for _ in range(3):
    block = bytearray(b"x" * 25_000_000)
    held.append(bytes(900))  # lies behind the block
    del block
print(psutil.Process().memory_info().rss - before)
"""


def test_large_blocks_that_were_freed_are_given_back() -> None:
    """50 MB more stayed with the program that said nothing to its allocator."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        check=True,
        text=True,
    )

    assert int(done.stdout) < 5_000_000
