"""The rules that Anthropic's test server keeps, asked for without any SDK."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.patience import PATIENCE_S
from tests.vendors.anthropic_server import KEY, AnthropicServer
from tests.vendors.loopback import Json

HEADERS = {"authorization": f"Bearer {KEY}", "anthropic-version": "2026-10-21"}
SAY = {"role": "user", "content": "Hi."}
BODY: Json = {"model": "claude-opus-5-5", "max_tokens": 100, "messages": [SAY]}
MARK = {"type": "ephemeral"}


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as running:
        yield running


def post(
    server: AnthropicServer, body: object, path: str = "/v1/messages", headers: dict[str, str] = HEADERS
) -> tuple[int, Json]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    connection.request("POST", path, json.dumps(body), headers)
    answer = connection.getresponse()
    found: Json = json.loads(answer.read())
    connection.close()
    return answer.status, found


def test_a_plain_request_is_answered_whole(server: AnthropicServer) -> None:
    status, message = post(server, BODY)

    assert status == 200
    assert message["content"] == [{"type": "text", "text": "Hello there."}]
    assert (
        message["usage"]["input_tokens"]
        == post(server, {**BODY, "max_tokens": 1})[1]["usage"]["input_tokens"]
    )


def _text(text: str, **rest: Any) -> Json:
    return {"type": "text", "text": text, **rest}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"temperature": 0.5}, "temperature: Extra inputs are not permitted"),
        ({"top_p": 0.5}, "top_p: Extra inputs"),
        ({"max_tokens": ...}, "max_tokens: Field required"),
        ({"max_tokens": 200_000}, "maximum allowed number of output tokens"),
        ({"messages": []}, "at least one message"),
        ({"messages": [{"role": "assistant", "content": "x"}, SAY]}, "first message"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "role"),
        ({"messages": [SAY, {"role": "assistant", "content": "The best"}]}, "prefill"),
        ({"messages": [{"role": "user", "content": ""}]}, "non-empty"),
        ({"messages": [{"role": "user", "content": [_text(" \n")]}]}, "non-whitespace"),
        ({"messages": [{"role": "user", "content": []}]}, "non-empty content"),
        ({"messages": [{"role": "user", "content": [{"type": "sound"}]}]}, "expected tags"),
        ({"messages": [{"role": "user", "content": [_text("x", name="y")]}]}, "name: Extra inputs"),
        ({"messages": [{"role": "user", "content": [_text("x", citations=[{}])]}]}, "citations"),
        (
            {"messages": [SAY, {"role": "assistant", "content": [{"type": "document"}]}, SAY]},
            "document blocks are not permitted in assistant",
        ),
        ({"messages": [SAY, {"role": "system", "content": "x"}, SAY]}, "system messages must follow"),
        ({"system": [_text("")]}, "non-empty"),
        ({"system": [{"type": "image"}]}, "'text'"),
        ({"thinking": {"type": "disabled"}}, "thinking.type.disabled"),
        ({"output_config": {"effort": "extreme"}}, "effort"),
        ({"tools": [{"name": "a", "input_schema": {"type": "string"}}]}, "'object'"),
        ({"tools": [{"name": "a", "input_schema": {"type": "object"}}] * 2}, "unique"),
        ({"system": [_text(str(n), cache_control=MARK) for n in range(5)]}, "Found 5"),
        (
            {
                "messages": [
                    SAY,
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}],
                    },
                    SAY,
                ]
            },
            "without `tool_result`",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}]},
            "unexpected `tool_use_id`",
        ),
        (
            {
                "messages": [
                    SAY,
                    {
                        "role": "assistant",
                        "content": [{"type": "thinking", "thinking": "x", "signature": "y"}],
                    },
                    SAY,
                ]
            },
            "Invalid `signature`",
        ),
    ],
)
def test_a_broken_rule_is_answered_in_the_vendors_words(
    server: AnthropicServer, change: Json, words: str
) -> None:
    body = {name: value for name, value in {**BODY, **change}.items() if value is not ...}
    status, answer = post(server, body)

    assert status == 400
    assert answer["error"]["type"] == "invalid_request_error"
    assert words in answer["error"]["message"]
    assert answer["request_id"]


@pytest.mark.parametrize(
    ("path", "headers", "status", "kind"),
    [
        ("/v1/messages", {}, 401, "authentication_error"),
        ("/v1/messages", {**HEADERS, "authorization": "Bearer no"}, 401, "authentication_error"),
        ("/v1/messages", {"authorization": HEADERS["authorization"]}, 400, "invalid_request_error"),
        ("/v1/complete", HEADERS, 404, "not_found_error"),
    ],
)
def test_keys_versions_and_paths_are_checked(
    server: AnthropicServer, path: str, headers: dict[str, str], status: int, kind: str
) -> None:
    found, answer = post(server, BODY, path, headers)

    assert (found, answer["error"]["type"]) == (status, kind)


def test_neighbours_of_one_role_are_one_turn(server: AnthropicServer) -> None:
    assert post(server, {**BODY, "messages": [SAY, SAY]})[0] == 200


def test_the_very_bytes_of_a_request_are_kept(server: AnthropicServer) -> None:
    post(server, BODY)

    assert server.requests[0].body == json.dumps(BODY).encode()
