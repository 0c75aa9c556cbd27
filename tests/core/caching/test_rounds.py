"""Odds of another request in the same turn."""

from __future__ import annotations

from core.caching.rounds import next_round, planned_turn
from core.context.stack import build_stack
from core.values.curation import Preset
from core.values.messages import Message, Role, TextPart, ToolCallPart
from core.values.provider import ModelProfile
from core.values.spec import StackSpec
from core.values.stack import StackInputs, ToolSchema
from tests.core.records import NOW


def reply(number: int, *, asks: bool) -> Message:
    call = (ToolCallPart(f"c{number}", "grep", "{}"),) if asks else ()
    return Message(f"m{number}", NOW, Role.ASSISTANT, (TextPart("words"), *call))


def test_without_tools_a_turn_is_one_request_and_habits_tell_otherwise() -> None:
    asking = tuple(reply(number, asks=True) for number in range(8))
    silent = tuple(reply(number, asks=False) for number in range(8))

    assert next_round(asking, has_tools=False) == 0.0
    assert next_round((), has_tools=True) == 0.5
    assert next_round(asking, has_tools=True) == 0.9
    assert next_round(silent, has_tools=True) == 0.1


def test_the_planner_is_told_them() -> None:
    turns = tuple(reply(number, asks=True) for number in range(8))
    inputs = StackInputs(turns=turns, tools=(ToolSchema("grep", "Searches.", "{}"),))
    spec = StackSpec("d", inputs, Preset("p"), "")

    turn = planned_turn(spec, build_stack(inputs), "m", ModelProfile("p", "m", context_tokens=1_000))

    assert (turn.next_round, turn.limit_tokens) == (0.9, 1_000)
