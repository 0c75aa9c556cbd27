"""Turns at an index on this machine, between programs: a run reads and writes in its own, and gives way to who asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from core.base.locks import take_lock
from core.base.opener import create_missing
from core.retrieval.index_file import LOCK_NAME, NEXT_NAME, WANTED_NAME, IndexFaultError


@contextmanager
def taken_turn(folder: Path, wait_s: float | None = None) -> Iterator[None]:
    """Have the files of an index to oneself, from the reading of a source until it is written: what is forgotten between
    the two would stand there anew otherwise.

    Args:
        wait_s: longest wait for another's turn, which is the next one then; None for a run, which gives way.

    Raises:
        IndexFaultError: it took longer.
    """
    with ExitStack() as held:
        if wait_s is not None:
            _take(held, folder / NEXT_NAME, wait_s)
            held.callback((folder / WANTED_NAME).unlink, missing_ok=True)
            create_missing(folder / WANTED_NAME)
        elif (folder / WANTED_NAME).exists():
            with ExitStack() as next_one:
                _take(next_one, folder / NEXT_NAME, -1)
                (folder / WANTED_NAME).unlink(missing_ok=True)  # who wanted it had it, or was killed
        _take(held, folder / LOCK_NAME, -1 if wait_s is None else wait_s)
        yield


def _take(held: ExitStack, path: Path, wait_s: float) -> None:
    lock = take_lock(path, wait_s=wait_s)
    if lock is None:
        raise IndexFaultError("Another program is at work on the search index", where=str(path.parent))
    held.callback(lock.release)
