"""Rules without foresight cost what is counted by hand, and never less than the bound of one who has it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.cache_bound import Block, Sent, cheapest
from tests.bench.cache_rules import (
    WAYS,
    Asked,
    Played,
    asked_for,
    best_costs,
    best_whole,
    by_rule,
    costs_by,
    whole_costs,
    with_pings_of,
)
from tests.bench.cache_turns import AFTER_S

FRESH, SHORT, LONG = WAYS
GAPS = st.lists(st.sampled_from([30.0, 200.0, 400.0, 2000.0, 4000.0, 40_000.0]), max_size=6)


@settings(max_examples=60, deadline=None)
@given(GAPS, st.sampled_from((0, 1, 3, 39)), st.booleans())
def test_no_rule_costs_less_than_the_cheapest_way_of_one_who_knows_the_future(
    gaps: list[float], most: int, knows_last: bool
) -> None:
    times = [sum(gaps[:number]) for number in range(len(gaps) + 1)]
    least = cheapest(times, 0.05, pings=most > 0)

    for way in WAYS:
        cost = by_rule(times, way, most, 0.05, kept_s=times[-1] + 9_000.0, knows_last=knows_last)
        assert cost >= least - 1e-9


def test_a_short_write_goes_on_for_an_hour_after_its_hit_and_the_last_use_is_sent_fresh_by_who_knows_it() -> (
    None
):
    times = [0.0, 200.0, 3_000.0, 20_000.0]

    assert by_rule(times, SHORT, 0, 0.05, knows_last=False) == pytest.approx(1.25 + 0.05 + 0.05 + 1.25)
    assert by_rule(times, SHORT, 0, 0.05, knows_last=True) == pytest.approx(1.25 + 0.05 + 0.05 + 1.0)
    assert by_rule(times, LONG, 0, 0.05, knows_last=False) == pytest.approx(2.0 + 0.05 + 0.05 + 2.0)
    assert by_rule(times, FRESH, 0, 0.05, knows_last=False) == pytest.approx(4.0)


def test_pings_bridge_a_gap_where_they_are_enough_are_lost_where_they_are_not_and_end_with_what_is_sent() -> (
    None
):
    times = [0.0, 6_000.0]  # one ping when the five minutes end, another an hour later

    enough = by_rule(times, SHORT, 2, 0.05, kept_s=6_000.0, knows_last=False)
    too_few = by_rule(times, SHORT, 1, 0.05, kept_s=6_000.0, knows_last=False)
    after = by_rule(times, SHORT, 2, 0.05, kept_s=6_000.0 + 3_700.0, knows_last=False)
    for_good = by_rule(times, SHORT, 2, 0.05, kept_s=math.inf, knows_last=False)
    told = by_rule(times, SHORT, 2, 0.05, kept_s=math.inf, knows_last=True)

    assert enough == pytest.approx(1.25 + 2 * 0.05 + 0.05)
    assert too_few == pytest.approx(1.25 + 0.05 + 1.25)
    assert after == pytest.approx(enough + 0.05)
    assert for_good == pytest.approx(enough + 2 * 0.05)
    assert told == pytest.approx(enough)


def test_a_prefix_is_kept_until_nobody_sends_it_any_more_and_layer_8_is_no_prefix() -> None:
    asked, fresh = asked_for(
        [
            Sent(0.0, (Block(1, 100), Block(2, 10), Block(3, 5))),
            Sent(200.0, (Block(1, 100), Block(4, 10), Block(5, 5))),
            Sent(2_200.0, (Block(1, 100), Block(6, 20), Block(7, 5))),
        ],
        ["a", "b", "a"],
        [1, 1, 1],
    )
    after_s = 2_200.0 + AFTER_S

    assert fresh == 15
    assert asked == [
        Asked(((0.0, "a"), (200.0, "b"), (2_200.0, "a")), after_s, 100),
        Asked(((0.0, "a"),), 2_200.0, 10),
        Asked(((200.0, "b"),), after_s, 10),
        Asked(((2_200.0, "a"),), after_s, 20),
    ]
    assert [one.is_shared for one in asked] == [True, False, False, False]


def test_a_ping_of_a_discussion_reads_what_it_shares_until_that_discussion_is_asked_again() -> None:
    shared = Asked(((0.0, "a"), (1_000.0, "b"), (9_000.0, "a")), math.inf, 10)
    turns = {"a": [0.0, 9_000.0], "b": [1_000.0]}

    assert with_pings_of(shared, turns, 2, 12_000.0) == [3_600.0, 4_600.0, 7_200.0, 8_200.0]
    costs = whole_costs([shared], {"a": [0.0, 9_000.0], "b": [1_000.0]}, (0, 2), 0.05)

    # Pings: two of each discussion, and two of the last turn's; one more read at each turn but the first.
    assert costs[1, 2, 0] == pytest.approx(10 * (1.25 + 8 * 0.05))
    assert costs[1, 0, 0] == pytest.approx(10 * (1.25 * 3))


def test_the_best_rule_is_one_for_what_is_shared_and_one_for_the_rest_of_all_days_together() -> None:
    shared = Asked(((0.0, "a"), (200.0, "b"), (2_200.0, "a")), 2_200.0, 100)
    own = Asked(((0.0, "a"), (2_200.0, "a")), 2_200.0, 10)
    costs = {
        (knows, one.is_shared): costs_by([one], (0, 1), 0.05, knows_last=knows)
        for knows in (True, False)
        for one in (shared, own)
    }
    turns = {"a": [0.0, 2_200.0], "b": [200.0]}
    day = Played(0.0, 0.0, 0.0, 7, costs, whole_costs([shared], turns, (0, 1), 0.05))

    assert best_costs([day], knows_last=False) == pytest.approx(7 + 100 * 1.35 + 10 * 1.35)
    assert best_costs([day, day], knows_last=True) == pytest.approx(2 * (7 + 100 * 1.35 + 10 * 1.35))
    assert best_whole([day]) >= best_costs([day], knows_last=False)
