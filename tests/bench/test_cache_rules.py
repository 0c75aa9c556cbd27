"""Rules without foresight cost what is counted by hand, and never less than the bound of one who has it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.cache_bound import Block, Sent, cheapest
from bench.cache_rules import RULES, best_rules, by_rule, rule_costs

GAPS = st.lists(st.sampled_from([30.0, 200.0, 400.0, 2000.0, 4000.0, 40_000.0]), max_size=6)


@settings(max_examples=60, deadline=None)
@given(GAPS, st.booleans())
def test_no_rule_costs_less_than_the_cheapest_way_of_one_who_knows_the_future(
    gaps: list[float], knows_last: bool
) -> None:
    times = [sum(gaps[:number]) for number in range(len(gaps) + 1)]
    least = cheapest(times, 0.05, pings=False)

    assert all(
        by_rule(times, rule, 0.05, knows_last=knows_last) >= least - 1e-9 for rule in range(len(RULES))
    )


def test_a_short_write_goes_on_for_an_hour_after_its_hit_and_the_last_use_is_sent_fresh_by_who_knows_it() -> (
    None
):
    times = [0.0, 200.0, 3_000.0, 20_000.0]

    assert by_rule(times, 1, 0.05, knows_last=False) == pytest.approx(1.25 + 0.05 + 0.05 + 1.25)
    assert by_rule(times, 1, 0.05, knows_last=True) == pytest.approx(1.25 + 0.05 + 0.05 + 1.0)
    assert by_rule(times, 2, 0.05, knows_last=False) == pytest.approx(2.0 + 0.05 + 0.05 + 2.0)


def test_the_best_rule_is_one_for_what_is_shared_and_one_for_the_rest_of_all_days_together() -> None:
    day = [
        Sent(0.0, (Block(1, 100), Block(2, 10))),
        Sent(200.0, (Block(1, 100), Block(3, 10))),
        Sent(2_200.0, (Block(1, 100), Block(2, 10))),
    ]

    costs = rule_costs(day, ["a", "b", "a"], 0.05, knows_last=False)

    assert costs[True, 1] == pytest.approx(100 * 1.35)
    assert best_rules([costs]) == pytest.approx(100 * 1.35 + 10 * 3.0)
