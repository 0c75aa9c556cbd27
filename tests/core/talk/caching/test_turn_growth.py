"""A turn with tools costs as much more as it has more calls: what one request of it wrote, the next one reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.core.talk.caching.tool_turn import (
    CALL,
    RESULT,
    THOUGHT,
    Anthropic,
    Gemini,
    OpenAI,
    ToolTurn,
    Vendor,
    answered,
)
from tests.vendors.billing.clock import Clock

VENDORS = [OpenAI, Anthropic, Gemini]
MARKED = [OpenAI, Anthropic]
TWICE = 2.1


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_turn_of_twice_the_calls_sends_twice_what_no_cache_held(vendor: Callable[[Clock], Vendor]) -> None:
    few, many = (ToolTurn(vendor).run(rounds) for rounds in (20, 40))

    assert many.written <= TWICE * few.written
    assert many.unread <= TWICE * few.unread


@pytest.mark.parametrize("vendor", MARKED)
def test_each_request_writes_what_is_new_in_it_and_reads_all_before(
    vendor: Callable[[Clock], Vendor],
) -> None:
    turn = ToolTurn(vendor).run(12)
    each = CALL + RESULT + THOUGHT

    assert {one.write + one.write_long for one in turn.bills[2:]} == {each}
    assert all(
        later.read == one.total - one.plain
        for one, later in zip(turn.bills[1:], turn.bills[2:], strict=False)
    )


@pytest.mark.parametrize("vendor", MARKED)
def test_what_the_plan_says_is_what_is_billed(vendor: Callable[[Clock], Vendor]) -> None:
    turn = ToolTurn(vendor).run(12)

    for said, billed in zip((one.plan for one in turn.decisions), turn.bills, strict=True):
        assert said.read_tokens == billed.read
        assert said.write_tokens == billed.write + billed.write_long
        assert said.fresh_tokens == billed.plain


@pytest.mark.parametrize("vendor", MARKED)
def test_a_turn_whose_head_is_too_short_to_be_cached_is_read_all_the_same(
    vendor: Callable[[Clock], Vendor],
) -> None:
    few, many = (ToolTurn(vendor, role_tokens=100).run(rounds) for rounds in (20, 40))

    assert many.unread <= TWICE * few.unread


@pytest.mark.parametrize("vendor", MARKED)
def test_who_seldom_uses_tools_pays_a_long_turn_of_them_no_more_than_twice(
    vendor: Callable[[Clock], Vendor],
) -> None:
    """One turn of forty calls after eighty without: its own calls tell that it goes on."""
    few, many = (ToolTurn(vendor, answered(80)).run(rounds) for rounds in (20, 40))

    assert many.unread <= TWICE * few.unread
