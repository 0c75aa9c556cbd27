"""What a vendor refuses of a conversation with thinking and additions in it, through the whole program: nothing is lost."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise

import pytest

from core.app.controller import AppController
from core.kernel.values.messages import Message, ReasoningPart
from core.talk.discussion.discussion_messages import (
    BranchDiscussion,
    ChangeDiscussion,
    DeleteMessage,
    EditMessage,
    SelectDiscussion,
)
from core.talk.turn.turn_messages import RegenerateReply, ResendMessage, SendPrompt
from tests.bench.cache_thinking import extends_flat
from tests.core.agent.test_tool_money_whole import begun, is_said
from tests.core.agent.test_whole_tools import is_over
from tests.core.app.programs import until
from tests.core.app.test_whole import texts
from tests.core.talk.caching.test_money_whole import World, ask, world
from tests.core.talk.caching.test_switches_whole import effort
from tests.core.talk.caching.test_thinking_whole import asked, thinks, thoughts, told, turn
from tests.patience import PATIENCE_S
from tests.vendors.anthropic_server import Said
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.tokens import Texts, o200k
from tests.vendors.billing.values import Json
from tests.vendors.loopback import Captured, Gate, HoldAfter, Reply, Rewrite, StreamReply

__all__ = ["world"]


class Refusing:
    """Counts what the vendor refuses, and has it refuse more."""

    def __init__(self, world: World) -> None:
        self.refused: list[str] = []
        self.rule: Callable[[Json], str] = lambda _body: ""
        self._world, self._answer = world, world.server.answer
        world.server.answer = self.answer  # type: ignore[method-assign]

    def answer(self, captured: Captured) -> Reply | StreamReply:
        is_call = captured.path == "/v1/messages"
        words = self.rule(captured.json) if is_call else ""
        reply = (
            self._world.server.error(400, "invalid_request_error", words) if words else self._answer(captured)
        )
        if is_call and isinstance(reply, Reply) and reply.status == 400:
            self.refused.append(json.loads(reply.body)["error"]["message"])
        return reply


@pytest.fixture
def vendor(world: World) -> Refusing:
    return Refusing(world)


def talked(world: World, *numbers: int) -> tuple[AppController, str]:
    controller, chosen = begun(world)
    for number in numbers:
        world.time.now += timedelta(minutes=2)
        turn(world, controller, chosen, number)
    return controller, chosen


def message(controller: AppController, chosen: str, text: str) -> Message:
    return next(one for one in controller.snapshot().discussions.open[chosen].messages if one.text == text)


def kept(controller: AppController, chosen: str) -> int:
    """Blocks of thinking that the log's discussion holds."""
    entries = controller.snapshot().discussions.open[chosen].entries
    return sum(isinstance(p, ReasoningPart) for m in entries if isinstance(m, Message) for p in m.parts)


@pytest.mark.parametrize("how", ["edited", "deleted", "deleted reply"])
def test_thinking_behind_a_changed_message_is_never_refused(world: World, vendor: Refusing, how: str) -> None:
    controller, chosen = talked(world, 1, 2)
    first = message(controller, chosen, "Question 1?")
    if how == "edited":
        controller.send(EditMessage(chosen, first.id, "Question one?"))
        until(controller, lambda s: any(one.is_edited for one in s.discussions.open[chosen].messages))
    else:
        messages = controller.snapshot().discussions.open[chosen].messages
        gone = first if how == "deleted" else next(m for m in messages if m.text == "Answer 12.")
        controller.send(DeleteMessage(chosen, gone.id))
        until(
            controller,
            lambda s: any(
                m.id == gone.id and m.is_deleted
                for m in s.discussions.open[chosen].entries
                if isinstance(m, Message)
            ),
        )
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 3)

    assert vendor.refused == []
    assert kept(controller, chosen) == 9, "the log has all of it"


def test_a_branch_takes_its_thinking_along_and_nothing_is_refused(world: World, vendor: Refusing) -> None:
    controller, chosen = talked(world, 1, 2)
    point = message(controller, chosen, "Answer 12.")
    controller.send(BranchDiscussion(chosen, point.id))
    state = until(controller, lambda s: s.discussions.selected_id not in {"", chosen})
    branch = state.discussions.selected_id
    until(controller, lambda s: branch in s.discussions.open and len(s.discussions.open[branch].messages) > 3)
    world.time.now += timedelta(minutes=2)
    world.server.replies.extend(thinks(one, asks=one != 32) for one in range(30, 33))
    controller.send(SendPrompt(branch, "Question 3?"))
    until(controller, lambda s: texts(s, branch)[-1:] == ["Answer 32."] and is_over(s, branch))

    assert vendor.refused == []
    assert thoughts(asked(world)[-1]) >= 2
    assert kept(controller, branch) == 6


@pytest.mark.parametrize("how", ["resent", "regenerated"])
def test_a_version_of_an_earlier_turn_goes_without_what_followed_and_nothing_is_refused(
    world: World, vendor: Refusing, how: str
) -> None:
    controller, chosen = talked(world, 1, 2)
    second = message(controller, chosen, "Question 2?")
    world.server.replies.extend(thinks(one, asks=one != 32) for one in range(30, 33))
    bills = len(world.server.bills)
    command = (
        ResendMessage(chosen, second.id, "Question two?")
        if how == "resent"
        else RegenerateReply(chosen, second.id)
    )
    controller.send(command)
    until(
        controller,
        lambda s: len(world.server.bills) == bills + 3 and is_over(s, chosen) and is_said(world, s, chosen),
    )
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 4)

    assert vendor.refused == []
    said = json.dumps(asked(world)[-1]["messages"])
    assert "Answer 32." in said
    assert "Answer 22." not in said


