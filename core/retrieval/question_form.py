"""Form of a message, pure: what of it speaks of the talk itself, whether it asks for a whole course, what holds for all that comes.

"Can you list the order in which I brought up the concerts across our talks?" is about concerts: words of asking, saying and talking
stand in any discussion and find none. It asks for all that was said of them, which is many short parts and not the best few. "Always
put timings in a table" answers no question, and is about each that asks for a schedule. The words of each language stand in
`question_words`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from core.kernel.patterns import late
from core.kernel.words import MAX_QUERY_CHARS, SENTENCE_ENDS, STOP_WORDS, words
from core.retrieval.question_words import ENGLISH, LANGUAGES

_MARKS = " ,.?!،؟，。？！"
_ENGLISH = frozenset(ENGLISH.grammar.split())
_LEAST_GRAMMAR = 2
"""Words of mere grammar of one language by which a message is in that language: one alone may be a name."""


def _any(parted: Iterable[str], unparted: Iterable[str]) -> re.Pattern[str]:
    return late(rf"\b(?:{'|'.join(parted)})\b|{'|'.join(unparted)}", re.IGNORECASE)


def _said(name: str, *, is_parted: bool) -> list[str]:
    return [words for one in LANGUAGES if one.is_parted is is_parted for words in getattr(one, name)]


_TALK = _any(_said("talk", is_parted=True), _said("talk", is_parted=False))
_COURSE = _any(_said("course", is_parted=True), _said("course", is_parted=False))
_VALUE = _any(_said("value", is_parted=True), _said("value", is_parted=False))
_WISH = late("|".join(words for one in LANGUAGES for words in one.wish), re.IGNORECASE)
_GRAMMAR_RUN = late("|".join(one.grammar for one in LANGUAGES if one.grammar and not one.is_parted))


@cache
def _grammar() -> tuple[frozenset[str], ...]:
    """Words of mere grammar by language, where English has others."""
    parted = (one.grammar for one in LANGUAGES if one.grammar and one.is_parted and one is not ENGLISH)
    return tuple(frozenset(words(said)) - STOP_WORDS for said in parted)


def subject_of(text: str) -> str:
    """A message without what speaks of the talk itself; as it is where nothing else is left. Of a long one the beginning is read."""
    left, frames = _TALK.subn(" ", text[:MAX_QUERY_CHARS].replace("’", "'"))
    return " ".join(left.split()).lstrip(_MARKS) if frames and any(c.isalnum() for c in left) else text


def telling_terms(terms: Sequence[str], text: str) -> tuple[str, ...]:
    """The terms of a message without those of mere grammar; as they are where nothing else is left.

    Args:
        text: of the message, which tells its language.
    """
    empty = _grammar_in(text)
    left = tuple(one for one in terms if one not in empty and _GRAMMAR_RUN.search(one) is None)
    return left or tuple(terms)


def is_foreign_by_words(text: str) -> bool:
    """True where several words of mere grammar of one language other than English stand in a message. Cheap: no model is asked."""
    return bool(_grammar_in(text))


def _grammar_in(text: str) -> frozenset[str]:
    """Words of mere grammar in a message, of the language other than English that it has most of; empty for English.

    A language counts where several of its words stand there, and more than of English alone: "the OS of my NAS" holds two words
    of Portuguese.
    """
    said = frozenset(words(text[:MAX_QUERY_CHARS]))
    most = max((said & known for known in _grammar()), key=len)
    return most if len(most) >= max(_LEAST_GRAMMAR, len(said & _ENGLISH) + 1) else frozenset()


def asks_for_course(text: str) -> bool:
    """True for a message that asks how many, in which order or how all went along. Of a long one the beginning is read."""
    return _COURSE.search(text[:MAX_QUERY_CHARS].replace("’", "'")) is not None


def asks_for_value(text: str) -> bool:
    """True for a message that asks for one number, day, place or person. Of a long one the beginning is read."""
    return _VALUE.search(text[:MAX_QUERY_CHARS].replace("’", "'")) is not None


def is_wish(text: str) -> bool:
    """True for words that hold for what comes: how something is to be done, or what somebody prefers. O(text)."""
    return any(map(_WISH.search, SENTENCE_ENDS.split(text.replace("’", "'"))))
