"""Choice of the items that stand in the digest where not all of them fit: what serves most questions for its bytes.

An item is worth what its words tell apart, for the bytes that it takes: rare words more, short items more, one that several
conversations said more. Sources take turns: each further item of one counts for less. Of items that say nearly the same the
newest stands for all. Source: measured on public conversations with marked evidence, `make bench-memory`.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from core.knowledge.categories import Said
from core.knowledge.duplicates import share, words_of

MOST_ITEMS = 4_000
"""Items of a section that are looked at, the newest ones."""

BYTES_POWER = 1.5
"""Of an item's bytes: 1 gives long items, 2 the shortest ones, whatever they say."""

CONFIRMED = 0.25
"""Part of its worth that an item gains by each further conversation that it came from."""

LIKE_SHARE = 0.8
"""Share of words in common from which on an item says what another does, and the newer stands for both."""

_TELLING = 3
"""Rarest words of an item by which items that say nearly the same are looked for."""


class DigestCandidate(msgspec.Struct, frozen=True):
    """An item that may stand in the digest, by its number from the newest on.

    Args:
        size: bytes of its line; source: of its provenance, empty where it has none, and then a source of its own.
    """

    number: int
    size: int
    source: str
    worth: float
    words: frozenset[str]


class SectionChoice:
    """The items of one section, the best first. Deterministic. O(n log n), n at most `MOST_ITEMS`.

    Args:
        items: words and provenance, newest first; sizes: bytes of the line of each.
    """

    def __init__(self, items: Sequence[Said], sizes: Sequence[int]) -> None:
        words = [words_of(text) for text, _ in items]
        self._holders: dict[str, list[int]] = defaultdict(list)
        for number, said in enumerate(words):
            for word in said:
                self._holders[word].append(number)
        self._all = tuple(
            DigestCandidate(
                number=number,
                size=sizes[number],
                source=f"from {origin.source}" if origin is not None else str(number),
                worth=self._worth(words[number], len(items), sizes[number])
                * (1 + CONFIRMED * (len(origin.all) - 1 if origin is not None else 0)),
                words=words[number],
            )
            for number, (_, origin) in enumerate(items)
        )

    def ordered(self) -> list[int]:
        """Numbers of the items, the best first; last come those of which a newer one says nearly the same."""
        by_source: dict[str, list[DigestCandidate]] = defaultdict(list)
        for one in self._all:
            by_source[one.source].append(one)
        for own in by_source.values():
            own.sort(key=lambda one: (one.worth, -one.number))
        turns = [_turn(own, 0) for own in by_source.values()]
        heapq.heapify(turns)
        taken: dict[int, None] = {}
        while turns:
            *_, count, own = heapq.heappop(turns)
            one = self._newest_like(own.pop())
            taken.setdefault(one.number)
            if own:
                heapq.heappush(turns, _turn(own, count + 1))
        return [*taken, *(one.number for one in self._all if one.number not in taken)]

    def _worth(self, words: frozenset[str], count: int, size: int) -> float:
        told = math.fsum(math.log(1 + count / len(self._holders[word])) for word in sorted(words))
        return told / float(size**BYTES_POWER)

    def _newest_like(self, one: DigestCandidate) -> DigestCandidate:
        """The newest item that says nearly the same, mostly the item itself."""
        telling = heapq.nsmallest(_TELLING, one.words, key=lambda word: (len(self._holders[word]), word))
        near: Counter[int] = Counter()
        for word in telling:
            near.update(number for number in self._holders[word] if number < one.number)
        return next(
            (self._all[at] for at in sorted(near) if share(one.words, self._all[at].words) >= LIKE_SHARE), one
        )


def _turn(own: list[DigestCandidate], count: int) -> tuple[float, int, int, list[DigestCandidate]]:
    """The next item of a source, as a heap has it: the best first, the newest among equals."""
    return -own[-1].worth / (1 + count), own[-1].number, count, own
