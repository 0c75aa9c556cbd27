"""Cores that a process may use."""

from __future__ import annotations

import os
from pathlib import Path

from core.base.opener import read_file

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
