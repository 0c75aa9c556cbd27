"""Notes in six languages, each asked for in the five others: own sentences, with the right note of each question."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus
from core.retrieval.chunker import embedded_text
from core.retrieval.embedding import index_name, instruction_of
from core.retrieval.index_store import SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from core.retrieval.remote_embedder import Embedder
from core.retrieval.search import SearchRequest, search
from tests.patience import PATIENCE_S

LANGUAGES = ("en", "de", "fr", "es", "ru", "zh")
DATA = Path(__file__).parents[2] / "data" / "retrieval" / "six_languages.toml"


class Crossed(msgspec.Struct, frozen=True):
    """Places that the right notes took, from 0; as many as `count` where one was not found. By the two languages."""

    asked: str
    written: str
    place: int


def topics() -> list[dict[str, tuple[str, str]]]:
    """Note and question of each topic by language."""
    return [
        {language: (said[0], said[1]) for language, said in one.items()}
        for one in tomllib.loads(DATA.read_text("utf-8"))["topic"]
    ]


def crossed(folder: Path, model: Embedder, turns: Sequence[int] = range(6), count: int = 10) -> list[Crossed]:
    """Ask for each note in the other languages, by the whole search. `turns`: which language begins, each another set."""
    return [found for turn in turns for found in _one_set(folder / str(turn), model, turn, count)]


def _one_set(folder: Path, model: Embedder, turn: int, count: int) -> Iterator[Crossed]:
    known = topics()
    written = [LANGUAGES[(number + turn) % len(LANGUAGES)] for number in range(len(known))]
    store = LocalStore(folder, index_name(model.name), model.dimension)
    for number, language in enumerate(written):
        chunk = Chunk(kind=ChunkKind.PROSE, lines=LineRange(1, 1), text=known[number][language][0])
        store.put(SourceKey(Corpus.NOTES, "/n", f"{number}.md"), SourceState(stamp="1", sha256="1"), [chunk])
    before = instruction_of(model.name).passage
    while bare := store.bare(64):
        vectors = model.embed([before + embedded_text(chunk) for _, chunk in bare], timeout_s=PATIENCE_S)
        store.give({place: row.tobytes() for (place, _), row in zip(bare, vectors, strict=True)})
    for language in LANGUAGES:
        for number, topic in enumerate(known):
            if language != written[number]:
                asked = SearchRequest(
                    query=topic[language][1], corpora=(Corpus.NOTES,), scopes=("/n",), count=count
                )
                paths = [hit.path for hit in search(store, model, asked).hits]
                name = f"{number}.md"
                place = paths.index(name) if name in paths else count
                yield Crossed(asked=language, written=written[number], place=place)
    store.close()
