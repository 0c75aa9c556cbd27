"""Gemini through its real SDK, against a server that keeps the vendor's rules."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator

import pytest

from core.errors import FailureKind, ProviderError
from core.providers.base import CancelToken
from core.providers.gemini import GeminiProvider
from core.providers.make import make_provider
from core.providers.profiles import packaged_models
from core.values.messages import ReasoningPart, ToolCallPart, ToolResultPart
from core.values.provider import (
    Effort,
    ProviderRequest,
    ReasoningDelta,
    StopKind,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
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
from tests.vendors.gemini_rules import ANY_SIGNATURE
from tests.vendors.gemini_server import (
    KEY,
    GeminiServer,
    Said,
    data,
    error_body,
    error_reply,
    quota_failure,
    retry_info,
)
from tests.vendors.loopback import (
    Answer,
    DropAfter,
    DropAfterBytes,
    EndAfter,
    Fault,
    Gate,
    HangUp,
    HoldAfter,
    InsertAfter,
    Reply,
    Silent,
)

ARGON = "gemini-4-argon"
FLASH = "gemini-2.5-flash"


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


def provider_at(server: GeminiServer, key: str | None = KEY, **settings: float) -> GeminiProvider:
    return GeminiProvider(server_settings("gemini", server.url, **settings), key, packaged_models())


def asked(server: GeminiServer, request: ProviderRequest, **settings: float) -> Outcome:
    return run(provider_at(server, KEY, **settings), request, blobs(PNG, b"a,b\n1,2\n", b"\0\1"))


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


def test_seals_of_finished_turns_are_left_out(server: GeminiServer) -> None:
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
    assert b"thoughtSignature" not in server.requests[0].body


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
def test_a_reason_of_a_later_version_counts_as_completed(server: GeminiServer) -> None:
    server.replies.append(Said(finish_reason="NEW_REASON"))

    assert asked(server, ask(ARGON)).stopped.detail == "NEW_REASON"


def test_a_malformed_call_is_a_bad_reply_and_its_text_is_kept(server: GeminiServer) -> None:
    server.replies.append(Said(finish_reason="MALFORMED_FUNCTION_CALL"))
    result = asked(server, ask(ARGON))

    assert result.failure.kind is FailureKind.BAD_REPLY
    assert "MALFORMED_FUNCTION_CALL" in result.failure.what
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


# --- failures


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (error_reply(401, "UNAUTHENTICATED", "Bad credentials"), FailureKind.BAD_KEY, "Bad credentials"),
        (error_reply(400, "INVALID_ARGUMENT", "API key expired. Renew it."), FailureKind.BAD_KEY, "expired"),
        (
            error_reply(403, "PERMISSION_DENIED", "Your API key was reported as leaked."),
            FailureKind.BAD_KEY,
            "leaked",
        ),
        (error_reply(403, "PERMISSION_DENIED", "No rights"), FailureKind.FORBIDDEN, "No rights"),
        (
            error_reply(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
            FailureKind.FORBIDDEN,
            "location",
        ),
        (error_reply(404, "NOT_FOUND", "models/x is not found"), FailureKind.UNKNOWN_MODEL, ARGON),
        (
            error_reply(
                400,
                "INVALID_ARGUMENT",
                "The input token count (1091639) exceeds the maximum number of tokens allowed (1048576).",
            ),
            FailureKind.CONTEXT_TOO_LONG,
            "1091639",
        ),
        (error_reply(400, "INVALID_ARGUMENT", "Unknown name foo"), FailureKind.BAD_REQUEST, "foo"),
        (
            error_reply(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
            FailureKind.REQUEST_TOO_LARGE,
            "20971520",
        ),
        (Reply(413, b"<html>big</html>", {}), FailureKind.REQUEST_TOO_LARGE, "413"),
        (error_reply(429, "RESOURCE_EXHAUSTED", "Slow down"), FailureKind.RATE_LIMITED, "Slow down"),
        (
            error_reply(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, limit: 0, model: x"),
            FailureKind.NO_QUOTA,
            "limit: 0",
        ),
        (
            error_reply(
                429,
                "RESOURCE_EXHAUSTED",
                "You exceeded your current quota",
                quota_failure("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "50"),
                retry_info("34s"),
            ),
            FailureKind.NO_QUOTA,
            "quota",
        ),
        (error_reply(500, "INTERNAL", "An internal error"), FailureKind.SERVER_FAULT, "internal"),
        (error_reply(503, "UNAVAILABLE", "The model is overloaded."), FailureKind.OVERLOADED, "overloaded"),
        (error_reply(504, "DEADLINE_EXCEEDED", "Deadline expired"), FailureKind.TIMED_OUT, "Deadline"),
        (Reply(502, b"<html>bad gateway</html>", {}), FailureKind.SERVER_FAULT, "502"),
        (Reply(500, b"[]", {}), FailureKind.SERVER_FAULT, "500"),
        (Reply(500, b'"no"', {}), FailureKind.SERVER_FAULT, "500"),
        (Reply(500, b"\xff\xfe", {}), FailureKind.SERVER_FAULT, "500"),
        (Reply(200, b"<html>hello</html>", {}), FailureKind.BAD_REPLY, "not a reply"),
        (Reply(200, b"", {}), FailureKind.BAD_REPLY, "not a reply"),
        (Reply(200, b'data: {"candidates": 5}\n\n', {}), FailureKind.BAD_REPLY, "not a reply"),
        (Reply(200, b"data: [1, 2]\n\n", {}), FailureKind.BAD_REPLY, "not a reply"),
        (Reply(200, b"data: 7\n\n", {}), FailureKind.BAD_REPLY, "not a reply"),
        (Reply(302, b"", {"location": "https://elsewhere.example/"}), FailureKind.BAD_REQUEST, "elsewhere"),
    ],
)
def test_every_failure_has_its_kind_a_sentence_and_a_remedy(
    server: GeminiServer, fault: Reply, kind: FailureKind, words: str
) -> None:
    server.faults.append(Answer(fault))
    error = asked(server, ask(ARGON)).failure

    assert error.kind is kind
    assert words in error.what
    assert error.remedy
    assert str(error).endswith(f"{server.url}/v1beta/models/{ARGON}:streamGenerateContent")


@pytest.mark.parametrize(
    ("reply", "seconds"),
    [
        (error_reply(429, "RESOURCE_EXHAUSTED", "Later", retry_info("34.5s")), 34.5),
        (error_reply(429, "RESOURCE_EXHAUSTED", "Later", retry_info("soon")), None),
        (Reply(429, b"{}", {"retry-after": "7"}), 7.0),
        (error_reply(429, "RESOURCE_EXHAUSTED", "Later"), None),
    ],
)
def test_a_rate_limit_says_how_long_to_wait(
    server: GeminiServer, reply: Reply, seconds: float | None
) -> None:
    server.faults.append(Answer(reply))
    error = asked(server, ask(ARGON)).failure

    assert (error.kind, error.status, error.retry_after_s) == (FailureKind.RATE_LIMITED, 429, seconds)
    assert len(server.requests) == 1, "the SDK itself tries only once"


def test_a_wrong_key_is_refused_and_not_shown(server: GeminiServer) -> None:
    wrong = "AIzaSyWrong0123456789abcdefghijklmnopqr"
    error = run(provider_at(server, wrong), ask(ARGON)).failure

    assert error.kind is FailureKind.BAD_KEY
    assert wrong not in str(error)


@pytest.mark.parametrize("key", [None, "", "  "])
def test_no_key_is_said_before_anything_is_sent(server: GeminiServer, key: str | None) -> None:
    error = run(provider_at(server, key), ask(ARGON)).failure

    assert error.kind is FailureKind.NO_KEY
    assert "GEMINI_API_KEY" in error.remedy
    assert server.requests == []


def test_an_unknown_model_is_named_with_where_to_choose_another(server: GeminiServer) -> None:
    error = asked(server, ask("gemini-nobody")).failure

    assert error.kind is FailureKind.UNKNOWN_MODEL
    assert "'gemini-nobody'" in error.what
    assert "Choose another model" in error.remedy


def test_a_context_that_does_not_fit_is_said_as_such(server: GeminiServer) -> None:
    error = asked(server, ask("gemini-9-tiny", user("x" * 9000))).failure

    assert error.kind is FailureKind.CONTEXT_TOO_LONG
    assert "2000" in error.what


_MID_ERROR = error_body(503, "UNAVAILABLE", "The model is overloaded.")


@pytest.mark.parametrize("inserted", [data(_MID_ERROR), json.dumps(_MID_ERROR, indent=2).encode()])
def test_an_error_in_mid_stream_keeps_what_came_before_it(server: GeminiServer, inserted: bytes) -> None:
    server.faults.append(InsertAfter(2, inserted))
    result = asked(server, ask(ARGON))

    assert result.text == "Hello ther"
    assert (result.failure.kind, result.failure.status) == (FailureKind.OVERLOADED, 503)


@pytest.mark.parametrize("fault", [DropAfter(2), DropAfterBytes(600), EndAfter(2)])
def test_a_stream_that_breaks_off_says_so_and_keeps_the_part(server: GeminiServer, fault: Fault) -> None:
    server.faults.append(fault)
    result = asked(server, ask(ARGON))

    assert result.failure.kind is FailureKind.STREAM_DROPPED
    assert result.text == "Hello ther"


def test_garbage_in_mid_stream_is_a_bad_reply(server: GeminiServer) -> None:
    server.faults.append(InsertAfter(2, b"data: {oops\n\n"))
    result = asked(server, ask(ARGON))

    assert result.failure.kind is FailureKind.BAD_REPLY
    assert result.text == "Hello ther"


def test_a_server_that_is_not_there_is_no_network() -> None:
    with GeminiServer() as gone:
        url = gone.url
    error = run(GeminiProvider(server_settings("gemini", url), KEY), ask(ARGON)).failure

    assert error.kind is FailureKind.NO_NETWORK
    assert error.where.startswith(url)


def test_a_server_that_hangs_up_without_a_word_is_no_network(server: GeminiServer) -> None:
    server.faults.append(HangUp())

    assert asked(server, ask(ARGON)).failure.kind is FailureKind.NO_NETWORK


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1/x", "http://[::1"])
def test_an_address_that_is_none_is_a_bad_request_that_names_the_setting(url: str) -> None:
    error = run(GeminiProvider(server_settings("gemini", url), KEY), ask(ARGON)).failure

    assert error.kind is FailureKind.BAD_REQUEST
    assert "base_url" in error.remedy


@pytest.mark.parametrize("parts", [0, 2])
def test_silence_ends_in_a_time_out_that_names_its_length(server: GeminiServer, parts: int) -> None:
    gate = Gate()
    server.faults.append(HoldAfter(parts, gate))
    result = asked(server, ask(ARGON), timeout_s=0.05)

    assert result.failure.kind is FailureKind.TIMED_OUT
    assert "0.05 s" in result.failure.what
    assert gate.client_left.wait(PROMPT_S)


@pytest.mark.parametrize(
    "make_fault", [Silent, lambda gate: HoldAfter(0, gate), lambda gate: HoldAfter(2, gate)]
)
def test_a_cancelled_call_ends_at_once_and_hangs_up(
    server: GeminiServer, make_fault: Callable[[Gate], Fault]
) -> None:
    gate, cancel = Gate(), CancelToken()
    server.faults.append(make_fault(gate))
    wait = run_beside(lambda: run(provider_at(server), ask(ARGON), cancel=cancel))
    assert gate.reached.wait(PROMPT_S)
    cancel.cancel()
    result = wait()

    assert result.error is None
    assert result.stopped.kind is StopKind.CANCELLED
    assert gate.client_left.wait(PROMPT_S), "the server was not told"


# --- lists and counts


def test_the_servers_list_tells_windows_and_leaves_out_what_cannot_speak(server: GeminiServer) -> None:
    server.page_size = 3
    listed = {model.id: model for model in provider_at(server).list_models()}

    assert "gemini-embedding-2" not in listed
    assert len(listed) == 6
    tiny = listed["gemini-9-tiny"]
    assert (tiny.context_tokens, tiny.max_output_tokens, tiny.label) == (2_000, 500, "Gemini 9 Tiny")


def test_tokens_of_the_whole_request_are_counted_by_the_vendors_endpoint(server: GeminiServer) -> None:
    request = ask(ARGON, user("Count me.", picture()), assistant("One."), user("And me."), tools=TOOLS)
    counted = provider_at(server).count_tokens(request, blobs(PNG))
    billed = asked(server, request).usage.input_tokens

    assert counted == billed
    assert server.requests[0].path == f"/v1beta/models/{ARGON}:countTokens"


@pytest.mark.parametrize("method", ["list_models", "count_tokens"])
def test_lists_and_counts_fail_in_the_same_words(server: GeminiServer, method: str) -> None:
    provider = provider_at(server, "AIzaSyWrong0123456789abcdefghijklmnopqr")
    with pytest.raises(ProviderError, match="refused the key") as caught:
        provider.list_models() if method == "list_models" else provider.count_tokens(ask(ARGON), blobs())

    assert caught.value.kind is FailureKind.BAD_KEY


# --- addresses and proxies


def test_the_sdks_own_variable_sets_the_address(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    provider = make_provider(server_settings("gemini"), KEY, packaged_models())

    assert run(provider, ask(ARGON)).text == "Hello there."


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize("by_variable", [False, True])
def test_a_proxy_does_not_capture_loopback(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch, variable: str, *, by_variable: bool
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    if by_variable:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    settings = server_settings("gemini", "" if by_variable else server.url)

    assert run(GeminiProvider(settings, KEY), ask(ARGON)).text == "Hello there."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GOOGLE_API_KEY", "AIzaSyOther0123456789abcdefghijklmnopqr"),
        ("GOOGLE_GENAI_USE_VERTEXAI", "true"),
        ("GOOGLE_GENAI_USE_ENTERPRISE", "true"),
        ("GOOGLE_CLOUD_PROJECT", "elsewhere"),
        ("GOOGLE_GENAI_API_VERSION", "v1"),
        ("GOOGLE_GENAI_HTTP_CLIENT", "httpx2"),
    ],
)
def test_the_environment_does_not_send_the_request_elsewhere(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    assert asked(server, ask(ARGON)).error is None
    assert server.requests[0].headers["x-goog-api-key"] == KEY


def test_reasoning_that_is_only_a_seal_shows_no_text(server: GeminiServer) -> None:
    server.replies.append(Said(({"functionCall": {"name": "f", "args": {}}},)))
    shown = [item for item in asked(server, ask(ARGON)).items if isinstance(item, ReasoningDelta)]

    assert [item.text for item in shown] == [""]
