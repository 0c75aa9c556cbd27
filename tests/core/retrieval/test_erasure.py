"""What is forgotten leaves the index: no word and no vector stays in its files, nor in a server's tables."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from core.kernel import paths
from core.kernel.disk import take_lock
from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SourceHead
from core.retrieval.index_file import NEXT_NAME, WANTED_NAME, IndexFaultError, delete_index
from core.retrieval.index_run import ServerDebt, erase_in_index, owed, pay, server_store, tell_server
from core.retrieval.index_store import SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from tests.core.knowledge.homes import FaultyDisk, KilledError

GONE, STAYS = "20261001-090000-aaaaaa", "20261001-090000-bbbbbb"
DIMENSION = 8
VECTOR = b"\x55" * DIMENSION


def key(name: str, corpus: Corpus = Corpus.DISCUSSIONS) -> SourceKey:
    return SourceKey(corpus, "", name)


def chunks(*texts: str, kind: ChunkKind = ChunkKind.CONVERSATION) -> list[Chunk]:
    return [Chunk(kind, LineRange(n, n), text, "") for n, text in enumerate(texts, 1)]


@pytest.fixture
def home(isolated_home: Path) -> Path:
    for name in (GONE, STAYS):
        path = paths.log_file(isolated_home, name)
        path.parent.mkdir(parents=True)
        path.write_text("{}\n")
    return isolated_home


@pytest.fixture
def store(home: Path) -> Iterator[LocalStore]:
    made = LocalStore(paths.index_dir(home), "small", DIMENSION)
    with closing(made):
        fill(made)
        yield made


def fill(store: LocalStore) -> None:
    """Two conversations and knowledge as it was read before it changed, with vectors."""
    head = SourceHead("About zephyrine", (), "", "")
    store.put(key(GONE), SourceState("s", "1", head), chunks("the zephyrine gate", "its zephyrine bell"))
    store.put(key(STAYS), SourceState("s", "2"), chunks("the keys of the harbour"))
    items = chunks("We call it zephyrine.", kind=ChunkKind.KNOWLEDGE)
    store.put(key("facts.md", Corpus.KNOWLEDGE), SourceState("older", "3"), items)
    store.give({place: VECTOR for place, _ in store.bare(99)})


def data_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_no_word_and_no_vector_of_it_stays_in_any_file_and_the_rest_is_found_still(
    home: Path, store: LocalStore
) -> None:
    folder = paths.index_dir(home)
    assert b"zephyrine" in data_of(folder)
    paths.log_file(home, GONE).unlink()

    assert erase_in_index(home, [GONE]) == (2, False)

    data = data_of(folder)
    assert [
        word for word in (b"zephyrin", b"the gate", GONE.encode(), b"call it") if word in data.lower()
    ] == []
    assert data.count(VECTOR) == 1
    assert list(store.sources(Corpus.DISCUSSIONS, "")) == [STAYS]
    assert [chunk.text for chunk, vector in store.chunks(key(STAYS)) if vector == VECTOR] == [
        "the keys of the harbour"
    ]


def test_words_that_an_earlier_run_took_out_go_too(home: Path, store: LocalStore) -> None:
    store.remove([key(GONE), key("facts.md", Corpus.KNOWLEDGE)])
    erase_in_index(home, [GONE])

    assert b"zephyrin" not in data_of(paths.index_dir(home)).lower()


def test_it_leaves_the_index_of_every_model(home: Path, store: LocalStore) -> None:
    other = paths.index_dir(home, "away/8")
    with closing(LocalStore(other, "away", DIMENSION)) as theirs:
        fill(theirs)
    paths.log_file(home, GONE).unlink()

    assert erase_in_index(home, [GONE]) == (4, False)

    for folder in (paths.index_dir(home), other):
        assert b"zephyrin" not in data_of(folder).lower()
        assert b"harbour" in data_of(folder)


def test_what_a_run_has_read_is_not_written_behind_the_erasure(home: Path, store: LocalStore) -> None:
    erasing = threading.Thread(target=erase_in_index, args=(home, [GONE]))
    with store.turn():
        erasing.start()
        erasing.join(0.1)
        assert erasing.is_alive()
        store.put(key(GONE), SourceState("s", "1"), chunks("read before it went: zephyrine"))
    erasing.join()

    assert b"zephyrin" not in data_of(paths.index_dir(home)).lower()


def test_a_run_gives_way_to_who_is_next_and_passes_over_the_sign_of_one_that_was_killed(
    home: Path, store: LocalStore
) -> None:
    folder = paths.index_dir(home)
    waits = take_lock(folder / NEXT_NAME)
    (folder / WANTED_NAME).touch()
    assert waits is not None

    def run() -> None:
        with store.turn():
            pass

    running = threading.Thread(target=run)
    running.start()
    running.join(0.1)
    assert running.is_alive()
    waits.release()
    running.join()
    assert not (folder / WANTED_NAME).exists()


def test_an_index_that_cannot_be_read_goes_whole(home: Path) -> None:
    folder = paths.index_dir(home)
    folder.mkdir(parents=True)
    (folder / "index.sqlite").write_text("zephyrine")
    (folder / "notes_prose.i8").write_bytes(VECTOR)

    assert erase_in_index(home, [GONE]) == (2, True)
    assert not folder.exists()
    assert erase_in_index(home, [GONE]) == (0, False)


def test_a_run_whose_index_was_deleted_meanwhile_writes_nothing_into_a_new_one(
    home: Path, store: LocalStore
) -> None:
    delete_index(paths.index_dir(home))

    with pytest.raises(IndexFaultError, match="The search index is gone"), store.turn():
        store.put(key(GONE), SourceState("s", "1"), chunks("zephyrine"))
    assert not paths.index_dir(home).exists()


def test_a_server_is_told_at_once_whatever_model_its_index_has(home: Path, postgres_url: str) -> None:
    servers = [server_store(home, postgres_url, name, DIMENSION) for name in ("old model", "new model")]
    for server in servers:
        server.put(key(GONE), SourceState("s", "1"), chunks("the zephyrine gate"))
        server.put(key(STAYS), SourceState("s", "2"), chunks("the keys"))
    paths.log_file(home, GONE).unlink()

    assert tell_server(home, ServerDebt("f", postgres_url, (GONE,))) == (2, "")

    for server in servers:
        assert list(server.sources(Corpus.DISCUSSIONS, "")) == [STAYS]
        server.close()
    assert list(owed(home)) == []


def test_an_index_of_an_earlier_version_goes_whole_from_a_server(home: Path, postgres_url: str) -> None:
    before, other = "manual_slop_1_0123456789abcdef", "manual_slop_of_somebody"
    with psycopg.connect(postgres_url, autocommit=True) as db:
        for name in (before, other):
            db.execute(f"CREATE SCHEMA {name}; CREATE TABLE {name}.chunk(text text)".encode())
        assert tell_server(home, ServerDebt("f", postgres_url, (GONE,)))[1] == ""
        rows = db.execute("SELECT nspname FROM pg_namespace").fetchall()
        db.execute(f"DROP SCHEMA {other} CASCADE".encode())
    assert {other} == {before, other} & {name for (name,) in rows}


def test_a_server_that_is_away_is_owed_it_until_it_was_told(home: Path, postgres_url: str) -> None:
    away = ServerDebt("f1", "postgresql://127.0.0.1:9/none", (GONE,))
    count, why = tell_server(home, away)
    assert (count, "does not answer" in why) == (0, True)
    assert (list(owed(home)), pay(home)) == ([away], ())

    there = ServerDebt("f2", postgres_url, (GONE,))
    with closing(server_store(home, postgres_url, "small", DIMENSION)) as server:
        server.put(key(GONE), SourceState("s", "1"), chunks("the zephyrine gate"))
        with pytest.raises(KilledError):
            tell_server(home, there, disk=FaultyDisk(5, "kill"))
        assert there in owed(home)

        assert pay(home) == ("f2",)
        assert list(server.sources(Corpus.DISCUSSIONS, "")) == []
    assert list(owed(home)) == [away]
