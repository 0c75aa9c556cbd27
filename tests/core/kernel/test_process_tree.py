"""Processes below one of ours, ended while they start others."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from core.kernel import child_process
from core.kernel.child_process import end_below, kill_with_below
from tests.patience import PATIENCE_S, ends

REPOSITORY = Path(child_process.__file__).parents[2]
ADOPTS = "import subprocess, sys; from core.kernel.child_process import adopt_orphans; adopt_orphans(); subprocess.call(sys.argv[1:]); sys.stdin.read()"


def until(is_so: Callable[[], bool], timeout_s: float = 10.0) -> bool:
    deadline = time.monotonic() + timeout_s
    while not is_so() and time.monotonic() < deadline:
        threading.Event().wait(0.005)
    return is_so()


def marked(marker: str) -> list[str]:
    """Processes that are `sleep` with this time."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        found += [name] if words[:2] == [b"sleep", marker.encode()] else []
    return found


def test_what_comes_to_be_while_others_are_asked_to_end_is_asked_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else its orphan would wait for the whole grace, and then be killed unasked."""
    marker = f"8{os.getpid()}.1"
    shell = ["bash", "-c", f"read go; sleep {marker} & read go"]
    root = subprocess.Popen([sys.executable, "-c", ADOPTS, *shell], stdin=subprocess.PIPE, cwd=REPOSITORY)
    assert root.stdin is not None
    assert until(lambda: len(child_process.descendants(root.pid)) == 1)
    tell = child_process.signal_each

    def late(pids: Iterable[int], number: int) -> None:
        """The shell starts something after it was looked below, before the signal is there."""
        pids = tuple(pids)
        if not marked(marker) and root.stdin is not None and not root.stdin.closed:
            root.stdin.write(b"\n")
            root.stdin.flush()
            assert until(lambda: bool(marked(marker)))
        tell(pids, number)

    monkeypatch.setattr(child_process, "signal_each", late)
    try:
        ends(lambda: end_below(root.pid, 10 * PATIENCE_S))
        assert marked(marker) == []
    finally:
        root.kill()
        root.communicate()


def test_nothing_is_started_behind_the_look_below_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed while it starts another leaves an orphan that nobody finds."""
    marker = f"8{os.getpid()}.2"
    root = subprocess.Popen(
        ["bash", "-c", f"echo on; read go; sleep {marker} & wait"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert root.stdin is not None
    assert root.stdout is not None
    assert root.stdout.readline() == b"on\n"
    look = child_process.descendants

    def late(pid: int) -> tuple[int, ...]:
        found = look(pid)
        if root.stdin is not None and not root.stdin.closed:
            root.stdin.write(b"\n")
            root.stdin.close()
            until(lambda: bool(marked(marker)), 0.5)
        return found

    monkeypatch.setattr(child_process, "descendants", late)
    kill_with_below(root)
    assert root.wait() < 0
    assert marked(marker) == []
    root.stdout.close()
