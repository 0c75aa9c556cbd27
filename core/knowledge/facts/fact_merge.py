"""Facts of a harvest's items, and the three-way sync of one fact: last sync, file and index decide who is right."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from enum import Enum
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import msgpack_encoder
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.facts import (
    MAX_FACT_CHARS,
    SHOWN_CONFIDENCE,
    Fact,
    FactCategory,
    FactProblem,
    IndexedFact,
)
from core.knowledge.facts.fact_checks import FactPlace, id_parts
from core.knowledge.facts.fact_file import FactFile, FactItem
from core.knowledge.facts.fact_index import FactNews, FactNewsKind, HeldFact

# Confidence of a fact: what another confirmation adds, what silence takes away. Exact in two decimals.

GAIN = Decimal("0.2")
"""Share of what is missing to certainty that a confirmation adds."""

DECAY, HARVESTS_UNTIL_DECAY = Decimal("0.9"), 30
"""Share that is left after so many harvested conversations without a confirmation."""

HARVESTED, BY_PERSON = 0.7, 0.9
"""Confidence of a new fact from a harvest; of one that the person edited or confirmed."""

_HUNDREDTH = Decimal("0.01")


@lru_cache(maxsize=1024)
def confirmed(confidence: float) -> float:
    """Confidence after another conversation said the same: two decimals, never past 1 and never down."""
    exact = Decimal(repr(confidence))
    raised = (exact + (1 - exact) * GAIN).quantize(_HUNDREDTH, ROUND_HALF_UP)
    return float(min(Decimal(1), max(exact, raised)))


@lru_cache(maxsize=4096)
def decayed(confidence: float, harvests: int) -> float:
    """Confidence after so many harvested conversations of its domain without a confirmation, two decimals."""
    steps = harvests // HARVESTS_UNTIL_DECAY
    if steps <= 0:
        return confidence
    exact = Decimal(repr(confidence)) * DECAY ** min(steps, 1000)
    return float(exact.quantize(_HUNDREDTH, ROUND_HALF_UP))


def band(confidence: float) -> str:
    """Words for a confidence."""
    if confidence >= 0.9:
        return tr("stated and verified")
    if confidence >= 0.7:
        return tr("clearly implied")
    if confidence >= 0.5:
        return tr("suggested")
    return tr("inferred from little") if confidence >= 0.3 else tr("speculative")


DECISION_TAG = "decision"
NAMED_KINDS = frozenset({FactCategory.PITFALL.value, FactCategory.TOOL_QUIRK.value})
"""Categories that a model may name for a fact."""

_SENTENCE = late(r".*?[.!?…](?=\s|$)")


def short_text(whole: str, statement: str) -> str:
    """Words of a fact: all of an item where they fit, else its statement, its first sentence, or that cut at a word.

    Args:
        whole, statement: on one line each; the statement is what the item says without its detail.
    """
    for text in (whole, statement):
        if len(text) <= MAX_FACT_CHARS:
            return text
    sentence = _SENTENCE.match(statement)
    if sentence is not None and len(sentence[0]) <= MAX_FACT_CHARS:
        return sentence[0]
    cut = statement[: MAX_FACT_CHARS - 1]
    words = cut.rpartition(" ")[0].rstrip(" ,;:–—-")
    return f"{words or cut}…"


def new_fact(
    fact_id: str, text: str, category: FactCategory, domain: str, day: str, *, by_person: bool, decision: bool
) -> Fact:
    """A fact that was first seen in a harvest. `by_person`: a person edited or confirmed it; `day`: ISO 8601."""
    return Fact(
        id=fact_id,
        text=text,
        category=category,
        domain=domain,
        confidence=BY_PERSON if by_person else HARVESTED,
        tags=(DECISION_TAG,) if decision else (),
        source_count=1,
        first_seen=day,
        last_confirmed=day,
    )


def held_fact(held: HeldFact, fact_id: str) -> Fact:
    """A fact that could not be written when it was harvested."""
    domain, _, category = held.series.rpartition(":")
    day, kind = held.at[:10], FactCategory(category)
    return new_fact(
        fact_id, held.text, kind, domain, day, by_person=held.by_person, decision=held.is_decision
    )


def retired_fact(fact: Fact, day: str) -> Fact:
    """A fact that another has taken the place of: it has expired the day before, so it leaves every prompt and stays
    in its file.
    """
    last = (date.fromisoformat(day) - timedelta(days=1)).isoformat()
    return replace(fact, expires=min(last, fact.expires or last))


def merged_fact(facts: Sequence[Fact], text: str, source_count: int) -> Fact:
    """The fact that takes several on: the surest keeps its id, and nothing that is known of the others is lost.

    Args:
        facts: of one domain and category, at least one; text: at most `MAX_FACT_CHARS`; source_count: of all together.
    """
    first = max(facts, key=lambda fact: (fact.confidence, fact.source_count, fact.last_confirmed))
    gone = {fact.id for fact in facts}
    related = dict.fromkeys(one for fact in (first, *facts) for one in fact.related if one not in gone)
    expires = [fact.expires for fact in facts]
    return replace(
        first,
        text=text,
        tags=tuple(dict.fromkeys(tag for fact in (first, *facts) for tag in fact.tags)),
        source_count=max(source_count, *(fact.source_count for fact in facts)),
        first_seen=min((fact.first_seen for fact in facts if fact.first_seen), default=""),
        last_confirmed=max(fact.last_confirmed for fact in facts),
        expires=max(expires) if all(expires) else "",
        related=tuple(related),
    )


def confirmed_fact(fact: Fact, day: str) -> Fact:
    """A fact that another conversation said again. Days never go back."""
    return Fact(
        id=fact.id, text=fact.text, category=fact.category, domain=fact.domain, confidence=confirmed(fact.confidence), tags=fact.tags,
        source_count=fact.source_count + 1, first_seen=fact.first_seen, last_confirmed=max(day, fact.last_confirmed), expires=fact.expires, related=fact.related,
    )  # fmt: skip


# Three-way sync of one fact: what the last sync saw, the file, and the index decide who is right.


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
    """Decide for one id whether the fact of the file or the row of the index counts.

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
    """News of a verdict. A row that is missing only because somebody removed the index is no news."""
    match verdict:
        case FactVerdict.TAKE_FILE if row is None and was_seen:
            return []
        case FactVerdict.TAKE_FILE if row is None and fact is not None:
            return [FactNews(kind=FactNewsKind.ADDED, fact_id=key, text=fact.text)]
        case FactVerdict.TAKE_FILE if row is not None and fact is not None:
            return [FactNews(kind=FactNewsKind.EDITED, fact_id=key, text=fact.text, was=row.text)]
        case FactVerdict.DROP if row is not None:
            return [FactNews(kind=FactNewsKind.REMOVED, fact_id=key, was=row.text)]
        case FactVerdict.FILE_WINS | FactVerdict.DROP_CHANGED if row is not None:
            return [FactNews(kind=FactNewsKind.OVERRULED, fact_id=key, text=row.text)]
        case _:
            return []


