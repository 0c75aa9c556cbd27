"""Terms of a search as a person types them: words, and "a phrase" that stands together; the nearest known word to a mistyped one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.kernel.patterns import late

LEAST_LIKE = 72.0
"""Likeness of two words, from 0 to 100, from which the one may be a slip for the other."""
_WORD = late(r"\w+")
_TERM = late(r'["“”„]([^"“”„]*)["“”„]?|([^\s"“”„]+)')


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
    """Places of the names that are most like a query with slips in it, best first; none where none is near.

    Each word of the query is compared with each word of the names, once; a name is as near as its nearest words are, on average.
    """
    wanted = _WORD.findall(query.casefold())
    if len(query.strip()) < 3 or not wanted:
        return ()
    words_of = [_WORD.findall(name.casefold()) for name in names]
    words = {word for own in words_of for word in own}
    tables = [_likenesses(word, words) for word in wanted]
    scores = [sum(max(map(table.__getitem__, own), default=0.0) for table in tables) for own in words_of]
    near = (place for place, score in enumerate(scores) if score >= LEAST_LIKE * len(wanted))
    return tuple(sorted(near, key=lambda place: -scores[place])[:most])


def _likenesses(wanted: str, words: Iterable[str]) -> dict[str, float]:
    """Likeness of each word to the one that is wanted; 0 where it is below `LEAST_LIKE`."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=wanted, autojunk=False)
    found = dict.fromkeys(words, 0.0)
    for word in found:
        matcher.set_seq1(word)
        ways = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)  # each at least the next
        likeness = 100.0
        if all((likeness := 100.0 * way()) >= LEAST_LIKE for way in ways):
            found[word] = likeness
    return found
