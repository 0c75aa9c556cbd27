"""Anthropic through its real SDK, against a server that keeps the vendor's rules."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FailureKind
from core.providers.anthropic import AnthropicProvider, cache_prefix_blocks
from core.providers.base import CancelToken
from core.providers.make import make_provider
from core.providers.profiles import packaged_models
from core.values.messages import ReasoningPart, ToolCallPart, ToolResultPart
from core.values.provider import Effort, ProviderRequest, StopKind, TextDelta, ToolCallReady, UsageUpdate
from core.values.usage import Usage
from tests.core.providers.asking import (
    PNG,
    PROMPT_S,
    TOOLS,
    Outcome,
    ask,
    assistant,
    blobs,
    document,
    picture,
    run,
    run_beside,
    server_settings,
    tool,
    user,
)
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said, error_event
from tests.vendors.loopback import (
    Answer,
    DropAfter,
    DropAfterBytes,
    EndAfter,
    Gate,
    HangUp,
    HoldAfter,
    InsertAfter,
    Reply,
    Rewrite,
    Silent,
    json_reply,
)

OPUS = "claude-opus-5-5"
HAIKU_OLD = "claude-haiku-4-5"


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as running:
        yield running


def provider_at(server: AnthropicServer, key: str | None = KEY, **settings: float) -> AnthropicProvider:
    return AnthropicProvider(server_settings("anthropic", server.url, **settings), key, packaged_models())


def asked(server: AnthropicServer, request: ProviderRequest, **settings: float) -> Outcome:
    return run(provider_at(server, KEY, **settings), request, blobs(PNG, b"a,b\n1,2\n", b"\0\1"))


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


def test_thinking_of_a_finished_turn_is_left_out_so_that_history_may_be_edited(
    server: AnthropicServer,
) -> None:
    server.replies.append(Said(({"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Yes."})))
    first = asked(server, ask(OPUS, user("Is it?")))
    thought = ReasoningPart("Hm.", first.vendor_blocks[0])
    edited = asked(server, ask(OPUS, user("Is it really?"), assistant(thought, "Yes."), user("Why?")))
    only_thought = asked(server, ask(OPUS, user("Is it?"), assistant(thought), user("Why?")))

    assert edited.error is None
    assert only_thought.error is None
    assert b"thinking" not in b"".join(json.dumps(b["messages"]).encode() for b in server.bodies[1:])
    assert [m["role"] for m in server.bodies[2]["messages"]] == ["user", "user"]


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
        ("some_new_reason", StopKind.COMPLETED),
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


# --- failures


def _error(status: int, kind: str, message: str, **headers: str) -> Answer:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_9"}
    return Answer(json_reply(status, body, {"request-id": "req_9", **headers}))


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (_error(401, "authentication_error", "invalid x-api-key"), FailureKind.BAD_KEY, "invalid x-api-key"),
        (_error(403, "permission_error", "No rights"), FailureKind.FORBIDDEN, "No rights"),
        (_error(404, "not_found_error", f"model: {OPUS}"), FailureKind.UNKNOWN_MODEL, OPUS),
        (
            _error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            FailureKind.CONTEXT_TOO_LONG,
            "210000",
        ),
        (
            _error(
                400,
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length",
            ),
            FailureKind.CONTEXT_TOO_LONG,
            "178959",
        ),
        (_error(400, "invalid_request_error", "foo: Extra inputs"), FailureKind.BAD_REQUEST, "foo"),
        (
            _error(
                400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."
            ),
            FailureKind.NO_QUOTA,
            "credit",
        ),
        (_error(402, "billing_error", "Pay"), FailureKind.NO_QUOTA, "Pay"),
        (
            _error(429, "rate_limit_error", "You have reached your specified API usage limits."),
            FailureKind.NO_QUOTA,
            "usage limits",
        ),
        (_error(413, "request_too_large", "Too large"), FailureKind.REQUEST_TOO_LARGE, "Too large"),
        (_error(429, "rate_limit_error", "Slow down"), FailureKind.RATE_LIMITED, "Slow down"),
        (_error(500, "api_error", "Internal"), FailureKind.SERVER_FAULT, "Internal"),
        (_error(504, "timeout_error", "Timed out"), FailureKind.TIMED_OUT, "Timed out"),
        (_error(529, "overloaded_error", "Overloaded"), FailureKind.OVERLOADED, "Overloaded"),
        (Answer(Reply(503, b"<html>busy</html>", {})), FailureKind.OVERLOADED, "503"),
        (Answer(Reply(413, b"<html>big</html>", {})), FailureKind.REQUEST_TOO_LARGE, "413"),
        (Answer(Reply(200, b"<html>hello</html>", {})), FailureKind.BAD_REPLY, "not a reply"),
        (
            Answer(Reply(200, b"event: message_start\ndata: {nope\n\n", {})),
            FailureKind.BAD_REPLY,
            "not a reply",
        ),
        (Answer(Reply(200, b"", {"content-encoding": "gzip"})), FailureKind.BAD_REPLY, "not a reply"),
        (
            Answer(Reply(302, b"", {"location": "https://elsewhere.example/"})),
            FailureKind.BAD_REQUEST,
            "elsewhere",
        ),
    ],
)
def test_every_failure_has_its_kind_a_sentence_and_a_remedy(
    server: AnthropicServer, fault: Answer, kind: FailureKind, words: str
) -> None:
    server.faults.append(fault)
    error = asked(server, ask(OPUS)).failure

    assert error.kind is kind
    assert words in error.what
    assert error.remedy
    assert str(error).endswith(f"{server.url}/v1/messages")
    assert KEY not in str(error)


def test_a_failure_carries_status_and_request_id(server: AnthropicServer) -> None:
    server.faults.append(_error(500, "api_error", "Internal"))
    error = asked(server, ask(OPUS)).failure

    assert (error.status, error.request_id) == (500, "req_9")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Fri, 20 Nov 2026 10:00:30 GMT", "date": "Fri, 20 Nov 2026 10:00:00 GMT"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(
    server: AnthropicServer, headers: dict[str, str], seconds: float | None
) -> None:
    server.faults.append(_error(429, "rate_limit_error", "Slow down", **headers))
    error = asked(server, ask(OPUS)).failure

    assert error.retry_after_s == seconds


def test_the_sdk_itself_tries_only_once(server: AnthropicServer) -> None:
    server.faults.append(_error(529, "overloaded_error", "Overloaded", **{"retry-after": "0"}))

    assert asked(server, ask(OPUS)).failure.kind is FailureKind.OVERLOADED
    assert len(server.requests) == 1


def test_an_unknown_model_is_named_with_where_to_choose_another(server: AnthropicServer) -> None:
    error = asked(server, ask("claude-nobody")).failure

    assert error.kind is FailureKind.UNKNOWN_MODEL
    assert "'claude-nobody'" in error.what
    assert "Choose another model" in error.remedy


@pytest.mark.parametrize(
    ("kind_on_wire", "kind"),
    [
        ("overloaded_error", FailureKind.OVERLOADED),
        ("api_error", FailureKind.SERVER_FAULT),
        ("rate_limit_error", FailureKind.RATE_LIMITED),
    ],
)
def test_an_error_in_mid_stream_keeps_what_came_before_it(
    server: AnthropicServer, kind_on_wire: str, kind: FailureKind
) -> None:
    server.faults.append(InsertAfter(5, error_event(kind_on_wire, "Later")))
    result = asked(server, ask(OPUS))

    assert result.text == "Hello ther"
    assert result.failure.kind is kind
    assert result.failure.status is None
    assert result.failure.request_id


@pytest.mark.parametrize("fault", [DropAfter(5), DropAfterBytes(700), EndAfter(5), InsertAfter(5, b"")])
def test_a_stream_that_breaks_off_says_so_and_keeps_the_part(
    server: AnthropicServer, fault: DropAfter
) -> None:
    server.faults.append(fault)
    result = asked(server, ask(OPUS))

    assert result.failure.kind is FailureKind.STREAM_DROPPED
    assert "Hello ther".startswith(result.text)
    assert sum(isinstance(item, UsageUpdate) for item in result.items) == 1


def test_the_part_before_a_drop_is_the_text_that_had_arrived(server: AnthropicServer) -> None:
    server.faults.append(DropAfter(5))

    assert asked(server, ask(OPUS)).text == "Hello ther"


def test_garbage_in_mid_stream_is_a_bad_reply(server: AnthropicServer) -> None:
    server.faults.append(InsertAfter(5, b"event: content_block_delta\ndata: {oops\n\n"))
    result = asked(server, ask(OPUS))

    assert result.failure.kind is FailureKind.BAD_REPLY
    assert result.text == "Hello ther"


def test_events_of_a_strange_shape_are_passed_over(server: AnthropicServer) -> None:
    def odd(part: bytes) -> bytes:
        return part.replace(b'"index":0', b'"index":"zero"').replace(b'"usage":{', b'"usage":{"x":{},')

    server.faults.append(Rewrite(odd))

    assert asked(server, ask(OPUS)).text == "Hello there."


def test_no_key_is_said_before_anything_is_sent(server: AnthropicServer) -> None:
    error = run(provider_at(server, None), ask(OPUS)).failure

    assert error.kind is FailureKind.NO_KEY
    assert "ANTHROPIC_API_KEY" in error.remedy
    assert server.requests == []


@pytest.mark.parametrize("key", ["schlüssel", "sk ant", "sk\nant"])
def test_a_key_that_cannot_be_one_is_said_without_showing_it(server: AnthropicServer, key: str) -> None:
    error = run(provider_at(server, key), ask(OPUS)).failure

    assert error.kind is FailureKind.BAD_KEY
    assert key not in str(error)


def test_a_wrong_key_is_refused_and_not_shown(server: AnthropicServer) -> None:
    wrong = "sk-ant-wrong-0123456789"
    error = run(provider_at(server, wrong), ask(OPUS)).failure

    assert error.kind is FailureKind.BAD_KEY
    assert wrong not in str(error)


def test_an_echoed_key_is_struck_out(server: AnthropicServer) -> None:
    server.faults.append(_error(401, "authentication_error", f"bad key {KEY} or plainkey"))

    assert KEY not in str(asked(server, ask(OPUS)).failure)


def test_a_server_that_is_not_there_is_no_network() -> None:
    with AnthropicServer() as gone:
        url = gone.url
    provider = AnthropicProvider(server_settings("anthropic", url), KEY, packaged_models())
    error = run(provider, ask(OPUS)).failure

    assert error.kind is FailureKind.NO_NETWORK
    assert url in error.where


def test_a_name_that_does_not_resolve_is_no_network() -> None:
    provider = AnthropicProvider(server_settings("anthropic", "http://nobody.invalid"), KEY)

    assert run(provider, ask(OPUS)).failure.kind is FailureKind.NO_NETWORK


def test_a_server_that_hangs_up_without_a_word_is_no_network(server: AnthropicServer) -> None:
    server.faults.append(HangUp())

    assert asked(server, ask(OPUS)).failure.kind is FailureKind.NO_NETWORK


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1/x", "http://[::1"])
def test_an_address_that_is_none_is_a_bad_request_that_names_the_setting(url: str) -> None:
    provider = AnthropicProvider(server_settings("anthropic", url), KEY)
    error = run(provider, ask(OPUS)).failure

    assert error.kind is FailureKind.BAD_REQUEST
    assert "base_url" in error.remedy


@pytest.mark.parametrize("parts", [0, 5])
def test_silence_ends_in_a_time_out_that_names_its_length(server: AnthropicServer, parts: int) -> None:
    gate = Gate()
    server.faults.append(HoldAfter(parts, gate))
    result = asked(server, ask(OPUS), timeout_s=0.05)

    assert result.failure.kind is FailureKind.TIMED_OUT
    assert "0.05 s" in result.failure.what
    assert gate.client_left.wait(PROMPT_S)


@pytest.mark.parametrize(
    "make_fault", [Silent, lambda gate: HoldAfter(0, gate), lambda gate: HoldAfter(5, gate)]
)
def test_a_cancelled_call_ends_at_once_and_hangs_up(
    server: AnthropicServer, make_fault: Callable[[Gate], Silent | HoldAfter]
) -> None:
    gate, cancel = Gate(), CancelToken()
    server.faults.append(make_fault(gate))
    wait = run_beside(lambda: run(provider_at(server), ask(OPUS), cancel=cancel))
    assert gate.reached.wait(PROMPT_S)
    cancel.cancel()
    result = wait()

    assert result.error is None
    assert result.stopped.kind is StopKind.CANCELLED
    assert gate.client_left.wait(PROMPT_S), "the server was not told"


def test_what_had_arrived_before_a_cancel_is_kept(server: AnthropicServer) -> None:
    gate, cancel = Gate(), CancelToken()
    server.faults.append(HoldAfter(5, gate))
    seen = threading.Event()
    provider = provider_at(server)

    def work() -> Outcome:
        result = Outcome()
        for item in provider.stream(ask(OPUS), blobs(), cancel):
            result.items.append(item)
            if result.text == "Hello ther":
                seen.set()
        return result

    wait = run_beside(work)
    assert seen.wait(PROMPT_S)
    cancel.cancel()

    assert wait().text == "Hello ther"


def test_a_call_that_was_cancelled_before_it_began_sends_nothing(server: AnthropicServer) -> None:
    cancel = CancelToken()
    cancel.cancel()
    result = run(provider_at(server), ask(OPUS), cancel=cancel)

    assert [item.kind for item in result.items] == [StopKind.CANCELLED]  # type: ignore[union-attr]
    assert server.requests == []


def test_a_listener_that_leaves_early_hangs_up(server: AnthropicServer) -> None:
    gate = Gate()
    server.faults.append(HoldAfter(5, gate))
    stream = provider_at(server).stream(ask(OPUS), blobs(), CancelToken())
    next(stream)
    assert gate.reached.wait(PROMPT_S)
    stream.close()  # type: ignore[attr-defined]

    assert gate.client_left.wait(PROMPT_S)


def test_two_calls_run_at_once_and_cancelling_one_leaves_the_other(server: AnthropicServer) -> None:
    held, other = Gate(), Gate()
    server.faults.extend([HoldAfter(5, held), HoldAfter(5, other)])
    provider, cancel = provider_at(server), CancelToken()
    stream = provider.stream(ask(OPUS), blobs(), cancel)
    next(stream)
    beside = provider.stream(ask(OPUS), blobs(), CancelToken())
    next(beside)
    cancel.cancel()
    other.open()

    assert [*stream][-1].kind is StopKind.CANCELLED  # type: ignore[union-attr]
    assert [*beside][-1].kind is StopKind.COMPLETED  # type: ignore[union-attr]
    assert held.client_left.wait(PROMPT_S)


# --- lists and counts


def test_the_servers_list_tells_windows_efforts_and_pictures(server: AnthropicServer) -> None:
    server.page_size = 2
    listed = {model.id: model for model in provider_at(server).list_models()}

    assert len(listed) == 5
    novel = listed["claude-novel-6"]
    assert (novel.context_tokens, novel.max_output_tokens, novel.takes_images) == (1_000_000, 256_000, True)
    assert novel.efforts == (Effort.LOW, Effort.HIGH)
    assert novel.thinking == "adaptive"
    assert listed["claude-sonnet-5-5"].thinking_off == "between_tools"
    assert listed[HAIKU_OLD].thinking == "budget"
    assert novel.from_server


def test_tokens_are_counted_by_the_vendors_endpoint(server: AnthropicServer) -> None:
    request = ask(OPUS, user("Count me."), tools=TOOLS)
    counted = provider_at(server).count_tokens(request, blobs())
    billed = asked(server, request).usage.input_tokens

    assert counted == billed
    assert server.requests[0].path == "/v1/messages/count_tokens"


@pytest.mark.parametrize("method", ["list_models", "count_tokens"])
def test_lists_and_counts_fail_in_the_same_words(server: AnthropicServer, method: str) -> None:
    provider = provider_at(server, "sk-ant-wrong-0123456789")
    with pytest.raises(Exception, match="refused the key") as caught:
        provider.list_models() if method == "list_models" else provider.count_tokens(ask(OPUS), blobs())

    assert caught.value.kind is FailureKind.BAD_KEY  # type: ignore[attr-defined]


# --- addresses and proxies


def test_the_sdks_own_variable_sets_the_address(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    provider = make_provider(server_settings("anthropic"), KEY, packaged_models())

    assert run(provider, ask(OPUS)).text == "Hello there."


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"])
@pytest.mark.parametrize("by_variable", [False, True])
def test_a_proxy_does_not_capture_loopback(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch, variable: str, *, by_variable: bool
) -> None:
    monkeypatch.setenv(variable, "socks5://127.0.0.1:9")
    if by_variable:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    settings = server_settings("anthropic", "" if by_variable else server.url)

    assert run(AnthropicProvider(settings, KEY), ask(OPUS)).text == "Hello there."


def test_keys_of_the_environment_do_not_stand_in_for_the_one_given(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-other-0123456789")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other-token-0123456789")

    assert asked(server, ask(OPUS)).error is None
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


# --- cache_prefix_blocks


def test_a_text_is_split_at_the_boundaries_and_each_prefix_is_marked() -> None:
    assert cache_prefix_blocks("abcdef", [4, 2]) == [
        {"type": "text", "text": "ab", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "cd", "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": "ef"},
    ]


@pytest.mark.parametrize("boundaries", [[], [0], [6], [-1, 7, 100]])
def test_without_a_boundary_inside_the_text_it_stays_a_string(boundaries: list[int]) -> None:
    assert cache_prefix_blocks("abcdef", boundaries) == "abcdef"


def test_of_many_boundaries_the_first_two_and_the_last_are_kept() -> None:
    blocks = cache_prefix_blocks("abcdefgh", [1, 2, 3, 4, 7])

    assert [block["text"] for block in blocks] == ["a", "b", "cdefg", "h"]  # type: ignore[index]


@given(st.text(), st.lists(st.integers(-5, 60)))
def test_no_text_is_lost_and_at_most_three_marks_are_set(message: str, boundaries: list[int]) -> None:
    blocks = cache_prefix_blocks(message, boundaries)
    if isinstance(blocks, str):
        assert blocks == message
        return
    assert "".join(block["text"] for block in blocks) == message
    assert all(block["text"] for block in blocks)
    assert 1 <= sum("cache_control" in block for block in blocks) <= 3
    assert "cache_control" not in blocks[-1]
