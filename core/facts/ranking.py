"""Facts for a prompt: which of a scope may enter, best first without a clock, and as many as there is room for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.values.facts import SHOWN_CONFIDENCE, IndexedFact


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
