"""Memory that was freed goes back to the system, seen from outside the allocator."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from core.kernel.machine import MOST_HEAPS

PROGRAM = """
import psutil
from core.kernel.machine import give_back_freed
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


HEAPS = """
import threading
from pathlib import Path
from core.kernel.machine import MOST_HEAPS, give_back_freed
give_back_freed()
threads, held = 12, []
meet = threading.Barrier(threads)
def hold():  # all at once: each thread takes a heap that no other has
    for _ in range(20):
        meet.wait()
        held.append([bytes(900) for _ in range(100)])  # all together less than one heap holds
rows = [threading.Thread(target=hold) for _ in range(threads)]
[row.start() for row in rows]
[row.join() for row in rows]
# A heap of a thread is 64 MB of address space: the part in use, and right behind it what is kept for growth. A library,
# or a guard page, may lie at such an edge as well.
maps = Path("/proc/self/maps")
rows = [line.split() for line in (maps.read_text().splitlines() if maps.exists() else [])]
parts = [[*(int(edge, 16) for edge in row[0].split("-")), row[1], row[4] == "0"] for row in rows]
heaps = [
    low
    for (low, high, may, is_of_no_file), (behind, end, kept, _) in zip(parts, parts[1:])
    if low % 2**26 == 0 and is_of_no_file and may == "rw-p"
    if behind == high and kept == "---p" and end == low + 2**26
]
print(len(heaps))
"""


TRIM = """
import psutil
from core.kernel.machine import give_back_freed, trim_heaps
give_back_freed()
before = psutil.Process().memory_info().rss
blocks, held = [], []
for _ in range(300):
    blocks.append(bytearray(100_000))
    for at in range(0, 100_000, 4096):
        blocks[-1][at] = 1
    held.append(bytes(20_000))  # lies behind each block
del blocks
trim_heaps()
print(psutil.Process().memory_info().rss - before)
"""


def _said(program: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        check=True,
        text=True,
    )
    return int(done.stdout)


def test_large_blocks_that_were_freed_are_given_back() -> None:
    """50 MB more stayed with the program that said nothing to its allocator."""
    assert _said(PROGRAM) < 5_000_000


def test_threads_share_few_heaps() -> None:
    """Each thread's heap holds on to what its threads once needed: one beside the main one is taken, not sixteen."""
    assert _said(HEAPS) < MOST_HEAPS


def test_what_is_free_in_the_middle_of_a_heap_is_given_back() -> None:
    """30 MB stay with the program that does not ask for it, beside the 6 MB that it holds."""
    assert _said(TRIM) < 10_000_000
