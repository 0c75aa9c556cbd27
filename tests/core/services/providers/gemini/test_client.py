"""Gemini through its real SDK, against a server that keeps the vendor's rules: requests, replies, usage."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

import pytest

from core.kernel.errors import FailureKind
from core.kernel.values.messages import ReasoningPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Effort, StopKind, TextDelta, ToolCallReady, UsageUpdate
from core.kernel.values.usage import Usage
from core.services.providers.gemini.wire import sound_chunk
from tests.core.services.providers.gemini.kit import ARGON, FLASH, asked
from tests.core.services.providers.outcomes import PNG, TOOLS, ask, assistant, document, picture, tool, user
from tests.vendors.gemini_rules import ANY_SIGNATURE
from tests.vendors.gemini_server import (
    KEY,
    GeminiServer,
    Said,
)


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


def test_a_reply_streams_in_pieces_and_ends_with_why_it_stopped(server: GeminiServer) -> None:
    result = asked(server, ask(ARGON))

    pieces = [item.text for item in result.items if isinstance(item, TextDelta)]
    assert pieces == ["Hello", " ther", "e."]
    assert (result.stopped.kind, result.stopped.detail) == (StopKind.COMPLETED, "STOP")
    assert result.usage.request_id == "resp-1"


def test_it_speaks_the_version_that_has_caches_with_the_key_in_its_header(server: GeminiServer) -> None:
    asked(server, ask(ARGON))

    request = server.requests[0]
    assert request.path == f"/v1beta/models/{ARGON}:streamGenerateContent"
    assert request.query == {"alt": ("sse",)}
    assert request.headers["x-goog-api-key"] == KEY


def test_each_segment_is_one_part_in_its_order(server: GeminiServer) -> None:
    asked(server, ask(ARGON, user("File one.", "File two.", "  \n"), assistant("Seen."), user("Now?")))

    body = server.bodies[0]
    assert body["systemInstruction"]["parts"] == [{"text": "You help."}, {"text": "The project is X."}]
    assert body["contents"] == [
        {"role": "user", "parts": [{"text": "File one."}, {"text": "File two."}]},
        {"role": "model", "parts": [{"text": "Seen."}]},
        {"role": "user", "parts": [{"text": "Now?"}]},
    ]


def test_tools_go_out_sorted_by_name_with_sorted_schemas(server: GeminiServer) -> None:
    asked(server, ask(ARGON, tools=TOOLS))

    declared = server.bodies[0]["tools"][0]["functionDeclarations"]
    assert [one["name"] for one in declared] == ["read_file", "write_file"]
    assert json.dumps(declared[0]["parametersJsonSchema"]) == (
        '{"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "type": "object"}'
    )


def test_the_prefix_of_the_next_turn_is_the_same_bytes(server: GeminiServer) -> None:
    first = (user("Files.", "What is X?"),)
    for messages in (first, (*first, assistant("X is a letter."), user("And Y?"))):
        asked(server, ask(ARGON, *messages, tools=TOOLS))

    before, after = (json.loads(request.body) for request in server.requests)
    for name in ("tools", "systemInstruction"):
        assert json.dumps(before[name]) == json.dumps(after[name])
    assert json.dumps(before["contents"]) == json.dumps(after["contents"][:1])


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        (ARGON, Effort.AUTO, {"includeThoughts": True}),
        (ARGON, Effort.LOW, {"includeThoughts": True, "thinkingLevel": "LOW"}),
        (ARGON, Effort.MAX, {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        (ARGON, Effort.NONE, {"includeThoughts": True, "thinkingLevel": "LOW"}),
        ("gemini-3.5-flash-lite", Effort.NONE, {"includeThoughts": True, "thinkingLevel": "MINIMAL"}),
        (FLASH, Effort.AUTO, {"includeThoughts": True}),
        (FLASH, Effort.NONE, {"thinkingBudget": 0}),
        (FLASH, Effort.MEDIUM, {"includeThoughts": True, "thinkingBudget": 8192}),
        ("gemini-2.5-pro", Effort.NONE, {"includeThoughts": True, "thinkingBudget": 2048}),
        ("gemini-9-tiny", Effort.HIGH, None),
    ],
)
def test_effort_is_asked_for_in_the_words_of_the_models_generation(
    server: GeminiServer, model: str, effort: Effort, thinking: object
) -> None:
    result = asked(server, ask(model, effort=effort))

    assert result.error is None
    assert server.bodies[0].get("generationConfig", {}).get("thinkingConfig") == thinking


def test_the_output_limit_is_the_models_own_unless_less_is_asked_for(server: GeminiServer) -> None:
    for request in (ask(ARGON), ask(ARGON, max_output_tokens=100), ask("gemini-9-tiny")):
        asked(server, request)

    limits = [body.get("generationConfig", {}).get("maxOutputTokens") for body in server.bodies]
    assert limits == [65_536, 100, None]


def test_a_schema_for_the_reply_asks_for_json(server: GeminiServer) -> None:
    asked(server, ask(ARGON, response_schema_json='{"type":"object","properties":{}}'))

    config = server.bodies[0]["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"] == {"properties": {}, "type": "object"}


def test_pictures_go_as_base64_and_texts_as_text_with_their_name(server: GeminiServer) -> None:
    asked(server, ask(ARGON, user("Look.", picture(), document(b"a,b\n1,2\n", "t.csv"))))

    parts = server.bodies[0]["contents"][0]["parts"]
    assert parts[1]["inlineData"]["mimeType"] == "image/png"
    assert base64.urlsafe_b64decode(parts[1]["inlineData"]["data"]) == PNG
    assert parts[2] == {"text": '<attachment name="t.csv">\na,b\n1,2\n</attachment>'}


@pytest.mark.parametrize(
    "attachment", [picture("image/bmp"), document(b"\0\1", "x.bin", "application/octet-stream")]
)
def test_an_attachment_that_cannot_go_is_refused_before_anything_is_sent(
    server: GeminiServer, attachment: object
) -> None:
    result = asked(server, ask(ARGON, user("Look.", attachment)))  # type: ignore[arg-type]

    assert result.failure.kind is FailureKind.BAD_REQUEST
    assert attachment.name in result.failure.what  # type: ignore[attr-defined]
    assert server.requests == []


def test_thoughts_stream_apart_from_the_text(server: GeminiServer) -> None:
    server.replies.append(Said(({"text": "Let me see.", "thought": True}, {"text": "Yes."})))
    result = asked(server, ask(ARGON))

    assert (result.reasoning, result.text) == ("Let me see.", "Yes.")
    assert result.usage.reasoning_tokens


def test_a_tool_turn_sends_back_the_seals_that_the_model_asks_for(server: GeminiServer) -> None:
    server.replies.append(Said(({"functionCall": {"name": "read_file", "args": {"b": "x", "a": 1}}},)))
    question = user("Read it.")
    first = asked(server, ask(ARGON, question, tools=TOOLS))
    call = next(item.part for item in first.items if isinstance(item, ToolCallReady))
    seal = ReasoningPart("", first.vendor_blocks[0])
    turn = (question, assistant(seal, call), tool(ToolResultPart(call.call_id, "content")))
    second = asked(server, ask(ARGON, *turn, tools=TOOLS))

    assert first.stopped.kind is StopKind.TOOL_CALLS
    assert call.arguments_json == '{"a":1,"b":"x"}'
    assert second.error is None
    model, answer = server.bodies[1]["contents"][1:]
    assert model["parts"][0]["functionCall"]["id"] == call.call_id
    assert answer["parts"] == [
        {"functionResponse": {"id": call.call_id, "name": "read_file", "response": {"output": "content"}}}
    ]


def test_calls_of_one_reply_have_ids_of_their_own(server: GeminiServer) -> None:
    calls = ({"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "f", "args": {}}})
    server.replies.append(Said(calls))
    found = [item.part.call_id for item in asked(server, ask(ARGON)).items if isinstance(item, ToolCallReady)]

    assert len(set(found)) == 2


def test_a_call_that_another_model_made_gets_the_seal_that_is_not_looked_at(server: GeminiServer) -> None:
    call = ToolCallPart("toolu_1", "read_file", '{"a":1}')
    foreign = ReasoningPart("Hm.", '{"type":"thinking","thinking":"Hm.","signature":"x"}')
    turn = (user("Go."), assistant(foreign, call), tool(ToolResultPart("toolu_1", "boom", is_error=True)))
    result = asked(server, ask(ARGON, *turn))

    assert result.error is None
    part = server.bodies[0]["contents"][1]["parts"][0]
    assert part["thoughtSignature"].replace("-", "+").replace("_", "/") == ANY_SIGNATURE
    assert server.bodies[0]["contents"][2]["parts"][0]["functionResponse"]["response"] == {"error": "boom"}


def test_seals_of_finished_turns_go_back_where_the_request_holds_them(server: GeminiServer) -> None:
    call = ToolCallPart("c", "read_file", "{}")
    seal = ReasoningPart("", '{"call_id":"c","thought_signature":"AAAA"}')
    turn = (
        user("Go."),
        assistant(seal, call),
        tool(ToolResultPart("c", "x")),
        assistant("Done."),
        user("Next."),
    )
    result = asked(server, ask(ARGON, *turn))

    assert result.error is None
    assert b'"thoughtSignature": "AAAA"' in server.requests[0].body


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("STOP", StopKind.COMPLETED),
        ("MAX_TOKENS", StopKind.TRUNCATED),
        ("CONTINUATION", StopKind.TRUNCATED),
        ("SAFETY", StopKind.REFUSED),
        ("RECITATION", StopKind.REFUSED),
        ("PROHIBITED_CONTENT", StopKind.REFUSED),
        ("OTHER", StopKind.TRUNCATED),
    ],
)
def test_each_finish_reason_has_one_meaning(server: GeminiServer, reason: str, kind: StopKind) -> None:
    server.replies.append(Said(finish_reason=reason))
    result = asked(server, ask(ARGON))

    assert (result.stopped.kind, result.stopped.detail) == (kind, reason)
    assert len(server.requests) == 1, "a reply that could go on is not asked for again by itself"


@pytest.mark.filterwarnings("ignore:NEW_REASON is not a valid FinishReason")
def test_a_reason_of_a_later_version_is_not_taken_for_a_whole_reply(server: GeminiServer) -> None:
    server.replies.append(Said(finish_reason="NEW_REASON"))

    stopped = asked(server, ask(ARGON)).stopped

    assert (stopped.kind, stopped.detail) == (StopKind.UNKNOWN, "NEW_REASON")


def test_a_malformed_call_is_a_broken_reply_and_its_text_is_kept(server: GeminiServer) -> None:
    server.replies.append(Said(finish_reason="MALFORMED_FUNCTION_CALL"))
    result = asked(server, ask(ARGON))

    assert (result.stopped.kind, result.stopped.detail) == (StopKind.BROKEN, "MALFORMED_FUNCTION_CALL")
    assert result.text == "Hello there."


def test_a_blocked_prompt_is_a_refusal(server: GeminiServer) -> None:
    server.replies.append(Said(block_reason="PROHIBITED_CONTENT"))
    result = asked(server, ask(ARGON))

    assert (result.stopped.kind, result.stopped.detail) == (StopKind.REFUSED, "PROHIBITED_CONTENT")


def test_the_last_chunk_counts_and_thoughts_are_output(server: GeminiServer) -> None:
    figures = {
        "promptTokenCount": 700,
        "toolUsePromptTokenCount": 5,
        "cachedContentTokenCount": 512,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 12,
    }
    server.replies.append(Said(usage=figures))
    usage = asked(server, ask(ARGON)).usage

    assert usage == Usage(
        input_tokens=705,
        output_tokens=42,
        cache_read_tokens=512,
        cache_write_tokens=None,
        reasoning_tokens=12,
        request_id="resp-1",
    )


def test_usage_that_grows_is_replaced_not_added(server: GeminiServer) -> None:
    updates = [item.usage for item in asked(server, ask(ARGON)).items if isinstance(item, UsageUpdate)]
    tokens = [usage.output_tokens or 0 for usage in updates]

    assert tokens == sorted(tokens)
    assert len(set(tokens)) == len(tokens) == 3
    assert len({usage.input_tokens for usage in updates}) == 1


def test_fields_that_a_server_leaves_out_are_not_reported_rather_than_zero(server: GeminiServer) -> None:
    server.replies.append(Said(usage=dict.fromkeys(("promptTokenCount", "candidatesTokenCount"), ...)))
    usage = asked(server, ask(ARGON)).usage

    assert usage == Usage(request_id="resp-1")


@pytest.mark.parametrize("figure", [{"a": 1}, 5.5, "many", [1], -3, 1e400, None])
@pytest.mark.parametrize("name", ["promptTokenCount", "candidatesTokenCount", "totalTokenCount"])
def test_a_figure_that_is_none_leaves_the_words_and_the_other_figures(
    server: GeminiServer, name: str, figure: object
) -> None:
    server.replies.append(Said(usage={name: figure, "thoughtsTokenCount": 4}))
    result = asked(server, ask(FLASH))

    assert result.text == "Hello there."
    assert result.error is None
    usage = result.usage
    is_reply_unknown = name == "candidatesTokenCount" and figure is not None
    assert (usage.output_tokens is None) == is_reply_unknown, "a part of it would be booked as the whole"
    assert usage.reasoning_tokens == (None if is_reply_unknown else 4)
    assert (usage.input_tokens is None) == (name == "promptTokenCount")


def test_usage_that_is_no_table_is_not_reported() -> None:
    assert sound_chunk('{"usageMetadata": [1], "responseId": "r"}') == '{"responseId": "r"}'
    assert sound_chunk('{"responseId": "r"}') == '{"responseId": "r"}'
