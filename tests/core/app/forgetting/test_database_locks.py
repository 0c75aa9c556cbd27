"""Looking through a database's bytes leaves its locks to the connections of this program."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from core.app.forgetting.leftovers import pieces_of, words_left
from core.app.forgetting.secret_search import search_secrets
from core.app.forgetting.words import Words
from core.kernel import paths
from core.talk.discussion.catalog_file import CatalogFile

_READS_AND_ENDS = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("SELECT count(*) FROM sqlite_master").fetchone()
db.close()
"""


@pytest.mark.parametrize("look", [search_secrets, lambda home: words_left(home, Words(texts=("tide",)))])
def test_a_look_at_all_files_takes_no_locks_from_an_open_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, look: Callable[[Path], object]
) -> None:
    """The next command that ended deleted the log under the window, which could read its list no more."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    home = tmp_path / "home"
    home.mkdir()
    file = paths.catalog_file(home)
    file.parent.mkdir(parents=True)
    with closing(CatalogFile(file)) as catalog:
        catalog.read(lambda db: db.execute("SELECT 1"))
        look(home)
        subprocess.run([sys.executable, "-c", _READS_AND_ENDS, str(file)], check=True)

        assert file.with_name(f"{file.name}-wal").exists()


def test_the_bytes_of_a_database_are_those_of_its_file_and_one_that_is_gone_is_said(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    file.write_bytes(b"SQLite" * 500_000)

    assert b"".join(pieces_of(file, 70_000)) == file.read_bytes()
    with pytest.raises(OSError, match="could not be read"):
        list(pieces_of(tmp_path / "gone.sqlite"))
