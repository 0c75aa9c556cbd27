"""Turns with thinking and tools at addresses that keep Anthropic's protocol by half, through the whole program.

Source: DeepSeek "Anthropic API" and "Thinking Mode", Moonshot "Claude Code", and NousResearch/hermes-agent#17057, #17992,
QwenLM/qwen-code#3788, QuantumNous/new-api#4763 (read 2026-11).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.agent.agent_messages import SetTools
from core.app.execution import act
from core.kernel.values.agent import Mode
from core.kernel.values.messages import ReasoningPart
from core.services.settings.settings_messages import TrustProject
from core.talk.discussion.discussion_messages import CreateDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.core.agent.test_whole_tools import is_over
from tests.core.app.programs import Programs, until
from tests.vendors.loopback import Captured, Json, LoopbackServer, Reply, json_reply
from tests.vendors.world.table import SSE, named


def thought(text: str, signature: str = "") -> tuple[Json, ...]:
    """Deltas of a thought. DeepSeek's blocks begin without a signature, Kimi's have one of its own."""
    seal = ({"type": "signature_delta", "signature": signature},) if signature else ()
    return ({"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": text}, *seal)


def read(call_id: str) -> tuple[Json, ...]:
    given = {"type": "input_json_delta", "partial_json": '{"path":"a.txt"}'}
    return ({"type": "tool_use", "id": call_id, "name": "read_file", "input": {}}, given)


def said(text: str) -> tuple[Json, ...]:
    return ({"type": "text", "text": ""}, {"type": "text_delta", "text": text})


class HalfServer(LoopbackServer):
    """Keeps `/anthropic/v1/messages` as these vendors do: it wants thinking back beside each call, and knows few fields."""

    missing = ""
    signature = ""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[Json] = []
        self.refusals = 0
        own = self.signature
        self.replies = [
            (thought("I look.", own), read("call_1")),
            (read("call_2"),),
            (thought("I know.", own), said("The word is apple.")),
            (said("Nothing more."),),
        ]

    def answer(self, captured: Captured) -> Reply:
        """The next reply, or the refusal of a request that lacks a thought."""
        if captured.path != "/anthropic/v1/messages":
            return json_reply(404, {"error": {"message": f"no {captured.path}", "type": "not_found_error"}})
        body = captured.json
        if (index := self._unthought(body["messages"])) is not None:
            self.refusals += 1
            words = self.missing.format(index=index)
            return json_reply(400, {"error": {"message": words, "type": "invalid_request_error"}})
        self.taken.append(body)
        return Reply(200, self._spoken(self.replies.pop(0)).encode(), {"content-type": SSE})

    def _unthought(self, messages: list[Json]) -> int | None:
        for index, message in enumerate(messages):
            kinds = (
                [one["type"] for one in message["content"]] if isinstance(message["content"], list) else []
            )
            assert message["role"] in {"user", "assistant"}
            if "tool_use" in kinds and "thinking" not in kinds:
                return index
        return None

    def _spoken(self, blocks: tuple[tuple[Json, ...], ...]) -> str:
        begun = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": []}
        calls = any(block[0]["type"] == "tool_use" for block in blocks)
        events: list[tuple[str, Json]] = [
            ("message_start", {"message": {**begun, "usage": {"input_tokens": 0, "output_tokens": 0}}})
        ]
        for index, (start, *deltas) in enumerate(blocks):
            events.append(("content_block_start", {"index": index, "content_block": start}))
            events += [("content_block_delta", {"index": index, "delta": one}) for one in deltas]
            events.append(("content_block_stop", {"index": index}))
        usage = {"input_tokens": 3_600, "cache_read_input_tokens": 6_400, "output_tokens": 20}
        stop = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
        events += [("message_delta", {"delta": stop, "usage": usage}), ("message_stop", {})]
        return named(*events)


class DeepSeekLike(HalfServer):
    missing = "The `content[].thinking` in the thinking mode must be passed back to the API."


class KimiLike(HalfServer):
    missing = (
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index {index}"
    )
    signature = "own-signature"


@pytest.fixture(params=[DeepSeekLike, KimiLike])
def server(request: pytest.FixtureRequest) -> Iterator[HalfServer]:
    with request.param() as server:
        yield server


@pytest.mark.slow
def test_turns_with_thinking_and_tools_end_at_a_server_that_wants_thoughts_beside_calls(
    server: HalfServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("MANUAL_SLOP_KEY_HALF", "some-key-of-a-test")
    (tmp_path / "config.toml").write_text(
        f'[providers.half]\nkind = "anthropic"\nbase_url = "{server.url}/anthropic"\n'
    )
    programs = Programs(tmp_path)
    (programs.project / "a.txt").write_text("The word is apple.\n")
    controller = programs.start()
    act(controller, TrustProject(is_trusted=True))
    controller.send(CreateDiscussion("talk", "half", "m"))
    chosen = until(controller, lambda s: bool(s.discussions.open)).discussions.selected_id
    act(controller, SetTools(chosen, has_tools=True, mode=Mode.ASK))
    for words in ("Which word?", "And?"):
        controller.send(SendPrompt(chosen, words))
        until(controller, lambda s: chosen in s.turns.calls or chosen in s.agent.turns)
        until(controller, lambda s: is_over(s, chosen))
    opened = controller.snapshot().discussions.open[chosen]
    programs.stop()

    messages = opened.messages
    assert opened.failure is None
    assert messages[-1].text == "Nothing more."
    assert [part.text for one in messages for part in one.parts if isinstance(part, ReasoningPart)] == [
        "I look.",
        "I know.",
    ]
    assert (len(server.taken), server.refusals) == (4, 1)  # asked once more, and then known
    usages = [one.usage for one in messages if one.usage is not None]
    assert {(one.input_tokens, one.cache_read_tokens, one.output_tokens) for one in usages} == {
        (10_000, 6_400, 20)
    }
    sent = json.dumps(server.taken[-1]["messages"])
    assert sent.index("I look.") < sent.index("apple")
