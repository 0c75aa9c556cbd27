"""A server that is away: the index on this machine answers, in bounded time, and says so; the password is told to nobody."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from psycopg.conninfo import conninfo_to_dict

from core.kernel.errors import SlopError
from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import (
    Chunk,
    ChunkKind,
    Corpus,
    IndexProgress,
    SearchAnswer,
    SearchMode,
    SearchPlaces,
)
from core.retrieval import postgres_store
from core.retrieval.index_run import mirror, server_store
from core.retrieval.index_store import ServedIndex, ServerFaultError, SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from core.retrieval.postgres_connection import ServerAddress, connect
from core.retrieval.postgres_store import PostgresStore
from core.retrieval.retrieval_report import degraded_text
from core.retrieval.search import SearchRequest, search
from core.services.settings.settings_checks import check_settings
from tests.patience import PATIENCE_S, ends

ROOT = "/home/person/notes"
PLACES = SearchPlaces((ROOT,), "", (Corpus.NOTES, Corpus.KNOWLEDGE))
ASKED = SearchRequest("zebra", (Corpus.NOTES,), (ROOT,))
PASSWORD = "open-sesame-4711"


def key(path: str, corpus: Corpus = Corpus.NOTES, scope: str = ROOT) -> SourceKey:
    return SourceKey(corpus, scope, path)


def chunk(text: str, line: int = 1) -> Chunk:
    return Chunk(ChunkKind.PROSE, LineRange(line, line), text)


@pytest.fixture
def here(tmp_path: Path) -> Iterator[LocalStore]:
    store = LocalStore(tmp_path / "index", "model", 8)
    store.put(key("a.md"), SourceState("s", "1"), [chunk("a zebra"), chunk("more", 2)])
    store.put(key("b.md"), SourceState("s", "2"), [chunk("b zebra")])
    yield store
    store.close()


class Ones:
    """All texts mean the same."""

    name, dimension, is_warm = "ones", 8, True

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        return np.ones((len(texts), 8), np.int8)


def test_an_answer_of_this_machine_is_said_to_be_one_and_no_other(here: LocalStore) -> None:
    """It has words and meanings: only the server is missing."""
    here.give({place: bytes([1] * 8) for place, _ in here.bare(9)})
    index = ServedIndex(PostgresStore(ServerAddress("postgresql://127.0.0.1:1/x"), "model", 8), here)
    answer = search(index, Ones(), ASKED)

    assert (answer.mode, answer.degraded) == (SearchMode.HYBRID, True)
    assert degraded_text(answer).startswith("Found in the index on this machine: The index on 127.0.0.1:1/x ")
    nothing = search(index, Ones(), SearchRequest("zebra", ()))
    assert (nothing.mode, nothing.degraded, degraded_text(nothing)) == (SearchMode.OFF, False, "")
    index.server.close()


def asked_away(url: str, here: LocalStore, password: str = "") -> SearchAnswer:
    """The answer where the server is away: all that this machine knows, in bounded time, and the next time without a try."""
    server = PostgresStore(ServerAddress(url, lambda: password), "model", 8)
    tries: list[ServerAddress] = []

    def counted(address: ServerAddress, *more: Any) -> Any:
        tries.append(address)
        return connect(address, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres_store, "connect", counted)
        patch.setattr(postgres_store, "AWAY_S", 10 * PATIENCE_S)
        answer = ends(lambda: search(ServedIndex(server, here), None, ASKED))
        assert search(ServedIndex(server, here), None, ASKED).hits == answer.hits
    assert len(tries) <= 1
    server.close()
    assert [hit.path for hit in answer.hits] == ["a.md", "b.md"]
    assert answer.degraded
    assert answer.remedy
    assert answer.mode is SearchMode.KEYWORD
    return answer


def test_a_server_that_refuses(here: LocalStore) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        answer = asked_away(f"postgresql://person@127.0.0.1:{port}/index", here)
    assert f"127.0.0.1:{port}/index" in answer.reason


def test_a_server_that_is_silent(here: LocalStore) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        answer = asked_away(f"postgresql://person@127.0.0.1:{port}/index", here)
    assert "does not answer" in answer.reason


@pytest.fixture
def guarded_url(postgres_url: str) -> Iterator[str]:
    """The server with a role that has to give its password."""
    with psycopg.connect(postgres_url, autocommit=True) as db:
        (place,) = db.execute("SELECT current_setting('hba_file')").fetchone() or ("",)
        path = Path(place)
        before = path.read_text()
        db.execute("DROP ROLE IF EXISTS guarded")
        db.execute(f"CREATE ROLE guarded LOGIN SUPERUSER PASSWORD '{PASSWORD}'".encode())
        path.write_text(f"local all guarded scram-sha-256\n{before}")
        db.execute("SELECT pg_reload_conf()")
        yield postgres_url.replace("postgres:@", "guarded@")
        path.write_text(before)
        db.execute("SELECT pg_reload_conf()")


def test_a_wrong_password_is_refused_and_no_message_tells_it(here: LocalStore, guarded_url: str) -> None:
    answer = asked_away(guarded_url, here, "wrong-" + PASSWORD)
    assert "password" in answer.reason
    assert PASSWORD not in answer.reason + answer.remedy


def test_the_right_password_comes_from_where_keys_are_kept(
    here: LocalStore, guarded_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MANUAL_SLOP_KEY_RETRIEVAL_SERVER", PASSWORD)
    server = server_store(tmp_path, guarded_url, "right password", 8)
    assert mirror(here, server, PLACES) == ""
    answer = search(ServedIndex(server, here), None, ASKED)
    server.close()
    assert not answer.degraded
    assert [hit.path for hit in answer.hits] == ["a.md", "b.md"]


def test_an_address_with_a_password_is_used_by_nobody(here: LocalStore) -> None:
    url = f"postgresql://person:{PASSWORD}@127.0.0.1/index"
    answer = asked_away(url, here)
    assert PASSWORD not in answer.reason + answer.remedy + repr(ServerAddress(url))
    for bad in (url, f"postgresql://127.0.0.1/index?password={PASSWORD}", "mysql://127.0.0.1/index"):
        values, flaws = check_settings({"retrieval": {"server": bad}}, is_project=False)
        assert values == {}
        assert PASSWORD not in flaws[0].reason
    good = {"retrieval": {"server": "postgresql://person@127.0.0.1/index"}}
    assert check_settings(good, is_project=False) == (
        {"retrieval.server": "postgresql://person@127.0.0.1/index"},
        [],
    )


def test_a_server_that_falls_silent_in_the_middle(
    here: LocalStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_store, "READ_S", 0.5)
    server = PostgresStore(ServerAddress(postgres_url), "falls silent", 8)
    index = ServedIndex(server, here)
    assert mirror(here, server, PLACES) == ""
    assert not search(index, None, ASKED).degraded
    with server._reading() as db:
        (process,) = db.execute("SELECT pg_backend_pid()").fetchone() or (0,)
    os.kill(process, signal.SIGSTOP)
    try:
        answer = search(index, None, ASKED)  # on this thread, whose connection it is
    finally:
        os.kill(process, signal.SIGCONT)
    assert answer.degraded
    assert len(answer.hits) == 2
    # It is back, and so is its answer.
    assert not search(index, None, ASKED).degraded
    server.close()


def test_the_server_follows_this_machine(here: LocalStore, postgres_url: str) -> None:
    server = PostgresStore(ServerAddress(postgres_url), "follows", 8)
    told: list[IndexProgress] = []
    places = here.bare(9)
    here.give({place: bytes([1, 2, 3, 4, 5, 6, 7, 8]) for place, one in places if one.text != "more"})
    assert mirror(here, server, PLACES, told.append) == ""
    assert [one.doing for one in told] == ["a.md", "b.md"]
    assert server.sources(Corpus.NOTES, ROOT) == here.sources(Corpus.NOTES, ROOT)
    assert [one.text for _, one in server.bare(9)] == ["more"]
    told.clear()
    mirror(here, server, PLACES, told.append)
    assert told == []
    here.remove([key("a.md")])
    here.put(key("b.md"), SourceState("s", "3"), [chunk("changed")])
    mirror(here, server, PLACES, told.append)
    assert [one.doing for one in told] == ["b.md"]
    assert server.sources(Corpus.NOTES, ROOT) == here.sources(Corpus.NOTES, ROOT)
    told.clear()
    mirror(here, server, PLACES, told.append, is_anew=True)
    assert [one.doing for one in told] == ["b.md"]
    server.close()


def test_a_run_that_is_stopped_leaves_what_it_did(here: LocalStore, postgres_url: str) -> None:
    server = PostgresStore(ServerAddress(postgres_url), "stopped", 8)

    def stop(progress: IndexProgress) -> None:
        if progress.files:
            raise SlopError("stopped")

    with pytest.raises(SlopError, match="stopped"):
        mirror(here, server, PLACES, stop)
    assert set(server.sources(Corpus.NOTES, ROOT)) == {"a.md"}
    server.close()


def test_a_server_that_is_away_does_not_fail_a_run(here: LocalStore) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"postgresql://person@127.0.0.1:{free.getsockname()[1]}/index"
        assert "does not answer" in mirror(here, PostgresStore(ServerAddress(url), "model", 8), PLACES)


def test_a_role_that_may_only_read_searches_an_index_that_is_there(
    here: LocalStore, postgres_url: str
) -> None:
    writer = PostgresStore(ServerAddress(postgres_url), "read only", 8, owner="one")
    mirror(here, writer, PLACES)
    with psycopg.connect(postgres_url, autocommit=True) as db:
        (schema,) = db.execute(
            "SELECT nspname FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid"
            " WHERE c.relname = 'shelf' ORDER BY n.oid DESC LIMIT 1"
        ).fetchone() or ("",)
        db.execute("DROP ROLE IF EXISTS reader")
        db.execute("CREATE ROLE reader LOGIN")
        db.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader".encode())
        db.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader".encode())
    url = postgres_url.replace("postgres:@", "reader@")
    reader = PostgresStore(ServerAddress(url), "read only", 8, owner="two")
    assert not search(ServedIndex(reader, here), None, ASKED).degraded
    with pytest.raises(ServerFaultError, match="permission denied"):
        reader.remove([key("a.md")])
    other = PostgresStore(ServerAddress(url), "another model", 8)
    assert search(ServedIndex(other, here), None, ASKED).degraded
    for store in (writer, reader, other):
        store.close()


def test_the_fixture_is_a_real_server(postgres_url: str) -> None:
    assert urlsplit(postgres_url).scheme == "postgresql"
    assert conninfo_to_dict(postgres_url)["dbname"] == "postgres"
