"""Vectors that a file lost, or that others took the place of, are made again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.retrieval.local_store import LocalStore
from core.retrieval.quantisation import DIMENSION
from core.retrieval.store import SourceKey, SourceState
from core.values.curation import LineRange
from core.values.retrieval import Chunk, ChunkKind, Corpus

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
