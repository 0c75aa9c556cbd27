"""How long a person lets pass between turns: learned, and read as odds for lifetimes and pings."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

import msgspec

from core.values.cache import GapStats

KEPT_GAPS = 256
PRIOR = ((60.0, 2.4), (900.0, 1.0), (5400.0, 0.2), (3 * 3600.0, 0.2), (7 * 3600.0, 0.1), (15 * 3600.0, 0.1))
"""What is assumed before anything was seen, in seconds and turns' worth: most answers are followed soon."""
_SPREAD = (0.75, 1.0, 1.33)
"""A long gap stands for gaps around it: what took three hours today takes four tomorrow."""
_LONG_S = 3600.0
PRIOR_TURNS = 24
"""A discussion is assumed to go on for so many turns until seen otherwise."""


class Odds(msgspec.Struct, frozen=True):
    """Gaps as a weighted sample, ascending.

    Args:
        gaps_s: seconds; cumulative: their weights up to each, the last is 1.
        go_on: the probability that another turn of the discussion comes at all.
    """

    gaps_s: tuple[float, ...]
    cumulative: tuple[float, ...]
    go_on: float

    def within(self, seconds: float) -> float:
        """The probability that the next turn comes within so many seconds, if it comes."""
        index = bisect_right(self.gaps_s, seconds)
        return self.cumulative[index - 1] if index else 0.0


def observe(stats: GapStats, own_gap_s: float | None, shared_gap_s: float | None = None) -> GapStats:
    """Learn from a turn that begins.

    Args:
        own_gap_s: seconds since the last turn of the same discussion, None for its first.
        shared_gap_s: since the last turn of any discussion that shares the stable prefix, None for the first.
            Gaps below zero (a clock that jumped) are passed over.
    """
    return GapStats(
        own_s=_added(stats.own_s, own_gap_s),
        shared_s=_added(stats.shared_s, shared_gap_s),
        turns=stats.turns + 1,
        discussions=stats.discussions + (own_gap_s is None),
    )


def own_odds(stats: GapStats) -> Odds:
    """Odds of the next turn of the same discussion."""
    return _odds(stats.own_s, stats)


def shared_odds(stats: GapStats) -> Odds:
    """Odds of the next turn of any discussion with the same stable prefix."""
    return _odds(stats.shared_s or stats.own_s, stats)


def _added(gaps_s: tuple[float, ...], gap_s: float | None) -> tuple[float, ...]:
    if gap_s is None or not gap_s >= 0:
        return gaps_s
    return (*gaps_s, gap_s)[-KEPT_GAPS:]


@lru_cache(maxsize=32)
def _odds(gaps_s: tuple[float, ...], stats: GapStats) -> Odds:
    sample = sorted(
        pair for gap, weight in (*PRIOR, *((g, 1.0) for g in gaps_s)) for pair in _spread(gap, weight)
    )
    total = sum(weight for _, weight in sample)
    cumulative = tuple(accumulate(weight / total for _, weight in sample))
    turns, ends = stats.turns + PRIOR_TURNS, stats.discussions + 1
    go_on = (turns - ends) / turns if turns > ends else 0.0
    return Odds(tuple(gap for gap, _ in sample), cumulative, go_on)


def _spread(gap_s: float, weight: float) -> tuple[tuple[float, float], ...]:
    if gap_s <= _LONG_S:
        return ((gap_s, weight),)
    return tuple((gap_s * factor, weight / len(_SPREAD)) for factor in _SPREAD)
