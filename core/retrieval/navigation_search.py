"""Notes found by title, tags, description and place alone: how a question is answered while the index is away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.retrieval.store import folder_starts
from core.retrieval.terms import query_terms, words
from core.values.curation import LineRange
from core.values.retrieval import ChunkKind, Corpus, Retriever, SearchFilters, SearchHit, SourceHead

_TITLE, _TAGS, _DESCRIPTION, _PATH = 4.0, 3.0, 2.0, 1.0
"""Weight of a word of the question by the place in which it stands."""
_STEM = 4
"""Letters that two words share from the start, at least, where the shorter one stands for the longer (`retry`, `retrying`)."""
_PART = 0.6
"""Of the weight, for such a word."""


def heads_found(
    heads: Iterable[tuple[str, str, SourceHead]], query: str, filters: SearchFilters, count: int
) -> tuple[SearchHit, ...]:
    """The notes that fit a question best, at most `count`, ties by path.

    Args:
        heads: root, path below it and head of each note. A score is 0 to 1.
    """
    terms = query_terms(query)
    if not terms or (filters.corpora and Corpus.NOTES not in filters.corpora):
        return ()
    scored = (
        (_score(path, head, terms), path, root, head)
        for root, path, head in heads
        if _passes(root, path, head, filters)
    )
    best = sorted((one for one in scored if one[0] > 0.0), key=lambda one: (-one[0], one[1], one[2]))
    files = {
        f"{root.rstrip('/')}/{path}": (score, path, root, head) for score, path, root, head in reversed(best)
    }
    first_of_each = sorted(files.values(), key=lambda one: (-one[0], one[1], one[2]))[:count]
    return tuple(_hit(*one) for one in first_of_each)


def _passes(root: str, path: str, head: SourceHead, filters: SearchFilters) -> bool:
    if filters.folder.strip("/") and not any(
        path.startswith(start) for _, start in folder_starts(filters.folder, (root,))
    ):
        return False
    if filters.tag and filters.tag.lower() not in head.tags:
        return False
    if filters.after and head.date < filters.after:
        return False
    if filters.before and not (head.date and head.date <= filters.before):
        return False
    return path not in filters.but


def _score(path: str, head: SourceHead, terms: tuple[str, ...]) -> float:
    places = [
        (weight, frozenset(words(text)))
        for weight, text in (
            (_TITLE, head.title),
            (_TAGS, " ".join(head.tags)),
            (_DESCRIPTION, head.description),
            (_PATH, path),
        )
    ]
    return sum(max(_weights(term, places), default=0.0) for term in terms) / (_TITLE * len(terms))


def _weights(term: str, places: list[tuple[float, frozenset[str]]]) -> Iterator[float]:
    for weight, said in places:
        if term in said:
            yield weight
        elif any(_is_form(term, word) for word in said):
            yield weight * _PART


def _is_form(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    stem = shorter.removesuffix("s").removesuffix("e").removesuffix("y")
    return len(stem) >= _STEM and longer.startswith(stem)


def _hit(score: float, path: str, root: str, head: SourceHead) -> SearchHit:
    return SearchHit(
        Corpus.NOTES,
        ChunkKind.PROSE,
        path,
        head.title or path,
        LineRange(1, 1),
        "",
        head.description or head.title or path,
        score,
        found_by=(Retriever.NAVIGATION,),
        date=head.date,
        tags=head.tags,
        scope=root,
    )
