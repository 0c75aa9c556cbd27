"""Content of the index by corpus, what gave it nothing, and the folders that each corpus counts in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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


class Contents(NamedTuple):
    """Files and passages of each corpus that is on; and files that give nothing, by path, with the reason."""

    counts: tuple[CorpusCount, ...]
    passed_over: tuple[tuple[str, str], ...]


def contents(store: VectorStore, places: SearchPlaces) -> Contents:
    """Content of the index. A file that lies in two folders of notes counts in both.

    Raises:
        SlopError: the index cannot be read.
    """
    found = {corpus: CorpusCount(corpus) for corpus in places.corpora}
    passed_over: dict[tuple[str, str], None] = {}
    for corpus, scope in scopes(places):
        sources = store.sources(corpus, scope)
        passed_over |= {(path, state.problem): None for path, state in sources.items() if state.problem}
        states = sources.values()
        before = found[corpus]
        found[corpus] = CorpusCount(
            corpus,
            before.files + len(states),
            before.chunks + sum(one.chunks for one in states),
            before.bare + sum(one.bare for one in states),
        )
    return Contents(tuple(found.values()), tuple(passed_over))
