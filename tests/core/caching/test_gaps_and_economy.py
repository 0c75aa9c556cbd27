"""Gaps as odds, and what a cached token costs over the turns to come: held against sums done by hand and by lot."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.caching.economy import best_pings, break_even_pings, outlook, ping_window_s
from core.caching.gaps import KEPT_GAPS, Odds, observe, own_odds, shared_odds
from core.values.cache import GapStats
from tests.core.caching.requests import ANTHROPIC, AWAY, QUICK, SLOW

BOTH = (300, 3600)
GAPS = st.lists(st.floats(0, 1e6), max_size=60).map(tuple)


def stats(*own: float) -> GapStats:
    return GapStats(own_s=own, turns=len(own) + 1, discussions=1)


def test_a_new_person_is_taken_to_answer_soon_most_times() -> None:
    odds = own_odds(GapStats())

    assert 0.5 < odds.within(300) < 0.75
    assert 0.8 < odds.within(3600) < 0.95
    assert odds.cumulative[-1] == pytest.approx(1.0)


def test_what_was_seen_soon_outweighs_what_was_assumed() -> None:
    assert own_odds(stats(*[1000.0] * 40)).within(300) < 0.1
    assert own_odds(stats(*[30.0] * 40)).within(300) > 0.9


def test_gaps_are_learned_turn_by_turn_and_the_oldest_forgotten() -> None:
    learned = GapStats()
    for number in range(KEPT_GAPS + 10):
        learned = observe(learned, float(number), 1.0)

    assert len(learned.own_s) == KEPT_GAPS
    assert learned.own_s[-1] == KEPT_GAPS + 9
    assert learned.turns == KEPT_GAPS + 10


def test_a_first_turn_counts_a_discussion_and_a_clock_that_jumped_back_nothing() -> None:
    learned = observe(observe(GapStats(), None), -5.0, float("nan"))

    assert learned == GapStats(turns=2, discussions=1)


def test_the_shared_prefix_is_asked_for_more_often_than_a_discussion() -> None:
    learned = GapStats(own_s=(2000.0,) * 50, shared_s=(100.0,) * 50, turns=50, discussions=3)

    assert shared_odds(learned).within(300) > own_odds(learned).within(300)


@given(GAPS, st.integers(0, 100), st.integers(0, 100))
def test_odds_are_odds(gaps: tuple[float, ...], turns: int, discussions: int) -> None:
    odds = own_odds(GapStats(gaps, gaps, turns, discussions))

    assert 0 <= odds.go_on < 1
    assert list(odds.gaps_s) == sorted(odds.gaps_s)
    assert 0 <= odds.within(300) <= odds.within(3600) <= odds.within(1e9) == pytest.approx(1.0)


def test_five_minutes_are_chosen_by_those_who_answer_at_once() -> None:
    found = outlook(ANTHROPIC, own_odds(QUICK), ttls=BOTH)

    assert found.offers[300].alive > 0.9
    assert found.dead < 0.25 * found.without


def test_an_hour_is_worth_more_to_those_who_come_back_in_twenty_minutes() -> None:
    found = outlook(ANTHROPIC, own_odds(SLOW), ttls=BOTH)

    assert found.offers[300].alive < 0.1
    assert found.offers[3600].alive > 0.9
    assert found.live[300] - found.live[3600] > 1.5  # the next turn writes again, at twice the price of input


def test_those_who_come_back_tomorrow_are_not_sold_a_cache() -> None:
    found = outlook(ANTHROPIC, own_odds(AWAY), ttls=BOTH)

    assert found.dead == pytest.approx(found.without, rel=0.05)


@given(GAPS, st.sampled_from([0.1, 0.05, 0.025, 1.0]), st.booleans(), st.booleans())
def test_no_outlook_is_worse_than_no_caching(
    gaps: tuple[float, ...], read: float, keepalive: bool, extends: bool
) -> None:
    odds = own_odds(GapStats(gaps, gaps, len(gaps) + 1, 1))
    found = outlook(replace(ANTHROPIC, read=read), odds, ttls=BOTH, keepalive=keepalive, extends=extends)

    assert found.dead <= found.without + 1e-9
    assert all(value >= -1e-9 for value in found.live.values())


@pytest.mark.parametrize(
    "gaps", [QUICK, SLOW, GapStats((60.0, 60.0, 1500.0, 1500.0, 9000.0) * 20, (), 100, 2)]
)
@pytest.mark.parametrize("ttl", BOTH)
def test_the_outlook_of_one_lifetime_is_the_mean_of_many_lots(gaps: GapStats, ttl: int) -> None:
    """One lifetime and no choice: draw discussions by the same odds and add up their bills."""
    odds = own_odds(gaps)
    found = outlook(ANTHROPIC, odds, ttls=(ttl,), extends=False)
    drawn = random.Random(7)
    write = ANTHROPIC.write_at(ttl)
    bills = []
    for _ in range(4000):
        bill = 0.0
        while drawn.random() < odds.go_on:
            gap = _draw(odds, drawn)
            bill += ANTHROPIC.read if gap <= ttl else write
        bills.append(bill)

    mean = sum(bills) / len(bills)
    assert found.live[ttl] == pytest.approx(min(mean, odds.go_on * found.without), rel=0.08)


def _draw(odds: Odds, drawn: random.Random) -> float:
    share = drawn.random()
    return next(
        gap for gap, up_to in zip(odds.gaps_s, odds.cumulative, strict=True) if share <= up_to + 1e-12
    )


@pytest.mark.parametrize(("read", "short", "long"), [(0.1, 11, 19), (0.05, 24, 39), (0.025, 49, 79)])
def test_break_even_counts_are_those_of_the_facts(read: float, short: int, long: int) -> None:
    """The table of caching-facts.md, F1."""
    prices = replace(ANTHROPIC, read=read)

    assert (break_even_pings(prices, 300), break_even_pings(prices, 3600)) == (short, long)


def test_pings_go_out_shortly_before_the_entry_dies() -> None:
    assert ping_window_s(300) == pytest.approx(4.7 * 60)
    assert ping_window_s(3600) == pytest.approx(57 * 60)


def test_pings_bridge_a_gap_that_is_sure_to_end() -> None:
    odds = Odds((9000.0,), (1.0,), 0.99)

    pings, saving = best_pings(odds, 3600, 0.05, 1.9, 30)
    assert pings == 2
    assert saving > 1.5


def test_no_ping_is_worth_it_where_nobody_comes_back_in_time() -> None:
    odds = Odds((500_000.0,), (1.0,), 0.99)

    assert best_pings(odds, 3600, 0.05, 1.9, 39) == (0, 0.0)


def test_the_longer_nobody_came_the_less_a_ping_is_worth() -> None:
    odds = Odds((5000.0, 400_000.0), (0.9, 1.0), 0.99)

    assert best_pings(odds, 3600, 0.05, 1.9, 30)[0] == 1
    assert best_pings(odds, 3600, 0.05, 1.9, 30, idle_pings=2)[0] == 0
