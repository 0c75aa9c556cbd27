"""Three-way sync of one fact: what the last sync saw, the file, and the index decide who is right."""

from __future__ import annotations

import hashlib
from enum import Enum

import msgspec

from core.facts.past import FactNews, FactNewsKind
from core.values.facts import Fact, IndexedFact


class FactVerdict(Enum):
    """Outcome for one id."""

    SAME = "file and index say the same"
    TAKE_FILE = "the person's edit reaches the index"
    FILE_WINS = "both changed: the file wins, and the other is told"
    TAKE_INDEX = "the index alone changed: the item is written"
    ADD_TO_FILE = "the index alone has it, and it is new there: an item is written"
    HOLD = "the item is broken: the index keeps what it said last"
    DROP = "the item was deleted: it leaves the index"
    DROP_CHANGED = "the item was deleted and the index changed: it leaves, and the other is told"
    NOTHING = "neither has anything that counts"


def settle(
    fact: Fact | None, row: Fact | None, seen: bytes | None, *, is_held: bool, has_base: bool
) -> FactVerdict:
    """Decide about one id.

    Args:
        fact: of the file, valid; None where it is not there or is broken.
        row: what the index says; seen: `content_hash` of what the last sync saw, None where it saw nothing.
        is_held: the file names it, or may, and cannot be read there.
        has_base: what the last sync saw is known at all; without it the file counts.
    """
    if fact is None:
        if row is None:
            return FactVerdict.NOTHING
        if is_held:
            return FactVerdict.HOLD
        if seen is None:
            return FactVerdict.ADD_TO_FILE if has_base else FactVerdict.DROP_CHANGED
        return FactVerdict.DROP if content_hash(row) == seen else FactVerdict.DROP_CHANGED
    if row is None:
        return FactVerdict.TAKE_FILE
    now, indexed = content_hash(fact), content_hash(row)
    if now == indexed:
        return FactVerdict.SAME
    if seen is None:
        return FactVerdict.FILE_WINS
    if indexed == seen:
        return FactVerdict.TAKE_FILE
    return FactVerdict.TAKE_INDEX if now == seen else FactVerdict.FILE_WINS


QUIET = frozenset(
    {FactVerdict.SAME, FactVerdict.NOTHING, FactVerdict.HOLD, FactVerdict.TAKE_INDEX, FactVerdict.ADD_TO_FILE}
)
"""Verdicts that nobody needs to be told of."""


def news_of(
    verdict: FactVerdict, key: str, fact: Fact | None, row: Fact | None, *, was_seen: bool
) -> list[FactNews]:
    """News of a verdict. A row that is only missing in the index, for somebody removed that, is none."""
    match verdict:
        case FactVerdict.TAKE_FILE if row is None and was_seen:
            return []
        case FactVerdict.TAKE_FILE if row is None and fact is not None:
            return [FactNews(FactNewsKind.ADDED, key, fact.text)]
        case FactVerdict.TAKE_FILE if row is not None and fact is not None:
            return [FactNews(FactNewsKind.EDITED, key, fact.text, was=row.text)]
        case FactVerdict.DROP if row is not None:
            return [FactNews(FactNewsKind.REMOVED, key, was=row.text)]
        case FactVerdict.FILE_WINS | FactVerdict.DROP_CHANGED if row is not None:
            return [FactNews(FactNewsKind.OVERRULED, key, row.text)]
        case _:
            return []


_encode = msgspec.msgpack.Encoder().encode


def content_hash(fact: Fact) -> bytes:
    """Hash of what a person can say in a fact, 12 bytes; of an indexed fact, of the same fields."""
    return hashlib.blake2b(_encode(plain_fact(fact)), digest_size=12).digest()


def plain_fact(fact: Fact) -> Fact:
    """A fact without what time and harvests made of it."""
    if not isinstance(fact, IndexedFact):
        return fact
    return Fact(
        fact.id, fact.text, fact.category, fact.domain, fact.confidence, fact.tags, fact.source_count,
        fact.first_seen, fact.last_confirmed, fact.expires, fact.related,
    )  # fmt: skip


def indexed(
    fact: Fact, harvests: int, effective: float, *, stale: bool, held: bool = False, withdrawn: bool = False
) -> IndexedFact:
    """A fact's row in the index."""
    return IndexedFact(
        fact.id, fact.text, fact.category, fact.domain, fact.confidence, fact.tags, fact.source_count,
        fact.first_seen, fact.last_confirmed, fact.expires, fact.related, effective, harvests, stale or withdrawn, held, withdrawn,
    )  # fmt: skip
