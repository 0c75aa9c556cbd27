"""One ranking out of two: scores of keywords and of vectors, weighed by the kind of what is searched.

Each kind is normalised apart (BM25 over its best, cosine from the least to the best of the query), so that code, prose,
conversation and knowledge can be merged by score. Every kind has a best one, also a kind that holds nothing of what is
asked for: its vectors count by how near they come to the nearest of all kinds, its keywords by how much of what is asked
for the best of them hold, against those of all kinds.
Ties go by path, then line.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from core.kernel.values.retrieval import ChunkKind, Retriever

VECTOR_WEIGHTS: Mapping[ChunkKind, float] = MappingProxyType(
    {
        ChunkKind.CODE: 0.9,
        ChunkKind.PROSE: 0.55,
        ChunkKind.KNOWLEDGE: 0.55,
        ChunkKind.CONVERSATION: 0.5,
    }
)
"""Weight of the vectors; keywords have the rest."""

LEAST_COSINE, LEAST_SHARE = 0.15, 0.25
"""Cosine, and its share of the nearest one's, under which meaning alone finds nothing.

Chosen on the sets of the quality tests: of what is wanted nothing is lost, of the rest goes from a third to nine tenths.
"""

ENOUGH = 0.5
"""Share of a query's weight from which on its words count in full where the best chunk holds as much. Below, they are words that
stand in any text: a note in the question's language was found before the right one in another."""

SURE_COSINE = 0.5
"""Cosine from which on meaning alone, without a word of the query anywhere, counts in full. The nearest of nothing is no find of 1.00."""

PASSAGES = 3
"""Further passages that are shown of one source."""