def test_another_model_and_back_with_thinking_behind_it(world: World, vendor: Refusing) -> None:
    controller, chosen = talked(world, 1)
    for number, model in enumerate(("claude-sonnet-5-5", "claude-opus-5-5", "claude-sonnet-5-5"), 2):
        controller.send(
            ChangeDiscussion(discussion_id=chosen, changes={"provider": "anthropic", "model": model})
        )
        until(controller, lambda s, m=model: s.discussions.summaries[chosen].meta.model == m)  # type: ignore[misc]
        world.time.now += timedelta(minutes=2)
        turn(world, controller, chosen, number)

    assert vendor.refused == []
    assert kept(controller, chosen) == 12
    bodies = asked(world)[-3:]
    assert thoughts(bodies[-1]) >= 2, "that of the running turn goes back"


def test_a_switch_that_is_refused_goes_once_more_without_it_and_is_not_tried_again(
    world: World, vendor: Refusing
) -> None:
    controller, chosen = talked(world, 1)
    vendor.rule = lambda body: (
        "messages.7.role: system messages are not supported here"
        if any(one["role"] == "system" for one in body["messages"])
        else ""
    )
    effort(controller, chosen, "low")
    world.time.now += timedelta(minutes=2)
    turn(world, controller, chosen, 2)
    effort(controller, chosen, "high")
    turn(world, controller, chosen, 3)

    assert vendor.refused == ["messages.7.role: system messages are not supported here"]
    assert kept(controller, chosen) == 9
    assert asked(world)[-1]["output_config"]["effort"] == "high"
    assert thoughts(asked(world)[-1]) >= 2, "thinking was not refused, and goes back"


def test_thinking_that_is_refused_while_a_switch_stands_leaves_the_switch_alone(
    world: World, vendor: Refusing
) -> None:
    controller, chosen = talked(world, 1)
    vendor.rule = lambda body: (
        "messages.3.content.0: Invalid `signature` in `thinking` block" if thoughts(body) else ""
    )
    effort(controller, chosen, "low")
    world.time.now += timedelta(minutes=2)
    ask(world, controller, chosen, "And now?")
    ask(world, controller, chosen, "And then?")

    assert len(vendor.refused) == 1
    assert any(one["role"] == "system" for one in asked(world)[-1]["messages"])
    assert kept(controller, chosen) == 3


@pytest.mark.breaks_prefix("a copy of the home is another life of it, which knows nothing of the first")
@pytest.mark.parametrize("parts", [0, 3, 25], ids=lambda parts: f"{parts} parts")
def test_a_turn_that_a_kill_cut_between_two_calls_or_in_a_thought_goes_on_and_nothing_is_refused(
    world: World, vendor: Refusing, parts: int
) -> None:
    """A copy of the home at that moment is what a kill leaves: all of a journal is with the operating system at once."""
    controller, chosen = talked(world, 1)
    gate = Gate()
    world.server.replies.extend(thinks(one, asks=one != 21) for one in (20, 21))
    world.server.faults.extend([Rewrite(lambda part: part), HoldAfter(parts, gate)])
    controller.send(SendPrompt(chosen, "Question 2?"))
    assert gate.reached.wait(PATIENCE_S)
    if parts > 3:
        until(controller, lambda s: bool(s.turns.calls[chosen].reasoning))
    left = world.home.with_name("left")
    shutil.copytree(world.home, left)
    gate.open()
    controller.stop()
    world.home = left

    controller = world.program()
    controller.send(SelectDiscussion(chosen))
    until(controller, lambda s: chosen in s.discussions.open)
    world.server.faults.clear()
    world.time.now += timedelta(minutes=1)
    world.server.replies.clear()
    world.server.replies.append(Said(({"type": "text", "text": "I go on."},)))
    controller.send(SendPrompt(chosen, "And now?"))
    until(controller, lambda s: texts(s, chosen)[-1:] == ["I go on."] and is_over(s, chosen))

    assert vendor.refused == []
    body = json.dumps(asked(world)[-1]["messages"])
    assert "Question 2?" in body
    assert "toolu_20" in body, "the call that was whole, and its result, go back"
    assert kept(controller, chosen) >= 4


def test_after_a_refusal_of_thinking_what_is_said_of_a_request_is_what_is_billed(
    world: World, vendor: Refusing
) -> None:
    world.server.cache = AnthropicCache(world.time.seconds, Texts(o200k(1.35)))
    controller, chosen = talked(world, 1, 2)
    vendor.rule = lambda body: (
        "messages.3.content.0: Invalid `signature` in `thinking` block" if thoughts(body) else ""
    )
    world.time.now += timedelta(minutes=2)
    ask(world, controller, chosen, "And now?")
    first = len(asked(world))
    for number in (3, 4):
        world.time.now += timedelta(minutes=2)
        turn(world, controller, chosen, number)

    assert len(vendor.refused) == 2  # the talk's thinking, then new thinking: it takes none
    bodies = [body for body in asked(world)[first - 1 :] if not thoughts(body)]
    assert len(bodies) == len(asked(world)[first - 1 :]) - 1 == 7
    assert [extends_flat(one, two) for one, two in pairwise(bodies[1:])] == [True] * 5
    messages = controller.snapshot().discussions.open[chosen].messages
    pairs = told(world, chosen, messages)[-6:]
    assert all(abs(said - billed) <= 0.01 * billed for said, billed in pairs), pairs
    assert kept(controller, chosen) == 12
