"""The program's own answers to a set: through the index, the search, recall and the digest as a person has them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

import msgspec

from core.kernel.values.knowledge import Provenance
from core.kernel.values.retrieval import (
    AskedPlaces,
    Corpus,
    RecallQuestion,
    RecallSpec,
    SourceHead,
)
from core.knowledge.layer7 import project
from core.retrieval.ambient import recall_filters, recall_query, recalled, wanted_count
from core.retrieval.chunker import Measure, SpokenTurn, embedded_text, turn_chunks
from core.retrieval.embedding import instruction_of
from core.retrieval.index_store import SourceKey, SourceState
from core.retrieval.local_store import LocalStore
from core.retrieval.remote_embedder import Embedder
from core.retrieval.search import SearchRequest, search
from tests.bench.memory_sets import Asked, Life

TURNS, SOURCES, TOKENS = 10, 10, 800
DISCUSSIONS = (Corpus.DISCUSSIONS,)


class Score(msgspec.Struct, frozen=True):
    """Means over the questions of a set."""

    turns: float
    sources: float
    shown: float
    beside: float
    tokens: float


def filled(folder: Path, life: Life, model: Embedder, measure: Measure) -> LocalStore:
    """An index of a life's talks."""
    store = LocalStore(folder, model.name, model.dimension)
    for number, talk in enumerate(life.talks):
        turns = [
            SpokenTurn(number=at, role=turn.role, text=turn.text, date=talk.day)
            for at, turn in enumerate(talk.turns, 1)
        ]
        key = SourceKey(Corpus.DISCUSSIONS, "", f"talk-{number:03}")
        head = SourceHead(title=talk.name, date=talk.day)
        store.put(key, SourceState(stamp="1", sha256="1", head=head), list(turn_chunks(turns, measure)))
    before = instruction_of(model.name).passage
    while bare := store.bare(64):
        vectors = model.embed([before + embedded_text(chunk) for _, chunk in bare], timeout_s=60.0)
        store.give({place: vector.tobytes() for (place, _), vector in zip(bare, vectors, strict=True)})
    store.note_whole()
    return store


def score(store: LocalStore, life: Life, model: Embedder) -> list[Score]:
    """Scores of each question."""
    return [_score(store, life, model, asked) for asked in life.questions]


def _score(store: LocalStore, life: Life, model: Embedder, asked: Asked) -> Score:
    by_turn = search(
        store, model, SearchRequest(query=asked.text, corpora=DISCUSSIONS, count=TURNS, by_evidence=True)
    )
    by_source = search(store, model, SearchRequest(query=asked.text, corpora=DISCUSSIONS, count=SOURCES))
    found = [_mark(life, hit.path, hit.lines.first) for hit in by_turn.hits]
    shown = [
        _mark(life, hit.path, lines.first)
        for hit in by_source.hits
        for lines in (hit.lines, *(one.lines for one in hit.also))
    ]
    talks = {talk for hit in by_source.hits for talk in [int(hit.path[5:])]}
    of = {turn.mark: number for number, talk in enumerate(life.talks) for turn in talk.turns}
    beside, tokens = recall(store, life, model, asked.text)
    return Score(
        turns=_share(asked, found),
        sources=statistics.mean(of[mark] in talks for mark in asked.evidence),
        shown=_share(asked, shown),
        beside=_share(asked, beside),
        tokens=tokens,
    )


def recall(store: LocalStore, life: Life, model: Embedder, text: str) -> tuple[list[str], int]:
    """Marks of the turns beside a message, and what they take."""
    question = RecallQuestion(
        text=text, discussion_id="own", spec=RecallSpec(AskedPlaces(corpora=DISCUSSIONS), TOKENS), told=""
    )
    request = SearchRequest(
        query=recall_query(text),
        corpora=DISCUSSIONS,
        count=wanted_count(question),
        filters=recall_filters(question),
        by_evidence=True,
    )
    told = recalled(question, search(store, model, request))
    marks = []
    for one in told.passages:
        name, _, number = one.place.rpartition(", message ")
        talk = next(talk for talk in life.talks if talk.name == name)
        marks.append(talk.turns[int(number) - 1].mark)
    return marks, told.tokens_est


def digest(life: Life) -> str:
    """The digest of a life's facts."""
    items = []
    for fact in reversed(life.facts):
        talk = life.talks[fact.talk]
        origin = Provenance(source=f"{talk.day}-{talk.name.replace(' ', '-')}", date=talk.day)
        items.append((fact.text, origin))
    return project([("Facts", items)])


def _share(asked: Asked, marks: Sequence[str]) -> float:
    return len(asked.evidence & set(marks)) / len(asked.evidence)


def _mark(life: Life, path: str, number: int) -> str:
    return life.talks[int(path[5:])].turns[number - 1].mark