_encode = msgpack_encoder().encode


def content_hash(fact: Fact) -> bytes:
    """Hash of what a person can say in a fact, 12 bytes; of an indexed fact, of the same fields."""
    return hashlib.blake2b(_encode(plain_fact(fact)), digest_size=12).digest()


def plain_fact(fact: Fact) -> Fact:
    """A fact without what time and harvests made of it."""
    if not isinstance(fact, IndexedFact):
        return fact
    return Fact(
        id=fact.id, text=fact.text, category=fact.category, domain=fact.domain, confidence=fact.confidence, tags=fact.tags, source_count=fact.source_count,
        first_seen=fact.first_seen, last_confirmed=fact.last_confirmed, expires=fact.expires, related=fact.related,
    )  # fmt: skip


def indexed(
    fact: Fact, harvests: int, effective: float, *, stale: bool, held: bool = False, withdrawn: bool = False
) -> IndexedFact:
    """A fact's row in the index."""
    return IndexedFact(
        id=fact.id, text=fact.text, category=fact.category, domain=fact.domain, confidence=fact.confidence, tags=fact.tags, source_count=fact.source_count,
        first_seen=fact.first_seen, last_confirmed=fact.last_confirmed, expires=fact.expires, related=fact.related, effective_confidence=effective, harvests_since_confirmed=harvests, stale=stale or withdrawn, held=held, withdrawn=withdrawn,
    )  # fmt: skip


