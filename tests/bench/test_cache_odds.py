"""The right odds: drawn from the kind of day, given what was seen of it."""

from __future__ import annotations

import pytest

from tests.bench.cache_days import BUSY, HOURS_S, SHORT, SPARSE, TURNS
from tests.bench.cache_odds import TrueOdds


def test_the_next_gap_is_drawn_as_the_day_is() -> None:
    odds = TrueOdds(BUSY, 1)
    odds.turn(0, 1_000.0)
    own = odds.own(0, 1_000.0)

    assert own.go_on > 0.9
    assert own.within(240.0) == pytest.approx(BUSY.short * 0.85, abs=0.12)
    assert own.within(44.0) == 0.0


def test_who_has_waited_for_an_hour_comes_later_than_that() -> None:
    odds = TrueOdds(SPARSE, 1)
    odds.turn(0, 1_000.0)
    waited = odds.own(0, 1_000.0 + HOURS_S[0])

    assert min(waited.gaps_s) >= HOURS_S[0]


def test_a_discussion_may_be_over_and_a_whole_day_is() -> None:
    odds = TrueOdds(BUSY, 1)
    for number in range(SHORT[1]):
        odds.turn(0, number * 60.0)
    going = odds.own(0, SHORT[1] * 60.0).go_on
    left = TURNS - SHORT[1]
    for number in range(left):
        odds.turn(1 + number % 2, (SHORT[1] + number) * 60.0)

    assert 0.5 < going <= 1.0
    assert odds.own(0, TURNS * 60.0).go_on < 0.1
