"""Tools, effort, persona and system prompt that are switched while a discussion is warm, through the whole program: rounds, edits, restarts, cuts, other models."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from core.agent.agent_messages import CompactDiscussion, SetTools
from core.app.controller import AppController
from core.app.execution import act
from core.app.warm_loss import warm_loss
from core.kernel.values.curation import TextTable
from core.kernel.values.messages import Message, Role
from core.talk.context.context_messages import SaveNamedText
from core.talk.discussion.discussion_messages import (
    ChangeDiscussion,
    DeleteMessage,
    EditMessage,
    SelectDiscussion,
)
from core.talk.turn.turn_messages import SendPrompt
from tests.bench.cache_thinking import extends_flat
from tests.core.agent.test_tool_money_whole import begun
from tests.core.agent.test_whole_tools import is_over
from tests.core.app.programs import until
from tests.core.talk.caching.test_money_whole import World, ask, world
from tests.core.talk.caching.test_thinking_whole import asked, breaks_of, thinks, turn
from tests.vendors.billing.values import Json
from tests.vendors.loopback import Gate, HoldAfter

__all__ = ["world"]


def effort(controller: AppController, chosen: str, word: str) -> None:
    act(controller, ChangeDiscussion(discussion_id=chosen, changes={"effort": word}))


def tools(controller: AppController, chosen: str, *, has_tools: bool) -> None:
    act(controller, SetTools(chosen, has_tools=has_tools))


def in_force(body: Json) -> tuple[bool, str]:
    """Whether the model may call tools at the end of a body, and how hard it is asked to think."""
    names = {tool["name"] for tool in body.get("tools", ())}
    word = body.get("output_config", {}).get("effort", "")
    for message in (one for one in body["messages"] if one["role"] == "system"):
        word = message.get("output_config", {}).get("effort", word)
        for block in message["content"]:
            if block["type"] == "tool_addition":
                names.add(block["tool"]["definition"]["name"])
            elif block["type"] == "tool_removal":
                names.discard(block["tool"]["name"])
    return bool(names), word


def switched(world: World) -> tuple[AppController, str]:
    """A discussion with tools whose second turn thinks less."""
    controller, chosen = begun(world)
    effort(controller, chosen, "low")
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 1)
    return controller, chosen


def last(world: World) -> Json:
    return asked(world)[-1]


def test_a_switch_stays_through_the_rounds_of_its_turn_the_next_turns_and_a_restart(world: World) -> None:
    controller, chosen = switched(world)
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 2)
    controller.stop()
    controller = world.program()
    controller.send(SelectDiscussion(chosen))
    until(controller, lambda s: chosen in s.discussions.open)
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 3)

    bodies = asked(world)[1:]
    assert [extends_flat(one, two) for one, two in pairwise(bodies)] == [True] * (len(bodies) - 1)
    assert in_force(last(world)) == (True, "low")


def test_tools_that_were_taken_come_back_where_they_are_given_again(world: World) -> None:
    controller, chosen = switched(world)
    for number, has_tools in enumerate((False, True, False)):
        tools(controller, chosen, has_tools=has_tools)
        world.time.now += timedelta(minutes=1)
        ask(world, controller, chosen, f"And {number}?")
        assert in_force(last(world)) == (has_tools, "low")
    assert world.server.cache.live_tokens()


@pytest.mark.parametrize("how", ["edited", "deleted"])
def test_a_message_that_carries_a_switch_is_changed_and_the_switch_still_counts(
    world: World, how: str
) -> None:
    controller, chosen = switched(world)
    messages = controller.snapshot().discussions.open[chosen].messages
    carrier = next(one for one in messages if one.role is Role.USER and one.text == "Question 1?")
    command = (
        EditMessage(chosen, carrier.id, "Question one?")
        if how == "edited"
        else DeleteMessage(chosen, carrier.id)
    )
    controller.send(command)
    until(
        controller,
        lambda s: any(
            one.id == carrier.id and (one.is_edited or one.is_deleted)
            for one in s.discussions.open[chosen].entries
            if isinstance(one, Message)
        ),
    )
    ask(world, controller, chosen, "And now?")
    assert in_force(last(world)) == (True, "low")


def test_behind_a_compaction_and_a_cold_start_all_stands_at_the_head_again(world: World) -> None:
    controller, chosen = switched(world)
    turn(world, controller, chosen, 2)
    act(controller, CompactDiscussion(chosen))
    ask(world, controller, chosen, "And now?")
    assert in_force(last(world)) == (True, "low")

    world.time.now += timedelta(hours=5)
    ask(world, controller, chosen, "And later?")
    assert in_force(last(world)) == (True, "low")
    assert last(world)["output_config"]["effort"] == "low"
    assert all(message["role"] != "system" for message in last(world)["messages"])


def test_another_model_and_back(world: World) -> None:
    controller, chosen = switched(world)
    for model in ("claude-haiku-4-5", "claude-opus-5-5"):
        act(
            controller,
            ChangeDiscussion(discussion_id=chosen, changes={"provider": "anthropic", "model": model}),
        )
        world.time.now += timedelta(minutes=1)
        ask(world, controller, chosen, f"And {model}?")
        assert controller.snapshot().discussions.open[chosen].failure is None
    assert in_force(last(world)) == (True, "low")


def test_an_effort_that_is_changed_while_a_turn_runs_waits_for_the_next_message(world: World) -> None:
    controller, chosen = begun(world)
    gate = Gate()
    sent = len(asked(world))
    world.server.replies.extend(thinks(one, asks=one == 1) for one in (1, 2))
    world.server.faults.append(HoldAfter(40, gate))
    controller.send(SendPrompt(chosen, "Look."))
    until(controller, lambda _: len(asked(world)) > sent)
    effort(controller, chosen, "low")
    gate.open()
    until(controller, lambda s: len(asked(world)) == sent + 2 and is_over(s, chosen))
    assert in_force(last(world)) == (True, "")

    ask(world, controller, chosen, "And now?")
    assert in_force(last(world)) == (True, "low")
    bodies = asked(world)[sent:]
    assert [extends_flat(one, two) for one, two in pairwise(bodies)] == [True, True]


def told(body: Json) -> list[str]:
    """Texts that a body tells in the middle, behind the words of a person."""
    blocks = [block for one in body["messages"] if one["role"] == "system" for block in one["content"]]
    return [block["text"] for block in blocks if block.get("text", "").startswith("From here on")]


def test_another_persona_and_system_prompt_are_told_behind_the_words_and_all_that_was_sent_is_read(
    world: World,
) -> None:
    controller, chosen = begun(world)
    texts = (TextTable.PERSONAS, "pat"), (TextTable.PERSONAS, "kim"), (TextTable.SYSTEM_PROMPTS, "brief")
    for table, name in texts:
        act(controller, SaveNamedText(table, name, f"You are {name}."))
    act(controller, ChangeDiscussion(discussion_id=chosen, changes={"persona": "pat"}))
    world.time.now += timedelta(hours=5)
    turn(world, controller, chosen, 1)
    assert "You are pat." in str(last(world)["system"]), "a cold request has it in its place"

    begin = len(asked(world)) - 1
    for number, change in enumerate(({"persona": "kim"}, {"system_preset": "brief"}, {"persona": ""}), 2):
        assert (
            warm_loss(controller.snapshot(), ChangeDiscussion(discussion_id=chosen, changes=change)) is None
        )
        act(controller, ChangeDiscussion(discussion_id=chosen, changes=change))
        world.time.now += timedelta(minutes=2)
        turn(world, controller, chosen, number)
    controller.stop()
    controller = world.program()
    controller.send(SelectDiscussion(chosen))
    until(controller, lambda s: chosen in s.discussions.open)
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 5)

    bodies = asked(world)[begin:]
    assert [extends_flat(one, two) for one, two in pairwise(bodies)] == [True] * (len(bodies) - 1)
    said = told(bodies[-1])
    assert [text.splitlines()[0].split(",")[1].split()[1] for text in said] == [
        "persona",
        "system",
        "persona",
    ]
    assert "You are kim." in said[0]
    assert "no longer applies" in said[2]
    assert breaks_of(world, chosen)[1 - len(bodies) :] == [""] * (len(bodies) - 1)

    world.time.now += timedelta(hours=5)
    turn(world, controller, chosen, 6)
    head = str(last(world)["system"])
    assert "You are brief." in head
    assert "You are pat." not in head
    assert "You are kim." not in head
    assert told(last(world)) == []
