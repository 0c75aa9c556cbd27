"""A running turn over the real SDKs: each request begins with the whole one before it, and the vendors take it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.kernel.values.messages import Message, Part, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.spec import CallToBuild
from core.kernel.values.stack import DiscussionMetadata, ToolSchema
from core.services.providers.door import CallIds
from core.talk.turn.turn_step import ArrivingReply
from tests.core.services.providers.anthropic.kit import asked as ask_anthropic
from tests.core.services.providers.compatible.test_client import asked as ask_compatible
from tests.core.services.providers.gemini.kit import asked as ask_gemini
from tests.core.services.providers.openai.kit import asked as ask_openai
from tests.core.services.providers.outcomes import TOOLS, Outcome, assistant, picture, tool, user
from tests.core.talk.context.test_assembly import AT, Bench
from tests.vendors import anthropic_server, compatible_server, gemini_server, openai_server
from tests.vendors.loopback import Json, LoopbackServer

ROUNDS = 3
RETRIEVED = "What was recalled for it."


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor's server, how it is asked, its reply with two calls, and a request's body as blocks in wire order."""

    model: str
    server: Callable[[], LoopbackServer]
    ask: Callable[[Any, ProviderRequest], Outcome]
    calls: Any
    blocks: Callable[[Json], list[object]]


def anthropic_blocks(body: Json) -> list[object]:
    said = [(m["role"], block) for m in body["messages"] for block in m["content"]]
    return [body.get("tools"), body.get("system"), *said]


def gemini_blocks(body: Json) -> list[object]:
    said = [(c.get("role"), part) for c in body["contents"] for part in c["parts"]]
    return [body.get("tools"), body.get("systemInstruction"), *said]


VENDORS = {
    "anthropic": Vendor(
        "claude-opus-5-5",
        anthropic_server.AnthropicServer,
        ask_anthropic,
        anthropic_server.Said(
            (
                {"type": "thinking", "thinking": "Hm."},
                {"type": "tool_use", "name": "read_file", "input": {"a": 1}},
                {"type": "tool_use", "name": "read_file", "input": {"a": 2}},
            ),
            "tool_use",
        ),
        anthropic_blocks,
    ),
    "openai": Vendor(
        "gpt-6.1-sol",
        openai_server.OpenAiServer,
        ask_openai,
        openai_server.Said(
            (
                {"type": "reasoning", "summary": ["Hm."]},
                {"type": "function_call", "name": "read_file", "arguments": '{"a":1}'},
                {"type": "function_call", "name": "read_file", "arguments": '{"a":2}'},
            )
        ),
        lambda body: [body.get("tools"), *body["input"]],
    ),
    "gemini": Vendor(
        "gemini-4-argon",
        gemini_server.GeminiServer,
        ask_gemini,
        gemini_server.Said(
            (
                {"text": "Hm.", "thought": True},
                {"functionCall": {"name": "read_file", "args": {"a": 1}}},
                {"functionCall": {"name": "read_file", "args": {"a": 2}}},
            )
        ),
        gemini_blocks,
    ),
    "compatible": Vendor(
        compatible_server.MODEL,
        compatible_server.CompatibleServer,
        ask_compatible,
        compatible_server.Said(
            "", "Hm.", calls=(("read_file", '{"a":1}'), ("read_file", '{"a":2}')), finish="stop"
        ),
        lambda body: [body.get("tools"), *body["messages"]],
    ),
}


def replied(result: Outcome) -> tuple[Part, ...]:
    assert result.error is None, result.error
    reply = ArrivingReply(lambda: 0.0)
    for item in result.items:
        reply.add(item)
    return reply.parts()


def results_of(parts: Sequence[Part], number: int) -> tuple[ToolResultPart, ...]:
    ids = [part.call_id for part in parts if isinstance(part, ToolCallPart)]
    assert len(set(ids)) == 2
    return tuple(ToolResultPart(one, f"answer {number}", attachments=(picture(),)) for one in ids)


