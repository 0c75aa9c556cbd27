"""Vectors from a server: asked for by its documented rules; away, slow or senseless it leaves keywords, in the open."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from core.kernel.values.curation import LineRange
from core.kernel.values.provider import ProviderKind
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, EmbeddingServer, SearchAnswer, SearchMode
from core.kernel.values.settings import CachingSettings, Project, RetrievalSettings, ServerSettings, Settings
from core.kernel.values.state import AppState
from core.retrieval import search as search_module
from core.retrieval.embedding import cosine
from core.retrieval.fusion import ChunkPlace
from core.retrieval.index_store import SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from core.retrieval.remote_embedder import EmbedError, RemoteEmbedder, remote_embedders
from core.retrieval.search import SearchRequest, search
from core.services.providers.clients import Clients
from core.services.settings.project_tables import may_set
from core.services.settings.settings_checks import check_settings
from core.services.settings.settings_rules import asked_places, places_of
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import (
    EMBEDDING_DIMENSION,
    EMBEDDING_MODEL,
    OLLAMA,
    CompatibleServer,
    word_vector,
)
from tests.vendors.loopback import Answer, Fault, Gate, HangUp, Reply, Silent, json_reply


@pytest.fixture
def server() -> Iterator[CompatibleServer]:
    with CompatibleServer(OLLAMA) as server:
        yield server


class Desk:
    """Clients of one server, called `box`, and an index with one note."""

    def __init__(self, folder: Path, url: str, *, price: float | None = None) -> None:
        self.clients = Clients()
        settings = ServerSettings("box", ProviderKind.COMPATIBLE, base_url=url)
        self.clients.configure({"box": settings}, {}, ())
        self.price = price
        self.store = LocalStore(folder / "index", "box", EMBEDDING_DIMENSION)
        key = SourceKey(Corpus.NOTES, "/home/person", "a.md")
        chunk = Chunk(ChunkKind.PROSE, LineRange(1, 1), "the gateway retries thrice")
        self.store.put(key, SourceState("s", "0"), [chunk])

    def embedder(self, model: str = EMBEDDING_MODEL, dimension: int = EMBEDDING_DIMENSION) -> RemoteEmbedder:
        choice = EmbeddingServer("box", model, dimension)
        return RemoteEmbedder(choice, self.clients.get, lambda *_: self.price)

    def search(self, embedder: RemoteEmbedder) -> SearchAnswer:
        asked = SearchRequest("gateway", (Corpus.NOTES,), ("/home/person",))
        return search(self.store, embedder, asked)

    def close(self) -> None:
        self.clients.close()
        self.store.close()


@pytest.fixture
def desk(tmp_path: Path, server: CompatibleServer) -> Iterator[Desk]:
    desk = Desk(tmp_path, f"{server.url}/v1")
    yield desk
    desk.close()


def test_texts_go_out_in_batches_and_come_back_in_their_order(desk: Desk, server: CompatibleServer) -> None:
    texts = [f"word{number} and more" for number in range(40)]
    vectors = desk.embedder().embed(texts, timeout_s=PATIENCE_S)
    assert [len(body["input"]) for body in server.bodies] == [32, 8]
    assert {json.dumps(sorted(body)) for body in server.bodies} == {'["encoding_format", "input", "model"]'}
    wanted = np.array([word_vector(text) for text in texts])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    nearest = [
        max(range(40), key=lambda at: cosine(int(row.astype(int) @ vectors[at].astype(int))))
        for row in vectors
    ]
    assert np.allclose(wanted[nearest], wanted)


def test_a_search_by_its_vectors_is_whole(desk: Desk) -> None:
    embedder = desk.embedder()
    bare = desk.store.bare(10)
    rows = embedder.embed([chunk.text for _, chunk in bare], timeout_s=PATIENCE_S)
    desk.store.give({place: row.tobytes() for (place, _), row in zip(bare, rows, strict=True)})
    answer = desk.search(embedder)
    assert (answer.mode, answer.degraded, answer.reason) == (SearchMode.HYBRID, False, "")
    assert answer.hits[0].cosine > 0


def nothing_but(row: list[float]) -> Reply:
    data = [{"object": "embedding", "index": 0, "embedding": row}]
    return json_reply(200, {"object": "list", "data": data, "model": EMBEDDING_MODEL})


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (HangUp(), "cannot be reached"),
        (Answer(json_reply(500, {"error": {"message": "llama runner process has terminated"}})), "runner"),
        (Answer(nothing_but([1.0] * 7)), "components"),
        (Answer(nothing_but([float("nan")] * EMBEDDING_DIMENSION)), "did not return a vector"),
        (Answer(nothing_but([0.0] * EMBEDDING_DIMENSION)), "did not return a vector"),
        (Answer(json_reply(200, {"object": "list", "data": [], "model": EMBEDDING_MODEL})), "0 vectors"),
        (Answer(Reply(200, b"<html>", {"content-type": "text/html"})), "sent an invalid answer"),
    ],
)
def test_keywords_answer_in_the_open_where_it_fails(
    desk: Desk, server: CompatibleServer, fault: Fault, said: str
) -> None:
    server.faults.append(fault)
    answer = desk.search(desk.embedder())
    assert (answer.mode, answer.degraded) == (SearchMode.KEYWORD, True)
    assert said in answer.reason
    assert [hit.path for hit in answer.hits] == ["a.md"]


def test_one_that_is_silent_is_left_when_the_time_is_over(
    desk: Desk, server: CompatibleServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_module, "FIRST_EMBED_S", 0.2)
    desk.embedder().embed(["so that the SDK is loaded"], timeout_s=PATIENCE_S)
    gate = Gate()
    server.faults.append(Silent(gate))
    answer = desk.search(desk.embedder())
    assert answer.mode is SearchMode.KEYWORD
    assert "took longer than 0.2 s" in answer.reason
    assert gate.client_left.wait(PATIENCE_S), "the connection is closed, and its thread ends"


def test_words_are_looked_for_while_the_vector_is_made(
    desk: Desk, server: CompatibleServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server answers once the words were found: one that is asked first and waited for would be given up."""
    monkeypatch.setattr(search_module, "FIRST_EMBED_S", 20)
    found, looked_up = threading.Event(), desk.store.keyword

    class Slow(RemoteEmbedder):
        def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
            if not found.wait(timeout_s):
                raise EmbedError("Words were not looked for meanwhile")
            return super().embed(texts, timeout_s=timeout_s)

    def noted(*asked: Any) -> dict[ChunkPlace, float]:
        try:
            return looked_up(*asked)
        finally:
            found.set()

    monkeypatch.setattr(desk.store, "keyword", noted)
    choice = EmbeddingServer("box", EMBEDDING_MODEL, EMBEDDING_DIMENSION)
    answer = desk.search(Slow(choice, desk.clients.get, lambda *_: None))
    assert "No passage has a vector yet" in answer.reason, "the query has one"
    assert [hit.path for hit in answer.hits] == ["a.md"]


