"""OpenAI through its real SDK, against a server that keeps the vendor's rules."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from core.kernel.errors import FailureKind
from core.kernel.values.messages import ReasoningPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Effort, StopKind, TextDelta, ToolCallReady
from core.services.providers.clients import make_provider
from core.services.providers.model_data import packaged_models
from core.services.providers.openai.client import OpenAiProvider
from core.services.providers.protocol import CancelToken
from tests.core.services.providers.openai.kit import SOL, asked, provider_at
from tests.core.services.providers.outcomes import (
    PNG,
    TOOLS,
    ask,
    assistant,
    blobs,
    document,
    outcome,
    picture,
    run,
    server_settings,
    tool,
    user,
)
from tests.vendors.loopback import (
    Answer,
    InsertAfter,
    Reply,
    json_reply,
)
from tests.vendors.openai_server import KEY, OpenAiServer, Said, error_event

REASONED = Said(({"type": "reasoning", "summary": ["Think.", "More."]}, {"type": "message", "text": "Yes."}))
CALLED = Said(
    (
        {"type": "reasoning", "summary": ["Look."]},
        {"type": "function_call", "name": "read_file", "arguments": '{"a":1}'},
    )
)


@pytest.fixture
def server() -> Iterator[OpenAiServer]:
    with OpenAiServer() as running:
        yield running


def test_a_reply_streams_in_pieces_and_ends_with_why_it_stopped(server: OpenAiServer) -> None:
    result = asked(server, ask(SOL))

    assert [i.text for i in result.items if isinstance(i, TextDelta)] == ["Hello", " ther", "e."]
    assert result.stopped.kind is StopKind.COMPLETED
    assert result.usage.request_id.startswith("req_")


def test_each_segment_is_one_block_in_its_order_and_the_vendor_stores_nothing(server: OpenAiServer) -> None:
    asked(server, ask(SOL, user("File one.", "File two.", "  \n"), assistant("Seen."), user("Now?")))

    body = server.bodies[0]
    blocks = [[(p["type"], p["text"]) for p in item["content"]] for item in body["input"]]
    assert blocks == [
        [("input_text", "You help."), ("input_text", "The project is X.")],
        [("input_text", "File one."), ("input_text", "File two.")],
        [("output_text", "Seen.")],
        [("input_text", "Now?")],
    ]
    assert [item["role"] for item in body["input"]] == ["developer", "user", "assistant", "user"]
    assert body["store"] is False
    assert "instructions" not in body


def test_tools_go_out_sorted_by_name_with_sorted_schemas(server: OpenAiServer) -> None:
    asked(server, ask(SOL, tools=TOOLS))

    sent = server.requests[0].body.decode()
    assert [t["name"] for t in server.bodies[0]["tools"]] == ["read_file", "write_file"]
    assert '{"properties":{"a":{"type":"integer"},"b":{"type":"string"}},"type":"object"}' in sent


def test_the_prefix_of_the_next_turn_is_the_same_bytes(server: OpenAiServer) -> None:
    first = (user("Files.", "What is X?"),)
    second = (*first, assistant("X is a letter."), user("And Y?"))
    for messages in (first, second):
        asked(server, ask(SOL, *messages, tools=TOOLS))

    before, after = ([json.dumps(i) for i in r.json["input"]] for r in server.requests)
    assert after[: len(before)] == before
    assert server.bodies[0]["tools"] == server.bodies[1]["tools"]


@pytest.mark.parametrize(
    ("model", "effort", "reasoning"),
    [
        (SOL, Effort.AUTO, {"summary": "auto"}),
        (SOL, Effort.NONE, {"effort": "none", "summary": "auto"}),
        (SOL, Effort.MAX, {"effort": "max", "summary": "auto"}),
        ("gpt-5.5", Effort.MAX, {"effort": "xhigh", "summary": "auto"}),
        ("gpt-4o", Effort.HIGH, None),
    ],
)
def test_effort_is_asked_for_in_the_words_of_the_model(
    server: OpenAiServer, model: str, effort: Effort, reasoning: object
) -> None:
    result = asked(server, ask(model, effort=effort))

    assert server.bodies[0].get("reasoning") == reasoning
    assert server.bodies[0].get("include") == (["reasoning.encrypted_content"] if reasoning else None)
    assert result.stopped.kind is StopKind.COMPLETED


def test_reasoning_summaries_stream_with_a_blank_line_between_and_the_sealed_block_at_the_end(
    server: OpenAiServer,
) -> None:
    server.replies.append(REASONED)

    result = asked(server, ask(SOL))

    assert result.reasoning == "Think.\n\nMore."
    assert result.text == "Yes."
    block = json.loads(result.vendor_blocks[0])
    assert block["type"] == "reasoning"
    assert block["encrypted_content"].startswith("sealed:rs_")
    assert result.usage.reasoning_tokens


def test_sealed_reasoning_goes_back_inside_a_tool_turn_and_after_it(server: OpenAiServer) -> None:
    server.replies.append(CALLED)
    first = asked(server, ask(SOL, user("Read a."), tools=TOOLS))
    call = next(item.part for item in first.items if isinstance(item, ToolCallReady))
    reasoning = ReasoningPart("Look.", first.vendor_blocks[0])
    turn = (user("Read a."), assistant(reasoning, call), tool(ToolResultPart(call.call_id, "one")))

    running = asked(server, ask(SOL, *turn, tools=TOOLS))
    finished = asked(server, ask(SOL, *turn, assistant("It says one."), user("Thanks."), tools=TOOLS))

    kinds = [[item["type"] for item in body["input"]] for body in server.bodies[1:]]
    assert kinds[0] == ["message", "message", "reasoning", "function_call", "function_call_output"]
    assert kinds[1][:5] == kinds[0]
    assert first.stopped.kind is StopKind.TOOL_CALLS
    assert (call.name, call.arguments_json) == ("read_file", '{"a":1}')
    assert running.stopped.kind is finished.stopped.kind is StopKind.COMPLETED


def test_another_vendors_reasoning_is_left_out(server: OpenAiServer) -> None:
    foreign = ReasoningPart("Hm.", '{"signature":"x","thinking":"Hm.","type":"thinking"}')
    call = ToolCallPart("call_1", "read_file", "{}")

    result = asked(
        server,
        ask(SOL, user("Go."), assistant(foreign, call), tool(ToolResultPart("call_1", "ok")), tools=TOOLS),
    )

    assert result.stopped.kind is StopKind.COMPLETED
    assert [item["type"] for item in server.bodies[0]["input"]][2:] == [
        "function_call",
        "function_call_output",
    ]


def test_an_account_that_may_not_have_summaries_is_asked_without_them_from_then_on(
    server: OpenAiServer,
) -> None:
    server.is_verified = False
    provider = provider_at(server)

    texts = [outcome(provider.stream(ask(SOL), blobs(), CancelToken())).text for _ in range(2)]
    provider.close()

    assert texts == ["Hello there."] * 2
    assert [body["reasoning"] for body in server.bodies] == [{"summary": "auto"}, {}, {}]


def test_pictures_and_texts_go_with_the_message_that_they_were_attached_to(server: OpenAiServer) -> None:
    table = document(b"a,b\n1,2\n", "t.csv", "text/csv")

    result = asked(server, ask(SOL, user("Look.", picture(), table)))

    content = server.bodies[0]["input"][1]["content"]
    assert [part["type"] for part in content] == ["input_text", "input_image", "input_text"]
    assert content[1]["image_url"].startswith("data:image/png;base64,iVBOR")
    assert content[2]["text"] == '<attachment name="t.csv">\na,b\n1,2\n</attachment>'
    assert result.stopped.kind is StopKind.COMPLETED


def test_a_file_that_the_model_cannot_take_is_refused_by_name_before_anything_is_sent(
    server: OpenAiServer,
) -> None:
    result = asked(server, ask(SOL, user("Look.", document(b"\0\1", "a.bin", "application/octet-stream"))))

    assert result.failure.kind is FailureKind.BAD_REQUEST
    assert "'a.bin'" in result.failure.what
    assert not server.requests


def test_a_schema_is_strict_where_it_obeys_the_rules_of_strictness(server: OpenAiServer) -> None:
    closed = (
        '{"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}'
    )
    for schema in (closed, '{"properties":{"a":{"type":"string"}},"type":"object"}'):
        assert asked(server, ask(SOL, response_schema_json=schema)).stopped.kind is StopKind.COMPLETED

    assert [body["text"]["format"]["strict"] for body in server.bodies] == [True, False]


@pytest.mark.parametrize(
    ("said", "kind", "detail"),
    [
        (Said(incomplete="max_output_tokens"), StopKind.TRUNCATED, "max_output_tokens"),
        (Said(incomplete="content_filter"), StopKind.REFUSED, "content_filter"),
        (Said(({"type": "message", "refusal": "I will not."},)), StopKind.REFUSED, "refusal"),
    ],
)
def test_a_reply_that_is_not_whole_says_why(
    server: OpenAiServer, said: Said, kind: StopKind, detail: str
) -> None:
    server.replies.append(said)

    result = asked(server, ask(SOL, max_output_tokens=64))

    assert (result.stopped.kind, result.stopped.detail) == (kind, detail)
    assert result.text
    assert result.usage.output_tokens
    assert server.bodies[0]["max_output_tokens"] == 64


def test_two_messages_in_one_reply_stand_apart(server: OpenAiServer) -> None:
    server.replies.append(Said(({"type": "message", "text": "First."}, {"type": "message", "text": "Then."})))

    assert asked(server, ask(SOL)).text == "First.\n\nThen."


def test_cache_reads_and_writes_are_parts_of_the_input(server: OpenAiServer) -> None:
    details = {"cached_tokens": 1920, "cache_write_tokens": 64}
    server.replies.append(Said(usage={"input_tokens": 2000, "input_tokens_details": details}))

    usage = asked(server, ask(SOL)).usage

    assert (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens) == (2000, 1920, 64)


def test_what_the_server_does_not_report_is_not_zero(server: OpenAiServer) -> None:
    server.replies += [
        Said(usage={"input_tokens_details": ..., "output_tokens_details": ...}),
        Said(usage=None),
    ]

    usage = asked(server, ask(SOL)).usage
    without = asked(server, ask(SOL))

    assert usage.input_tokens
    assert (usage.cache_read_tokens, usage.cache_write_tokens, usage.reasoning_tokens) == (None, None, None)
    assert usage.is_estimate, "what it read from its cache is always said"
    assert without.stopped.kind is StopKind.COMPLETED
    assert len([i for i in without.items if not isinstance(i, TextDelta)]) == 1


@pytest.mark.parametrize("figure", [{"a": 1}, "many", -1, 9_000, [5]], ids=str)
@pytest.mark.parametrize("model", [SOL, "gpt-5.5"])
def test_reads_that_are_no_figure_or_more_than_was_sent_make_the_usage_an_estimate(
    server: OpenAiServer, model: str, figure: object
) -> None:
    told = {"input_tokens": 2000, "output_tokens": 7, "input_tokens_details": {"cached_tokens": figure}}
    server.replies.append(Said(usage=told))

    usage = asked(server, ask(model)).usage

    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (2000, 7, None)
    assert usage.is_estimate


@pytest.mark.parametrize("figure", [{"a": 1}, "many", -1, [5]], ids=str)
@pytest.mark.parametrize("name", ["input_tokens", "output_tokens"])
def test_a_whole_that_is_no_figure_is_not_reported_and_the_words_stand(
    server: OpenAiServer, name: str, figure: object
) -> None:
    server.replies.append(Said(usage={"input_tokens": 2000, "output_tokens": 7, name: figure}))

    result = asked(server, ask(SOL))

    assert (result.text, result.error) == ("Hello there.", None)
    assert [name for name in ("input_tokens", "output_tokens") if getattr(result.usage, name) is None] == [
        name
    ]


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (401, "invalid_api_key", "Incorrect API key provided.", FailureKind.BAD_KEY),
        (403, "unsupported_country_region_territory", "Country not supported.", FailureKind.FORBIDDEN),
        (404, None, "Invalid URL (POST /v2/responses)", FailureKind.BAD_REQUEST),
        (400, "model_not_found", "The requested model 'x' does not exist.", FailureKind.UNKNOWN_MODEL),
        (400, "context_length_exceeded", "Your input exceeds the window.", FailureKind.CONTEXT_TOO_LONG),
        (400, "invalid_value", "Invalid value: 'x'.", FailureKind.BAD_REQUEST),
        (413, None, "Too large.", FailureKind.REQUEST_TOO_LARGE),
        (429, "rate_limit_exceeded", "Rate limit reached.", FailureKind.RATE_LIMITED),
        (429, "insufficient_quota", "You exceeded your current quota.", FailureKind.NO_QUOTA),
        (500, "server_error", "The server had an error.", FailureKind.SERVER_FAULT),
        (503, None, "The engine is currently overloaded.", FailureKind.OVERLOADED),
    ],
)
def test_failures_have_one_meaning_and_the_vendors_reason(
    server: OpenAiServer, status: int, code: str | None, message: str, kind: FailureKind
) -> None:
    server.faults.append(Answer(server.error(status, code, message)))

    failure = asked(server, ask(SOL)).failure

    assert (failure.kind, failure.status) == (kind, status)
    assert message.rstrip(".") in failure.what
    assert failure.remedy
    assert failure.request_id.startswith("req_")
    assert failure.where == f"{server.url}/v1/responses"
    assert len(server.requests) == 1  # retries are not the SDK's


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5)],
)
def test_the_servers_wish_to_wait_is_kept(
    server: OpenAiServer, headers: dict[str, str], seconds: float
) -> None:
    server.faults.append(Answer(server.error(429, "rate_limit_exceeded", "Slow down.", **headers)))

    assert asked(server, ask(SOL)).failure.retry_after_s == seconds


def test_a_prompt_over_the_window_is_recognised_from_the_real_rules(server: OpenAiServer) -> None:
    failure = asked(server, ask("tiny", user("word " * 400))).failure

    assert failure.kind is FailureKind.CONTEXT_TOO_LONG
    assert "Remove files or old turns, or choose a model with a larger window" in failure.remedy


def test_without_a_key_nothing_is_sent(server: OpenAiServer) -> None:
    failure = run(provider_at(server, None), ask(SOL)).failure

    assert failure.kind is FailureKind.NO_KEY
    assert "OPENAI_API_KEY" in failure.remedy
    assert not server.requests


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("server_error", FailureKind.SERVER_FAULT),
        ("rate_limit_exceeded", FailureKind.RATE_LIMITED),
        ("invalid_prompt", FailureKind.BAD_REQUEST),
        (None, FailureKind.SERVER_FAULT),
    ],
)
def test_an_error_event_in_the_stream_is_raised_and_the_part_received_kept(
    server: OpenAiServer, code: str | None, kind: FailureKind
) -> None:
    server.faults.append(InsertAfter(5, error_event(code, "It broke.")))

    result = asked(server, ask(SOL))

    assert result.text == "Hello"
    assert result.failure.kind is kind
    assert "It broke" in result.failure.what


def test_a_failed_response_is_raised_with_its_reason(server: OpenAiServer) -> None:
    server.replies.append(Said(failed=("server_error", "The model had a fit.")))

    result = asked(server, ask(SOL))

    assert result.failure.kind is FailureKind.SERVER_FAULT
    assert "The model had a fit" in result.failure.what
    assert result.text == "Hello there."


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>Welcome</html>", {"content-type": "text/html"}),
        json_reply(200, {"hello": "world"}),
        Reply(200, b"data: {not json\n\n", {"content-type": "text/event-stream"}),
        Reply(200, b'data: {"type":"response.completed"}\n\n', {"content-type": "text/event-stream"}),
    ],
)
def test_something_that_is_no_reply_is_said_to_be_none(server: OpenAiServer, reply: Reply) -> None:
    server.faults.append(Answer(reply))

    assert asked(server, ask(SOL)).failure.kind is FailureKind.BAD_REPLY


def test_the_sdks_own_variable_moves_the_address_and_settings_go_before_it(
    server: OpenAiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    elsewhere = OpenAiProvider(server_settings("openai"), KEY, packaged_models())

    assert run(elsewhere, ask(SOL)).text == "Hello there."
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert asked(server, ask(SOL)).text == "Hello there."


def test_tokens_are_counted_by_the_vendor_for_the_same_prompt(server: OpenAiServer) -> None:
    provider = provider_at(server)
    request = ask(SOL, user("Look.", picture()), tools=TOOLS, max_output_tokens=64, effort=Effort.LOW)

    counted = provider.count_tokens(request, blobs(PNG))
    used = run(provider, request, blobs(PNG)).usage

    assert counted == used.input_tokens


def test_the_list_of_models_holds_those_that_talk(server: OpenAiServer) -> None:
    provider = provider_at(server)

    listed = [model.id for model in provider.list_models()]
    provider.close()

    assert listed == ["gpt-4o", "gpt-5.5", "gpt-6.1-sol", "o4-mini"]


def test_a_list_that_is_refused_says_so(server: OpenAiServer) -> None:
    provider = provider_at(server, "sk-wrong-key-0000")

    with pytest.raises(Exception, match="refused the key") as caught:
        provider.list_models()
    provider.close()

    assert getattr(caught.value, "kind", None) is FailureKind.BAD_KEY


def test_it_is_made_for_its_kind() -> None:
    assert isinstance(make_provider(server_settings("openai"), KEY), OpenAiProvider)
