"""A model's cosines are told on one scale: thresholds hold for a model that nobody here has seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from core.kernel.values.retrieval import AskedPlaces, Corpus, EmbeddingServer, RecallQuestion, RecallSpec
from core.knowledge.memory_use import LEAST_LIKENESS
from core.retrieval.ambient import LEAST_COSINE, recalled
from core.retrieval.embedders import E5, E5_NAME, MODEL_NAME, MiniLM
from core.retrieval.embedding import DIMENSION, cosine
from core.retrieval.front_matter import FieldNames
from core.retrieval.index_run import known_scale, note_scale
from core.retrieval.nearness import MINILM, OWN, PAIRS, measured
from core.retrieval.remote_embedder import EmbedError
from core.retrieval.retrieval_worker import IndexHandler, Retrieving, SearchHandler
from tests.core.retrieval.test_navigation_worker import Room, WordModel
from tests.core.retrieval.updates import updates


class Served:
    """A model of a server, in this process. `asked`: how many texts it was given."""

    dimension, is_warm = DIMENSION, True

    def __init__(self, name: str, model: MiniLM | E5) -> None:
        self.name, self.model, self.asked = name, model, 0

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        self.asked += len(texts)
        return self.model.embed(texts)


@pytest.fixture(scope="module")
def crowded() -> Served:
    """e5 as a server gives it: two texts that have nothing in common are .7 near to it."""
    return Served("box/multilingual-e5-small", E5(threads=1, keeps_language=True))


@pytest.mark.parametrize(("name", "model"), [(MODEL_NAME, MiniLM(threads=1)), (E5_NAME, E5(threads=1))])
def test_scales_of_the_own_models_are_what_is_measured(name: str, model: MiniLM | E5) -> None:
    found = measured(Served(name, model), timeout_s=60.0)
    assert (found.alike, found.unlike) == pytest.approx((OWN[name].alike, OWN[name].unlike), abs=0.005)


@pytest.mark.parametrize(("name", "model"), [(MODEL_NAME, MiniLM(threads=1)), (E5_NAME, E5(threads=1))])
def test_what_says_an_item_in_other_words_is_told_from_what_says_the_like(
    name: str, model: MiniLM | E5
) -> None:
    """By the model that each language is read by."""
    known = [one for one in updates() if (one.language == "en") == (name == MODEL_NAME)]
    items = model.embed([one.old for one in known]).astype(np.int64)

    def reached(texts: Sequence[str]) -> NDArray[np.bool_]:
        near = [
            [OWN[name].nearness(cosine(float(dot))) for dot in row] for row in items @ model.embed(texts).T
        ]
        return np.array(near) >= LEAST_LIKENESS

    again, beside = reached([one.again for one in known]), reached([one.beside for one in known])
    assert np.diagonal(again).mean() >= 0.7
    assert np.diagonal(beside).mean() <= 0.25
    assert again[~np.eye(len(known), dtype=bool)].mean() < 0.01


def test_a_model_that_crowds_all_texts_together_passes_the_same_thresholds(crowded: Served) -> None:
    scale = measured(crowded, timeout_s=60.0)
    asked = crowded.model.vectors([f"query: {one}" for one, _ in PAIRS])
    said = crowded.model.vectors([f"passage: {one}" for _, one in PAIRS])
    raw = asked @ said.T
    near = np.array([[scale.nearness(float(one)) for one in row] for row in raw])
    is_pair = np.eye(len(PAIRS), dtype=bool)

    assert (raw[~is_pair] > LEAST_COSINE).all(), "as they come, all would pass"
    assert (near[~is_pair] > LEAST_COSINE).mean() < 0.01
    assert (near[is_pair] > LEAST_COSINE).mean() > 0.45


def test_a_model_that_tells_nothing_apart_has_its_cosines_told_as_they_are() -> None:
    class Flat(WordModel):
        name = "flat"

    assert measured(Flat(FieldNames()), timeout_s=1.0) == MINILM
    assert MINILM.nearness(0.37) == 0.37


def test_who_is_asked_about_something_else_recalls_nothing_by_a_server_s_model(
    crowded: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    room = Room(tmp_path)
    room.shared = Retrieving(room.home, WordModel, lambda _: crowded)
    room.asked = replace(room.asked, embedder=EmbeddingServer("box", "multilingual-e5-small", DIMENSION))
    room = _with(room)
    for number, (_, said) in enumerate(PAIRS):
        (room.notes / f"{number}.md").write_text(f"{said}\n")
    room.index()
    asked_once = crowded.asked
    room.index()
    assert crowded.asked == asked_once, "measured once an index"

    store = room.shared.store(crowded)
    assert known_scale(store) == measured(crowded, timeout_s=60.0)
    near, far = (
        room.search("When does the ferry to the island leave?"),
        room.search("Refactor the lexer to yield tokens"),
    )
    nearest = max(near.hits, key=lambda one: one.cosine)
    assert "island" in nearest.text
    assert nearest.cosine > LEAST_COSINE > max((one.cosine for one in far.hits), default=0.0)
    question = RecallQuestion(far.query, "own", RecallSpec(AskedPlaces(), 800))
    hits = tuple(replace(one, corpus=Corpus.KNOWLEDGE) for one in far.hits)
    assert not recalled(question, replace(far, hits=hits)).passages
    room.shared.close()


def _with(room: Room) -> Room:
    """The room with workers of the embedder that it has now."""
    room._index = IndexHandler(room.shared, room.events.append)
    room._search = SearchHandler(room.shared, room.events.append)
    return room


def test_a_model_that_is_gone_when_it_would_be_measured_leaves_cosines_as_they_are(room: Room) -> None:
    class Gone(WordModel):
        def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
            raise EmbedError("It is away")

    room.index()
    store = room.shared.store(room.shared.model(FieldNames()))
    note_scale(store, Gone(FieldNames()))
    assert known_scale(store) == MINILM
