"""Processes below one of ours, found and ended, those that left their group by `setsid` among them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress

from core.base.opener import read_file

STEP_S = 0.02
_STOP_S, _LOOK_S = 0.5, 0.001
"""Longest wait for a process to stand still, and the pause between two looks."""
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""


def adopt_orphans() -> None:
    """Have orphans below this process come to it instead of to the system's first process. Linux alone."""
    import ctypes

    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> tuple[int, ...]:
    """Processes below one, itself left out, the nearest first; empty where the system does not say (no `/proc`)."""
    return tuple(_below(pid))


def _below(pid: int) -> dict[int, int]:
    """Processes below one with their parents, in that order."""
    if sys.platform != "linux":
        return {}
    children: dict[int, list[int]] = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent = _parent(name)
            if parent is not None:
                children[parent].append(int(name))
    found: dict[int, int] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop(0)
        below = children.pop(parent, [])
        found.update(dict.fromkeys(below, parent))
        waiting += below
    return found


def _parent(name: str) -> int | None:
    """Parent of a process that is no zombie."""
    fields = _status(name)
    return int(fields[1]) if len(fields) > 1 and fields[0] not in {"Z", "X"} else None


def _status(name: str) -> list[str]:
    """State, parent and what follows of a process; empty where it is gone."""
    try:
        text = _proc_text(f"/proc/{name}/stat")
    except OSError:
        return []
    return text.rpartition(")")[2].split()  # a name may hold anything


def _proc_text(path: str) -> str:
    return read_file(path).decode("utf-8", "replace")


def signal_each(pids: Iterable[int], number: int) -> None:
    """Send a signal to processes; those that are gone are passed over."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_below(pid: int, grace_s: float, *, is_first_kept: bool = False) -> None:
    """End all that runs below a process: asked by SIGTERM where there is a grace, after it by SIGKILL until nothing is left.

    Args:
        is_first_kept: the first process below is the sandbox's own and gets no SIGTERM.

    Each round stops all before it kills them, so that what forks faster than it is counted ends as well.
    """
    deadline = time.monotonic() + grace_s
    asked: set[int] = set()
    while grace_s > 0 and (left := _below(pid)):
        first = next(iter(left)) if is_first_kept else pid
        # Who came to be meanwhile is an orphan of one that was asked, or the command itself; what else is new cleans up.
        fresh = {
            one for one, parent in left.items() if one not in asked and (not asked or parent in {pid, first})
        }
        signal_each(fresh - {first}, signal.SIGTERM)
        asked |= left.keys()
        if not left.keys() - {first} or time.monotonic() >= deadline:
            break
        time.sleep(STEP_S)
    for _ in range(200):
        rest = descendants(pid)
        if not rest:
            return
        signal_each(rest, signal.SIGSTOP)
        signal_each(rest, signal.SIGKILL)
        time.sleep(STEP_S / 2)


def kill_with_below(process: subprocess.Popen[bytes]) -> None:
    """Kill a child of ours and all below it. Linux alone.

    It stands still before it is looked below: what it was about to start would be found by nobody once it is gone.
    """
    process.send_signal(signal.SIGSTOP)
    deadline = time.monotonic() + _STOP_S
    while process.poll() is None and time.monotonic() < deadline:
        if _status(str(process.pid))[:1] not in (["R"], ["S"], ["D"]):
            break
        time.sleep(_LOOK_S)
    if process.poll() is None:
        end_below(process.pid, 0.0)
        process.kill()
