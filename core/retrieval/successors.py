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
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import accumulate, chain
from operator import or_
from typing import NamedTuple

import msgspec

from core.kernel.words import STOP_WORDS, query_terms, sentences, words
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

_CUT_TEXTS = 512
"""Passages whose words are kept: those that one message looks at, and some more."""

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
        at: its number among those that are compared; said: its words in order.
        words, unnumbered: those that tell it apart, and these without numbers, a bit each; size: number of the first.
        held: the question's terms that it holds, a bit each.
        tells: it says of a change.
    """

    at: int
    place: ChunkPlace
    text: AgedText
    said: tuple[str, ...]
    words: int
    unnumbered: int
    size: int
    held: int
    tells: bool


class _Question(msgspec.Struct, frozen=True):
    """The question of which passages are compared.

    Args:
        terms: with the weight of each; is_of_value: it asks for one value; bits: of each word that tells a passage apart.
    """

    terms: tuple[str, ...]
    weights: tuple[float, ...]
    bits: Mapping[str, int]
    is_of_value: bool

    def share(self, held: int) -> float:
        """Share of the question, by weight, that some of its terms are."""
        whole = sum(self.weights)
        return (
            sum(weight for at, weight in enumerate(self.weights) if held >> at & 1) / whole if whole else 0.0
        )


def held_terms(terms: Sequence[str], said: Iterable[str]) -> tuple[str, ...]:
    """Terms that stand among words, or that begin as one of them does (`index`, `indexes`)."""
    held = _held(terms, said)
    return tuple(term for at, term in enumerate(terms) if held >> at & 1)


def may_hold(terms: Sequence[str], text: str) -> bool:
    """False where it is plain that `held_terms` finds none in a text, without its words."""
    folded = text.lower()
    return not text.isascii() or any(term[:_SHORTEST_STEM] in folded for term in terms)


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


class _Cut(NamedTuple):
    """A text cut into its sentences: where each begins, and the end of the last one; the words of each."""

    ends: tuple[int, ...]
    words: tuple[tuple[str, ...], ...]


@lru_cache(maxsize=_CUT_TEXTS)
def _cut(text: str) -> _Cut:
    parts = sentences(text)
    return _Cut(ends=(0, *accumulate(map(len, parts))), words=tuple(tuple(words(one)) for one in parts))


def words_of(text: str) -> Iterator[str]:
    """The words of a passage in order. Those of the last passages are kept: a message asks for them several times."""
    return chain.from_iterable(_cut(text).words)


def part_of(text: str, terms: Sequence[str], most_chars: int = PART_CHARS) -> str:
    """The passage, if it has at most `most_chars`; otherwise its run of sentences that holds most of the terms. O(text)."""
    if len(text) <= most_chars:
        return text
    cut = _cut(text)
    first, past = _run(text, tuple(terms), most_chars)
    start, end = cut.ends[first], min(cut.ends[past], cut.ends[first] + most_chars)
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"


def _part_words(text: str, terms: Sequence[str]) -> tuple[str, ...]:
    """The words of that part."""
    if len(text) <= PART_CHARS:
        return tuple(words_of(text))
    cut = _cut(text)
    first, past = _run(text, tuple(terms), PART_CHARS)
    if cut.ends[past] - cut.ends[first] > PART_CHARS:  # one sentence, which is cut itself
        return tuple(words(part_of(text, terms)))
    return tuple(chain.from_iterable(cut.words[first:past]))


@lru_cache(maxsize=_CUT_TEXTS)
def _run(text: str, terms: tuple[str, ...], most_chars: int) -> tuple[int, int]:
    """First sentence, and the one past the last, of the run that holds most of the terms."""
    cut, holds = _cut(text), _holds(terms).__getitem__
    ends, held = cut.ends, [reduce(or_, map(holds, said), 0) for said in cut.words]
    best, most, whole = (0, 1), -1, reduce(or_, held).bit_count()
    for first in range(len(held)):
        past = max(first + 1, bisect_right(ends, ends[first] + most_chars) - 1)
        count = reduce(or_, held[first:past]).bit_count()
        if count > most:
            best, most = (first, past), count
        if most == whole:
            break
    return best


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
    said, asked = _compared(places, texts, question)
    share = cache(asked.share)
    alike = defaultdict[str, dict[int, list[_Compared]]](lambda: defaultdict(list))
    for one in sorted(said, key=lambda one: (one.text.day, one.place.line, -one.at), reverse=True):
        alike[one.text.by][one.held].append(one)
    found: dict[ChunkPlace, ChunkPlace] = {}
    for old in said:
        most = (-1.0, "", 0, 0)
        for held, group in alike[old.text.by].items():
            both = share(held & old.held)
            new = _newest(group, old, both, asked) if both >= most[0] else None
            if new is not None and (rank := (both, new.text.day, new.place.line, -new.at)) > most:
                most, found[old.place] = rank, new.place
    return found


def _compared(
    places: Sequence[ChunkPlace], texts: Mapping[ChunkPlace, AgedText], question: str
) -> tuple[list[_Compared], _Question]:
    """The passages as they are compared, and the question. A term that nobody holds weighs nothing, others the more, the fewer
    hold them.
    """
    terms = telling_terms(query_terms(question), question)
    parts = [_part_words(texts[place].text, terms) for place in places]
    held = [_held(terms, part) for part in parts]
    own = [frozenset(part) for part in parts]
    among = len(places)
    alike = Counter(held)
    by_term = [sum(count for some, count in alike.items() if some >> at & 1) for at in range(len(terms))]
    weights = tuple(math.log1p(among / count) if count else 0.0 for count in by_term)
    by_word = Counter[str]()
    for one in own:
        by_word.update(one)
    most = _COMMON_SHARE * among if among >= _COMMON_AMONG else among
    telling = (word for word, count in by_word.items() if count <= most and word not in STOP_WORDS)
    bits = dict.fromkeys(by_word, 0) | {word: 1 << at for at, word in enumerate(telling)}
    numbers = sum(bit for word, bit in bits.items() if word.isdecimal())
    said = [
        _Compared(
            at=at,
            place=place,
            text=texts[place],
            said=parts[at],
            words=(told := sum(map(bits.__getitem__, own[at]))),
            unnumbered=told & ~numbers,
            size=told.bit_count(),
            held=held[at],
            tells=not CHANGES.isdisjoint(own[at]),
        )
        for at, place in enumerate(places)
    ]
    return said, _Question(terms=terms, weights=weights, bits=bits, is_of_value=asks_for_value(question))


def _newest(group: Sequence[_Compared], old: _Compared, both: float, asked: _Question) -> _Compared | None:
    """The first of a group that takes the place of an old one.

    Args:
        group: of like terms of the question, the newest first; both: share of the question that they and the old one hold.
    """
    held, is_of_value = group[0].held, asked.is_of_value
    missing = old.held & ~held
    is_changed = (
        both >= CHANGED_QUESTION or 0 < CHANGED_TERMS * len(asked.terms) <= (held & old.held).bit_count()
    )
    is_plain = old.size >= _LEAST_WORDS and (not missing or (is_of_value and both >= MOST_OF_QUESTION))
    if not (is_changed or is_plain):
        return None
    least_changed = LIKE_SHARE_CHANGED if is_of_value else LIKE_SHARE_OPEN
    least_plain = LIKE_SHARE_THERE if is_of_value and both >= SAME_QUESTION else LIKE_SHARE
    for one in group:
        if is_changed and one.tells:
            least = least_changed
        elif not is_plain or one.size < _LEAST_WORDS or not (is_of_value or one.unnumbered == old.unnumbered):
            continue
        else:
            least = least_plain
        is_like = 2 * (one.words & old.words).bit_count() >= least * (one.size + old.size)
        if is_like and _is_newer(one, old) and not (missing and _names_another(one, old, missing, asked)):
            return one
    return None


def _names_another(new: _Compared, old: _Compared, missing: int, asked: _Question) -> bool:
    """True where the newer one names another thing in the place of one that is asked about.

    The same words stand around both: "the east gate", "the west gate".

    Args:
        missing: terms of the question that the old one alone holds, a bit each.
    """
    holds, bits = _holds(asked.terms).__getitem__, asked.bits
    alone = {word for word in new.said if bits[word] & ~old.words}
    wanted = {word for word in old.said if bits[word] and holds(word) & missing}
    return not _around(new.said, alone).isdisjoint(_around(old.said, wanted))


def _around(said: Sequence[str], telling: Container[str]) -> frozenset[tuple[str, str]]:
    """The words before and behind each of some words."""
    padded = ("", *said, "")
    return frozenset((padded[at], padded[at + 2]) for at, word in enumerate(said) if word in telling)


def _is_newer(one: _Compared, old: _Compared) -> bool:
    """True for what was said later by the same person: on a later day, or further down in one talk."""
    day, old_day = one.text.day, old.text.day
    if old_day and day > old_day:
        return True
    is_below = one.text.is_in_order and one.place.line > old.place.line and one.place.path == old.place.path
    return is_below and (not day or day >= old_day)
