"""A long refresh of the catalog in a process of its own: parsing gigabytes here would hold up the window."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import msgspec

from core.base.child_process import start_child
from core.base.json_text import read_json

_CHILD = Path(__file__).with_name("catalog_child.py")


class RefreshStep(msgspec.Struct, frozen=True):
    """Work of the child in one slice: these discussions have new rows in the file, so many are looked at."""

    ids: tuple[str, ...]
    done: int
    total: int


def refresh_apart(home: Path, file: Path) -> Generator[RefreshStep, None, None]:
    """Refresh the index in `file` by a child process.

    The child ends when it is done, when this iterator is closed, or when this process is gone.

    Yields:
        A step for each slice. A child that cannot start or dies yields no more: whoever asked looks after it.
    """
    try:
        child = start_child(_CHILD, str(home.absolute()), str(file.absolute()), stdin=subprocess.DEVNULL)
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


def report(step: RefreshStep) -> None:
    """Tell the parent of a slice. Raises BrokenPipeError when it is gone."""
    sys.stdout.write(json.dumps([step.ids, step.done, step.total]) + "\n")
    sys.stdout.flush()


def _step(line: bytes) -> RefreshStep:
    ids, done, total = read_json(line)
    return RefreshStep(tuple(ids), done, total)