class ChunkPlace(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """A chunk that a retriever brought; a search looks each up a dozen times.

    Args:
        shelf, row: by which a store finds it again; path: of its source, unique in its corpus with the corpus before it.
    """

    shelf: str
    row: int
    path: str
    line: int


class KindScores(msgspec.Struct, frozen=True):
    """All that one kind's retrievers brought for a query.

    Args:
        keyword: BM25, higher is better; vector: cosines; least: the least cosine of any chunk of the kind.
        held: weight of the query's words that the best by keywords hold, rare words more; asked: of all its words, 0 where
            that is not known.
    """

    kind: ChunkKind
    keyword: Mapping[ChunkPlace, float]
    vector: Mapping[ChunkPlace, float]
    least: float = 0.0
    held: float = 1.0
    asked: float = 0.0


_FOUND_BY = {
    (True, True): (Retriever.KEYWORD, Retriever.VECTOR),
    (True, False): (Retriever.KEYWORD,),
    (False, True): (Retriever.VECTOR,),
    (False, False): (),
}


class Ranked(msgspec.Struct, frozen=True):
    """A chunk with its scores, each from 0 to 1, -1 where a retriever did not bring it. `cosine`: as it is.

    The score is rounded, so that two stores whose sums differ in the last bit give one order.
    """

    candidate: ChunkPlace
    kind: ChunkKind
    score: float
    keyword: float
    vector: float
    cosine: float = -1.0

    @property
    def found_by(self) -> tuple[Retriever, ...]:
        """The retrievers that found this passage."""
        return _FOUND_BY[self.keyword >= 0, self.vector >= 0]


class RankedSource(msgspec.Struct, frozen=True):
    """A source by its best chunk, with its next ones."""

    best: Ranked
    also: tuple[Ranked, ...] = ()


def fuse(found: Iterable[KindScores]) -> tuple[Ranked, ...]:
    """Rank what all kinds brought, the best first.

    A kind without any vector is ranked by its keywords alone; where no kind has keywords, vectors alone rank all, and the
    best scores no more than its cosine is worth.
    """
    kinds = tuple(found)
    has_keywords = any(one.keyword for one in kinds)
    fullest = max((one.held for one in kinds if one.keyword), default=0.0)
    nearest = max((max(one.vector.values()) for one in kinds if one.vector), default=0.0)
    alone = min(max(nearest, 0.0) / SURE_COSINE, 1.0)
    ranked = [
        one
        for of_kind in kinds
        for one in _of_kind(
            of_kind, VECTOR_WEIGHTS[of_kind.kind] if has_keywords else alone, nearest, fullest
        )
    ]
    return tuple(sorted(ranked, key=_order))


def worth_showing(ranked: Iterable[Ranked]) -> tuple[Ranked, ...]:
    """Chunks without those that hold none of the words and are far off in meaning: what is not there is not found."""
    kept = tuple(ranked)
    least = max(LEAST_COSINE, LEAST_SHARE * max((one.cosine for one in kept), default=0.0))
    return tuple(one for one in kept if one.keyword >= 0 or one.cosine >= least)


BREADTH, BREADTH_MOST, BREADTH_AMONG = 0.02, 8, 100
"""Score that a discussion gains among discussions, for being shown at all, by each of its passages among the best, and most passages that count.

What is asked for may have been said on many days, and each of them answers a part. Of 345 questions about long lives .953 of the
discussions that answer stand among ten, .942 by the best passage of each alone.
"""


def by_source(ranked: Sequence[Ranked], count: int) -> tuple[RankedSource, ...]:
    """The best `count` sources, each by its best chunk: a long one pushes nobody out. `ranked`: the best first.

    A file is one source, however many corpora and folders it counts in; its next chunks are those of the same reading.
    Of knowledge each item is one: what else stands in its category is another matter.
    """
    chunks: dict[tuple[str, int], list[Ranked]] = defaultdict(list)
    breadth: Counter[tuple[str, int]] = Counter()
    for number, one in enumerate(ranked):
        line = one.candidate.line if one.kind is ChunkKind.KNOWLEDGE else 0
        source = file_of(one.candidate.path), line
        chunks[source].append(one)
        breadth[source] += one.kind is ChunkKind.CONVERSATION and number < BREADTH_AMONG
    first = tuple(chunks)[:count]
    talks = [source for source in chunks if breadth[source]]
    talks.sort(key=lambda one: chunks[one][0].score + BREADTH * min(breadth[one], BREADTH_MOST), reverse=True)
    broad = talks[: sum(1 for source in first if breadth[source])]
    shown = {*(source for source in first if not breadth[source]), *broad}
    best = (of_source for source, of_source in chunks.items() if source in shown)
    return tuple(RankedSource(one, tuple(_next(one, rest)[:PASSAGES])) for one, *rest in best)


def file_of(source: str) -> str:
    """The file of a source: its folder and its path there, or the source itself where it belongs to the home.

    Args:
        source: corpus, folder and path with a zero character between each two.
    """
    _, _, place = source.partition("\0")
    scope, _, path = place.partition("\0")
    return f"{scope.rstrip('/')}/{path}" if scope else source


def _next(first: Ranked, rest: Sequence[Ranked]) -> list[Ranked]:
    return [one for one in rest if one.candidate.path == first.candidate.path]


def _order(one: Ranked) -> tuple[float, str, int, int]:
    return -one.score, one.candidate.path, one.candidate.line, one.candidate.row


def _of_kind(found: KindScores, weight: float, nearest: float, fullest: float) -> Iterable[Ranked]:
    if not found.vector:
        weight = 0.0
    full = found.held / fullest if fullest > 0 else 1.0
    if found.asked > 0:
        full *= min(fullest / (ENOUGH * found.asked), 1.0)
    keyword = {one: full * score for one, score in _over_best(found.keyword).items()}
    near = max(max(found.vector.values(), default=0.0), 0.0) / nearest if nearest > 0 else 1.0
    vector = {one: near * score for one, score in _stretched(found.vector, found.least).items()}
    for candidate, by_keyword in keyword.items():
        by_vector = vector.get(candidate, -1.0)
        score = (1 - weight) * by_keyword + weight * max(by_vector, 0.0)
        cosine = found.vector.get(candidate, -1.0)
        yield Ranked(
            candidate=candidate,
            kind=found.kind,
            score=round(score, 9),
            keyword=by_keyword,
            vector=by_vector,
            cosine=cosine,
        )
    for candidate, by_vector in vector.items():
        if candidate not in keyword:
            score = round(weight * by_vector, 9)
            yield Ranked(
                candidate=candidate,
                kind=found.kind,
                score=score,
                keyword=-1.0,
                vector=by_vector,
                cosine=found.vector[candidate],
            )


def _over_best(scores: Mapping[ChunkPlace, float]) -> dict[ChunkPlace, float]:
    best = max(scores.values(), default=0.0)
    return {one: score / best if best > 0 else 0.0 for one, score in scores.items()}


def _stretched(scores: Mapping[ChunkPlace, float], least: float) -> dict[ChunkPlace, float]:
    best = max(scores.values(), default=0.0)
    spread = best - least
    return {one: max(score - least, 0.0) / spread if spread > 0 else 1.0 for one, score in scores.items()}
