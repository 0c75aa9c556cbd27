"""Gaps as odds, and what a cached token costs over the turns to come: held against sums done by hand and by lot."""

from __future__ import annotations

import random
import sys
from bisect import bisect_left
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.kernel.values.cache import GapStats, Habits, Talk, TurnGap
from core.talk.caching.economy import (
    KEPT_GAPS,
    KEPT_TALKS,
    Odds,
    best_pings,
    break_even_pings,
    end_chance,
    idle_odds,
    observed,
    outlook,
    own_odds,
    ping_window_s,
    shared_odds,
    stats_of,
    with_gap,
)
from tests.core.talk.caching.requests import ANTHROPIC, AWAY, QUICK, SLOW, gap_stats

BOTH = (300, 3600)
GAPS = st.lists(st.floats(0, 1e6), max_size=60).map(tuple)


def test_a_new_person_is_taken_to_answer_soon_most_times() -> None:
    odds = own_odds(GapStats())

    assert 0.5 < odds.within(300) < 0.75
    assert 0.8 < odds.within(3600) < 0.95
    assert odds.cumulative[-1] == pytest.approx(1.0)


def test_learned_odds_hold_two_doubles_a_gap() -> None:
    """Dozens of samples of hundreds of gaps are kept: as objects each gap took 64."""
    odds = own_odds(gap_stats(*map(float, range(1, 201))))
    assert len(odds.gaps_s) >= 200
    assert sys.getsizeof(odds.gaps_s) + sys.getsizeof(odds.cumulative) < 20 * len(odds.gaps_s)


def test_what_was_seen_soon_outweighs_what_was_assumed() -> None:
    assert own_odds(gap_stats(*[1000.0] * 40)).within(300) < 0.1
    assert own_odds(gap_stats(*[30.0] * 40)).within(300) > 0.9


def test_a_discussion_is_judged_by_the_persons_gaps_until_it_has_own() -> None:
    """Smoothly: each own gap moves the odds towards its kind, and none turns them over."""
    person = tuple(map(TurnGap, [60.0] * 200))
    odds = [
        own_odds(GapStats((TurnGap(1200.0),) * own, person, person, own + 1)).within(300)
        for own in (0, 1, 3, 10, 40, 200)
    ]

    assert odds[0] > 0.9
    assert odds == sorted(odds, reverse=True)
    assert max(early - late for early, late in pairwise(odds[:3])) < 0.15
    assert odds[-1] < 0.2


def test_what_happens_in_one_discussion_leaves_the_odds_of_another_with_own_gaps_nearly_as_they_were() -> (
    None
):
    own = tuple(map(TurnGap, [60.0] * 60))
    before = own_odds(GapStats(own, own, own, 61))
    after = own_odds(GapStats(own, (*own, *(TurnGap(90_000.0),) * 100), own, 61))

    assert after.within(300) > before.within(300) - 0.35
    assert after.within(300) > 0.6


@given(
    st.lists(st.floats(1, 200_000), max_size=40),
    st.sampled_from([60.0, 1200.0, 20_000.0]),
    st.integers(1, 20),
)
def test_more_gaps_of_a_kind_move_the_odds_that_way(gaps: list[float], kind: float, more: int) -> None:
    person = tuple(map(TurnGap, gaps))
    few = own_odds(GapStats(person, person, person, 5))
    many = own_odds(GapStats((*person, *(TurnGap(kind),) * more), person, person, 5))

    # What is over an hour stands for gaps around it.
    low, high = (kind * 0.75 - 1, kind * 1.33 + 1) if kind > 3600 else (kind - 1, kind + 1)
    assert many.within(high) - many.within(low) >= few.within(high) - few.within(low) - 1e-9


def test_gaps_are_learned_turn_by_turn_and_the_oldest_forgotten() -> None:
    learned = Habits()
    for number in range(KEPT_GAPS + 10):
        learned = observed(learned, "d", number + 1, float(number), 1e9 + number)

    assert len(learned.own) == KEPT_GAPS
    assert learned.own[-1] == TurnGap(KEPT_GAPS + 9, 1e9 + KEPT_GAPS + 9)
    assert learned.talks == {"d": Talk(KEPT_GAPS + 10, 1e9 + KEPT_GAPS + 9)}


def test_of_many_discussions_the_newest_are_known() -> None:
    learned = Habits()
    for number in range(KEPT_TALKS + 10):
        learned = observed(learned, f"d{number}", 1, None, 1e9 + number)

    assert len(learned.talks) == KEPT_TALKS
    assert "d0" not in learned.talks


@pytest.mark.parametrize("gap_s", [None, -5.0, float("nan"), float("inf")])
def test_a_first_turn_and_a_clock_that_jumped_back_teach_no_gap(gap_s: float | None) -> None:
    assert with_gap((TurnGap(60.0),), gap_s, 1e9) == (TurnGap(60.0),)


