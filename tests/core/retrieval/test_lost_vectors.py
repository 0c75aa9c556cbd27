"""Vectors that a file lost, or that others took the place of, are made again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SearchPlaces
from core.retrieval.embedding import DIMENSION
from core.retrieval.index_run import index
from core.retrieval.index_store import SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from core.retrieval.sources import SourceText

KEY = SourceKey(Corpus.NOTES, "", "a.md")


def chunk(text: str) -> Chunk:
    return Chunk(ChunkKind.PROSE, LineRange(1, 1), text)


def given(store: LocalStore) -> None:
    store.give({place: bytes([1]) * DIMENSION for place, _ in store.bare(100)})


@pytest.mark.parametrize("left", [0, DIMENSION + 3])
def test_vectors_that_are_lost_are_made_again_and_nobody_s_are_erased(tmp_path: Path, left: int) -> None:
    store = LocalStore(tmp_path, "m", DIMENSION)
    store.put(KEY, SourceState("s", "0"), [chunk("one"), chunk("two"), chunk("three")])
    given(store)
    store.close()
    (file,) = tmp_path.glob("*.i8")
    os.truncate(file, left)
    store = LocalStore(tmp_path, "m", DIMENSION)
    store.mend_vectors()
    assert [one.text for _, one in store.bare(9)] == ["one", "two", "three"][left // DIMENSION :]
    given(store)
    file.write_bytes(file.read_bytes() + bytes([5]) * DIMENSION)
    store.close()
    store = LocalStore(tmp_path, "m", DIMENSION)
    store.mend_vectors()
    assert store.bare(9) == []
    assert file.read_bytes() == bytes([1]) * DIMENSION * 3 + bytes(DIMENSION)
    store.close()


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("is_in_place", [False, True])
def test_a_file_of_other_vectors_of_the_same_size_is_found_damaged_and_made_again(
    tmp_path: Path, *, is_open: bool, is_in_place: bool
) -> None:
    """Row by row: those of an older copy that are still right stay."""
    folder = tmp_path / "index"
    store = LocalStore(folder, "m", DIMENSION)
    store.put(KEY, SourceState("s", "0"), [chunk("one"), chunk("two")])
    given(store)
    store.mend_vectors()
    (file,) = folder.glob("*.i8")
    other = tmp_path / "other"
    other.write_bytes(bytes([1]) * DIMENSION + bytes([7]) * DIMENSION)
    if not is_open:
        store.close()
        store = LocalStore(folder, "m", DIMENSION)
    if is_in_place:
        file.write_bytes(other.read_bytes())
    else:
        other.replace(file)

    store.mend_vectors()

    assert [one.text for _, one in store.bare(9)] == ["two"]
    assert file.read_bytes() == bytes([1]) * DIMENSION + bytes(DIMENSION), (
        "nothing is answered by what was wrong"
    )
    given(store)
    assert [vector for _, vector in store.chunks(KEY)] == [bytes([1]) * DIMENSION] * 2
    store.close()


class Picky:
    """An embedder that makes no vector of texts with `poison`, or of none at all."""

    name, dimension, is_warm = "picky", DIMENSION, True

    def __init__(self, *, is_broken: bool = False) -> None:
        self.is_broken, self.asked = is_broken, 0

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> NDArray[np.int8]:
        """A row of ones each, zeros where there is none."""
        self.asked += 1
        return np.array([[not (self.is_broken or "poison" in text)] * DIMENSION for text in texts], np.int8)


def run(store: LocalStore, embedder: Picky, home: Path) -> str:
    return index(store, NoReader(), embedder, home, SearchPlaces()).report.no_vectors


class NoReader:
    """Reads nothing: no folder is looked into."""

    def read(
        self, corpus: Corpus, path: str, file: Path, known_sha256: str, *, tells_language: bool
    ) -> SourceText:
        """Nothing asks for it."""
        raise AssertionError(path)


def test_a_passage_of_which_no_vector_can_be_made_keeps_none_behind_it_from_theirs(tmp_path: Path) -> None:
    """It was asked for first by every run, for ever, and each search said that vectors are missing."""
    store = LocalStore(tmp_path / "index", "m", DIMENSION)
    texts = [f"{'poison' if number == 3 else 'plain'} {number}" for number in range(100)]
    store.put(KEY, SourceState("s", "0"), [chunk(text) for text in texts])
    picky = Picky()

    said = run(store, picky, tmp_path)

    assert said.startswith("1 passage can be found only by keywords: ")
    assert store.bare_count() == 0
    store.close()
    store, asked = LocalStore(tmp_path / "index", "m", DIMENSION), picky.asked
    assert run(store, picky, tmp_path) == ""
    assert picky.asked == asked, "it is asked for once"
    store.close()


def test_an_embedder_that_makes_vectors_of_nothing_refuses_no_passage(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "index", "m", DIMENSION)
    store.put(KEY, SourceState("s", "0"), [chunk("one"), chunk("two")])
    assert "did not return a vector" in run(store, Picky(is_broken=True), tmp_path)
    assert store.bare_count() == 2
    assert run(store, Picky(), tmp_path) == ""
    assert store.bare_count() == 0
    store.close()
