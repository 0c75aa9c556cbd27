"""A long refresh of the catalog in a process of its own: parsing gigabytes here would hold up the window."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Step:
    """What the child did in one slice: these discussions have new rows in the file, so many are looked at."""

    ids: tuple[str, ...]
    done: int
    total: int


def refresh_apart(home: Path, file: Path) -> Generator[Step, None, None]:
    """Refresh the index in `file` by a child process.

    The child ends when it is done, when this iterator is closed, or when this process is gone.

    Yields:
        A step for each slice. A child that cannot start or dies yields no more: whoever asked looks after it.
    """
    command = [sys.executable, "-m", "core.store.catalog_child", str(home), str(file)]
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=_PACKAGE_ROOT,
        )
    except OSError:
        return
    assert child.stdout is not None
    try:
        with closing(child.stdout):
            for line in child.stdout:
                yield _step(line)
    finally:
        child.kill()
        child.wait()


def report(step: Step) -> None:
    """Tell the parent of a slice. Raises BrokenPipeError when it is gone."""
    sys.stdout.write(json.dumps([step.ids, step.done, step.total]) + "\n")
    sys.stdout.flush()


def _step(line: bytes) -> Step:
    ids, done, total = json.loads(line)
    return Step(tuple(ids), done, total)
