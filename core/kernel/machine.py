"""This process on its machine: memory that goes back to the system, and bounds of its own."""

from __future__ import annotations

import ctypes
import gc
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

LARGE_BYTES = 1_000_000
"""A block from this size on is the system's own, and goes back to it when it is freed."""

MOST_HEAPS = 2
"""Heaps of all threads together."""

_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def give_back_freed() -> None:
    """Make glibc return freed memory to the system; does nothing elsewhere. Idempotent. Call it before threads begin.

    Left alone, it takes the first large block that is freed as a sign that more will come, and serves all up to that
    size (32 MB) from heaps of each thread, which give back only what is free at their end: a reply of 50 MB cost
    100 MB more than was held at any moment.

    Left alone, it also gives threads heaps of their own, eight for each core, and each holds on to what its threads once
    needed: with hundreds of turns, each on threads of its own, a day grew by 6 MB of which 1 MB was in use.

    Source: mallopt(3), M_MMAP_THRESHOLD: setting it switches its dynamic adjustment off; M_ARENA_MAX (read 2026-11-23).
    """
    libc = _glibc()
    if libc is None:
        return
    libc.mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
    libc.mallopt(_M_ARENA_MAX, MOST_HEAPS)


def trim_heaps() -> None:
    """Give back what is free in the middle of heaps, glibc's alone; nothing elsewhere. Takes some milliseconds.

    Left alone, what a request took stays with the program, since what was kept of its reply lies behind it.

    Source: malloc_trim(3), all of the heaps since glibc 2.8 (read 2026-11-24).
    """
    if libc := _glibc():
        libc.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    """The library, asked for once: which it is, its name tells only after a look through the interpreter's own file."""
    return ctypes.CDLL(None) if platform.libc_ver()[0] == "glibc" else None


@contextmanager
def uncollected() -> Iterator[None]:
    """Switch the garbage collector off for a while: making 100,000 values at once would start it hundreds of times, for nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def limit_memory(most_bytes: int) -> None:
    """Bound the address space of this process, on Linux: it fails before the machine does."""
    if sys.platform == "linux":
        import resource

        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