def requests_of_turn(vendor: Vendor, server: Any, bench: Bench) -> list[list[object]]:
    """The blocks of each request of a turn with tools; whatever a turn may change changes in between."""
    server.replies.extend([vendor.calls] * (ROUNDS - 1))
    prompt = Message("message", AT, Role.USER, (TextPart("Look at it."),))
    turns: tuple[Message, ...] = (Message("old", AT, Role.USER, (TextPart("Before."),)),)
    turns += (Message("older", AT, Role.ASSISTANT, (TextPart("Said."),)),)
    spec = bench.spec("Look at it.", turns=turns, tools=TOOLS, retrieved=RETRIEVED, model=vendor.model)
    turns += (prompt,)
    for number in range(ROUNDS):
        parts = replied(vendor.ask(server, bench.build(spec).request))
        at = AT + timedelta(seconds=number)
        turns += (Message(f"r{number}", at, Role.ASSISTANT, parts),)
        if number < ROUNDS - 1:
            turns += (Message(f"t{number}", at, Role.TOOL, results_of(parts, number)),)
        bench.file.write_text(f"x = {number}\n", encoding="utf-8")
        spec = bench.spec(
            "",
            turns=turns,
            tools=(*TOOLS, ToolSchema("later", "Later.", "{}")),
            model=vendor.model,
            metadata=DiscussionMetadata(f"Renamed {number}", ("assistant", "tool", "user"), number),
        )
    bodies = [request.json for request in server.requests if request.method == "POST"]
    return [vendor.blocks(body) for body in bodies]


@pytest.mark.parametrize("name", sorted(VENDORS))
def test_each_request_of_a_turn_begins_with_the_whole_one_before_it(name: str, tmp_path: Path) -> None:
    vendor = VENDORS[name]
    with vendor.server() as server:
        sent = requests_of_turn(vendor, server, Bench(tmp_path, context_tokens=1_000_000))

    assert len(sent) == ROUNDS
    for before, after in pairwise(sent):
        assert after[: len(before)] == before
        assert len(after) > len(before)
    told = str(sent[-1])
    assert told.count(RETRIEVED) == told.count("Sky") == 1
    assert "Renamed" not in told
    assert told.count("Hm.") + told.count("sealed") + told.count("thoughtSignature") >= ROUNDS - 1


def test_after_the_turn_all_of_it_changes_with_the_next_message(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    prompt = Message("message", AT, Role.USER, (TextPart("Look."),))
    done = Message("r", AT, Role.ASSISTANT, (ToolCallPart("c", "read_file", "{}"),))
    answered = Message("t", AT, Role.TOOL, (ToolResultPart("c", "one"),))
    last = Message("r1", AT, Role.ASSISTANT, (TextPart("Done."),))
    bench.build(bench.spec("Look.", retrieved=RETRIEVED))
    bench.build(bench.spec("", turns=(prompt, done, answered)))

    spec = bench.spec("And now?", turns=(prompt, done, answered, last), metadata=DiscussionMetadata("New"))
    messages = bench.assembler.build(CallToBuild("call", "request", "next", spec)).request.messages

    texts = [getattr(part, "text", "") for message in messages for part in message.parts]
    assert "New" in texts[-1]
    assert not any(RETRIEVED in text or "Sky" in text for text in texts)


def test_calls_that_share_an_id_go_out_under_one_each_and_results_find_theirs() -> None:
    calls = [ToolCallPart("call_0", "one", "{}"), ToolCallPart("call_0", "two", "{}")]
    again = ToolCallPart("call_0", "three", "{}")
    answers = [ToolResultPart("call_0", str(number)) for number in range(3)]
    lost = ToolResultPart("nobody's", "x")
    messages = (user("Go."), assistant(*calls), tool(*answers[:2]), assistant(again), tool(answers[2], lost))

    ids = CallIds(messages)

    assert [ids.id_of(part) for part in (*calls, again)] == ["call_0", "call_0_2", "call_0_3"]
    assert [ids.id_of(part) for part in answers] == ["call_0", "call_0_2", "call_0_3"]
    assert [ids.name_of(part) for part in (*answers, lost)] == ["one", "two", "three", "unknown"]
    shorter = CallIds(messages[:3])
    assert [shorter.id_of(part) for part in calls] == ["call_0", "call_0_2"]
