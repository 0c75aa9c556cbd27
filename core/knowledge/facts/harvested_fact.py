"""Facts that a harvest makes of its items: which items become one, of which category, in which words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.facts import MAX_FACT_CHARS, Fact, FactCategory
from core.knowledge.facts.fact_index import HeldFact

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
