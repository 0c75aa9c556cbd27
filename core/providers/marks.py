"""Places of a cache plan's marks: blocks by the key of their part, marks in order, lifetimes falling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from core.providers.blocks import part_key
from core.values.cache import CacheMark, CachePlan
from core.values.provider import RequestPart

Block = dict[str, Any]

MAX_MARKS = 4


class Blocks:
    """The blocks of a request that can bear a mark, in wire order, found by the key of the part they came from.

    A part that is not sent, or that cannot be marked (thinking), is stood for by the last block before it that can:
    the prefix up to there is the same, or as much of it as can be kept.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._by_key: dict[str, int] = {}

    def note(self, key: str, block: Block | None) -> None:
        """Take in what a part became, None for nothing that can be marked."""
        if block is not None:
            self._blocks.append(block)
        if self._blocks:
            self._by_key[key] = len(self._blocks) - 1

    def note_part(self, part: RequestPart, block: Block | None) -> None:
        """As `note`, by the part's own key."""
        self.note(part_key(part), block)

    def marked(self, marks: Iterable[CacheMark]) -> Iterator[tuple[Block, int]]:
        """Blocks to mark in wire order, each once, with lifetimes in seconds.

        A lifetime is never longer than the one before it, and of more than four marks the last and the first three
        stay: the vendors refuse anything else.
        """
        ttl_by_place: dict[int, int] = {}
        for mark in marks:
            place = self._by_key.get(mark.after_key)
            if place is not None:
                ttl_by_place[place] = max(mark.ttl_s, ttl_by_place.get(place, 0))
        longest = max(ttl_by_place.values(), default=0)
        for place in _fitting(sorted(ttl_by_place)):
            longest = min(longest, ttl_by_place[place])
            yield self._blocks[place], longest


def marks_of(plan: CachePlan | None) -> tuple[CacheMark, ...]:
    """The marks that a plan asks for, none where caching is off."""
    return plan.marks if plan is not None and plan.is_enabled else ()


def _fitting(places: Sequence[int]) -> Sequence[int]:
    return places if len(places) <= MAX_MARKS else [*places[: MAX_MARKS - 1], places[-1]]
