"""Share of a query that each kind's best chunks hold: by it kinds are told apart whose best would all count as one."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from core.retrieval.chunker import keyword_text
from core.retrieval.fusion import ChunkPlace, KindScores
from core.retrieval.store import BY_NAME, VectorStore
from core.retrieval.tokens import FtsTokens

_BEST = 2
"""Chunks of each kind that are looked at."""

_TERMS = 16
"""Words of a query that are weighed; of a longer one the first ones are."""

_COUNTED = 200
"""Chunks up to which a word's are counted: one that more hold is as common as any."""


def with_held(store: VectorStore, terms: Sequence[str], kinds: Sequence[KindScores]) -> list[KindScores]:
    """The kinds, each with what its best by keywords hold of the query. Where one kind alone has any, nothing is asked.

    A word weighs the less the more chunks of all shelves hold it: a shelf of few chunks calls no word rare by itself.
    """
    if sum(1 for one in kinds if one.keyword) < 2:
        return list(kinds)
    asked = terms[:_TERMS]
    names = {place.shelf for one in kinds for place in one.keyword}
    weights = {
        term: 1 / math.log2(2 + sum(store.frequency(BY_NAME[name], term, _COUNTED) for name in sorted(names)))
        for term in asked
    }
    best = [heapq.nlargest(_BEST, one.keyword, key=lambda place: one.keyword[place]) for one in kinds]
    stored = store.read(place for places in best for place in places)
    with FtsTokens() as tokens:
        phrases = {term: frozenset(tokens.of(term)) for term in asked}
        said = {place: frozenset(tokens.of(keyword_text(one.chunk))) for place, one in stored.items()}
    return [
        replace(one, held=max((_weight(said, place, phrases, weights) for place in places), default=0.0))
        for one, places in zip(kinds, best, strict=True)
    ]


def _weight(
    said: Mapping[ChunkPlace, frozenset[str]],
    place: ChunkPlace,
    phrases: Mapping[str, frozenset[str]],
    weights: Mapping[str, float],
) -> float:
    """Weight of the words that a chunk holds; one that is gone by now holds none."""
    there = said.get(place, frozenset())
    return sum(weights[term] for term, phrase in phrases.items() if phrase and phrase <= there)
