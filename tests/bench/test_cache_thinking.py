"""Days of tools with thinking: what was sent stays while it is warm, at each vendor; a cold start drops old thinking."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.bench.cache_before import SEEDS
from tests.bench.cache_thinking import (
    NO_GAPS,
    OFF,
    ON,
    PLAIN,
    SETTINGS,
    WITH_GAPS,
    Ours,
    extends_flat,
    flat,
    make_day,
    play_plain,
    played,
)
from tests.bench.cache_vendors import (
    VENDORS,
    Reply,
)
from tests.vendors.billing.values import Refused


@pytest.mark.parametrize("model", VENDORS)
@pytest.mark.parametrize("way", [OFF, ON])
def test_each_request_extends_the_one_before_it_while_it_is_warm_and_nothing_is_paid_twice(
    model: str, way: str
) -> None:
    day = Ours(VENDORS[model](), SETTINGS[way]).play(make_day(1, NO_GAPS))

    assert all(extends_flat(one.body, two.body) for one, two in pairwise(day.requests))
    assert day.paid_twice == 0


@pytest.mark.parametrize("model", VENDORS)
def test_the_plan_says_what_the_vendor_bills_thinking_and_all(model: str) -> None:
    day = Ours(VENDORS[model]()).play(make_day(2, WITH_GAPS))

    said = sum(sum(one.said) for one in day.requests)
    assert said == day.without


@pytest.mark.parametrize("model", ["claude-opus-5-5", "gpt-6.1-sol"])
@pytest.mark.parametrize("kind", [NO_GAPS, WITH_GAPS])
def test_it_costs_less_than_a_client_that_sends_turns_back_exactly(model: str, kind: str) -> None:
    turns = make_day(1, kind)

    ours = Ours(VENDORS[model](), SETTINGS[OFF]).play(turns)
    assert ours.tokens < play_plain(turns, VENDORS[model]()).tokens


def test_a_cold_start_leaves_old_thinking_out_and_the_vendor_takes_what_comes_behind_it() -> None:
    """The engine refuses thinking behind another prefix than it was written behind."""
    day = Ours(VENDORS["claude-opus-5-5"]()).play(make_day(2, WITH_GAPS))
    cold = [two for one, two in pairwise(day.requests) if two.at_s - one.at_s > 3_600]

    assert cold
    assert not any('"type": "thinking"' in part for one in cold[:1] for part in flat(one.body))


def test_an_edited_message_takes_the_thinking_behind_it_out_while_what_stands_before_it_goes_on_to_be_read() -> (
    None
):
    vendor = VENDORS["claude-opus-5-5"]()
    ours = Ours(vendor)
    turns = make_day(3, NO_GAPS, turns=3)
    ours.start(turns[:2])
    edited = next(n for n, one in enumerate(ours.talk) if one.id == "m1")
    ours.change(edited, "other words")

    ours.start(turns[2:])

    last = next(one for one in ours.day.requests if one.first_of == "m2")
    thinking = [part for part in flat(last.body) if '"type": "thinking"' in part]
    before = [reply for reply in turns[0].replies if reply.calls]
    assert len(thinking) == len(before)
    assert last.parts.read > sum(map(_thought, before))


def test_thinking_behind_an_edited_message_would_be_refused() -> None:
    """The rule that the one above is for."""
    vendor = VENDORS["claude-opus-5-5"]()
    ours = Ours(vendor)
    ours.start(make_day(3, NO_GAPS, turns=1))
    body = ours.day.requests[-1].body
    body["messages"][0]["content"][0]["text"] = "other words"

    with pytest.raises(Refused, match="bound to a different conversation"):
        vendor.send(body)


def _thought(reply: Reply) -> int:
    return int(reply.thought[2:].partition(" ")[0])


@pytest.mark.parametrize("way", [PLAIN, OFF, ON])
def test_no_way_to_send_costs_less_than_its_content_does_at_least(way: str) -> None:
    found = played(("claude-opus-5-5", WITH_GAPS, way, SEEDS[0]))
    assert 0.5 * found.tokens < found.least <= found.tokens
