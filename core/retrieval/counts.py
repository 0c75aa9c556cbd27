"""Content of the index by corpus, and the folders that each corpus counts in."""

from __future__ import annotations

from collections.abc import Iterator

from core.retrieval.store import VectorStore
from core.values.retrieval import Corpus, CorpusCount, SearchPlaces


def scopes(places: SearchPlaces) -> Iterator[tuple[Corpus, str]]:
    """Each corpus that is on, with each folder that it counts in; empty for what belongs to the home."""
    for corpus in places.corpora:
        match corpus:
            case Corpus.NOTES:
                yield from ((corpus, root) for root in places.notes)
            case Corpus.PROJECT:
                yield corpus, places.project
            case _:
                yield corpus, ""


def corpus_counts(store: VectorStore, places: SearchPlaces) -> tuple[CorpusCount, ...]:
    """Files and passages of each corpus that is on. A file that lies in two folders of notes counts in both.

    Raises:
        SlopError: the index cannot be read.
    """
    found = {corpus: CorpusCount(corpus) for corpus in places.corpora}
    for corpus, scope in scopes(places):
        states = store.sources(corpus, scope).values()
        before = found[corpus]
        found[corpus] = CorpusCount(
            corpus,
            before.files + len(states),
            before.chunks + sum(one.chunks for one in states),
            before.bare + sum(one.bare for one in states),
        )
    return tuple(found.values())
