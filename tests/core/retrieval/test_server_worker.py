"""The workers with `[retrieval] server`: a run fills the index here and the one there, and the one there is searched."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import (
    AskedPlaces,
    Chunk,
    ChunkKind,
    Corpus,
    SearchAnswer,
    SearchFilters,
    SearchMode,
    SourceHead,
)
from core.retrieval.front_matter import FieldNames
from core.retrieval.retrieval_messages import (
    IndexEnded,
    RetrievalEvent,
    SearchAnswered,
    SearchMemory,
    UpdateIndex,
)
from core.retrieval.retrieval_worker import IndexHandler, Retrieving, SearchHandler
from core.retrieval.sources import SourceText
from tests.core.retrieval.test_navigation_worker import no_server


class ByteModel:
    """A note is a chunk, and its vector is of its bytes."""

    name, dimension, is_warm = "small", 8, True

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        return np.stack([np.frombuffer(hashlib.sha256(one.encode()).digest()[:8], np.int8) for one in texts])

    def read(
        self, corpus: Corpus, path: str, file: Path, known_sha256: str, *, tells_language: bool
    ) -> SourceText:
        data = file.read_bytes()
        chunk = Chunk(ChunkKind.PROSE, LineRange(1, 1), data.decode())
        return SourceText(SourceHead(path), (chunk,), sha256=hashlib.sha256(data).hexdigest())

    def close(self) -> None:
        pass


def places(folder: Path, server: str) -> AskedPlaces:
    return AskedPlaces((str(folder),), str(folder), corpora=(Corpus.NOTES,), server=server)


def searched(shared: Retrieving, asked: AskedPlaces) -> SearchAnswer:
    events: list[RetrievalEvent] = []
    SearchHandler(shared, events.append).handle(
        SearchMemory(query="zebra", count=5, filters=SearchFilters(), asked=asked)
    )
    (event,) = events
    assert isinstance(event, SearchAnswered)
    return event.answer


def indexed(shared: Retrieving, asked: AskedPlaces) -> IndexEnded:
    events: list[RetrievalEvent] = []
    IndexHandler(shared, events.append).handle(UpdateIndex(asked=asked))
    last = events[-1]
    assert isinstance(last, IndexEnded)
    return last


def test_a_run_fills_both_and_the_server_is_searched(postgres_url: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("a zebra")
    (notes / "b.md").write_text("a horse")
    shared = Retrieving(tmp_path / "home", lambda _: ByteModel(), no_server)
    asked = places(notes, postgres_url)
    ended = indexed(shared, asked)
    assert ended.report is not None
    assert (ended.problem, ended.report.server) == ("", "")
    answer = searched(shared, asked)
    assert {hit.path: hit.keyword for hit in answer.hits} == {"a.md": 1.0}
    assert not answer.degraded
    # Nothing is left here, and the server has it all.
    shared.renew(shared.model(FieldNames()))
    assert searched(shared, asked).hits == answer.hits
    assert searched(shared, places(notes, "")).mode is SearchMode.NAVIGATION_ONLY
    shared.close()


def test_a_server_that_cannot_be_used_is_said_by_the_run_and_by_the_answer(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("a zebra")
    shared = Retrieving(tmp_path / "home", lambda _: ByteModel(), no_server)
    asked = places(notes, "postgresql://person@127.0.0.1:1/index")
    ended = indexed(shared, asked)
    assert ended.report is not None
    assert ended.problem == ""
    assert "127.0.0.1:1/index" in ended.report.server
    answer = searched(shared, asked)
    assert answer.degraded
    assert [hit.path for hit in answer.hits] == ["a.md"]
    shared.close()
