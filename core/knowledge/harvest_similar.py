"""Finds what is known already among lines of knowledge: exactly the same, or nearly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

NEAR = 0.6
"""Share of words that two lines have in common, of all the words of both, from which they count as nearly the same."""

MAX_NEAR = 3
_WORD = re.compile(r"\w+")
_RARE_WORDS = 6


class KnownLines:
    """Lines of knowledge, to be asked which of them say nearly what another says.

    Args:
        lines: texts of items, in any order; the same text twice counts once.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines: list[str] = []
        self._words: list[frozenset[str]] = []
        self._places: dict[str, list[int]] = {}
        self._exact: set[str] = set()
        for line in lines:
            self.add(line)

    def add(self, line: str) -> None:
        """Take in one more line."""
        words = words_in(line)
        key = same_text(line)
        if not words or key in self._exact:
            return
        self._exact.add(key)
        for word in words:
            self._places.setdefault(word, []).append(len(self._lines))
        self._lines.append(line)
        self._words.append(words)

    def has(self, line: str) -> bool:
        """Whether a line says exactly this, spaces and a closing full stop aside."""
        return same_text(line) in self._exact

    def near(self, line: str) -> tuple[str, ...]:
        """At most `MAX_NEAR` lines that say nearly the same, the nearest first. Looks only at lines that share one of
        its rarest words: O(lines with those words).
        """
        words = words_in(line)
        rarest = sorted(words, key=lambda word: (len(self._places.get(word, ())), word))[:_RARE_WORDS]
        places = Counter(place for word in rarest for place in self._places.get(word, ()))
        scored = [(_overlap(words, self._words[place]), place) for place in places]
        best = sorted((pair for pair in scored if pair[0] >= NEAR), key=lambda pair: (-pair[0], pair[1]))
        return tuple(self._lines[place] for _, place in best[:MAX_NEAR])


def words_in(text: str) -> frozenset[str]:
    """The words of a text, without case."""
    return frozenset(_WORD.findall(text.casefold()))


def same_text(text: str) -> str:
    """What two texts that say exactly the same have in common. Case and signs stay: C is not C++."""
    return " ".join(text.split()).rstrip(".!?… ")


def _overlap(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second)
