"""What was recalled for a turn with tools stays behind it: the planner tells of it, so that it is not recalled again."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.values.messages import Message, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.spec import CallToBuild
from core.kernel.values.usage import Usage
from core.talk.context.stack import build_stack
from tests.core.talk.caching.test_keeper import META, PROFILE, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "home")


def test_what_was_recalled_for_a_turn_with_tools_is_behind_it_while_it_is_warm(world: World) -> None:
    spec = world.spec("look")
    words = Message("u1", world.now, Role.USER, (TextPart("look"),))
    asked = Message("r1", world.now, Role.ASSISTANT, (ToolCallPart("c", "read", "{}"),))
    answered = Message("t1", world.now, Role.TOOL, (ToolResultPart("c", "found"),))
    rounds = (((), "look"), ((words, asked, answered), ""))
    for number, (turns, text) in enumerate(rounds):
        inputs = replace(spec.inputs, turns=turns, user_text=text, retrieved="A passage on tides.")
        effect = CallToBuild(f"c{number}", f"q{number}", "u1", replace(spec, inputs=inputs))
        plan = world.keeper.plan_call(effect, build_stack(inputs), PROFILE, 1.0).plan
        world.keeper.ended(effect.call_id, Usage(input_tokens=plan.read_tokens + plan.write_tokens))

    assert world.keeper.recalled_behind(META.id) == ("{rag-context}\nA passage on tides.\n{/rag-context}\n",)
    assert world.keeper.recalled_behind("another") == ()
    world.now += timedelta(days=1)
    assert world.keeper.recalled_behind(META.id) == (), "it is written anew, without it"
