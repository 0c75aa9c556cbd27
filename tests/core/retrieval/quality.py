"""Sets to judge retrieval by, and how they are judged: nDCG@10 and recall@10 of keywords, vectors and their fusion.

Shared by the tests and the benchmark. The sets are small and our own: `tests/data/retrieval`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from core.kernel.values.retrieval import Chunk, ChunkKind, Corpus, SourceHead
from core.retrieval.chunker import Measure, SpokenTurn, embedded_text, file_chunks, turn_chunks
from core.retrieval.fusion import by_source
from core.retrieval.index_run import EMBED_BATCH, EMBED_S
from core.retrieval.index_store import SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from core.retrieval.remote_embedder import Embedder
from core.retrieval.search import SearchRequest, search
from core.talk.context.outline import symbols_of

FOLDER = Path(__file__).parents[2] / "data" / "retrieval"
COUNT = 10


class Question(NamedTuple):
    """A question and the sources that answer it."""

    text: str
    wanted: frozenset[str]
    is_paraphrased: bool = False


class QualitySet(NamedTuple):
    """Sources with their chunks, and questions about them."""

    corpus: Corpus
    sources: Mapping[str, Sequence[Chunk]]
    questions: Sequence[Question]


class Quality(NamedTuple):
    """Means over the questions."""

    ndcg: float
    recall: float


def dialogues(measure: Measure, *, neighbours: bool = True) -> QualitySet:
    """Turns of conversations, a source each. `neighbours`: the turns around one are in its keywords."""
    sources: dict[str, Sequence[Chunk]] = {}
    questions: list[Question] = []
    for number, block in enumerate(_blocks("dialogues.txt")):
        turns = [line.partition(": ") for line in block if not line.startswith(("? ", "~ "))]
        spoken = [SpokenTurn(at, role, said) for at, (role, _, said) in enumerate(turns, 1)]
        for chunk in turn_chunks(spoken, measure):
            kept = chunk if neighbours else _alone(chunk)
            sources[f"{number}/{chunk.lines.first}"] = (kept,)
        for line in block:
            if line.startswith(("? ", "~ ")):
                text, _, turn = line[2:].rpartition(" => ")
                questions.append(Question(text, frozenset({f"{number}/{turn}"}), line.startswith("~")))
    return QualitySet(Corpus.DISCUSSIONS, sources, questions)


def notes() -> dict[str, str]:
    """Texts of the notes by path."""
    return {block[0]: _note(block) for block in _blocks("notes.txt")}


def note_set(measure: Measure) -> QualitySet:
    """Notes, a source each."""
    sources = {
        path: tuple(file_chunks(text, symbols_of(path, text), measure, ChunkKind.PROSE))
        for path, text in notes().items()
    }
    return QualitySet(Corpus.NOTES, sources, note_questions())


def note_questions() -> list[Question]:
    """Questions about the notes: one by its words and one by its meaning for each."""
    return [
        Question(line[2:], frozenset({block[0]}), line.startswith("~"))
        for block in _blocks("notes.txt")
        for line in block
        if line.startswith(("? ", "~ "))
    ]


def code_set(measure: Measure) -> QualitySet:
    """Functions, a source each, asked for in plain words."""
    sources: dict[str, Sequence[Chunk]] = {}
    questions: list[Question] = []
    for number, block in enumerate(_blocks("code.txt")):
        path, text = f"{number}.py", "\n".join(block[1:]) + "\n"
        sources[path] = tuple(file_chunks(text, symbols_of(path, text), measure, ChunkKind.CODE))
        questions.append(Question(block[0][2:], frozenset({path}), is_paraphrased=True))
    return QualitySet(Corpus.PROJECT, sources, questions)


def cosqa_sets(folder: Path, measure: Measure) -> dict[str, QualitySet]:
    """The dev and the test half of CoSQA as CoCLR cut it, from a folder of the person's."""
    table = (folder / "code_idx_map.txt").read_text("utf-8")
    sources = {
        str(number): tuple(file_chunks(code, symbols_of("a.py", code), measure, ChunkKind.CODE))
        for code, number in json.loads(table).items()
    }
    found = {}
    for half in ("dev", "test"):
        rows = json.loads((folder / f"cosqa-retrieval-{half}-500.json").read_text("utf-8"))
        asked = [Question(row["doc"], frozenset({str(row["retrieval_idx"])})) for row in rows]
        found[half] = QualitySet(Corpus.PROJECT, sources, asked)
    return found


