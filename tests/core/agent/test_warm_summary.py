"""A summary of a warm conversation is asked for behind it, so that it reads what the vendor holds; else by itself."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.agent.agent_messages import CompactDiscussion
from core.app.controller import AppController
from core.app.execution import act
from tests.bench.cache_thinking import extends_flat, flat
from tests.core.agent.test_tool_money_whole import begun, is_said
from tests.core.app.programs import until
from tests.core.talk.caching.test_money_whole import World, ask, world
from tests.core.talk.caching.test_thinking_whole import asked, turn
from tests.vendors.anthropic_server import Said
from tests.vendors.billing.values import Json

__all__ = ["world"]

SUMMARY = "They asked about tides."


def two_turns(world: World) -> tuple[AppController, str]:
    controller, chosen = begun(world)
    for number in (1, 2):
        world.time.now += timedelta(minutes=2)
        turn(world, controller, chosen, number)
    return controller, chosen


def compacted(world: World, controller: AppController, chosen: str, *said: Said) -> list[Json]:
    """The bodies by which a summary was asked for, its money in the books."""
    before = len(asked(world))
    world.server.replies.extend(said)
    act(controller, CompactDiscussion(chosen))
    until(controller, lambda s: s.discussions.open[chosen].cut is not None and is_said(world, s, chosen))
    return asked(world)[before:]


def plain(text: str) -> Said:
    return Said(({"type": "text", "text": text},))


def is_alone(body: Json) -> bool:
    return len(body["messages"]) == 1 and not body.get("tools")


def told(world: World, controller: AppController, chosen: str) -> str:
    """All that the next request says."""
    ask(world, controller, chosen, "And now?")
    return "\n".join(flat(asked(world)[-1]))


def test_a_warm_conversation_is_read_and_not_sent_as_text(world: World) -> None:
    controller, chosen = two_turns(world)
    last, bills = asked(world)[-1], len(world.server.bills)
    (body,) = compacted(world, controller, chosen, plain(SUMMARY))

    assert extends_flat(last, body), "it begins with all that was sent"
    assert world.server.bills[bills] < 0.5 * world.server.bills[0], "most of it is read"
    new = "\n".join(flat(body)[len(flat(last)) :])
    assert "Question 2?" in new, "it names the message that stays"
    said = told(world, controller, chosen)
    assert SUMMARY in said
    assert "Question 1?" not in said
    assert "Question 2?" in said


def test_a_cold_conversation_is_told_as_text(world: World) -> None:
    controller, chosen = two_turns(world)
    world.time.now += timedelta(hours=5)
    (body,) = compacted(world, controller, chosen, plain(SUMMARY))

    assert is_alone(body)
    assert SUMMARY in told(world, controller, chosen)


@pytest.mark.parametrize("how", ["calls a tool", "says nothing"])
def test_where_that_brings_no_summary_it_is_asked_for_by_itself_and_both_are_booked(
    world: World, how: str
) -> None:
    controller, chosen = two_turns(world)
    call = {"type": "tool_use", "id": "toolu_s", "name": "read_file", "input": {"path": "tides.py"}}
    first = Said((call,), stop_reason="tool_use") if how == "calls a tool" else plain(" ")
    behind, alone = compacted(world, controller, chosen, first, plain(SUMMARY))

    assert not is_alone(behind)
    assert is_alone(alone)
    assert SUMMARY in told(world, controller, chosen)
