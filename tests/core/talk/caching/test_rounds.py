"""Odds of another request in the same turn."""

from __future__ import annotations

from core.kernel.values.curation import Preset
from core.kernel.values.messages import Message, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ModelProfile
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import StackInputs, ToolSchema
from core.talk.caching.planned_calls import begins_turn, next_round, planned_turn
from core.talk.context.stack import build_stack
from tests.core.records import NOW
from tests.core.stacks import said
from tests.core.talk.caching.cache_play import CachePlay, billed


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


def test_a_round_begins_no_turn_so_that_its_seconds_are_no_gap_between_turns() -> None:
    asked = Message("u", NOW, Role.USER, (TextPart("go"),))
    result = Message("t", NOW, Role.TOOL, (ToolResultPart("c1", "found"),))
    before = (asked, reply(1, asks=True), result)

    def begins(turns: tuple[Message, ...], words: str) -> bool:
        spec = StackSpec("d", StackInputs(turns=turns, user_text=words), Preset("p"), "")
        return begins_turn(planned_turn(spec, build_stack(spec.inputs), "u", ModelProfile("p", "m")))

    assert begins((), "go")
    assert begins(before, "and now?")
    assert not begins(before, "")


def test_a_round_is_no_turn_that_found_nothing_changed() -> None:
    play = CachePlay()
    play.turn("c1", 0)
    asked = said("c2", Role.USER, "words")
    result = said("c2b", Role.TOOL, ToolResultPart("x", "found"))
    calls = said("c2a", Role.ASSISTANT, ToolCallPart("x", "grep", "{}"))
    play.turns["d"] = (*play.turns["d"], asked, calls, result)
    round_ = play.plan("c2", 10, words="")
    assert play.go("c2", round_) is None
    play.end("c2", billed(round_.decision.plan), 12)

    assert round_.is_round
    assert (play.book.turns, play.book.pages["d"].cache.turns) == (1, 1)