# Facts for a prompt: which of a scope may enter, best first without a clock, and as many as there is room
# for.


def ranked(facts: Iterable[IndexedFact]) -> tuple[IndexedFact, ...]:
    """Facts that may enter a prompt, best first: by effective confidence, sources, the day of the last confirmation.

    The same facts give the same order, on any day: what is stale was decided at the last sync.
    """
    shown = (fact for fact in facts if not fact.stale and fact.effective_confidence >= SHOWN_CONFIDENCE)
    by_id = sorted(shown, key=lambda fact: fact.id)
    by_day = sorted(by_id, key=lambda fact: fact.last_confirmed, reverse=True)
    return tuple(sorted(by_day, key=lambda fact: (-fact.effective_confidence, -fact.source_count)))


def lines_that_fit(lines: Sequence[str], room_bytes: int) -> int:
    """Number of leading lines that fit, whole, in UTF-8 bytes."""
    for count, line in enumerate(lines):
        room_bytes -= len(line.encode("utf-8", "replace"))
        if room_bytes < 0:
            return count
    return len(lines)


# Files of facts taken together: which facts count, which ids are broken, and what stands in two files.


class FactUnion(msgspec.Struct, frozen=True):
    """Several files as one.

    Args:
        facts: those that count, by id; names: the file of each; ids: every id that is named, broken ones too.
        broken: ids whose items are wrong; unsure: places of which it is not known what they hold.
        doubled: problems of ids that stand in two files.
    """

    facts: Mapping[str, Fact]
    names: Mapping[str, str]
    ids: frozenset[str]
    broken: frozenset[str] = frozenset()
    unsure: tuple[FactPlace, ...] = ()
    doubled: tuple[FactProblem, ...] = ()

    @property
    def domains(self) -> frozenset[str]:
        """Domains that the files hold."""
        return frozenset(fact.domain for fact in self.facts.values()) | {p.domain for p in self.unsure}

    def holds(self, fact_id: str) -> bool:
        """True if what was known of an id stays, since its item cannot be read now."""
        if fact_id in self.broken:
            return True
        parts = id_parts(fact_id) if self.unsure else None
        if parts is None:
            return False
        return any(place.domain == parts[0] and place.category in {None, parts[1]} for place in self.unsure)


def _twice(name: str, item: FactItem, other: str) -> FactProblem:
    said = tr("the id {id} is also in {other}; the index leaves both facts out", id=item.id, other=other)
    return FactProblem(file=name, line=item.line, text=said)


def united(files: Iterable[FactFile]) -> FactUnion:
    """Take files together. An id that stands in two of them counts in neither. O(items)."""
    facts: dict[str, Fact] = {}
    names: dict[str, str] = {}
    wrong: set[str] = set()
    unsure: list[FactPlace] = []
    doubled: list[FactProblem] = []
    first: dict[str, FactItem] = {}
    for file in files:
        name = file.place.name
        if file.is_broken or any(not item.id for item in file.items):
            unsure.append(file.place)
        for item in file.items:
            if not item.id:
                continue
            if item.fact is None:
                wrong.add(item.id)
            elif (other := names.get(item.id, name)) != name:
                wrong.add(item.id)
                doubled += (_twice(other, first[item.id], name), _twice(name, item, other))
            else:
                facts[item.id], names[item.id], first[item.id] = item.fact, name, item
    for key in wrong & facts.keys():
        del facts[key]
    return FactUnion(
        facts=facts,
        names=names,
        ids=frozenset(names) | wrong,
        broken=frozenset(wrong),
        unsure=tuple(unsure),
        doubled=tuple(doubled),
    )
