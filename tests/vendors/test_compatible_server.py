"""The compatible test servers keep each its own habits, seen by a plain HTTP client."""

from __future__ import annotations

import http.client
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.patience import PATIENCE_S
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
)

Json = dict[str, Any]
ALL = (VLLM, LLAMA_CPP, OLLAMA, LM_STUDIO, OPENROUTER, OLD)
HELLO = [{"role": "user", "content": "Hi."}]


def call(server: CompatibleServer, path: str, body: Json | None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    try:
        connection.request("GET" if body is None else "POST", path, json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def complete(server: CompatibleServer, **fields: Any) -> tuple[int, str]:
    return call(server, "/v1/chat/completions", {"model": MODEL, "messages": HELLO, "stream": True, **fields})


def chunks(text: str) -> list[Json]:
    events = text.strip().split("\n\n")
    assert events[-1] == "data: [DONE]"
    return [json.loads(event.removeprefix("data: ")) for event in events[:-1]]


@pytest.mark.parametrize("habits", ALL, ids=lambda h: h.name)
def test_a_stream_begins_with_the_role_and_ends_with_a_reason_and_done(habits: Habits) -> None:
    with CompatibleServer(habits) as server:
        found = chunks(complete(server)[1])

    assert found[0]["choices"][0]["delta"]["role"] == "assistant"
    assert "".join(c["choices"][0]["delta"].get("content", "") for c in found) == "Hello there."
    assert [c["choices"][0]["finish_reason"] for c in found] == [None] * (len(found) - 1) + ["stop"]


@pytest.mark.parametrize(
    ("habits", "details"),
    [(VLLM, None), (OLLAMA, None), (LLAMA_CPP, {"cached_tokens": 0})],
    ids=lambda v: str(v)[:20],
)
def test_usage_comes_last_without_choices_and_only_when_asked_for(
    habits: Habits, details: Json | None
) -> None:
    with CompatibleServer(habits) as server:
        silent = chunks(complete(server)[1])
        last = chunks(complete(server, stream_options={"include_usage": True})[1])[-1]

    assert not any("usage" in c for c in silent)
    assert last["choices"] == []
    assert last["usage"].get("prompt_tokens_details") == details
    assert (
        last["usage"]["total_tokens"] == last["usage"]["prompt_tokens"] + last["usage"]["completion_tokens"]
    )


@pytest.mark.parametrize(("habits", "name"), [(VLLM, "reasoning"), (LLAMA_CPP, "reasoning_content")])
def test_reasoning_comes_in_the_servers_own_field(habits: Habits, name: str) -> None:
    with CompatibleServer(habits) as server:
        server.replies.append(Said(reasoning="Let me."))
        found = chunks(complete(server)[1])

    assert "".join(c["choices"][0]["delta"].get(name, "") for c in found) == "Let me."


def test_calls_come_in_pieces_under_their_index() -> None:
    with CompatibleServer() as server:
        server.replies.append(Said("", calls=(("a", '{"x":1}'), ("b", "{}")), finish="tool_calls"))
        found = chunks(complete(server)[1])

    pieces = [call for c in found for call in c["choices"][0]["delta"].get("tool_calls", [])]
    assert [p["function"].get("name") for p in pieces if "id" in p] == ["a", "b"]
    assert "".join(p["function"]["arguments"] for p in pieces if p["index"] == 0) == '{"x":1}'


@pytest.mark.parametrize("habits", ALL[:5], ids=lambda h: h.name)
def test_a_prompt_over_the_window_is_refused_in_the_servers_words(habits: Habits) -> None:
    with CompatibleServer(replace(habits, window=4)) as server:
        status, text = complete(server)

    assert status == 400
    assert "error" in json.loads(text)
    assert "{window}" not in text


def test_an_old_server_refuses_new_fields_and_lists_of_parts() -> None:
    with CompatibleServer(OLD) as server:
        refused, text = complete(server, stream_options={"include_usage": True})
        parts, _ = complete(server, messages=[{"role": "user", "content": [{"type": "text", "text": "x"}]}])

    assert (refused, parts) == (400, 422)
    assert "stream_options" in text


def test_lists_and_shows_say_what_each_server_says() -> None:
    with CompatibleServer(OLLAMA) as ollama, CompatibleServer(VLLM) as vllm:
        entry = json.loads(call(vllm, "/v1/models", None)[1])["data"][0]
        show = json.loads(call(ollama, "/api/show", {"model": MODEL})[1])

        assert call(vllm, "/api/show", {"model": MODEL})[0] == 404
        assert call(ollama, "/api/show", {"model": "other"})[0] == 404
    assert (entry["id"], entry["max_model_len"]) == (MODEL, 32768)
    assert show["model_info"]["qwen3.context_length"] == 40960


def test_a_server_with_a_key_refuses_without_it() -> None:
    with CompatibleServer(LLAMA_CPP, key="secret") as server:
        status, text = complete(server)

    assert status == 401
    assert json.loads(text)["error"]["type"] == "authentication_error"
