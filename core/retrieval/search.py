"""One search: keywords and vectors of each shelf, fused. It degrades in the open and never raises."""

from __future__ import annotations

import heapq
import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.language import as_sentences, tr
from core.kernel.queue import KeptThreads
from core.kernel.values.messages import Role
from core.kernel.values.retrieval import (
    ChunkKind,
    Corpus,
    Passage,
    SearchAnswer,
    SearchFilters,
    SearchHit,
    SearchMode,
)
from core.kernel.words import query_terms
from core.retrieval.chunker import keyword_text
from core.retrieval.embedding import instruction_of
from core.retrieval.front_matter import note_names
from core.retrieval.fusion import (
    ChunkPlace,
    KindScores,
    Ranked,
    RankedSource,
    by_source,
    fuse,
    worth_showing,
)
from core.retrieval.index_file import IndexFaultError
from core.retrieval.index_store import (
    BY_NAME,
    SHELVES,
    ServedIndex,
    ServerFaultError,
    Shelf,
    StoredChunk,
    VectorStore,
)
from core.retrieval.local_store import fts_tokens
from core.retrieval.nearness import MINILM, OWN, Scale
from core.retrieval.remote_embedder import Embedder, EmbedError, sound_vectors
from core.retrieval.successors import NEWER_AMONG, NOTES_AMONG, AgedText, newer_first, with_successors

# Share of a query that each kind's best chunks hold: by it kinds are told apart whose best would all count
# as one.

_BEST = 2
"""Chunks of each kind that are looked at."""

_TERMS = 16
"""Words of a query that are weighed; of a longer one the first ones are."""

_COUNTED = 200
"""Chunks up to which a word's are counted: one that more hold is as common as any."""


