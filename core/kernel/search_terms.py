"""Terms of a search as a person types them: words, and "a phrase" that stands together; the nearest known word to a mistyped one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

LEAST_LIKE = 72.0
"""Likeness of two words, from 0 to 100, from which the one may be a slip for the other."""
_TERM = re.compile(r'["“”„]([^"“”„]*)["“”„]?|([^\s"“”„]+)')


class Term(NamedTuple):
    """One term. `is_phrase`: its words stand together, in this order."""

    text: str
    is_phrase: bool = False


def search_terms(query: str) -> tuple[Term, ...]:
    """Terms of a query, each once, without those that hold no letter or digit."""
    terms = (_term(found) for found in _TERM.finditer(query))
    return tuple(dict.fromkeys(term for term in terms if any(map(str.isalnum, term.text))))


def _term(found: re.Match[str]) -> Term:
    words = " ".join((found[1] if found[1] is not None else found[2]).split())
    return Term(words, is_phrase=" " in words)


def plain_terms(query: str) -> tuple[str, ...]:
    """The same as texts, to be marked where they stand."""
    return tuple(term.text for term in search_terms(query))


def likest(query: str, names: Sequence[str], most: int) -> tuple[int, ...]:
    """Places of the names that are most like a query with slips in it, best first; none where none is near."""
    from rapidfuzz import fuzz, process, utils  # loaded where nothing else was found

    if len(query.strip()) < 3:
        return ()
    found = process.extract(
        query, names, scorer=fuzz.WRatio, processor=utils.default_process, limit=most, score_cutoff=LEAST_LIKE
    )
    return tuple(int(place) for _, _, place in found)
