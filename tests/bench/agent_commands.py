"""Measures commands of tools: what the sandbox costs, and how long a command takes to be gone once it is ended."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from core.agent.commands import Commands, DiscussionCommands
from core.agent.sandbox import Confinement, find_confinement
from core.agent.tool import CommandOrder, ToolPlaces
from core.kernel.child_process import descendants
from core.kernel.values.agent import Sandbox
from tests.bench.__main__ import Row, row

RUNS = 15
KILLS = 5
BUSY_S = 0.3


class BenchDesk:
    """As much of a desk as a command needs."""

    def __init__(self, commands: Commands, root: Path) -> None:
        self.commands: DiscussionCommands = commands.of("bench")
        self.places = ToolPlaces(str(root), is_trusted=True)
        self.call_id = "call"
        self.stop: Callable[[], None] = lambda: None

    def report(self, tail: str) -> None:
        """Show nothing."""

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Keep what ends the command."""
        self.stop = callback


def rows() -> list[Row]:
    """Measure in a temporary project. Values are medians, in milliseconds."""
    found = find_confinement()
    bare = Confinement(Sandbox(problem="not asked for"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder), "project")
        root.mkdir()
        plain = _median(RUNS, lambda: _plain(root))
        measured = [row("`true` by bash, without us", plain, "ms", runs=RUNS)]
        if found.sandbox.is_confined:
            confined = _with(root, found, _true)
            measured.append(
                row(
                    f"`true` under {found.sandbox.name}, more than that",
                    confined - plain,
                    "ms",
                    25,
                    runs=RUNS,
                )
            )
        else:
            measured.append(
                row(f"`true` in a sandbox: {found.sandbox.problem}", 0.0, "ms", holds=False, bar="a sandbox")
            )
        measured.append(
            row("`true` below the guard, more than that", _with(root, bare, _true) - plain, "ms", runs=RUNS)
        )
        for name, confinement in ((found.sandbox.name or "no sandbox", found), ("the guard", bare)):
            obeys = _with(
                root, confinement, lambda desk: _median(KILLS, lambda: _kill(desk, "sleep 60 & sleep 60"))
            )
            ignores = _with(
                root,
                confinement,
                lambda desk: _median(KILLS, lambda: _kill(desk, "trap '' TERM; sleep 60 & sleep 60")),
            )
            measured.append(row(f"ended under {name}, from key to gone", obeys, "ms", 200, runs=KILLS))
            measured.append(row("the same where SIGTERM is ignored", ignores, "ms", 2_000, runs=KILLS))
    return measured


def _with(root: Path, confinement: Confinement, measure: Callable[[BenchDesk], float]) -> float:
    with tempfile.TemporaryDirectory() as home:
        commands = Commands(Path(home), lambda *_: None, lambda *_: None, find=lambda: confinement)
        try:
            return measure(BenchDesk(commands, root))
        finally:
            commands.close()


def _true(desk: BenchDesk) -> float:
    _run(desk, "true")
    return _median(RUNS, lambda: _run(desk, "true"))


def _median(runs: int, measure: Callable[[], float]) -> float:
    return statistics.median(measure() for _ in range(runs))


def _plain(root: Path) -> float:
    began = time.perf_counter()
    subprocess.run(["bash", "--norc", "--noprofile", "-c", "true"], cwd=root, check=True, capture_output=True)
    return (time.perf_counter() - began) * 1_000


def _run(desk: BenchDesk, command: str) -> float:
    began = time.perf_counter()
    desk.commands.run(CommandOrder(command, desk.places.root, timeout_s=60), desk)  # type: ignore[arg-type]
    return (time.perf_counter() - began) * 1_000


def _kill(desk: BenchDesk, command: str) -> float:
    """From the key to the last process gone."""
    thread = threading.Thread(target=_run, args=(desk, command))
    thread.start()
    deadline = time.monotonic() + 10
    while len(descendants(os.getpid())) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(BUSY_S)
    began = time.perf_counter()
    desk.stop()
    thread.join()
    return (time.perf_counter() - began) * 1_000
