"""The OpenAI test server keeps the vendor's rules, seen by a plain HTTP client that knows nothing of the program."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.patience import PATIENCE_S
from tests.vendors.loopback import DropAfter
from tests.vendors.openai_server import KEY, OpenAiServer, Said

Json = dict[str, Any]
HELLO = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}]


@pytest.fixture
def server() -> Iterator[OpenAiServer]:
    with OpenAiServer() as running:
        yield running


def call(server: OpenAiServer, path: str, body: Json | None, key: str = KEY) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    try:
        method = "GET" if body is None else "POST"
        connection.request(method, path, json.dumps(body), {"Authorization": f"Bearer {key}"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def respond(server: OpenAiServer, **fields: Any) -> tuple[int, Json]:
    status, text = call(server, "/v1/responses", {"model": "gpt-6.1-sol", "input": HELLO, **fields})
    return status, json.loads(text)


def events(server: OpenAiServer, said: Said) -> list[Json]:
    server.replies.append(said)
    body = {"model": "gpt-6.1-sol", "input": HELLO, "stream": True}
    _, text = call(server, "/v1/responses", body)
    parsed = []
    for block in text.strip().split("\n\n"):
        head, data = block.split("\n")
        parsed.append(json.loads(data.removeprefix("data: ")))
        assert head == f"event: {parsed[-1]['type']}"
    return parsed


def test_events_are_numbered_and_nested_as_documented(server: OpenAiServer) -> None:
    found = events(
        server, Said(({"type": "reasoning", "summary": ["A."]}, {"type": "message", "text": "B."}))
    )

    assert [e["sequence_number"] for e in found] == list(range(len(found)))
    assert [e["type"].removeprefix("response.") for e in found] == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]


@pytest.mark.parametrize(
    ("said", "last", "status"),
    [
        (Said(), "response.completed", "completed"),
        (Said(incomplete="max_output_tokens"), "response.incomplete", "incomplete"),
        (Said(failed=("server_error", "x")), "response.failed", "failed"),
    ],
)
def test_the_last_event_carries_the_whole_response(
    server: OpenAiServer, said: Said, last: str, status: str
) -> None:
    final = events(server, said)[-1]

    assert (final["type"], final["response"]["status"]) == (last, status)
    assert final["response"]["output"][0]["content"][0]["text"] == "Hello there."
    assert (final["response"]["usage"] is None) == (status == "failed")


def test_the_pieces_of_a_text_make_the_text(server: OpenAiServer) -> None:
    found = events(server, Said(({"type": "message", "text": "Ein Fuß. 🦊 End."},)))

    deltas = "".join(e["delta"] for e in found if e["type"] == "response.output_text.delta")
    assert deltas == "Ein Fuß. 🦊 End."


def test_usage_counts_everything_that_was_sent(server: OpenAiServer) -> None:
    _, small = respond(server)
    longer = [*HELLO, {"type": "message", "role": "user", "content": "word " * 100}]
    _, large = respond(server, input=longer)

    assert large["usage"]["input_tokens"] > small["usage"]["input_tokens"] + 100
    total = large["usage"]["input_tokens"] + large["usage"]["output_tokens"]
    assert large["usage"]["total_tokens"] == total


def message(role: str, kind: str) -> Json:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": "x"}]}


CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "x"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed:rs_1"}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"made_up": 1}, "unknown_parameter"),
        ({"model": "gpt-99"}, "model_not_found"),
        ({"max_output_tokens": 1}, "integer_below_min_value"),
        ({"reasoning": {"effort": "huge"}}, "unsupported_value"),
        ({"model": "gpt-4o", "reasoning": {"effort": "low"}}, "unsupported_parameter"),
        ({"model": "gpt-4o", "include": ["reasoning.encrypted_content"]}, None),
        ({"input": [message("assistant", "input_text")]}, "invalid_value"),
        ({"input": [message("user", "output_text")]}, "invalid_value"),
        ({"input": [OUTPUT]}, None),
        ({"input": [THOUGHT]}, None),
        ({"input": [{**THOUGHT, "encrypted_content": "foreign"}, CALL]}, "invalid_encrypted_content"),
        ({"text": {"format": {"type": "json_schema", "strict": True, "schema": {}}}}, "invalid_json_schema"),
        ({"model": "tiny", "input": "word " * 500}, "context_length_exceeded"),
    ],
)
def test_what_the_vendor_refuses_is_refused_in_its_shape(
    server: OpenAiServer, fields: Json, code: str | None
) -> None:
    status, body = respond(server, **fields)

    assert status == 400
    assert body["error"]["code"] == code
    assert body["error"]["type"] == "invalid_request_error"
    assert body["error"]["message"]


def test_reasoning_with_its_call_and_the_calls_result_are_taken(server: OpenAiServer) -> None:
    assert respond(server, input=[*HELLO, THOUGHT, CALL, OUTPUT])[0] == 200


def test_a_wrong_key_is_shown_shortened(server: OpenAiServer) -> None:
    status, text = call(server, "/v1/models", None, key="sk-wrong-0123456789")

    assert status == 401
    assert "sk-wrong***6789" in text
    assert "sk-wrong-0123456789" not in text


def test_counting_takes_no_fields_of_generation(server: OpenAiServer) -> None:
    body = {"model": "gpt-6.1-sol", "input": HELLO}

    assert call(server, "/v1/responses/input_tokens", body)[0] == 200
    assert call(server, "/v1/responses/input_tokens", {**body, "stream": True})[0] == 400


def test_bodies_are_kept_as_they_came_and_faults_meet_only_requests_to_speak(server: OpenAiServer) -> None:
    server.faults.append(DropAfter(1))

    assert call(server, "/v1/models", None)[0] == 200
    with pytest.raises(http.client.IncompleteRead):
        respond(server, stream=True)
    assert (
        server.requests[-1].body
        == json.dumps({"model": "gpt-6.1-sol", "input": HELLO, "stream": True}).encode()
    )
