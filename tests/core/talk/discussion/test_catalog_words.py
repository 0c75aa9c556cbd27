"""Words that a mistyped one may be meant for: the table holds each, whatever the connection remembers of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.talk.discussion import catalog_entries, catalog_file, discussion_store
from core.talk.discussion.catalog import Catalog
from core.talk.discussion.catalog_file import CatalogConnection, wipe_catalog
from core.talk.discussion.discussion_meta import write_meta
from tests.core.records import ID, meta, reply, user

OTHER = "20261120-080000-bbbbbb"
ALL = {"talk", "harbour", "lighthouse", "tides", "turn"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "catalog.sqlite"


@pytest.fixture
def catalog(home: Path, file: Path) -> Iterator[Catalog]:
    with closing(Catalog(home, file)) as found:
        yield found


def say(home: Path, discussion_id: str = ID) -> None:
    discussion_store.create(
        home, meta(discussion_id, "Talk"), (user("m1", "harbour Lighthouse"), reply("m2", "tides turn"))
    )


def refresh(catalog: Catalog) -> None:
    for _ in catalog.refresh():
        pass


def kept(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as db:
        return {term for (term,) in db.execute("SELECT term FROM vocabulary")}


def test_a_word_is_sent_to_the_table_once(
    catalog: Catalog, home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []

    class Counted(CatalogConnection):
        def executemany(self, sql: str, rows: object, /) -> sqlite3.Cursor:
            listed = list(rows)  # type: ignore[call-overload]
            sent.extend(row[2] for row in listed)
            return super().executemany(sql, listed)

    monkeypatch.setattr(catalog_file, "CatalogConnection", Counted)
    say(home)
    refresh(catalog)
    say(home, OTHER)
    refresh(catalog)
    assert sorted(sent) == sorted(ALL)
    assert kept(file) == ALL


@pytest.mark.parametrize("most", [0, 1, 2, 100])
def test_the_table_is_the_same_however_little_is_remembered(
    catalog: Catalog, home: Path, file: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(catalog_file, "MAX_KNOWN_WORDS", most)
    for discussion_id in (ID, OTHER):
        say(home, discussion_id)
        refresh(catalog)
    assert kept(file) == ALL


def test_an_index_that_another_connection_emptied_is_filled_again(
    catalog: Catalog, home: Path, file: Path
) -> None:
    say(home)
    refresh(catalog)
    assert wipe_catalog(file)
    assert kept(file) == set()
    refresh(catalog)
    assert kept(file) == ALL


def test_an_index_that_goes_on_in_memory_knows_every_word(catalog: Catalog, home: Path, file: Path) -> None:
    say(home)
    refresh(catalog)
    with closing(sqlite3.connect(file)) as db:
        db.execute("DROP TABLE vocabulary")
        db.commit()
    say(home, OTHER)
    refresh(catalog)
    refresh(catalog)
    assert catalog.search("lighthuose").ids


def test_words_of_a_discussion_that_was_taken_back_are_not_held_for_known(
    catalog: Catalog, home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(home)

    def fail(*_: object) -> None:
        raise RuntimeError("one log")

    with monkeypatch.context() as broken:
        broken.setattr(catalog_entries, "_summary", fail)
        refresh(catalog)
    assert kept(file) == set()
    write_meta(home, meta(ID, "Talk"))
    refresh(catalog)
    assert kept(file) == ALL


def test_words_of_a_transaction_that_was_rolled_back_are_not_held_for_known(
    catalog: Catalog, home: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(home)

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(catalog_entries, "_summary", end)
        with pytest.raises(KeyboardInterrupt):
            refresh(catalog)
    assert kept(file) == set()
    refresh(catalog)
    assert kept(file) == ALL