def test_who_stops_waits_for_it_no_more(desk: Desk, server: CompatibleServer) -> None:
    embedder = desk.embedder()
    gate = Gate()
    server.faults.append(Silent(gate))
    failed: list[EmbedError] = []

    def ask() -> None:
        with pytest.raises(EmbedError) as caught:
            embedder.embed(["a note"], timeout_s=PATIENCE_S)
        failed.append(caught.value)

    asking = threading.Thread(target=ask)
    asking.start()
    assert gate.reached.wait(PATIENCE_S)
    embedder.interrupt()
    asking.join(PATIENCE_S)

    assert "The program stopped waiting for" in failed[0].what
    assert gate.client_left.wait(PATIENCE_S)


def test_what_is_not_set_up_is_said_without_asking(
    desk: Desk, server: CompatibleServer, tmp_path: Path
) -> None:
    for embedder, said in (
        (desk.embedder(model=""), "You named no embedding model"),
        (desk.embedder(model="other"), "does not know the model"),
        (
            RemoteEmbedder(EmbeddingServer("gone", "m", 8), desk.clients.get, lambda *_: None),
            "no provider 'gone'",
        ),
    ):
        with pytest.raises(EmbedError, match=said):
            embedder.embed(["x"], timeout_s=PATIENCE_S)
    desk.price = 0.02
    with pytest.raises(EmbedError, match="costs money"):
        desk.embedder().embed(["x"], timeout_s=PATIENCE_S)
    assert len(server.bodies) == 1, "the one with the name that the server does not know"


