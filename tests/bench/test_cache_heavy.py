"""The days heavy with tools are what they say: rounds, cuts of the view, no call without its result."""

from __future__ import annotations

from core.kernel.values.messages import ToolCallPart, ToolResultPart
from tests.bench.cache_bound import AsSent, least_same
from tests.bench.cache_heavy import OVER_SAME, make_heavy_day
from tests.bench.cache_ours import Ours
from tests.bench.cache_policies import MODELS
from tests.bench.cache_replay import MAIN


def test_a_heavy_day_has_rounds_and_cuts_and_each_request_holds_results_for_its_calls() -> None:
    day = make_heavy_day(3, turns=40)
    requests = [ask.stack.request() for ask in day.asks]

    assert len(day.asks) > 80
    assert day.cuts > 0
    assert {ask.next_round > 0.5 for ask in day.asks} == {False, True}
    for request in requests:
        parts = [part for message in request.messages for part in message.parts]
        calls = [part.call_id for part in parts if isinstance(part, ToolCallPart)]
        assert [part.call_id for part in parts if isinstance(part, ToolResultPart)] == calls
    assert max(len(one.messages) for one in requests) > len(requests[-1].messages)


def test_a_heavy_day_costs_little_more_than_the_least_for_its_requests() -> None:
    """A turn's rounds are read by the next turn, and written for no longer than until its next request."""
    day = make_heavy_day(1, turns=20)
    line = AsSent(MODELS[MAIN])
    cost = Ours(MAIN, line=line).replay(day.asks).cost(MAIN)

    assert cost < OVER_SAME * least_same(line.requests, MAIN)
