"""Kills a real process at every write, sync, rename and removal of a harvest and of its undo; prints what remained."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from core import paths
from core.knowledge.apply import recover_home
from core.knowledge.undo import undo_apply
from core.store.atomic import Disk
from tests.core.knowledge.homes import (
    FIRST,
    NOW,
    SECOND,
    FaultyDisk,
    KilledError,
    check_nothing_lost,
    harvest,
    item_lines,
    made_home,
)

ITEMS = 14


class SuicidalDisk(FaultyDisk):
    """Ends the process with SIGKILL at the n-th call, in the middle of a write where it is one."""

    def __init__(self, at: int) -> None:
        super().__init__(at, "kill")

    def _point(self, what: str) -> bool:
        try:
            return super()._point(what)
        except KilledError:
            if what != "write":
                os.kill(os.getpid(), signal.SIGKILL)
            raise

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write, or half of it and die."""
        try:
            return super().write(fd, data)
        except KilledError:
            os.kill(os.getpid(), signal.SIGKILL)
            raise


def main(arguments: Sequence[str]) -> int:
    """Run every point, or every n-th. Returns 1 when something was lost or doubled."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="try every n-th point only")
    parser.add_argument("--child", nargs=3, metavar=("RUN", "HOME", "POINT"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        run_name, home, point = options.child
        _run(run_name, Path(home), SuicidalDisk(int(point)))
        return 0
    failed = sum(_table(name, options.every) for name in ("harvest", "undo"))
    print("all held" if not failed else f"{failed} FAILED")
    return min(failed, 1)


def try_point(folder: Path, run_name: str, point: int) -> str:
    """Kill a child at a point, start again, check. Returns what was wrong, empty when nothing was."""
    home = _prepared(folder, run_name)
    child = subprocess.run(
        [sys.executable, "-m", "scripts.faults", "--child", run_name, str(home), str(point)], check=False
    )
    if child.returncode != -signal.SIGKILL:
        return f"the child was not killed but ended with {child.returncode}"
    try:
        recover_home(home)
        check_nothing_lost(home) if run_name == "harvest" else None
        _again(run_name, home)
    except AssertionError as error:
        return str(error).partition("\n")[0] or "an invariant does not hold"
    wanted = ITEMS if run_name == "harvest" else 0
    found = sum(item_lines(home).values())
    return "" if found == wanted else f"{found} items, not {wanted}"


def points(folder: Path, run_name: str) -> list[str]:
    """What the disk is asked to do in a run, in order."""
    asked: list[str] = []

    class Listing(FaultyDisk):
        def _point(self, what: str) -> bool:
            asked.append(what)
            return super()._point(what)

    _run(run_name, _prepared(folder, run_name), Listing())
    return asked


def _table(run_name: str, every: int) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        asked = points(Path(folder) / "listed", run_name)
        for point in range(0, len(asked), every):
            wrong = try_point(Path(folder) / str(point), run_name, point)
            failed += bool(wrong)
            print(f"{run_name} {point:4} {asked[point]:45} {wrong or 'holds'}", flush=True)
    return failed


def _prepared(folder: Path, run_name: str) -> Path:
    home = made_home(folder)
    if run_name == "undo":
        harvest(home, FaultyDisk())
    return home


def _run(run_name: str, home: Path, disk: Disk) -> None:
    if run_name == "harvest":
        harvest(home, disk)
    else:
        undo_apply(home, NOW, disk=disk)


def _again(run_name: str, home: Path) -> None:
    if run_name == "harvest":
        harvest(home)
        check_nothing_lost(home)
        return
    if item_lines(home) or not all(paths.log_file(home, i).exists() for i in (FIRST, SECOND)):
        undo_apply(home, NOW)
    assert all(paths.log_file(home, i).exists() for i in (FIRST, SECOND)), "a conversation is not back"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