class Judge:
    """A set in an index, asked by keywords, by vectors and by both."""

    def __init__(self, folder: Path, chosen: QualitySet, embedder: Embedder) -> None:
        self._set, self._embedder = chosen, embedder
        self._store = LocalStore(folder, embedder.name, embedder.dimension)
        for path, chunks in chosen.sources.items():
            self._store.put(SourceKey(chosen.corpus, "", path), SourceState("", "", SourceHead(path)), chunks)
        while bare := self._store.bare(EMBED_BATCH * 8):
            rows = embedder.embed([embedded_text(chunk) for _, chunk in bare], timeout_s=EMBED_S)
            self._store.give({place: row.tobytes() for (place, _), row in zip(bare, rows, strict=True)})

    def fused(self, questions: Iterable[Question] | None = None) -> Quality:
        """Of the search as it is."""
        return self._judged(self._embedder, questions)

    def keywords(self, questions: Iterable[Question] | None = None) -> Quality:
        """Of keywords alone."""
        return self._judged(None, questions)

    def vectors(self, questions: Iterable[Question] | None = None) -> Quality:
        """Of vectors alone."""
        return self._mean(self._by_vectors, questions)

    def passages(self, text: str) -> list[tuple[str, str]]:
        """Path and text of what the search as it is finds, the best first."""
        asked = SearchRequest(text, (self._set.corpus,), count=COUNT)
        return [(hit.path, hit.text) for hit in search(self._store, self._embedder, asked).hits]

    def close(self) -> None:
        """Let the index go."""
        self._store.close()

    def _judged(self, embedder: Embedder | None, questions: Iterable[Question] | None) -> Quality:
        def ask(text: str) -> list[str]:
            asked = SearchRequest(text, (self._set.corpus,), count=COUNT)
            return [hit.path for hit in search(self._store, embedder, asked).hits]

        return self._mean(ask, questions)

    def _by_vectors(self, text: str) -> list[str]:
        from core.kernel.values.retrieval import SearchFilters
        from core.retrieval.fusion import KindScores, fuse
        from core.retrieval.index_store import SHELVES

        query = self._embedder.embed([text], timeout_s=EMBED_S)[0]
        found = []
        for shelf in SHELVES:
            if shelf.corpus is self._set.corpus:
                scan = self._store.vector(shelf, query, ("",), SearchFilters(), 100, ())
                found.append(KindScores(shelf.kind, {}, scan.scores, scan.least))
        return [one.best.candidate.path.rpartition("\0")[2] for one in by_source(fuse(found), COUNT)]

    def _mean(self, ask: Callable[[str], list[str]], questions: Iterable[Question] | None) -> Quality:
        asked = list(self._set.questions if questions is None else questions)
        gains = [_gain(ask(question.text), question.wanted) for question in asked]
        return Quality(*(sum(column) / len(asked) for column in zip(*gains, strict=True)))


def _gain(found: Sequence[str], wanted: frozenset[str]) -> tuple[float, float]:
    hits = [1.0 / math.log2(place + 2) for place, path in enumerate(found) if path in wanted]
    best = sum(1.0 / math.log2(place + 2) for place in range(min(len(wanted), COUNT)))
    return sum(hits) / best, len(hits) / len(wanted)


def _alone(chunk: Chunk) -> Chunk:
    return Chunk(chunk.kind, chunk.lines, chunk.text, chunk.heading)


def _note(block: Sequence[str]) -> str:
    tags = block[1].partition(": ")[2]
    said = [line for line in block[2:] if not line.startswith(("? ", "~ "))]
    return "\n".join([said[0], "", f"**Tags:** {tags}", "", *said[1:], ""])


def _blocks(name: str) -> list[list[str]]:
    text = (FOLDER / name).read_text("utf-8")
    return [block.split("\n") for block in text.strip().split("\n\n")]
