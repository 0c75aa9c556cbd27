"""This process on its machine: memory that goes back to the system, cores that it may use; bounds of what is run for a model."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path

import msgspec

from core.kernel.opener import read_file

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
    if platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL(None)
    libc.mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
    libc.mallopt(_M_ARENA_MAX, MOST_HEAPS)


def trim_heaps() -> None:
    """Give back what is free in the middle of heaps, glibc's alone; nothing elsewhere. Takes some milliseconds.

    Left alone, what a request took stays with the program, since what was kept of its reply lies behind it.

    Source: malloc_trim(3), all of the heaps since glibc 2.8 (read 2026-11-24).
    """
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


MAX_CORES = 8


def usable_cores(quota_file: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Cores that this process may really use, 1 to 8: more threads than that only wait for each other."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(cores, _quota_cores(quota_file), MAX_CORES))


def _quota_cores(quota_file: Path) -> int:
    """A container's CPU limit in whole cores (cgroup v2: quota and period in µs, or `max`)."""
    try:
        quota, period = read_file(quota_file).decode("ascii").split()
    except (OSError, ValueError):
        return MAX_CORES
    return MAX_CORES if quota == "max" else max(1, int(quota) // int(period))


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


# Bounds of what is run for a model, what its sandbox shows, and what ends it with us, as values.


class CommandBounds(msgspec.Struct, frozen=True):
    """Bounds of one command, or one MCP server over stdio, as `[tools]` sets them.

    Args:
        memory_mib: of all its processes together, 0: three quarters of the machine's.
        file_mib: of one file that it writes; free_disk_mib: that it must leave on the disks that it writes to.
    """

    memory_mib: int = 0
    file_mib: int = 32_768
    free_disk_mib: int = 512


class SandboxMounts(msgspec.Struct, frozen=True):
    """Places of a sandbox, absolute, links resolved, that are looked at before its command begins.

    Args:
        scratch: its `/tmp`; kept: they show there what they show here; masked: they show something else.
    """

    scratch: str
    kept: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()


class Keeper(StrEnum):
    """Keeper of a child process: it ends the child and its descendants after this program ends."""

    NONE = "none"
    """Nothing but its own standard input, as on Windows."""
    SANDBOX = "sandbox"
    """Its sandbox, a PID namespace that dies with its parent."""
    GUARD = "guard"
    """A guard above it (`core/kernel/command_guard.py`)."""
