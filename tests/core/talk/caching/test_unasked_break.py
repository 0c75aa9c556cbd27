"""A request that parts from a warm prefix though nobody asked for that: held, told with its price, sent by Retry."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.app.controller import AppController
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.stack import Segment
from core.talk.context.stack import AggregateStack
from core.talk.turn.turn_messages import RetrySend, SendPrompt
from tests.core.agent.test_tool_money_whole import begun
from tests.core.app.programs import until
from tests.core.talk.caching.test_money_whole import World, world
from tests.core.talk.caching.test_thinking_whole import asked, breaks_of, turn

__all__ = ["world"]


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A fault of ours, as one could come in: what it holds is put before the first system block of each request."""
    words, request = list[str](), AggregateStack.request

    def made(stack: AggregateStack, *given: object, **named: object) -> ProviderRequest:
        found = request(stack, *given, **named)  # type: ignore[arg-type]
        first = found.system[0]
        assert isinstance(first, Segment)
        stray = (replace(first, key="1/stray", text=one, sha256=one) for one in words)
        return replace(found, system=(*stray, *found.system))

    monkeypatch.setattr(AggregateStack, "request", made)
    return words


def told(controller: AppController, chosen: str) -> str:
    failure = controller.snapshot().discussions.open[chosen].failure
    return "" if failure is None else f"{failure.what}. {failure.remedy}"


def held(world: World, controller: AppController, chosen: str) -> str:
    """Send words that are held."""
    controller.send(SendPrompt(chosen, "And the moon?"))
    until(controller, lambda s: s.discussions.open[chosen].failure is not None and not s.turns.calls)
    return told(controller, chosen)


def test_a_break_that_nobody_asked_for_is_held_with_its_byte_and_price_and_retry_sends_it(
    world: World, fault: list[str]
) -> None:
    controller, chosen = begun(world)
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 1)
    sent = len(asked(world))
    fault.append("now 12:04:55")
    world.time.now += timedelta(minutes=2)

    words = held(world, controller, chosen)

    assert len(asked(world)) == sent, "nothing went out"
    assert "without known cause" in words
    assert "Layer 1 (Role instructions) differs at byte 0" in words or "differs at byte" in words
    assert "You pay again for about " in words
    assert " tokens, est. $" in words
    assert (
        "Nothing was sent. Retry sends the request, and you pay for the lost cache. Please report this fault of the program."
        in words
    )

    controller.send(RetrySend(chosen))
    until(controller, lambda s: len(asked(world)) == sent + 1 and not s.turns.calls)

    assert told(controller, chosen) == ""
    assert "differs at byte" in breaks_of(world, chosen)[-1], "the log tells of the break that was paid for"


def test_a_break_of_what_went_cold_is_not_held(world: World, fault: list[str]) -> None:
    controller, chosen = begun(world)
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 1)
    fault.append("now 12:04:55")
    world.time.now += timedelta(hours=3)

    turn(world, controller, chosen, 2)

    assert told(controller, chosen) == ""
