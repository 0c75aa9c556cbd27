"""Places where one of many literals stands in a text: the prefilter of the scan for secrets."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

LONG_CHARS = 4_096
"""From here on a text is looked through by numpy: a few hundred megabytes a second, and nothing is imported for less."""

_LAST_BYTE = 255

_GRAM = 3
_PIECE = 65_536
"""Characters that are looked through at once: what numpy makes of them stays in the processor's cache."""

_FOLDS = 31, 5
"""Three characters make fifteen bits: the low five of each tell letters apart, and not their case."""

_HASH = (1, 31, 961, 29_791)
"""Four characters make sixteen bits; what is left after the first look is looked at once more."""


def _position(hit: tuple[int, object]) -> int:
    return hit[0]


class Hits(Generic[T]):
    """Literals of three characters or more, two in scripts beyond Latin-1, each with what is wanted where it stands."""

    def __init__(self, wanted: Iterable[tuple[str, bool, T]]) -> None:
        """Take the literals.

        Args:
            wanted: literal, whether its case counts, and what it stands for; one literal may come more than once.
                The case of ASCII alone can be left out of account.
        """
        self._wide: dict[str, list[T]] = defaultdict(list)
        self._by_gram: dict[bytes, list[tuple[bytes, bool, T]]] = defaultdict(list)
        for literal, has_case, value in wanted:
            if any(ord(char) > _LAST_BYTE for char in literal):
                self._wide[literal].append(value)
                continue
            wanted_bytes = (literal if has_case else literal.lower()).encode("latin-1")
            if len(wanted_bytes) < _GRAM:
                raise ValueError(f"{literal!r} is too short to be looked for")
            self._by_gram[wanted_bytes.lower()[:_GRAM]].append((wanted_bytes, has_case, value))
        self._grams = frozenset(map(tuple, self._by_gram))

    def in_text(self, text: str) -> Iterator[tuple[int, T]]:
        """Positions of literals and what they stand for, in order of position. O(n)."""
        try:
            return self._narrow_hits(text.encode("latin-1"))
        except UnicodeEncodeError:  # a byte a character, so that positions are the text's
            narrow = self._narrow_hits(text.encode("latin-1", "replace"))
            return heapq.merge(narrow, self._wide_hits(text), key=_position)

    def _wide_hits(self, text: str) -> Iterator[tuple[int, T]]:
        found = self._wide_literals.search(text) if self._wide else None
        while found is not None:
            at = found.start()
            for literal, values in self._wide.items():
                if text.startswith(literal, at):
                    yield from ((at, value) for value in values)
            found = self._wide_literals.search(text, at + 1)

    @cached_property
    def _wide_literals(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._wide)))

    def _narrow_hits(self, raw: bytes) -> Iterator[tuple[int, T]]:
        lowered = raw.lower()
        places = self._long(raw) if len(raw) >= LONG_CHARS else self._short(lowered)
        for at in places:
            for literal, has_case, value in self._by_gram.get(lowered[at : at + _GRAM], ()):
                if (raw if has_case else lowered).startswith(literal, at):
                    yield at, value

    def _short(self, lowered: bytes) -> Iterator[int]:
        grams = self._grams
        return (
            at
            for at, gram in enumerate(zip(lowered, lowered[1:], lowered[2:], strict=False))
            if gram in grams
        )

    def _long(self, text: bytes) -> Iterator[int]:
        import numpy as np

        padded = text + b"\0" * _GRAM
        first, second = self._tables
        mask, bits = np.uint8(_FOLDS[0]), np.uint16(_FOLDS[1])
        for start in range(0, len(text), _PIECE):
            length = min(_PIECE, len(text) - start)
            raw = np.frombuffer(padded, np.uint8, length + _GRAM, start)
            codes = (raw & mask).astype(np.uint16)
            index = codes[:length] << bits
            index |= codes[1 : length + 1]
            index <<= bits
            index |= codes[2 : length + 2]
            found = np.flatnonzero(first.take(index))
            hashes = sum(raw[found + step].astype(np.uint16) * np.uint16(by) for step, by in enumerate(_HASH))
            yield from (found[second.take(hashes)] + start).tolist()

    @cached_property
    def _tables(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        import numpy as np

        first, second = np.zeros(1 << 15, np.bool_), np.zeros(1 << 16, np.bool_)
        for literals in self._by_gram.values():
            for literal, has_case, _ in literals:
                a, b, c = (byte & _FOLDS[0] for byte in literal[:_GRAM])
                first[a << 10 | b << 5 | c] = True
                head = literal[: _GRAM + 1]
                forms = [bytes([byte]) if has_case else {byte, *bytes([byte]).upper()} for byte in head]
                for four in product(*forms, *([range(256)] * (_GRAM + 1 - len(head)))):
                    second[sum(byte * by for byte, by in zip(four, _HASH, strict=True)) & 0xFFFF] = True
        return first, second
