"""Confidence of a fact: what another confirmation adds, what silence takes away. Exact in two decimals."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

GAIN = Decimal("0.2")
"""Share of what is missing to certainty that a confirmation adds. Source: 40-facts.md, rule 3."""

DECAY, HARVESTS_UNTIL_DECAY = Decimal("0.9"), 30
"""What is left after so many harvested conversations without a confirmation. Source: 40-facts.md, rule 4."""

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
    """Words for a confidence. Source: 40-facts.md."""
    if confidence >= 0.9:
        return "stated and verified"
    if confidence >= 0.7:
        return "clearly implied"
    if confidence >= 0.5:
        return "suggested"
    return "inferred from little" if confidence >= 0.3 else "speculative"
