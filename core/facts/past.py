"""Past of the facts, as ledger and logs tell it: when each was confirmed, what was harvested, which numbers were given."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from core.base.domains import GLOBAL
from core.values.facts import Fact

_DAY_END = "T99"
"""Behind any time of a day: what was confirmed on a day counts as confirmed by all of its harvests."""


class Reword(msgspec.Struct, frozen=True):
    """New words of a fact, for its item was edited. `was`: those that they take the place of, and no others."""

    was: frozenset[str]
    now: str


class HeldFact(msgspec.Struct, frozen=True):
    """A fact that could not be written when its item was, for its file could not be read.

    Args:
        series: `domain:category`; item: hash of its item; at: when it was said, ISO 8601 UTC.
    """

    series: str
    item: str
    text: str
    at: str
    by_person: bool = False
    is_decision: bool = False


class Past(msgspec.Struct, frozen=True):
    """The past as values. Times are ISO 8601 UTC, as the ledger writes them.

    Args:
        told: the last time that an event or evidence confirmed a fact, by id.
        harvests: times of harvested conversations by domain, sorted; all_harvests: of every domain.
        highest: the highest number that was given, by `domain:category`.
        withdrawn: facts whose items stand in no category file any more; None where that cannot be told now.
        forgotten: facts that a person forgot; rewords: words that facts take on, by id; held: facts to be made up for.
    """

    told: Mapping[str, str] = msgspec.field(default_factory=dict)
    harvests: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    all_harvests: tuple[str, ...] = ()
    highest: Mapping[str, int] = msgspec.field(default_factory=dict)
    withdrawn: frozenset[str] | None = frozenset()
    forgotten: frozenset[str] = frozenset()
    rewords: Mapping[str, Reword] = msgspec.field(default_factory=dict)
    held: tuple[HeldFact, ...] = ()


class FactNewsKind(StrEnum):
    """Kinds of what a sync found that ledger and logs did not know."""

    ADDED = "added by hand"
    EDITED = "edited by hand"
    REMOVED = "removed by hand"
    OVERRULED = "the index had changed too, and the file won"
    WITHDRAWN = "its item stands in no category file any more"
    RETURNED = "its item stands in its file again"
    MADE_UP = "written now that its file can be read again"


class FactNews(msgspec.Struct, frozen=True):
    """Something that a sync found.

    Args:
        text: what the fact says; of what was overruled, what the index had said; item: hash, of what was made up for.
        was: what a fact said before it was edited or removed by hand.
    """

    kind: FactNewsKind
    fact_id: str
    text: str = ""
    item: str = ""
    was: str = ""


def harvests_since(fact: Fact, past: Past) -> int:
    """Harvested conversations of a fact's domain since it was confirmed last; of `global` every one counts. O(log n)."""
    day = fact.last_confirmed or fact.first_seen
    at = past.told.get(fact.id, "")
    if day > at[:10]:
        at = day + _DAY_END
    if not at:
        return 0
    times = past.all_harvests if fact.domain == GLOBAL else past.harvests.get(fact.domain, ())
    return len(times) - bisect_right(times, at)


def raised(highest: Mapping[str, int], ids: Iterable[str]) -> dict[str, int]:
    """The highest numbers with those of further ids. What is no id is passed over."""
    found = dict(highest)
    for fact_id in ids:
        series, _, digits = fact_id.rpartition(":")
        if digits.isascii() and digits.isdigit() and len(digits) <= 9:
            found[series] = max(found.get(series, 0), int(digits))
    return found


def next_id(highest: Mapping[str, int], series: str) -> str:
    """The next id of a `domain:category`: numbers are never given twice."""
    return f"{series}:{highest.get(series, 0) + 1:03d}"
