"""Processes below one of ours, found and ended, those that left their group by `setsid` among them."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress

from core.base.opener import read_file

STEP_S = 0.02
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""


def adopt_orphans() -> None:
    """Have orphans below this process come to it instead of to the system's first process. Linux alone."""
    import ctypes

    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> tuple[int, ...]:
    """Processes below one, itself left out, the nearest first; empty where the system does not say (no `/proc`)."""
    if sys.platform != "linux":
        return ()
    children: dict[int, list[int]] = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent = _parent(name)
            if parent is not None:
                children[parent].append(int(name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.pop(waiting.pop(0), [])
        found += below
        waiting += below
    return tuple(found)


def _parent(name: str) -> int | None:
    """Parent of a process that is no zombie."""
    try:
        text = _proc_text(f"/proc/{name}/stat")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # a name may hold anything
    return int(fields[1]) if len(fields) > 1 and fields[0] not in {"Z", "X"} else None


def _proc_text(path: str) -> str:
    return read_file(path).decode("utf-8", "replace")


def signal_each(pids: Iterable[int], number: int) -> None:
    """Send a signal to processes; those that are gone are passed over."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_below(pid: int, grace_s: float, *, is_first_kept: bool = False) -> None:
    """End all that runs below a process: asked by SIGTERM, after the grace by SIGKILL until nothing is left.

    Args:
        is_first_kept: the first process below is the sandbox's own and gets no SIGTERM.

    Each round stops all before it kills them, so that what forks faster than it is counted ends as well.
    """
    deadline = time.monotonic() + grace_s
    below = descendants(pid)
    signal_each(below[is_first_kept:], signal.SIGTERM)
    while descendants(pid)[is_first_kept:] and time.monotonic() < deadline:
        time.sleep(STEP_S)
    for _ in range(200):
        left = descendants(pid)
        if not left:
            return
        signal_each(left, signal.SIGSTOP)
        signal_each(left, signal.SIGKILL)
        time.sleep(STEP_S / 2)
