"""A home that is searched forgets: index and recall hold no word of it, and what stays is found without being read again."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SearchPlaces, SourceHead
from core.retrieval import sources
from core.retrieval.index_run import index
from core.retrieval.local_store import LocalStore
from core.retrieval.sources import SourceText
from tests.core.app.forgetting.day import a_day, forgotten, traces
from tests.core.knowledge.harvest.harvests import add_discussion

KINDS = {Corpus.KNOWLEDGE: ChunkKind.KNOWLEDGE, Corpus.DISCUSSIONS: ChunkKind.CONVERSATION}
PLACES = SearchPlaces(corpora=tuple(KINDS))


class WholeFiles:
    """A reader for which a file is one passage, titled by its first words."""

    def read(
        self, corpus: Corpus, path: str, file: Path, known_sha256: str, *, tells_language: bool
    ) -> SourceText:
        text = file.read_text()
        return SourceText(
            SourceHead(text[:80]), (Chunk(KINDS[corpus], LineRange(1, 1), text),), sha256=str(len(text))
        )


@pytest.fixture
def home(isolated_home: Path) -> Path:
    isolated_home.mkdir()
    return isolated_home


def test_the_index_of_a_home_holds_no_word_of_what_was_forgotten_and_all_else(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "YOUNG_NS", 0)  # a file that was just written is read once more otherwise
    secret = a_day(home)
    stays = add_discussion(home, "Stays", "Who sweeps the quay?")
    shutil.rmtree(paths.index_dir(home))
    with closing(LocalStore(paths.index_dir(home), "small", 8)) as store:
        index(store, WholeFiles(), None, home, PLACES)
        assert any(name.startswith("index-") for name in traces())

        receipt = forgotten(home, secret)

        assert (traces(), receipt.problems) == ([], ())
        (told,) = [row for row in receipt.places if row.place == "index"]
        assert (told.removed > 1, told.checked) == (
            True,
            "the program overwrote the words and vectors in the index",
        )
        assert list(store.sources(Corpus.DISCUSSIONS, "")) == [stays]
        again = index(store, WholeFiles(), None, home, PLACES).report
        assert (again.unchanged, again.read > 0) == (1, True)
    assert traces() == []
