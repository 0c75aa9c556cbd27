"""Anthropic through its real SDK, against a server that keeps the vendor's rules: requests, replies, usage."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from core.kernel.errors import FailureKind
from core.kernel.values.messages import ReasoningPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Effort, StopKind, TextDelta, ToolCallReady, UsageUpdate
from core.kernel.values.usage import Usage
from tests.core.services.providers.anthropic.kit import HAIKU_OLD, OPUS, asked
from tests.core.services.providers.outcomes import PNG, TOOLS, ask, assistant, document, picture, tool, user
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as running:
        yield running


def test_a_reply_streams_in_pieces_and_ends_with_why_it_stopped(server: AnthropicServer) -> None:
    result = asked(server, ask(OPUS))

    pieces = [item.text for item in result.items if isinstance(item, TextDelta)]
    assert pieces == ["Hello", " ther", "e."]
    assert result.stopped.kind is StopKind.COMPLETED
    assert result.usage.request_id.startswith("req_")


def test_each_segment_is_one_block_in_its_order_and_no_mark_is_set(server: AnthropicServer) -> None:
    asked(server, ask(OPUS, user("File one.", "File two.", "  \n"), assistant("Seen."), user("Now?")))

    body = server.bodies[0]
    assert body["system"] == [
        {"type": "text", "text": "You help."},
        {"type": "text", "text": "The project is X."},
    ]
    assert body["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "File one."}, {"type": "text", "text": "File two."}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Seen."}]},
        {"role": "user", "content": [{"type": "text", "text": "Now?"}]},
    ]
    assert b"cache_control" not in server.requests[0].body


def test_tools_go_out_sorted_by_name_with_sorted_schemas(server: AnthropicServer) -> None:
    asked(server, ask(OPUS, tools=TOOLS))

    sent = server.requests[0].body.decode()
    assert [tool["name"] for tool in server.bodies[0]["tools"]] == ["read_file", "write_file"]
    assert '{"properties":{"a":{"type":"integer"},"b":{"type":"string"}},"type":"object"}' in sent


def test_the_prefix_of_the_next_turn_is_the_same_bytes(server: AnthropicServer) -> None:
    first = (user("Files.", "What is X?"),)
    second = (*first, assistant("X is a letter."), user("And Y?"))
    for messages in (first, second):
        asked(server, ask(OPUS, *messages, tools=TOOLS))

    before, after = (_prefix_parts(request.body) for request in server.requests)
    assert before["tools"] == after["tools"]
    assert before["system"] == after["system"]
    assert after["messages"][: len(before["messages"])] == before["messages"]


def _prefix_parts(body: bytes) -> dict[str, list[str]]:
    value = json.loads(body)
    return {name: [json.dumps(part) for part in value[name]] for name in ("tools", "system", "messages")}


def test_the_sdk_sends_the_version_and_the_key_as_the_vendor_asks(server: AnthropicServer) -> None:
    asked(server, ask(OPUS))

    headers = server.requests[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["anthropic-version"] == "2026-10-21"


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "output"),
    [
        (OPUS, Effort.AUTO, {"type": "adaptive", "display": "summarized"}, None),
        (OPUS, Effort.MAX, {"type": "adaptive", "display": "summarized"}, {"effort": "max"}),
        (OPUS, Effort.NONE, {"type": "adaptive", "display": "summarized"}, {"effort": "low"}),
        ("claude-sonnet-5-5", Effort.NONE, {"type": "between_tools"}, None),
        ("claude-haiku-5-5", Effort.NONE, {"type": "disabled"}, None),
        (HAIKU_OLD, Effort.AUTO, None, None),
        (HAIKU_OLD, Effort.NONE, None, None),
        (HAIKU_OLD, Effort.LOW, {"type": "enabled", "budget_tokens": 4096}, None),
        (HAIKU_OLD, Effort.MAX, {"type": "enabled", "budget_tokens": 24_576}, None),
        ("claude-novel-6", Effort.HIGH, None, None),
    ],
)
def test_effort_is_asked_for_in_the_words_of_the_models_generation(
    server: AnthropicServer, model: str, effort: Effort, thinking: object, output: object
) -> None:
    result = asked(server, ask(model, effort=effort))

    assert result.error is None
    assert server.bodies[0].get("thinking") == thinking
    assert server.bodies[0].get("output_config") == output


def test_a_small_limit_keeps_the_thinking_budget_below_it(server: AnthropicServer) -> None:
    asked(server, ask(HAIKU_OLD, effort=Effort.HIGH, max_output_tokens=2000))
    asked(server, ask(HAIKU_OLD, effort=Effort.HIGH, max_output_tokens=500))

    assert server.bodies[0]["thinking"]["budget_tokens"] == 1999
    assert "thinking" not in server.bodies[1]


def test_the_output_limit_is_the_models_own_and_shrinks_to_what_the_window_leaves(
    server: AnthropicServer,
) -> None:
    asked(server, ask(OPUS))
    asked(server, ask("claude-novel-6"))
    asked(server, ask(HAIKU_OLD, user("x" * 450_000)))

    whole, unknown, tight = (body["max_tokens"] for body in server.bodies)
    assert (whole, unknown) == (128_000, 32_000)
    assert 1024 <= tight < 64_000


def test_a_schema_for_the_reply_goes_into_the_output_format(server: AnthropicServer) -> None:
    asked(server, ask(OPUS, effort=Effort.LOW, response_schema_json='{"type":"object","properties":{}}'))

    assert server.bodies[0]["output_config"] == {
        "effort": "low",
        "format": {"type": "json_schema", "schema": {"properties": {}, "type": "object"}},
    }


def test_pictures_go_as_base64_and_texts_as_text_with_their_name(server: AnthropicServer) -> None:
    asked(server, ask(OPUS, user("Look.", picture(), document(b"a,b\n1,2\n", "t.csv"))))

    content = server.bodies[0]["messages"][0]["content"]
    assert content[1]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": base64.b64encode(PNG).decode(),
    }
    assert content[2] == {"type": "text", "text": '<attachment name="t.csv">\na,b\n1,2\n</attachment>'}


@pytest.mark.parametrize(
    ("attachment", "word"),
    [
        (picture("image/bmp", "x.bmp"), "x.bmp"),
        (document(b"\0\1", "x.bin", "application/octet-stream"), "x.bin"),
        (document(b"never kept", "gone.txt"), "gone.txt"),
    ],
)
def test_an_attachment_that_cannot_go_is_refused_by_name_before_anything_is_sent(
    server: AnthropicServer, attachment: object, word: str
) -> None:
    result = asked(server, ask(OPUS, user("Look.", attachment)))  # type: ignore[arg-type]

    assert result.failure.kind is FailureKind.BAD_REQUEST
    assert word in result.failure.what
    assert result.failure.remedy
    assert server.requests == []


def test_reasoning_streams_and_comes_with_the_block_to_send_back(server: AnthropicServer) -> None:
    server.replies.append(
        Said(
            (
                {"type": "thinking", "thinking": "Let me see."},
                {"type": "redacted_thinking", "data": "c2VjcmV0"},
                {"type": "text", "text": "Yes."},
            )
        )
    )
    result = asked(server, ask(OPUS))

    assert (result.reasoning, result.text) == ("Let me see.", "Yes.")
    thinking, redacted = (json.loads(block) for block in result.vendor_blocks)
    assert thinking["thinking"] == "Let me see."
    assert thinking["signature"]
    assert redacted == {"type": "redacted_thinking", "data": "c2VjcmV0"}


def test_thinking_goes_back_inside_an_open_tool_turn_and_is_taken_by_a_server_that_binds_it(
    server: AnthropicServer,
) -> None:
    server.replies.append(
        Said(
            (
                {"type": "thinking", "thinking": "I need it."},
                {"type": "tool_use", "name": "read_file", "input": {"a": 1}},
            ),
            "tool_use",
        )
    )
    question = user("Read it.")
    first = asked(server, ask(OPUS, question, tools=TOOLS))
    call = next(item.part for item in first.items if isinstance(item, ToolCallReady))
    thought = ReasoningPart("I need it.", first.vendor_blocks[0])
    turn = (question, assistant(thought, call), tool(ToolResultPart(call.call_id, "content")))
    second = asked(server, ask(OPUS, *turn, tools=TOOLS))

    assert first.stopped.kind is StopKind.TOOL_CALLS
    assert json.loads(call.arguments_json) == {"a": 1}
    assert second.error is None
    assert [b["type"] for b in server.bodies[1]["messages"][1]["content"]] == ["thinking", "tool_use"]


def test_thinking_of_a_finished_turn_goes_back_where_the_request_holds_it(server: AnthropicServer) -> None:
    server.replies.append(Said(({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Yes."})))
    first = asked(server, ask(OPUS, user("Is it?")))
    thought = ReasoningPart("Hm.", first.vendor_blocks[0])
    as_said = asked(server, ask(OPUS, user("Is it?"), assistant(thought, "Yes."), user("Why?")))
    without = asked(server, ask(OPUS, user("Is it really?"), assistant("Yes."), user("Why?")))

    assert (as_said.error, without.error) == (None, None)
    kinds = [[block["type"] for block in body["messages"][1]["content"]] for body in server.bodies[1:]]
    assert kinds == [["thinking", "text"], ["text"]]


def test_the_server_would_refuse_thinking_behind_an_edited_prefix(server: AnthropicServer) -> None:
    """The rule that the policy above is for: without it the turn would fail."""
    server.replies.append(
        Said(
            ({"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "name": "f", "input": {}}),
            "tool_use",
        )
    )
    first = asked(server, ask(OPUS, user("Is it?")))
    call = next(item.part for item in first.items if isinstance(item, ToolCallReady))
    turn = (
        assistant(ReasoningPart("Hm.", first.vendor_blocks[0]), call),
        tool(ToolResultPart(call.call_id, "x")),
    )

    assert asked(server, ask(OPUS, user("Edited."), *turn)).failure.kind is FailureKind.BAD_REQUEST


def test_another_vendors_reasoning_and_call_ids_do_not_break_the_request(server: AnthropicServer) -> None:
    foreign = ReasoningPart("x", '{"thought_signature":"abc"}')
    call = ToolCallPart("call:1/2", "read_file", "not json")
    turn = (user("Go."), assistant(foreign, call), tool(ToolResultPart("call:1/2", "", is_error=True)))
    result = asked(server, ask(OPUS, *turn))

    assert result.error is None
    assert server.bodies[0]["messages"][1]["content"] == [
        {"type": "tool_use", "id": "call_1_2", "name": "read_file", "input": {"INVALID_JSON": "not json"}}
    ]
    assert server.bodies[0]["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "call_1_2", "is_error": True}
    ]


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("end_turn", StopKind.COMPLETED),
        ("stop_sequence", StopKind.COMPLETED),
        ("max_tokens", StopKind.TRUNCATED),
        ("model_context_window_exceeded", StopKind.TRUNCATED),
        ("refusal", StopKind.REFUSED),
        ("tool_use", StopKind.TOOL_CALLS),
        ("some_new_reason", StopKind.UNKNOWN),
    ],
)
def test_each_stop_reason_has_one_meaning(server: AnthropicServer, reason: str, kind: StopKind) -> None:
    server.replies.append(Said(stop_reason=reason))
    result = asked(server, ask(OPUS))

    assert result.stopped.kind is kind
    assert result.stopped.detail == reason


def test_a_refusal_says_why(server: AnthropicServer) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "It could do harm."}
    server.replies.append(Said(stop_reason="refusal", stop_details=details))

    assert asked(server, ask(OPUS)).stopped.detail == "refusal: It could do harm."


def test_input_tokens_are_everything_sent_and_the_cache_is_part_of_them(server: AnthropicServer) -> None:
    server.replies.append(
        Said(
            usage={
                "input_tokens": 10,
                "cache_read_input_tokens": 700,
                "cache_creation_input_tokens": 60,
                "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 40},
                "output_tokens": 33,
                "output_tokens_details": {"thinking_tokens": 12},
            }
        )
    )
    usage = asked(server, ask(OPUS)).usage

    assert usage == Usage(
        input_tokens=770,
        output_tokens=33,
        cache_read_tokens=700,
        cache_write_tokens=60,
        cache_write_5m_tokens=20,
        cache_write_1h_tokens=40,
        reasoning_tokens=12,
        request_id=usage.request_id,
    )


def test_a_write_total_of_zero_does_not_hide_the_writes_by_ttl(server: AnthropicServer) -> None:
    by_ttl = {"ephemeral_5m_input_tokens": 50, "ephemeral_1h_input_tokens": 5}
    server.replies.append(
        Said(usage={"input_tokens": 1, "cache_creation_input_tokens": 0, "cache_creation": by_ttl})
    )
    usage = asked(server, ask(OPUS)).usage

    assert (usage.cache_write_tokens, usage.input_tokens) == (55, 56)


def test_fields_that_a_server_leaves_out_are_not_reported_rather_than_zero(server: AnthropicServer) -> None:
    names = ["cache_read_input_tokens", "cache_creation_input_tokens", "cache_creation"]
    server.replies.append(Said(usage={**dict.fromkeys(names, ...), "input_tokens": 7}))
    server.replies.append(Said(usage=dict.fromkeys([*names, "input_tokens", "output_tokens"], ...)))
    some, none = asked(server, ask(OPUS)).usage, asked(server, ask(OPUS)).usage

    assert (some.input_tokens, some.cache_read_tokens, some.cache_write_tokens) == (7, None, None)
    assert none == Usage(output_tokens=none.output_tokens, request_id=none.request_id)
    assert none.input_tokens is None


def test_usage_is_known_before_the_reply_ends(server: AnthropicServer) -> None:
    first = next(item for item in asked(server, ask(OPUS)).items if isinstance(item, UsageUpdate))

    assert first.usage.input_tokens
