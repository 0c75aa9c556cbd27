"""Every kind of secret that is known, in one table: a hundred patterns, for which the first frame does not wait."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from core.kernel import secret_names, secret_requests, secret_shapes
from core.kernel.secret_shapes import shapes
from core.kernel.secret_values import LONG_CHARS, Rule, signs_of


def rules(holds: Callable[[str], bool]) -> tuple[Rule, ...]:
    """The rules of all kinds. `holds`: whether a decoded text holds a secret of any of them."""
    return (
        *shapes(holds),
        *secret_shapes.PREFIX_RULES,
        *secret_shapes.RULES,
        *secret_requests.RULES,
        *secret_requests.COMMAND_RULES,
        *secret_names.RULES,
        *secret_shapes.rules(),
    )


# Places where one of many literals stands in a text: the prefilter of the scan for secrets.

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


T = TypeVar("T")

_LAST_BYTE = 255

_GRAM = 3
_PIECE = 65_536
"""Characters that are looked through at once: what numpy makes of them stays in the processor's cache."""

_FOLDS = 31, 5
"""Three characters make fifteen bits: the low five of each tell letters apart, and not their case."""

_LENGTHS = (3, 4, 6, 8)
"""Characters of a literal's head by which what is left after the first look is looked at once more: the most it has."""

_LAST = _LENGTHS[-1]
_FACTORS = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
"""Odd numbers, whose products with four characters and with two and two behind them are spread over all bits."""

_KEPT_BITS = 18


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
        self._signs: dict[str, frozenset[str]] = {}
        self._by_gram: dict[bytes, list[tuple[bytes, bool, T]]] = defaultdict(list)
        for literal, has_case, value in wanted:
            if any(ord(char) > _LAST_BYTE for char in literal):
                self._wide[literal].append(value)
                self._signs[literal] = frozenset(char for char in literal if not char.isascii())
                continue
            wanted_bytes = (literal if has_case else literal.lower()).encode("latin-1")
            if len(wanted_bytes) < _GRAM:
                raise ValueError(f"{literal!r} is too short to be looked for")
            self._by_gram[wanted_bytes.lower()[:_GRAM]].append((wanted_bytes, has_case, value))
        self._grams = frozenset(map(tuple, self._by_gram))

    def in_text(self, text: str, signs: frozenset[str] | None = None) -> Iterator[tuple[int, T]]:
        """Positions of literals and what they stand for, in order of position. O(n).

        Args:
            signs: those beyond ASCII that the text holds, where they are known; more do no harm.
        """
        try:
            return self._narrow_hits(text.encode("latin-1"))
        except UnicodeEncodeError:  # a byte a character, so that positions are the text's
            narrow = self._narrow_hits(text.encode("latin-1", "replace"))
            wide = self._wide_hits(text, signs or signs_of(text))
            return heapq.merge(narrow, wide, key=_position) if wide else narrow

    def _wide_hits(self, text: str, signs: frozenset[str]) -> list[tuple[int, T]]:
        found = []
        for literal, values in self._wide.items():
            at = text.find(literal) if self._signs[literal] <= signs else -1
            while at >= 0:
                found += [(at, value) for value in values]
                at = text.find(literal, at + 1)
        return sorted(found, key=_position)

    def _narrow_hits(self, raw: bytes) -> Iterator[tuple[int, T]]:
        lowered = raw.lower()
        places = self._long(raw, lowered) if len(raw) >= LONG_CHARS else self._short(lowered)
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

    def _long(self, text: bytes, lowered: bytes) -> Iterator[int]:
        import numpy as np

        padding = b"\0" * _LAST
        first, *heads = self._tables
        mask, bits = np.uint8(_FOLDS[0]), np.uint16(_FOLDS[1])
        padded, padded_lower = text + padding, lowered + padding
        for start in range(0, len(text), _PIECE):
            length = min(_PIECE, len(text) - start)
            raw = np.frombuffer(padded, np.uint8, length + _LAST, start)
            codes = (raw[: length + _GRAM] & mask).astype(np.uint16)
            index = codes[:length] << bits
            index |= codes[1 : length + 1]
            index <<= bits
            index |= codes[2 : length + 2]
            found = np.flatnonzero(first.take(index))
            lower = np.frombuffer(padded_lower, np.uint8, length + _LAST, start)
            is_head = np.zeros(len(found), np.bool_)
            for table, chars in zip(heads, (raw, lower), strict=True):
                for code, known in zip(_codes(chars, found), table, strict=True):
                    is_head |= known.take(code)
            yield from (found[is_head] + start).tolist()

    @cached_property
    def _tables(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """The first look, then the second for literals whose case counts and for others, each by length."""
        import numpy as np

        first = np.zeros(1 << 15, np.bool_)
        heads = [np.zeros((len(_LENGTHS), 1 << _KEPT_BITS), np.bool_) for _ in range(2)]
        nothing = np.zeros(1, np.intp)
        for literals in self._by_gram.values():
            for literal, has_case, _ in literals:
                a, b, c = (byte & _FOLDS[0] for byte in literal[:_GRAM])
                first[a << 10 | b << 5 | c] = True
                number = sum(length <= len(literal) for length in _LENGTHS) - 1
                chars = np.frombuffer(literal[:_LAST].ljust(_LAST, b"\0"), np.uint8)
                heads[0 if has_case else 1][number][_codes(chars, nothing)[number]] = True
        return first, heads[0], heads[1]


def _codes(chars: NDArray[np.uint8], places: NDArray[np.intp]) -> tuple[NDArray[np.uint32], ...]:
    """Numbers of the three, four, six and eight characters at each place."""
    import numpy as np

    signs = (chars[places + step].astype(np.uint32) for step in range(_LAST))
    one, two, three, four, five, six, seven, eight = signs
    low = one | two << np.uint32(8) | three << np.uint32(16)
    whole = low | four << np.uint32(24)
    factor, other, last = map(np.uint32, _FACTORS)
    shift = np.uint32(32 - _KEPT_BITS)
    short, middle = low * factor, whole * factor
    longer = middle ^ (five | six << np.uint32(8)) * other
    longest = longer ^ (seven | eight << np.uint32(8)) * last
    return short >> shift, middle >> shift, longer >> shift, longest >> shift
