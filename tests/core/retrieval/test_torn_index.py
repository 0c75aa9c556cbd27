"""An index whose bytes make no sense is made anew by the next run, whoever met them first."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.kernel.values.retrieval import SearchMode
from core.retrieval import index_file
from core.retrieval.index_file import FILE_NAME
from tests.core.retrieval.test_index_faults import found, index_of
from tests.core.retrieval.test_navigation_worker import Room


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b"this is no database" * 100),
        lambda path: path.write_bytes(path.read_bytes()[:5_000] + b"\xff" * 60_000),
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b""),
    ],
    ids=["garbage", "torn", "gone", "empty"],
)
def test_an_index_that_is_broken_is_made_anew_by_the_next_run(
    room: Room, damage: Callable[[Path], object]
) -> None:
    room.index()
    room.shared.close()
    damage(index_of(room))
    for ending in ("-wal", "-shm"):
        index_of(room).with_name(FILE_NAME + ending).unlink(missing_ok=True)
    assert room.search("retry").mode is SearchMode.NAVIGATION_ONLY
    assert room.index().read == 1
    assert found(room) == ["retry.md"]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE source SET title = CAST(x'ff' AS TEXT)",
        "UPDATE source SET scope = CAST(x'2fff' AS TEXT)",
        "UPDATE source SET stamp = x'00'",
        "UPDATE source SET tags = x'00', stamp = ''",
        "UPDATE source SET corpus = 'nots'",
        "UPDATE source SET path = x'00'",
        "UPDATE chunk_notes_prose SET text = CAST(x'ff' AS TEXT), embedded = 0",
        "UPDATE chunk_notes_prose SET first = 'a', embedded = 0",
        "UPDATE chunk_notes_prose SET embedded = 'a'",
        "UPDATE chunk_notes_prose SET row = 1152921504606846976",
        "UPDATE chunk_notes_prose SET row = 1152921504606846976, embedded = 0",
        "DELETE FROM model",
        "DROP TABLE free_notes_prose",
        "DROP TABLE words_notes_prose",
    ],
)
def test_an_index_that_holds_what_nobody_writes_is_made_anew_by_the_next_run(room: Room, sql: str) -> None:
    room.index()
    room.shared.close()
    with sqlite3.connect(index_of(room)) as db:
        db.execute(sql)
    db.close()
    room.search("gateway")
    (room.notes / "retry.md").write_text("# Retry\n\nThe gateway retries once, as the zeppelin does.\n")
    room.index()
    assert found(room, "zeppelin") == ["retry.md"]
    assert sum(path.stat().st_size for path in index_of(room).parent.glob("*.i8")) == 384


def test_what_a_search_alone_finds_torn_is_made_anew_by_the_next_run(room: Room) -> None:
    """A run of notes that did not change passes by the words: they were found by nobody until a person deleted the index."""
    room.index()
    with sqlite3.connect(index_of(room)) as db:
        db.execute("UPDATE words_notes_prose_data SET block = x'ffff' WHERE id > 10")
    db.close()
    room.shared.close()
    assert room.index().unchanged == 1
    answer = room.search("gateway")
    assert (answer.mode, answer.degraded) == (SearchMode.NAVIGATION_ONLY, True)
    assert room.index().read == 1
    assert found(room) == ["retry.md"]


def test_an_index_of_another_version_is_made_anew(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    room.index()
    room.shared.close()
    monkeypatch.setattr(index_file, "SCHEMA_VERSION", index_file.SCHEMA_VERSION + 1)
    assert room.search("retry").mode is SearchMode.NAVIGATION_ONLY, "said while it is not whole"
    assert room.index().read == 1
    assert found(room) == ["retry.md"]
