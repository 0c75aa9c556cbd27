"""Successors of passages, pure: of two that say the like of one thing the newer goes first, and the older knows it.

A number, a day, a place or a wish changes; the thing that it is said of stays. So two passages are compared by the part of each
that is about the question: both name what is asked about, and the newer says that something changed, or in like words another
number, or it answers a question for one value. Where what was said later only comes to what is known ("I visited Oslo", "I visited
Bergen"), both hold, and none takes the other's place.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import pairwise
from operator import or_
from typing import NamedTuple

import msgspec

from core.kernel.words import SENTENCE_ENDS, STOP_WORDS, query_terms, words
from core.retrieval.fusion import ChunkPlace, Ranked, RankedSource
from core.retrieval.question_words import CHANGES, asks_for_value, telling_terms

NEWER_AMONG, NOTES_AMONG = 60, 20
"""Best chunks among which the newer of two that say the like goes first; of notes fewer: their texts are long."""

LIKE_SHARE = 0.5
"""Share of words in common, of both passages together, from which on they say the like of one thing."""

SAME_QUESTION, LIKE_SHARE_THERE = 0.67, 0.3
"""Share of a question that two passages must both hold to answer the same, and of words in common that is enough then."""

MOST_OF_QUESTION = 0.5
"""Share of a question for one value from which on a passage that lacks one of its words answers it."""

CHANGED_QUESTION, CHANGED_TERMS, LIKE_SHARE_CHANGED, LIKE_SHARE_OPEN = 0.4, 0.5, 0.15, 0.25
"""The same where the newer one says that something changed: of the question by weight, or of its terms by number. The last share
where no one value is asked for: what changed may be another side of the thing ("the gate opens at seven", "the gate has a new
code"). Of 61 pairs that both hold .25 marks 16 and .15 marks 23; with .3, four of 13 fresh ones that did change were lost.
"""

PART_CHARS = 400
"""Most of a passage that is told and compared; of a longer one the part that holds most of the question's words. Of 180
questions about long discussions .41 of the sources stood beside them with whole passages, .48 so, and no less of the answers'
words."""

_LEAST_WORDS = 3
_SHORTEST_STEM = 4
_COMMON_AMONG, _COMMON_SHARE = 8, 0.5
"""From so many passages on a word that this share of them holds tells none of them apart; short lists of such words exist for
English alone."""


class AgedText(NamedTuple):
    """Words of a chunk with their day.

    Args:
        by: who said them: a reply renews no word of a person.
        is_in_order: further down in its source stands what was said later, as in a discussion and not as in a note.
    """

    text: str
    day: str
    by: str = ""
    is_in_order: bool = True


class _Compared(NamedTuple):
    """A passage as it is compared.

    Args:
        said: its words in order; words: those that tell it apart; unnumbered: these without numbers.
        held: the question's terms that it holds, a bit each.
        tells: it says of a change.
    """

    place: ChunkPlace
    text: AgedText
    said: tuple[str, ...]
    words: frozenset[str]
    unnumbered: frozenset[str]
    held: int
    tells: bool


def held_terms(terms: Sequence[str], said: Iterable[str]) -> tuple[str, ...]:
    """Terms that stand among words, or that begin as one of them does (`index`, `indexes`)."""
    held = _held(terms, said)
    return tuple(term for at, term in enumerate(terms) if held >> at & 1)


def _held(terms: Sequence[str], said: Iterable[str]) -> int:
    """The same, a bit for each term."""
    return reduce(or_, map(_holds(tuple(terms)).__getitem__, said), 0)


class _Holds(dict[str, int]):
    """Terms that each word holds, a bit each, worked out when the word is first met: a question meets most of its passages' words often."""

    def __init__(self, terms: Sequence[str]) -> None:
        super().__init__()
        self._bits = {term: 1 << at for at, term in enumerate(terms)}
        self._kin = defaultdict[str, list[str]](list)
        for term in self._bits:
            self._kin[term[:_SHORTEST_STEM]].append(term)

    def __missing__(self, word: str) -> int:
        kin = self._kin.get(word[:_SHORTEST_STEM], ())
        held = self[word] = sum(self._bits[term] for term in kin if term == word or _is_kin(term, word))
        return held


@lru_cache(maxsize=4)
def _holds(terms: tuple[str, ...]) -> _Holds:
    return _Holds(terms)


def _is_kin(one: str, two: str) -> bool:
    short, long = (one, two) if len(one) <= len(two) else (two, one)
    return len(short) >= _SHORTEST_STEM and len(long) - len(short) <= 3 and long.startswith(short)


def part_of(text: str, terms: Sequence[str], most_chars: int = PART_CHARS) -> str:
    """The passage, if it has at most `most_chars`; otherwise its run of sentences that holds most of the terms. O(text)."""
    if len(text) <= most_chars:
        return text
    ends = [0, *(found.end() for found in SENTENCE_ENDS.finditer(text)), len(text)]
    held = [_held(terms, words(text[start:end])) for start, end in pairwise(ends)]
    best, most, whole = (0, 1), -1, reduce(or_, held).bit_count()
    for first in range(len(held)):
        past = max(first + 1, bisect_right(ends, ends[first] + most_chars) - 1)
        count = reduce(or_, held[first:past]).bit_count()
        if count > most:
            best, most = (first, past), count
        if most == whole:
            break
    start, end = ends[best[0]], min(ends[best[1]], ends[best[0]] + most_chars)
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"


def newer_first(
    ranked: Sequence[Ranked],
    texts: Mapping[ChunkPlace, AgedText],
    question: str = "",
) -> tuple[tuple[Ranked, ...], dict[ChunkPlace, ChunkPlace]]:
    """The ranking with the newer of two like passages before the older one; and of each older one its newer.

    Args:
        ranked: the best first; texts: of those that are looked at.
    """
    looked_at = [
        one.candidate
        for one in ranked[:NEWER_AMONG]
        if (text := texts.get(one.candidate)) is not None and (text.day or text.is_in_order)
    ]
    newer = _successors(looked_at, texts, question) if len(looked_at) > 1 else {}
    order, at = list(ranked), 0
    while at < len(order) and at < NEWER_AMONG:
        old = order[at]
        after = newer.get(old.candidate)
        below = range(at + 1, len(order)) if after is not None else ()
        found = next((n for n in below if order[n].candidate == after), None)
        if found is None:
            at += 1
            continue
        one = order.pop(found)
        order.insert(at, msgspec.structs.replace(one, score=max(one.score, old.score)))
    return tuple(order), newer


def with_successors(
    sources: Sequence[RankedSource],
    ranked: Iterable[Ranked],
    newer: Mapping[ChunkPlace, ChunkPlace],
    count: int,
) -> tuple[RankedSource, ...]:
    """The sources, `count` at most, with the successor of each passage that they show.

    It stands under its source, as one too many there, or is a source of its own before the older one.
    """
    shown = {one.candidate for source in sources for one in (source.best, *source.also)}
    wanted = {after for old, after in newer.items() if old in shown} - shown
    if not wanted:
        return tuple(sources)
    missing = {one.candidate.path: one for one in ranked if one.candidate in wanted}
    found: list[RankedSource] = []
    for source in sources:
        held = (one.candidate for one in (source.best, *source.also))
        paths = dict.fromkeys(after.path for old in held if (after := newer.get(old)) and after in wanted)
        known = {one.best.candidate.path for one in (*sources, *found)}
        found += [RankedSource(missing[path]) for path in paths if path not in known]
        under = missing.get(source.best.candidate.path)
        found.append(RankedSource(source.best, (*source.also, under)) if under else source)
    return tuple(found[:count])


def _successors(
    places: Sequence[ChunkPlace], texts: Mapping[ChunkPlace, AgedText], question: str
) -> dict[ChunkPlace, ChunkPlace]:
    """The passage that took the place of each: the newest of those that answer the same part of the question."""
    terms = telling_terms(query_terms(question), question)
    said, weights = _compared(places, texts, terms)
    holds = _holds(tuple(terms)).__getitem__
    is_of_value, whole = asks_for_value(question), sum(weights)

    @cache
    def share_of(held: int) -> float:
        return sum(weight for at, weight in enumerate(weights) if held >> at & 1) / whole if whole else 0.0

    by_speaker = defaultdict[str, list[_Compared]](list)
    for one in said:
        by_speaker[one.text.by].append(one)
    found: dict[ChunkPlace, ChunkPlace] = {}
    for old in said:
        most = (-1.0, "", 0)
        for one in by_speaker[old.text.by]:
            if not _is_newer(one, old):
                continue
            both = one.held & old.held
            if _takes_place(one, old, share_of(both), len(weights), holds, is_of_value=is_of_value):
                rank = share_of(both), one.text.day, one.place.line
                if rank > most:
                    most, found[old.place] = rank, one.place
    return found


def _compared(
    places: Sequence[ChunkPlace], texts: Mapping[ChunkPlace, AgedText], terms: Sequence[str]
) -> tuple[list[_Compared], tuple[float, ...]]:
    """The passages as they are compared, and the weight of each of the question's terms: of one that nobody holds none, else
    the more, the fewer hold it.
    """
    parts = {place: tuple(words(part_of(texts[place].text, terms))) for place in places}
    held = {place: _held(terms, said) for place, said in parts.items()}
    among = len(places)
    alike = Counter(held.values())
    by_term = [sum(count for one, count in alike.items() if one >> at & 1) for at in range(len(terms))]
    weights = tuple(math.log1p(among / count) if count else 0.0 for count in by_term)
    by_word = Counter(word for one in parts.values() for word in set(one))
    most = _COMMON_SHARE * among if among >= _COMMON_AMONG else among
    common = frozenset(word for word, count in by_word.items() if count > most)
    said = [
        _Compared(
            place=place,
            text=texts[place],
            said=part,
            words=(own := frozenset(part) - STOP_WORDS - common),
            unnumbered=frozenset(word for word in own if not word.isdecimal()),
            held=held[place],
            tells=not CHANGES.isdisjoint(part),
        )
        for place, part in parts.items()
    ]
    return said, weights


def _takes_place(
    new: _Compared,
    old: _Compared,
    both: float,
    count: int,
    holds: Callable[[str], int],
    *,
    is_of_value: bool,
) -> bool:
    """True where the new one takes the old one's place.

    Args:
        both: share of the question that both hold, by weight; count: of its terms; holds: those that a word holds, a bit each.
    """
    missing = old.held & ~new.held
    if new.tells and (
        both >= CHANGED_QUESTION or 0 < CHANGED_TERMS * count <= (new.held & old.held).bit_count()
    ):
        least = LIKE_SHARE_CHANGED if is_of_value else LIKE_SHARE_OPEN
    elif (
        min(len(new.words), len(old.words)) < _LEAST_WORDS
        or (missing and not (is_of_value and both >= MOST_OF_QUESTION))
        or (not is_of_value and new.unnumbered != old.unnumbered)
    ):
        return False
    else:
        least = LIKE_SHARE_THERE if is_of_value and both >= SAME_QUESTION else LIKE_SHARE
    if not _is_like(new, old, least):
        return False
    return not missing or not _names_another(new, old, {word for word in old.words if holds(word) & missing})


def _names_another(new: _Compared, old: _Compared, asked: Container[str]) -> bool:
    """True where the newer one names another thing in the place of one that is asked about.

    The same words stand around both: "the east gate", "the west gate".
    """
    return not _around(new.said, new.words - old.words).isdisjoint(_around(old.said, asked))


def _around(said: Sequence[str], telling: Container[str]) -> frozenset[tuple[str, str]]:
    """The words before and behind each of some words."""
    padded = ("", *said, "")
    return frozenset((padded[at], padded[at + 2]) for at, word in enumerate(said) if word in telling)


def _is_like(new: _Compared, old: _Compared, least: float) -> bool:
    return 2 * len(new.words & old.words) >= least * (len(new.words) + len(old.words))


def _is_newer(one: _Compared, old: _Compared) -> bool:
    """True for what was said later by the same person: on a later day, or further down in one talk."""
    day, old_day = one.text.day, old.text.day
    if old_day and day > old_day:
        return True
    is_below = one.text.is_in_order and one.place.line > old.place.line and one.place.path == old.place.path
    return is_below and (not day or day >= old_day)
