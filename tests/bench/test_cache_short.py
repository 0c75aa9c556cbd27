"""Short discussions of one person: none begins with a dear lifetime that nothing speaks for, and what never came back is learned."""

from __future__ import annotations

import pytest

from tests.bench import cache_short

MODELS = [cache_short.ANTHROPIC, "gpt-6.1-sol"]
CHEAPEST_WRITE = 1.25


@pytest.mark.parametrize("model", MODELS)
def test_discussions_of_one_turn_cost_a_new_person_the_cheapest_write_and_soon_nothing(model: str) -> None:
    """Each in a project of its own, five hours apart, and nobody comes back to any."""
    costs = cache_short.play((model, 101, 1))

    assert max(costs) <= CHEAPEST_WRITE
    assert costs[4:] == pytest.approx([1.0] * len(costs[4:]), abs=0.002)
    assert sum(costs) / len(costs) < 1.15


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("turns", [2, 3, 5])
def test_discussions_of_a_few_turns_cost_less_than_without_caching(model: str, turns: int) -> None:
    costs = [cost for seed in (101, 102, 103) for cost in cache_short.play((model, seed, turns))]
    assert sum(costs) / len(costs) < 1.0
