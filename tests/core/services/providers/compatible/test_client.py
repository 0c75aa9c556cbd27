"""Compatible servers through the real SDK, against servers with the habits of those that people run."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.errors import FailureKind
from core.kernel.values.messages import ToolCallPart, ToolResultPart
from core.kernel.values.provider import (
    Effort,
    ModelProfile,
    ProviderRequest,
    StopKind,
    TextDelta,
    ToolCallReady,
)
from core.kernel.values.stack import LayerId
from core.services.providers.clients import make_provider
from core.services.providers.compatible.body import join_texts
from core.services.providers.compatible.client import CompatibleProvider, with_version_path
from core.services.providers.model_data import packaged_models
from core.services.providers.protocol import CancelToken
from tests.core.services.providers.outcomes import (
    PNG,
    TOOLS,
    Outcome,
    ask,
    assistant,
    blobs,
    document,
    outcome,
    picture,
    run,
    seg,
    server_settings,
    tool,
    user,
)
from tests.vendors.compatible_server import (
    LLAMA_CPP,
    LM_STUDIO,
    MODEL,
    OLD,
    OLLAMA,
    OPENROUTER,
    VLLM,
    CompatibleServer,
    Habits,
    Said,
    chunk,
    data,
)
from tests.vendors.loopback import (
    Answer,
    InsertAfter,
    Reply,
    json_reply,
)

THINKER = ModelProfile("compatible", MODEL, efforts=(Effort.LOW, Effort.HIGH), thinking="effort")


def provider_at(server: CompatibleServer, key: str | None = None, **settings: float) -> CompatibleProvider:
    models = (THINKER, *packaged_models())
    return CompatibleProvider(server_settings("compatible", f"{server.url}/v1", **settings), key, models)


def asked(server: CompatibleServer, request: ProviderRequest, **settings: float) -> Outcome:
    return run(provider_at(server, None, **settings), request, blobs(PNG, b"a,b\n1,2\n"))


@pytest.mark.parametrize(
    "habits", [VLLM, LLAMA_CPP, OLLAMA, LM_STUDIO, OPENROUTER, OLD], ids=lambda h: h.name
)
def test_every_kind_of_server_answers(habits: Habits) -> None:
    with CompatibleServer(habits) as server:
        server.replies.append(Said("Yes, it is.", reasoning="Let me see."))

        result = asked(server, ask(MODEL, effort=Effort.HIGH))

    assert [i.text for i in result.items if isinstance(i, TextDelta)] == ["Yes, ", "it is", "."]
    assert result.reasoning == "Let me see."
    assert result.stopped.kind is StopKind.COMPLETED


def test_text_is_one_string_a_message_in_the_order_of_the_segments() -> None:
    with CompatibleServer() as server:
        asked(server, ask(MODEL, user("File one.\n", "File two.", "  \n"), assistant("Seen."), user("Now?")))

    assert server.bodies[0]["messages"] == [
        {"role": "system", "content": "You help.\n\nThe project is X."},
        {"role": "user", "content": "File one.\n\nFile two."},
        {"role": "assistant", "content": "Seen."},
        {"role": "user", "content": "Now?"},
    ]


def test_a_seed_is_sent_where_the_person_set_one() -> None:
    with CompatibleServer() as server:
        asked(server, ask(MODEL))
        asked(server, ask(MODEL), seed=7)

    assert [body.get("seed") for body in server.bodies] == [None, 7]


def test_the_next_turn_begins_with_the_bytes_of_this_one_up_to_the_metadata() -> None:
    files, question = seg("Files.\n", LayerId.FILE_SET), seg("What is X?", LayerId.USER)
    metadata = seg("<discussion/>", LayerId.METADATA)
    with CompatibleServer() as server:
        asked(server, ask(MODEL, user(files, question, metadata)))
        asked(server, ask(MODEL, user(files, question), assistant("A letter."), user("Y?", metadata)))

    before, after = ([m["content"] for m in body["messages"]] for body in server.bodies)
    assert before[0] == after[0]
    assert before[1] == "Files.\n\nWhat is X?\n\n<discussion/>"
    assert after[1] == "Files.\n\nWhat is X?"


@given(st.lists(st.text(alphabet="a\n ", max_size=4), max_size=6), st.integers(0, 6))
def test_joined_texts_keep_their_beginning_when_the_rest_is_left_out(texts: list[str], cut: int) -> None:
    assert join_texts(texts).startswith(join_texts(texts[:cut]))


def test_a_picture_makes_the_message_a_list_of_parts() -> None:
    table = document(b"a,b\n1,2\n", "t.csv", "text/csv")
    with CompatibleServer() as server:
        result = asked(server, ask(MODEL, user("Look.", picture(), table, "And?")))

    content = server.bodies[0]["messages"][1]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert content[2]["text"] == '<attachment name="t.csv">\na,b\n1,2\n</attachment>\n\nAnd?'
    assert result.stopped.kind is StopKind.COMPLETED


def test_tools_and_their_calls_and_results_take_the_vendors_shape() -> None:
    turn = (
        user("Go."),
        assistant("I look.", ToolCallPart("c1", "read_file", '{"a":1}')),
        tool(ToolResultPart("c1", "one")),
    )
    with CompatibleServer() as server:
        server.replies.append(
            Said("", calls=(("read_file", '{"a":2}'), ("write_file", "{}")), finish="tool_calls")
        )
        result = asked(server, ask(MODEL, *turn, tools=TOOLS))

    calls = [item.part for item in result.items if isinstance(item, ToolCallReady)]
    assert [(c.call_id, c.name, c.arguments_json) for c in calls] == [
        ("call_0x", "read_file", '{"a":2}'),
        ("call_1x", "write_file", "{}"),
    ]
    assert result.stopped.kind is StopKind.TOOL_CALLS
    body = server.bodies[0]
    assert [t["function"]["name"] for t in body["tools"]] == ["read_file", "write_file"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {"arguments": '{"a":1}', "name": "read_file"}
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "one"}


def test_whole_calls_without_index_or_id_are_understood_and_stop_means_call() -> None:
    call = {"type": "function", "function": {"name": "read_file", "arguments": '{"a":1}'}}
    stream = (
        chunk({"model": MODEL}, {"tool_calls": [call]}),
        chunk({"model": MODEL}, {"tool_calls": [call]}),
        chunk({"model": MODEL}, {}, finish="stop"),
        b"data: [DONE]\n\n",
    )
    with CompatibleServer() as server:
        server.faults.append(Answer(Reply(200, b"".join(stream), {"content-type": "text/event-stream"})))
        result = asked(server, ask(MODEL))

    calls = [item.part for item in result.items if isinstance(item, ToolCallReady)]
    assert [(one.name, one.arguments_json) for one in calls] == [("read_file", '{"a":1}')] * 2
    assert len({one.call_id for one in calls if one.call_id}) == 2
    assert result.stopped.kind is StopKind.TOOL_CALLS


@pytest.mark.parametrize(
    ("finish", "kind"),
    [
        ("stop", StopKind.COMPLETED),
        ("length", StopKind.TRUNCATED),
        ("content_filter", StopKind.REFUSED),
        ("eos", StopKind.COMPLETED),
    ],
)
def test_the_way_it_ended_is_told_in_our_words_and_theirs(finish: str, kind: StopKind) -> None:
    with CompatibleServer() as server:
        server.replies.append(Said(finish=finish))
        result = asked(server, ask(MODEL, max_output_tokens=7))

    assert (result.stopped.kind, result.stopped.detail) == (kind, finish)
    assert server.bodies[0]["max_tokens"] == 7


def test_the_streams_own_end_is_an_end_where_a_server_gives_no_reason() -> None:
    with CompatibleServer() as server:
        server.replies.append(Said("All of it.", finish=""))
        result = asked(server, ask(MODEL))

    assert (result.text, result.stopped.kind) == ("All of it.", StopKind.COMPLETED)


def test_a_stream_that_ends_without_a_reason_and_without_its_own_end_broke_off() -> None:
    stream = chunk({"model": MODEL}, {"content": "Half"})
    with CompatibleServer() as server:
        server.faults.append(Answer(Reply(200, stream, {"content-type": "text/event-stream"})))
        result = asked(server, ask(MODEL))

    assert (result.text, result.failure.kind) == ("Half", FailureKind.STREAM_DROPPED)


def test_thinking_in_tags_before_the_text_is_reasoning() -> None:
    with CompatibleServer() as server:
        server.replies.append(Said("<think>Hm.</think>Yes."))
        result = asked(server, ask(MODEL))

    assert (result.text, result.reasoning) == ("Yes.", "Hm.")


def test_usage_that_is_not_reported_is_none_and_what_is_reported_is_part_of_the_input() -> None:
    with CompatibleServer(VLLM) as plain, CompatibleServer(LLAMA_CPP) as detailed, CompatibleServer() as deep:
        detailed.replies.append(
            Said(usage={"prompt_tokens": 40, "prompt_tokens_details": {"cached_tokens": 20}})
        )
        deep.replies.append(Said(usage={"prompt_tokens": 40, "prompt_cache_hit_tokens": 15}))
        usages = [asked(server, ask(MODEL)).usage for server in (plain, detailed, deep)]

    assert [usage.cache_read_tokens for usage in usages] == [None, 20, 15]
    assert all(usage.input_tokens and usage.output_tokens for usage in usages)
    assert {usage.reasoning_tokens for usage in usages} == {None}


def test_a_field_that_a_server_refuses_is_left_out_from_then_on() -> None:
    with CompatibleServer(OLD) as server:
        provider = provider_at(server)
        request = ask(MODEL, effort=Effort.HIGH)
        results = [outcome(provider.stream(request, blobs(), CancelToken())) for _ in range(2)]
        provider.close()

    assert [result.text for result in results] == ["Hello there."] * 2
    optional = [sorted(body.keys() & {"stream_options", "reasoning_effort"}) for body in server.bodies]
    assert optional == [["reasoning_effort", "stream_options"], ["stream_options"], [], []]
    assert not [item for item in results[1].items if not isinstance(item, TextDelta)][:-1]
    told = " ".join(results[0].stopped.remarks)
    assert "'reasoning_effort'" in told
    assert "'stream_options'" in told
    assert results[1].stopped.remarks == ()


@pytest.mark.parametrize("habits", [VLLM, LLAMA_CPP, OLLAMA, LM_STUDIO, OPENROUTER], ids=lambda h: h.name)
def test_a_context_too_long_is_recognised_in_every_servers_words(habits: Habits) -> None:
    with CompatibleServer(replace(habits, window=50)) as server:
        failure = asked(server, ask(MODEL, user("word " * 200))).failure

    assert failure.kind is FailureKind.CONTEXT_TOO_LONG
    assert failure.status == 400


@pytest.mark.parametrize("habits", [VLLM, OLLAMA, LM_STUDIO], ids=lambda h: h.name)
def test_a_model_that_a_server_does_not_have_is_named(habits: Habits) -> None:
    with CompatibleServer(habits) as server:
        failure = asked(server, ask("llama9")).failure

    assert failure.kind is FailureKind.UNKNOWN_MODEL
    assert "llama9" in failure.what


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "No auth", "code": 401}}, FailureKind.BAD_KEY),
        (402, {"error": {"message": "Insufficient credits", "code": 402}}, FailureKind.NO_QUOTA),
        (
            429,
            {"error": {"message": "context length 5, too many requests", "code": 429}},
            FailureKind.RATE_LIMITED,
        ),
        (
            503,
            {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}},
            FailureKind.OVERLOADED,
        ),
        (500, {"error": "something broke"}, FailureKind.SERVER_FAULT),
        (502, "<html>Bad gateway</html>", FailureKind.SERVER_FAULT),
    ],
)
def test_failures_have_one_meaning_whatever_their_shape(status: int, body: object, kind: FailureKind) -> None:
    with CompatibleServer() as server:
        server.faults.append(Answer(json_reply(status, body)))
        failure = asked(server, ask(MODEL)).failure

    assert (failure.kind, failure.status) == (kind, status)
    assert failure.where.endswith("/v1/chat/completions")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "Upstream is gone", "code": 502}, FailureKind.SERVER_FAULT),
        ({"message": "rate limited", "code": 429}, FailureKind.RATE_LIMITED),
        (
            {"message": "request (9 tokens) exceeds the available context size (8 tokens)", "code": 400},
            FailureKind.CONTEXT_TOO_LONG,
        ),
    ],
)
def test_an_error_in_the_middle_of_a_stream_keeps_what_came(error: object, kind: FailureKind) -> None:
    with CompatibleServer() as server:
        server.faults.append(InsertAfter(2, data({"error": error})))
        result = asked(server, ask(MODEL))

    assert result.text == "Hello"
    assert result.failure.kind is kind


def test_a_page_instead_of_a_reply_is_said_to_be_none() -> None:
    with CompatibleServer() as server:
        server.faults.append(Answer(Reply(200, b"<html>Welcome</html>", {"content-type": "text/html"})))

        assert asked(server, ask(MODEL)).failure.kind is FailureKind.BAD_REPLY


def test_a_page_behind_the_end_of_a_reply_and_its_usage_takes_nothing_from_it() -> None:
    ended = {"choices": [{"index": 0, "delta": {"content": "So."}, "finish_reason": "stop"}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "cost": 0.25}}
    body = data(ended) + data(usage) + data(usage) + b"<html><title>504 Gateway Time-out</title></html>\n"
    with CompatibleServer() as server:
        server.faults.append(Answer(Reply(200, body, {"content-type": "text/event-stream"})))
        result = asked(server, ask(MODEL))

    assert (result.text, result.usage.cost_usd) == ("So.", 0.25)
    assert result.stopped.kind is StopKind.COMPLETED


def test_an_address_without_its_version_path_is_helped_and_a_wrong_one_explained() -> None:
    with CompatibleServer() as server:
        bare = CompatibleProvider(server_settings("compatible", server.url), None)
        wrong = CompatibleProvider(server_settings("compatible", f"{server.url}/api"), None)

        assert run(bare, ask(MODEL)).text == "Hello there."
        failure = run(wrong, ask(MODEL)).failure

    assert failure.kind is FailureKind.BAD_REQUEST
    assert "/v1" in failure.remedy


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("http://localhost:11434/", "http://localhost:11434/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("nonsense", "nonsense"),
        ("http://[", "http://["),
    ],
)
def test_only_a_bare_host_gets_a_version_path(given: str, expected: str) -> None:
    assert with_version_path(given) == expected


def test_without_an_address_nothing_is_tried() -> None:
    failure = run(CompatibleProvider(server_settings("compatible"), None), ask(MODEL)).failure

    assert failure.kind is FailureKind.BAD_REQUEST
    assert "base_url" in failure.remedy


def test_a_foreign_server_is_told_nothing_that_was_meant_for_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-openai")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: secret\nAuthorization: Bearer secret")
    with CompatibleServer() as open_server, CompatibleServer(key="own-key-123") as locked:
        assert run(provider_at(open_server), ask(MODEL)).text
        assert run(provider_at(locked, "own-key-123"), ask(MODEL)).text

    assert "secret" not in str(open_server.requests[0].headers)
    assert "authorization" not in open_server.requests[0].headers
    assert locked.requests[0].headers["authorization"] == "Bearer own-key-123"


@pytest.mark.parametrize(
    ("habits", "window", "images", "efforts", "output"),
    [
        (VLLM, 32768, False, 0, None),
        (LLAMA_CPP, 8192, False, 0, None),
        (OLLAMA, 40960, True, 3, None),
        (LM_STUDIO, None, False, 0, None),
        (OPENROUTER, 65536, True, 3, 8192),
        (replace(OLLAMA, show={**OLLAMA.show, "parameters": "num_ctx    16384"}), 16384, True, 3, None),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_servers_list_says_what_it_knows_of_its_models(
    habits: Habits, window: int | None, images: bool, efforts: int, output: int | None
) -> None:
    with CompatibleServer(habits) as server:
        provider = provider_at(server)
        (model,) = provider.list_models()
        provider.close()

    assert (model.provider, model.id, model.from_server) == ("compatible", MODEL, True)
    assert (model.context_tokens, model.max_output_tokens) == (window, output)
    assert (model.takes_images, len(model.efforts)) == (images, efforts)


def test_a_schema_goes_out_as_the_response_format() -> None:
    with CompatibleServer() as server:
        asked(
            server, ask(MODEL, response_schema_json='{"type":"object","properties":{"a":{"type":"string"}}}')
        )

    form = server.bodies[0]["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", False)
    assert (
        json.dumps(form["json_schema"]["schema"])
        == '{"properties": {"a": {"type": "string"}}, "type": "object"}'
    )


def test_it_counts_nothing_and_is_made_for_its_kind() -> None:
    provider = make_provider(server_settings("compatible", "http://127.0.0.1:9/v1"), None)

    assert isinstance(provider, CompatibleProvider)
    assert provider.count_tokens(ask(MODEL), blobs()) is None
