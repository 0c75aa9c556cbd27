"""Fails the disk at every call of a harvest, its undo and the start after a crash, and kills whole programs; prints a table."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.core.app.fault_programs import PROGRAMS, ProgramStage, decisive_points
from tests.core.knowledge.fault_disks import Fault, Point, PointDisk
from tests.core.knowledge.harvest.fault_runs import (
    RUNS,
    Paid,
    Stage,
    faults_at,
    memory_folder,
    table_head,
    table_line,
)

LOG = Path("out/faults.log")


class SuicidalDisk(PointDisk):
    """Ends its process with SIGKILL at the n-th call, in the middle of a write where it is one."""

    def end(self) -> None:
        """Nothing of this process goes on from here."""
        os.kill(os.getpid(), signal.SIGKILL)


def main(arguments: Sequence[str]) -> int:
    """Try every point, or every n-th. Returns 1 when something was lost, doubled or paid twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="try every n-th point only")
    parser.add_argument(
        "--kills-only",
        action="store_true",
        help="leave out the faults that need no real child, and of whole programs all points but those that decide",
    )
    every_run = (*RUNS, *PROGRAMS)
    parser.add_argument("--runs", nargs="+", choices=every_run, default=every_run, help="only these")
    parser.add_argument("--log", type=Path, default=LOG, help="where the table goes beside standard output")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    tried: Counter[str] = Counter()
    with _log(options.log) as (say, folder):
        say(table_head())
        for run_name in options.runs:
            try_run = _try_run if run_name in RUNS else _try_program
            tried += try_run(run_name, folder, options.every, say, kills_only=options.kills_only)
        say(_verdict(tried, time.monotonic() - began))
    return int(tried["failed"] > 0)


def try_kill(stage: Stage, at: int, point: Point) -> str:
    """Kill a child at a point, start again, check. Returns what was wrong, empty when nothing was."""
    home = stage.copied(f"{at}-killed")
    note = stage.folder / f"{at}-paid"
    child = os.fork()
    if child == 0:
        _be_killed(stage, home, at, note)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        return f"the child was not killed but ended with {os.waitstatus_to_exitcode(status)}"
    answered = note.read_text("utf-8").split("\n")[:-1] if note.exists() else []
    wrong = stage.judge(home, Paid(stage.bill + Counter(answered)), Fault.KILL, point)
    shutil.rmtree(home)
    return wrong


def _be_killed(stage: Stage, home: Path, at: int, note: Path) -> None:
    """The child: it must not come back."""
    try:
        stage.run(home, Paid(note=note), SuicidalDisk(home, at), "first")
    finally:
        os._exit(0)


def _try_run(run_name: str, folder: Path, every: int, say: Say, *, kills_only: bool) -> Counter[str]:
    tried: Counter[str] = Counter()
    stage = Stage(folder / run_name, run_name)
    stage.folder.mkdir()
    for at, point in list(enumerate(stage.prepare()))[::every]:
        results = {Fault.KILL: try_kill(stage, at, point)}
        for fault in faults_at(point) if not kills_only else ():
            if fault is not Fault.KILL:
                results[fault] = stage.try_point(at, fault, point)
        tried["points"] += 1
        tried["runs"] += len(results)
        tried["failed"] += sum(map(bool, results.values()))
        say(table_line(run_name, at, point, results))
    return tried


def _try_program(run_name: str, folder: Path, every: int, say: Say, *, kills_only: bool) -> Counter[str]:
    """Kill a whole program at each point: it has no other faults, they are tried where its disk is one's own."""
    stage = ProgramStage(folder / run_name, run_name)
    stage.folder.mkdir()
    points = stage.prepare()
    tried: Counter[str] = Counter()
    for at in decisive_points(run_name, points) if kills_only else range(0, len(points), every):
        results = {Fault.KILL: stage.try_kill(at)}
        tried += Counter(points=1, runs=1, failed=int(bool(results[Fault.KILL])))
        say(table_line(run_name, at, points[at], results))
    return tried


def _verdict(tried: Counter[str], seconds: float) -> str:
    outcome = f"{tried['failed']} FAILED" if tried["failed"] else "all held"
    return f"{tried['points']} points, {tried['runs']} runs, {outcome}, {seconds:.0f} s"


class Say:
    """Writes a line to standard output and to the log."""

    def __init__(self, log: Path) -> None:
        self._file = log.open("w", encoding="utf-8")

    def __call__(self, line: str) -> None:
        """Say a line."""
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        self._file.write(f"{line}\n")
        self._file.flush()

    def close(self) -> None:
        """Let go of the log."""
        self._file.close()


@contextmanager
def _log(path: Path) -> Iterator[tuple[Say, Path]]:
    path.parent.mkdir(parents=True, exist_ok=True)
    say = Say(path)
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        try:
            yield say, Path(folder)
        finally:
            say.close()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