def with_held(store: VectorStore, terms: Sequence[str], kinds: Sequence[KindScores]) -> list[KindScores]:
    """The kinds, each with what its best by keywords hold of the query.

    A word weighs the less the more chunks of all shelves hold it: a shelf of few chunks calls no word rare by itself.
    """
    if not any(one.keyword for one in kinds):
        return list(kinds)
    asked = terms[:_TERMS]
    names = {place.shelf for one in kinds for place in one.keyword}
    weights = {
        term: 1 / math.log2(2 + sum(store.frequency(BY_NAME[name], term, _COUNTED) for name in sorted(names)))
        for term in asked
    }
    best = [heapq.nlargest(_BEST, one.keyword, key=lambda place: one.keyword[place]) for one in kinds]
    stored = store.read(place for places in best for place in places)
    texts = [keyword_text(one.chunk) for one in stored.values()]
    tokens = [frozenset(one) for one in fts_tokens().of_each([*asked, *texts])]
    phrases, said = (
        dict(zip(asked, tokens, strict=False)),
        dict(zip(stored, tokens[len(asked) :], strict=True)),
    )
    asked_for = sum(weights.values())
    return [
        replace(
            one,
            asked=asked_for,
            held=max((_weight(said, place, phrases, weights) for place in places), default=0.0),
        )
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


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_HITS = 100
EMBED_S, FIRST_EMBED_S = 2.0, 20.0
"""A query whose vector takes longer is answered by keywords alone; the first one waits for the model to be loaded."""

_EMBEDDED_CHARS = 2_000
"""Characters of a query that its vector is made of: no model takes many more, and some refuse them."""

_NO_VECTORS, _SOME_VECTORS = tr("No passage has a vector yet"), tr("Some passages have no vector yet")
_WAIT = tr("The program makes the vectors while it updates the index")

_AGEING = MappingProxyType(
    {
        ChunkKind.CONVERSATION: NEWER_AMONG,
        ChunkKind.KNOWLEDGE: NEWER_AMONG,
        ChunkKind.PROSE: NOTES_AMONG,
    }
)
"""Kinds of which an older one may be out of date where a newer one says the like: all but code. Best chunks that are looked at."""

_CANDIDATES = 100
_PER_SOURCE, _PER_PASSAGE = 5, 3
"""Chunks that each retriever brings of a shelf, at least, and for each source or passage that is wanted."""

_ASIDE = KeptThreads()


class SearchRequest(msgspec.Struct, frozen=True):
    """A search.

    Args:
        corpora: those that are switched on; scopes: the folders whose notes and files count, beside the home's own.
        count: sources that are wanted, 1 to `MAX_HITS`; by_evidence: passages are, whichever source they are of.
    """

    query: str
    corpora: tuple[Corpus, ...]
    scopes: tuple[str, ...] = ()
    count: int = 10
    filters: SearchFilters = SearchFilters()
    by_evidence: bool = False


def search(
    store: VectorStore | ServedIndex,
    embedder: Embedder | None,
    asked: SearchRequest,
    *,
    navigate: Callable[[SearchRequest], tuple[SearchHit, ...]] = lambda _: (),
    is_made_anew: bool = False,
    scale: Scale = MINILM,
    clock: Callable[[], float] = time.monotonic,
) -> SearchAnswer:
    """Search. No exception: what could not be asked is said in the answer.

    Args:
        embedder: None where vectors are switched off; navigate: answers by titles, tags and descriptions of notes.
        is_made_anew: most of the index is not there yet, and cannot answer.
        scale: of an embedder that does not come with the program.
        clock: seconds.
    """
    if isinstance(store, ServedIndex):

        def ask(one: VectorStore) -> SearchAnswer:
            is_anew = is_made_anew and one is store.here
            return search(
                one, embedder, asked, navigate=navigate, is_made_anew=is_anew, scale=scale, clock=clock
            )

        return _served(store, ask)
    start = clock()
    shelves = [s for s in SHELVES if s.corpus in asked.corpora and _is_asked(s, asked.filters)]
    if not shelves or not any(c.isalnum() for c in asked.query):  # marks alone mean nothing to any model
        return SearchAnswer(query=asked.query, mode=SearchMode.HYBRID if asked.corpora else SearchMode.OFF)
    try:
        _require_index(is_made_anew=is_made_anew)
        meanwhile = _embedding(embedder, asked.query)
        keyword = _keyword(store, shelves, asked)
        vector, reason, remedy = meanwhile()
        scale = OWN.get(embedder.name, scale) if embedder is not None else scale
        found = _found(store, shelves, asked, keyword, vector, scale)
        is_bare = vector is not None and store.is_bare(shelves, _scopes(asked))
        has_vectors = any(one.vector for one in found)
        hits = _hits(store, worth_showing(fuse(found)), asked)
    except IndexFaultError as error:
        answer = _by_titles(asked, navigate, error)
        return replace(answer, took_s=clock() - start)
    mode = SearchMode.HYBRID if vector is not None else SearchMode.KEYWORD
    if is_bare:
        mode = SearchMode.HYBRID if has_vectors else SearchMode.KEYWORD
        reason, remedy = _SOME_VECTORS if has_vectors else _NO_VECTORS, _WAIT
    return SearchAnswer(
        query=asked.query,
        hits=hits,
        mode=mode,
        degraded=bool(reason),
        reason=reason,
        remedy=remedy,
        took_s=clock() - start,
    )


def _require_index(*, is_made_anew: bool) -> None:
    if is_made_anew:
        raise IndexFaultError(
            tr("The search index does not exist yet"),
            remedy=tr("The open window or `manual-slop search` makes the index; ask again then"),
        )


def _by_titles(
    asked: SearchRequest, navigate: Callable[[SearchRequest], tuple[SearchHit, ...]], why: IndexFaultError
) -> SearchAnswer:
    """Answer of the notes themselves, for want of an index; where they cannot be looked through either, both are said."""
    reason, hits = why.what, tuple[SearchHit, ...]()
    try:
        hits = navigate(asked)
    except SlopError as error:
        reason = as_sentences(reason, error.what)
    return SearchAnswer(
        query=asked.query,
        hits=hits,
        mode=SearchMode.NAVIGATION_ONLY,
        degraded=True,
        reason=reason,
        remedy=why.remedy,
    )


def _served(index: ServedIndex, ask: Callable[[VectorStore], SearchAnswer]) -> SearchAnswer:
    """Answer of the server, else of this machine, which says so."""
    try:
        index.server.ready()
        return ask(index.server)
    except ServerFaultError as error:
        answer = ask(index.here)
        if answer.mode is SearchMode.OFF:
            return answer
        reason = as_sentences(answer.reason, error.what)
        remedy = answer.remedy or error.remedy
        return replace(answer, degraded=True, reason=reason, remedy=remedy, is_of_this_machine=True)


def _is_asked(shelf: Shelf, filters: SearchFilters) -> bool:
    return not filters.corpora or shelf.corpus in filters.corpora


_Embedded = tuple["NDArray[np.int8] | None", str, str]
"""Vector of a query, else why there is none, and what helps."""


def _embedding(embedder: Embedder | None, query: str) -> Callable[[], _Embedded]:
    """Begin a query's vector, and give what waits for it: another process or a server makes it, while words are looked for."""
    if embedder is None:
        return lambda: (None, "", "")
    answered: list[_Embedded | Exception] = []

    def ask() -> None:
        try:
            answered.append(_query_vector(embedder, query))
        except Exception as error:  # noqa: BLE001 (the edge of this thread: who waits raises it)
            answered.append(error)

    is_over = _ASIDE.run("query-vector", ask)

    def wait() -> _Embedded:
        is_over.wait()
        if isinstance(answered[0], Exception):
            raise answered[0]
        return answered[0]

    return wait


def _query_vector(embedder: Embedder, query: str) -> _Embedded:
    try:
        bound_s = EMBED_S if embedder.is_warm else FIRST_EMBED_S
        text = instruction_of(embedder.name).query + query[:_EMBEDDED_CHARS]
        return sound_vectors(embedder, [text], timeout_s=bound_s)[0], "", ""
    except EmbedError as error:
        return None, error.what, error.remedy


def _keyword(
    store: VectorStore, shelves: Sequence[Shelf], asked: SearchRequest
) -> dict[Shelf, dict[ChunkPlace, float]]:
    """Scores by words of each shelf."""
    terms, scopes = query_terms(asked.query), _scopes(asked)
    return {one: store.keyword(one, terms, scopes, asked.filters, _most(asked)) for one in shelves}


def _found(
    store: VectorStore,
    shelves: Sequence[Shelf],
    asked: SearchRequest,
    by_words: Mapping[Shelf, Mapping[ChunkPlace, float]],
    vector: NDArray[np.int8] | None,
    scale: Scale,
) -> list[KindScores]:
    """Scores that each kind's shelves brought, cosines as `scale` tells them."""
    keyword: dict[ChunkKind, dict[ChunkPlace, float]] = defaultdict(dict)
    cosines: dict[ChunkKind, dict[ChunkPlace, float]] = defaultdict(dict)
    least: dict[ChunkKind, float] = {}
    for shelf in shelves:
        keyword[shelf.kind].update(by_words[shelf])
        if vector is not None:
            scan = store.vector(shelf, vector, _scopes(asked), asked.filters, _most(asked), by_words[shelf])
            cosines[shelf.kind].update(scale.told(scan.scores))
            lowest = scale.nearness(scan.least)
            least[shelf.kind] = min(least.get(shelf.kind, lowest), lowest)
    kinds = dict.fromkeys(shelf.kind for shelf in shelves)
    found = [
        KindScores(kind=kind, keyword=keyword[kind], vector=cosines[kind], least=least.get(kind, 0.0))
        for kind in kinds
    ]
    return with_held(store, query_terms(asked.query), found)


def _scopes(asked: SearchRequest) -> tuple[str, ...]:
    return (*asked.scopes, "")


def _most(asked: SearchRequest) -> int:
    return max(_CANDIDATES, (_PER_PASSAGE if asked.by_evidence else _PER_SOURCE) * asked.count)


def _hits(store: VectorStore, ranked: Sequence[Ranked], asked: SearchRequest) -> tuple[SearchHit, ...]:
    """The best of a ranking with their words. Of two that say the like the newer goes first."""
    count = min(max(asked.count, 1), MAX_HITS)
    first = ranked[:NEWER_AMONG]
    ageing = {one.candidate for number, one in enumerate(first) if number < _AGEING.get(one.kind, 0)}
    stored = store.read(one.candidate for one in ranked[:count]) if asked.by_evidence else store.read(ageing)
    stored |= store.read(ageing - stored.keys()) if asked.by_evidence else {}
    texts = {place: _aged(one) for place, one in stored.items() if place in ageing}
    ranked, newer = newer_first(ranked, texts, asked.query)
    sources = tuple(map(RankedSource, ranked[:count])) if asked.by_evidence else by_source(ranked, count)
    sources = with_successors(sources, ranked, newer, count)
    wanted = {one.candidate for source in sources for one in (source.best, *source.also)} - stored.keys()
    stored |= store.read(wanted)
    places = {old: place_of(stored[after]) for old, after in newer.items() if after in stored}
    hits = tuple(_hit(source, stored, places) for source in sources if source.best.candidate in stored)
    return hits if asked.by_evidence else _named_first(hits, asked.query)


def _named_first(hits: tuple[SearchHit, ...], query: str) -> tuple[SearchHit, ...]:
    """Notes that have the query as their title or alias before those that only speak of it, or link to it."""
    wanted = query.strip().casefold()
    named = [
        one
        for one in hits
        if one.kind is ChunkKind.PROSE
        and wanted in f"{one.title}\n{one.text}".casefold()
        and wanted in (name.casefold() for name in (one.title, *note_names(one.text, one.path)))
    ]
    if not named or hits[: len(named)] == tuple(named):
        return hits
    best = hits[0].score
    return (*(replace(one, score=best) for one in named), *(one for one in hits if one not in named))


def _aged(one: StoredChunk) -> AgedText:
    """A passage with its day. Notes, items and facts are the person's own words."""
    kind = one.chunk.kind
    return AgedText(
        text=one.chunk.text,
        day=one.chunk.date or one.head.date,
        by=one.chunk.heading if kind is ChunkKind.CONVERSATION else Role.USER.value,
        is_in_order=kind is not ChunkKind.PROSE,
    )


def _hit(
    source: RankedSource, stored: Mapping[ChunkPlace, StoredChunk], newer: Mapping[ChunkPlace, str]
) -> SearchHit:
    best = source.best
    kept = stored[best.candidate]
    also = [(one, stored[one.candidate].chunk) for one in source.also if one.candidate in stored]
    return SearchHit(
        corpus=kept.source.corpus,
        kind=kept.chunk.kind,
        path=kept.source.path,
        title=kept.head.title or kept.source.path,
        lines=kept.chunk.lines,
        heading=kept.chunk.heading,
        text=kept.chunk.text,
        score=best.score,
        keyword=round(best.keyword, 6),
        vector=round(best.vector, 6),
        found_by=best.found_by,
        date=kept.chunk.date or kept.head.date,
        tags=kept.head.tags,
        also=tuple(
            Passage(
                lines=chunk.lines,
                heading=chunk.heading,
                score=one.score,
                text=chunk.text,
                date=chunk.date,
                newer=newer.get(one.candidate, ""),
            )
            for one, chunk in also
        ),
        cosine=round(best.cosine, 6),
        scope=kept.source.scope,
        reply=kept.chunk.after if kept.chunk.heading == Role.USER.value else "",
        newer=newer.get(best.candidate, ""),
        speaker=kept.chunk.speaker,
    )


def place_of(one: StoredChunk) -> str:
    """Place of a passage in a word: its source's title or path, and where it begins there."""
    return f"{one.head.title or one.source.path}:{one.chunk.lines.first}"
