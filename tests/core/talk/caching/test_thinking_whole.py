"""A tool day with thinking through the whole program: each request extends the one before it while that is warm."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

import pytest

from core.app.controller import AppController
from core.kernel.values.messages import Message, ReasoningPart, Role
from core.talk.discussion.discussion_messages import EditMessage, SelectDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.bench.cache_thinking import extends_flat, flat
from tests.core.agent.test_tool_money_whole import begun, is_said
from tests.core.agent.test_whole_tools import is_over
from tests.core.app.programs import until
from tests.core.talk.caching.test_money_whole import World, world
from tests.vendors.anthropic_server import Said
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.tokens import Texts, o200k
from tests.vendors.billing.values import Json

__all__ = ["world"]

THOUGHT = "The tide is a wave, and its height follows the moon. " * 30


def thinks(number: int, *, asks: bool, hidden: int = 0) -> Said:
    """A reply that thinks, and asks for a tool or ends the turn. `hidden`: tokens of its thinking where it shows a summary."""
    thought: Json = {"type": "thinking", "thinking": f"{number}. {THOUGHT}"}
    if hidden:
        thought = {**thought, "thinking": f"{number}. The tide.", "tokens": hidden}
    if not asks:
        return Said((thought, {"type": "text", "text": f"Answer {number}."}))
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "read_file", "input": {"path": "tides.py"}}
    return Said((thought, {"type": "text", "text": "I look."}, call), stop_reason="tool_use")


def turn(world: World, controller: AppController, chosen: str, number: int, hidden: int = 0) -> None:
    """A turn with two rounds of tools."""
    bills = len(world.server.bills)
    numbers = range(number * 10, number * 10 + 3)
    world.server.replies.extend(thinks(one, asks=one != numbers[-1], hidden=hidden) for one in numbers)
    controller.send(SendPrompt(chosen, f"Question {number}?"))
    until(
        controller,
        lambda s: len(world.server.bills) == bills + 3 and is_over(s, chosen) and is_said(world, s, chosen),
    )


def asked(world: World) -> list[Json]:
    """Bodies of the conversation, in order."""
    return [body for body in world.server.bodies if body.get("max_tokens")]


def breaks_of(world: World, chosen: str) -> list[str]:
    """Breaks as the log tells them, one for each request: where it left what the one before it sent; the first of the day apart."""
    (log,) = world.home.rglob(f"*{chosen}*/log.jsonl")
    rows = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return [row.get("broken", "") for row in rows if row.get("type") == "request"][1:]


def thoughts(body: Json) -> int:
    """Blocks of thinking in a body."""
    return sum('"type": "thinking"' in part for part in flat(body))


def test_turns_go_back_as_they_came_while_warm_also_after_a_restart_and_without_old_thinking_when_cold(
    world: World,
) -> None:
    controller, chosen = begun(world)
    for number in (1, 2):
        world.time.now += timedelta(minutes=2)
        turn(world, controller, chosen, number)
    controller.stop()
    controller = world.program()
    controller.send(SelectDiscussion(chosen))
    until(controller, lambda s: chosen in s.discussions.open)
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 3)

    bodies = asked(world)[1:]
    assert [extends_flat(one, two) for one, two in pairwise(bodies)] == [True] * (len(bodies) - 1)
    assert [thoughts(body) for body in bodies] == [0, 1, 2, 2, 3, 4, 4, 5, 6]

    world.time.now += timedelta(hours=3)
    turn(world, controller, chosen, 4)
    assert [thoughts(body) for body in asked(world)[-3:]] == [0, 1, 2]
    breaks = breaks_of(world, chosen)
    assert breaks[:-3] == [""] * (len(breaks) - 3)
    assert "The program leaves out earlier thinking" in breaks[-3] or "no more would be read" in breaks[-3]
    assert "The cache had already ended" in breaks[-3]
    assert "You pay again" not in breaks[-3], "the break itself costs nothing"
    assert breaks[-2:] == ["", ""]


def test_after_a_gap_what_is_said_of_thinking_that_the_cache_does_not_hold_is_what_is_done(
    world: World,
) -> None:
    controller, chosen = begun(world)
    for number in (1, 2, 3):
        world.time.now += timedelta(minutes=2)
        turn(world, controller, chosen, number)
    world.time.now += timedelta(minutes=20)
    turn(world, controller, chosen, 4)

    told = breaks_of(world, chosen)[-3]
    assert "the sent context stays unchanged" not in told
    assert "the program leaves out earlier thinking that is not cached" in told


def test_thinking_behind_an_edited_message_stays_out_and_nothing_is_refused(world: World) -> None:
    controller, chosen = begun(world)
    for number in (1, 2):
        world.time.now += timedelta(minutes=2)
        turn(world, controller, chosen, number)
    messages = controller.snapshot().discussions.open[chosen].messages
    second = next(one for one in messages if one.text == "Question 2?")
    controller.send(EditMessage(chosen, second.id, "Question two?"))
    until(controller, lambda s: any(one.is_edited for one in s.discussions.open[chosen].messages))

    turn(world, controller, chosen, 3)

    assert thoughts(asked(world)[-3]) == 2, "those of the first turn stand before the edit"
    told = breaks_of(world, chosen)[-3]
    assert "Layer 11 (Earlier turns) differs at byte" in told
    assert "You pay again for about " in told
    assert " tokens, est. $" in told
    kept = controller.snapshot().discussions.open[chosen].messages
    assert sum(isinstance(part, ReasoningPart) for one in kept for part in one.parts) == 9, "nothing is lost"


def told(world: World, chosen: str, messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Tokens of each request of a discussion: as its record says before it goes out, and as its reply was billed."""
    (log,) = world.home.rglob(f"*{chosen}*/log.jsonl")
    rows = list(map(json.loads, log.read_text(encoding="utf-8").splitlines()))
    said = [row["estimate"]["input_tokens"] for row in rows if row.get("type") == "request"]
    replies = [one for one in messages if one.role is Role.ASSISTANT]
    billed = [one.usage.input_tokens or 0 for one in replies if one.usage is not None]
    return list(zip(said, billed, strict=True))


@pytest.mark.parametrize("gap", [timedelta(minutes=2), timedelta(minutes=90)])
def test_what_is_said_of_a_request_is_what_is_billed_of_it_though_most_of_its_thinking_is_not_shown(
    world: World, gap: timedelta
) -> None:
    world.server.cache = AnthropicCache(world.time.seconds, Texts(o200k(1.35)))
    controller, chosen = begun(world)
    for number in (1, 2, 3):
        world.time.now += gap
        turn(world, controller, chosen, number, hidden=3_000)

    assert sum(is_hidden for is_hidden in map(thoughts, asked(world))) > 6
    messages = controller.snapshot().discussions.open[chosen].messages
    for said, billed in told(world, chosen, messages)[2:]:
        assert abs(said / billed - 1) < 0.005