def test_a_vendor_with_a_price_is_known_by_the_price_list() -> None:
    class Never:
        base_url = "https://api.example.org/v1"

        def embed(self, model: str, texts: object) -> list[list[float]]:
            raise AssertionError

    from datetime import UTC, datetime

    make = remote_embedders(lambda _: Never(), lambda: datetime(2026, 11, 1, tzinfo=UTC))  # type: ignore[arg-type, return-value]
    with pytest.raises(EmbedError, match="costs money"):
        make(EmbeddingServer("openai", "text-embedding-3-small", 1536)).embed(["x"], timeout_s=PATIENCE_S)


def test_a_server_elsewhere_is_asked_only_where_a_person_says_that_it_costs_nothing() -> None:
    """What is made unasked passes no limit, so a price that nobody knows counts as one."""
    asked: list[object] = []

    class Elsewhere:
        base_url = "https://api.example.org/v1"

        def embed(self, model: str, texts: Sequence[str]) -> list[list[float]]:
            asked.append(texts)
            return [[1.0] * 8 for _ in texts]

    def embed(price: float | None) -> None:
        chosen = EmbeddingServer("box", "m", 8)
        RemoteEmbedder(chosen, lambda _: Elsewhere(), lambda *_: price).embed(["x"], timeout_s=PATIENCE_S)  # type: ignore[arg-type, return-value]

    with pytest.raises(
        EmbedError, match=r"box/m is unknown\. The program does not use the model, because that might cost"
    ):
        embed(None)
    assert asked == []
    embed(0.0)
    assert asked == [["x"]]


@pytest.mark.parametrize("limit", [None, 5.0])
def test_under_a_limit_of_the_day_a_price_that_nobody_knows_is_one_here_too(
    desk: Desk, server: CompatibleServer, limit: float | None
) -> None:
    settings = replace(
        Settings(),
        retrieval=RetrievalSettings(
            enabled=True,
            embedder="box",
            embedding_model=EMBEDDING_MODEL,
            embedding_dimension=EMBEDDING_DIMENSION,
        ),
        caching=CachingSettings(day_limit_usd=limit),
    )
    places = asked_places(replace(AppState(), config=replace(AppState().config, settings=settings)))
    assert places is not None
    assert places.embedder is not None

    def embed(price: float | None) -> None:
        assert places is not None
        assert places.embedder is not None
        RemoteEmbedder(places.embedder, desk.clients.get, lambda *_: price).embed(["x"], timeout_s=PATIENCE_S)

    if limit is None:
        embed(None)
    else:
        with pytest.raises(EmbedError, match=r"The price of box/.* is unknown") as refused:
            embed(None)
        assert "remove the limit" in refused.value.remedy
        assert server.bodies == []
    embed(0.0)


def test_another_model_or_dimension_is_another_index(tmp_path: Path) -> None:
    key = SourceKey(Corpus.NOTES, "", "a.md")
    names = [("box/m", 8), ("box/n", 8), ("box/n", 16)]
    for name, dimension in names:
        store = LocalStore(tmp_path, name, dimension)
        assert store.sources(Corpus.NOTES, "") == {}
        store.put(key, SourceState("s", "0"), [Chunk(ChunkKind.PROSE, LineRange(1, 1), "x")])
        store.close()


def test_only_the_person_names_a_server() -> None:
    named = {"retrieval": {"embedder": "box", "embedding_model": "m", "embedding_dimension": 8}}
    values, flaws = check_settings(named, is_project=False)
    assert (len(values), flaws) == (3, [])
    assert not any(may_set(key, frozenset()) for key in values)
    settings = RetrievalSettings(enabled=True, embedder="box", embedding_model="m", embedding_dimension=8)
    places = places_of(settings, Project())
    assert places is not None
    assert places.embedder == EmbeddingServer("box", "m", 8)
    local = places_of(RetrievalSettings(enabled=True), Project())
    assert local is not None
    assert local.embedder is None
