"""Connections to the index: as many as are used at once, and their locks stay while another opens the same file."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from threading import Thread

import pytest

from core.retrieval.index_file import FILE_NAME, Connections, open_index
from core.talk.discussion.catalog_file import CatalogFile

_READS_AND_ENDS = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
db.close()
"""


def counted() -> tuple[Connections, list[sqlite3.Connection]]:
    """A pool, and what it opened."""
    opened: list[sqlite3.Connection] = []

    def another() -> sqlite3.Connection:
        opened.append(sqlite3.connect(":memory:", check_same_thread=False))
        return opened[-1]

    return Connections(another), opened


def test_threads_that_come_and_go_use_one_connection() -> None:
    """Each message that was typed left two open files behind, until the window could open none any more."""
    pool, opened = counted()

    def work() -> None:
        with pool.lent() as db:
            db.execute("SELECT 1")

    for _ in range(20):
        thread = Thread(target=work)
        thread.start()
        thread.join()

    assert len(opened) == 1
    pool.close()


def test_threads_at_once_have_one_each_and_a_thread_has_its_own_again() -> None:
    pool, opened = counted()
    others: list[sqlite3.Connection] = []

    def work() -> None:
        with pool.lent() as db:
            others.append(db)

    with pool.lent() as mine:
        with pool.lent() as again:
            assert again is mine
        thread = Thread(target=work)
        thread.start()
        thread.join()

    assert others == [opened[1]]
    pool.close()


def test_one_that_was_closed_while_it_was_lent_is_lent_to_nobody_else() -> None:
    pool, opened = counted()
    with pool.lent():
        pool.close()
    with pool.lent() as db:
        assert db is opened[1]
        assert db.execute("SELECT 1").fetchone() == (1,)
    pool.close()


def _index(file: Path) -> AbstractContextManager[object]:
    return closing(open_index(file.parent, "m/8"))


def _catalog(file: Path) -> AbstractContextManager[object]:
    catalog = CatalogFile(file)
    catalog.read(lambda db: db.execute("SELECT 1"))
    return closing(catalog)


@pytest.mark.parametrize("opened", [_index, _catalog])
def test_another_program_that_ends_leaves_the_log_of_one_that_opened_the_file_twice(
    tmp_path: Path, opened: Callable[[Path], AbstractContextManager[object]]
) -> None:
    """To open a file by hand and close it gave up the locks of all connections to it: a search on the command line then
    deleted the log under the window, which said "disk I/O error" from then on.
    """
    file = tmp_path / FILE_NAME
    with opened(file):
        with opened(file):
            pass
        done = subprocess.run(
            [sys.executable, "-c", _READS_AND_ENDS, str(file)], check=True, capture_output=True
        )

        assert int(done.stdout) > 0
        assert file.with_name(f"{file.name}-wal").exists()
        assert file.with_name(f"{file.name}-shm").exists()