def test_a_turn_in_any_discussion_is_one_for_what_all_share() -> None:
    learned = observed(Habits(), "one", 1, None, 1e9)
    learned = observed(learned, "two", 1, None, 1e9 + 60)
    learned = observed(learned, "one", 2, 100.0, 1e9 + 100)

    assert [gap.seconds for gap in learned.shared] == [60.0, 40.0]
    assert [gap.seconds for gap in learned.own] == [100.0]


def test_the_shared_prefix_is_judged_by_the_turns_that_need_it() -> None:
    """Whoever moves between discussions finds their own entries gone, and the shared one renewed a minute ago."""
    learned, now = Habits(), 1e9
    for turn in range(60):
        now += 60.0 if turn % 6 else 1500.0
        name = f"d{turn % 6}"
        own = None if turn < 6 else 300.0 + 1500.0 + 5000.0
        learned = observed(learned, name, turn // 6 + 1, own, now)
    stats = stats_of(learned, "d0", (), 10)

    assert shared_odds(stats, 3600).within(300) > 0.7
    assert own_odds(stats).within(300) < 0.5


def test_who_goes_on_asking_elsewhere_is_expected_back_less() -> None:
    """Returns came after a turn or two elsewhere so far; the discussion was left twenty turns ago."""
    learned, now, left = Habits(), 1e9, 0.0
    for turn in range(90):
        now += 120.0
        is_back = turn < 70 and turn % 3 == 0
        name = "d" if is_back else "other"
        own = (now - left if left else None) if is_back else 120.0
        left = now if is_back else left
        learned = observed(learned, name, turn + 1, own, now)
    stats = stats_of(learned, "d", (), 24)

    assert idle_odds(stats, now, now + 60.0) == own_odds(stats, now)
    assert idle_odds(stats, left, now).go_on < 0.75
    assert own_odds(stats, left).go_on > 0.9


def test_of_who_is_away_for_long_only_gaps_as_long_tell_whether_they_come_back() -> None:
    """Whoever moves between two discussions comes back from half an hour, in which they asked sixteen times."""
    learned, now, left = Habits(), 1e9, {"d": 0.0, "other": 0.0}
    for turn in range(240):
        now += 120.0
        name = "d" if turn % 32 < 16 else "other"
        learned = observed(learned, name, turn + 1, now - left[name] if left[name] else None, now)
        left[name] = now
    stats = stats_of(learned, "d", (), 120)

    late = idle_odds(stats, left["other"], now + 10.0)

    assert late.go_on > 0.9 * own_odds(stats, left["other"]).go_on


def test_who_has_asked_often_is_expected_to_ask_again() -> None:
    chances = [end_chance(GapStats(turns=turns), turns, 0.0) for turns in (1, 2, 5, 20, 100)]

    assert chances == sorted(chances, reverse=True)
    assert chances[0] > 0.1
    assert 0 < chances[-1] < 0.05


def test_lengths_are_learned_from_the_persons_discussions() -> None:
    """One whose discussions end with the second turn; another whose go on. What is left for a minute has not ended."""
    now = 1e9
    short = tuple(Talk(2, now - 10 * 86_400) for _ in range(12))
    long = tuple(Talk(60, now - 10 * 86_400) for _ in range(12))
    fresh = tuple(Talk(2, now - 60) for _ in range(12))

    assert end_chance(GapStats(turns=2, talks=short), 2, now) > 0.6
    assert end_chance(GapStats(turns=2, talks=long), 2, now) < 0.08
    assert end_chance(GapStats(turns=2, talks=fresh), 2, now) < 0.25


def test_returns_that_did_not_come_are_learned_from_by_the_time_others_took() -> None:
    """Three questions asked once and left for hours: the next is likely to be one, too. A day is not waited for."""
    now = 1e9
    hours = tuple(Talk(1, now - 5 * 3600 * number) for number in (1, 2, 3))
    minutes = tuple(Talk(1, now - 60 * number) for number in (1, 2, 3))
    slow = (TurnGap(20 * 3600.0),) * 20

    assert end_chance(GapStats(), 1, now) < 0.35
    assert end_chance(GapStats(talks=hours), 1, now) > 0.6
    assert end_chance(GapStats(talks=minutes), 1, now) < 0.5
    assert end_chance(GapStats(person=slow, talks=hours), 1, now) < 0.45
    assert end_chance(GapStats(talks=(*hours, *(Talk(40, now - 9e5),) * 6)), 1, now) < 0.35


def test_a_shared_prefix_that_new_discussions_have_no_use_for_is_worth_less() -> None:
    gaps = tuple(TurnGap(5 * 3600.0, 1e9 + 5 * 3600.0 * number) for number in range(8))
    stats = GapStats((), (), gaps, 1)

    new, strange, same = (
        shared_odds(replace(stats, starts=starts, strange=strange), 3600).go_on
        for starts, strange in ((0, 0), (8, 8), (8, 0))
    )
    assert strange < 0.3 < new < same
    assert same > 0.8


@given(
    st.lists(st.floats(0, 1e6), max_size=60),
    st.integers(1, 400),
    st.lists(st.builds(Talk, st.integers(1, 300), st.floats(0, 2e9)), max_size=9),
    st.sampled_from([0.0, 1e9, 1.9e9]),
)
def test_odds_are_odds(gaps: list[float], turns: int, talks: list[Talk], now_s: float) -> None:
    own = tuple(TurnGap(gap_s, now_s and now_s - 1e5 * place) for place, gap_s in enumerate(gaps))
    stats = GapStats(own, own, own, turns, tuple(talks))
    for odds in (own_odds(stats, now_s), shared_odds(stats, 3600, now_s)):
        assert 0 <= odds.go_on < 1
        assert list(odds.gaps_s) == sorted(odds.gaps_s)
        assert 0 <= odds.within(300) <= odds.within(3600) <= odds.within(1e12) == pytest.approx(1.0)
    assert own_odds(stats, now_s) == own_odds(stats, now_s)


def test_five_minutes_are_chosen_by_those_who_answer_at_once() -> None:
    found = outlook(ANTHROPIC, own_odds(QUICK), ttls=BOTH)

    assert found.offers[300].alive > 0.9
    assert found.idle < 0.25 * (found.without - 1.0)


def test_an_hour_is_worth_more_to_those_who_come_back_in_twenty_minutes() -> None:
    found = outlook(ANTHROPIC, own_odds(SLOW), ttls=BOTH)

    assert found.offers[300].alive < 0.1
    assert found.offers[3600].alive > 0.9
    assert found.live[300] - found.live[3600] > 1.5  # the next turn writes again, at twice the price of input


def test_those_who_come_back_tomorrow_are_not_sold_a_cache() -> None:
    found = outlook(ANTHROPIC, own_odds(AWAY), ttls=BOTH)

    assert found.idle == pytest.approx(found.without - 1.0, rel=0.05)


@given(GAPS, st.sampled_from([0.1, 0.05, 0.025, 1.0]), st.booleans(), st.booleans())
def test_no_outlook_is_worse_than_no_caching(
    gaps: tuple[float, ...], read: float, keepalive: bool, extends: bool
) -> None:
    odds = own_odds(gap_stats(*gaps, turns=len(gaps) + 1))
    found = outlook(replace(ANTHROPIC, read=read), odds, ttls=BOTH, keepalive=keepalive, extends=extends)

    assert found.idle <= found.without - 1.0 + 1e-9
    assert all(value >= -1e-9 for value in found.live.values())


@pytest.mark.parametrize("gaps", [QUICK, SLOW, gap_stats(*[60.0, 60.0, 1500.0, 1500.0, 9000.0] * 20)])
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
    return odds.gaps_s[bisect_left(odds.cumulative, drawn.random() - 1e-12)]


@pytest.mark.parametrize(("read", "short", "long"), [(0.1, 11, 19), (0.05, 24, 39), (0.025, 49, 79)])
def test_break_even_counts_are_those_of_the_facts(read: float, short: int, long: int) -> None:
    """More pings than these cost more than writing the prefix again, at each price of reading it."""
    prices = replace(ANTHROPIC, read=read)

    assert (break_even_pings(prices, 300), break_even_pings(prices, 3600)) == (short, long)


def test_words_behind_a_kept_prefix_are_written_shortly_where_the_next_turn_mostly_comes_at_once() -> None:
    """That turn lets them live as long as the rest: it is not as if they were never to be pinged."""
    desk = own_odds(gap_stats(*[120.0] * 30, *[1200.0] * 7, *[7200.0] * 3))
    away = own_odds(gap_stats(*[1200.0] * 30, *[7200.0] * 10))

    def costs(odds: Odds) -> tuple[float, float]:
        found = outlook(ANTHROPIC, odds, ttls=BOTH, keepalive=True)
        short, long = (ANTHROPIC.write_at(ttl_s) for ttl_s in BOTH)
        return short + found.unpinged[300], long + found.live[3600]

    off = outlook(ANTHROPIC, desk, ttls=BOTH)
    assert dict(off.unpinged) == pytest.approx(dict(off.live))
    assert outlook(ANTHROPIC, desk, ttls=BOTH, keepalive=True).unpinged[300] < 0.95 * off.live[300]
    short, long = costs(desk)
    assert short < long
    short, long = costs(away)
    assert short > long, "what is gone at the next turn is written again, time and again"


def test_pings_go_out_shortly_before_the_entry_dies() -> None:
    assert ping_window_s(300) == pytest.approx(4.7 * 60)
    assert ping_window_s(3600) == pytest.approx(57 * 60)


def test_a_lifetime_is_valued_by_the_pings_that_will_be_sent() -> None:
    """Nine short gaps tell that nobody comes back after hours: none is pinged for, and none is counted on."""
    few, many = (own_odds(gap_stats(*[120.0] * count)) for count in (3, 9))

    def pings(odds: Odds) -> int:
        return outlook(replace(ANTHROPIC, read=0.01), odds, ttls=BOTH, keepalive=True).offers[3600].pings

    assert pings(replace(many, pinged_s=few.pinged_s)) > 0
    assert pings(many) == 0


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
    assert best_pings(odds, 3600, 0.05, 1.9, 30, idle_s=2 * ping_window_s(3600))[0] == 0
