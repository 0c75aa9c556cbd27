"""The rules that Gemini's test server keeps, asked for without any SDK."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest

from tests.patience import PATIENCE_S
from tests.vendors.gemini_server import KEY, GeminiServer
from tests.vendors.loopback import Json

HEADERS = {"x-goog-api-key": KEY}
SAY = {"role": "user", "parts": [{"text": "Hi."}]}
CALL = {"functionCall": {"name": "f", "args": {}}}
ANSWER = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


def post(
    server: GeminiServer,
    body: object,
    model: str = "gemini-4-argon",
    headers: dict[str, str] = HEADERS,
    version: str = "v1beta",
) -> tuple[int, Json]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    connection.request("POST", f"/{version}/models/{model}:generateContent", json.dumps(body), headers)
    answer = connection.getresponse()
    found: Json = json.loads(answer.read() or b"{}")
    connection.close()
    return answer.status, found


def test_a_plain_request_is_answered_whole(server: GeminiServer) -> None:
    status, answer = post(server, {"contents": [SAY]})

    assert status == 200
    assert answer["candidates"][0]["content"]["parts"] == [{"text": "Hello there."}]
    assert answer["usageMetadata"]["promptTokenCount"] > 0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "contents is not specified"),
        ({"contents": [SAY], "system": "x"}, 'Unknown name "system"'),
        ({"contents": [SAY], "generationConfig": {"max_tokens": 3}}, "Unknown name"),
        ({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}, "valid role"),
        ({"contents": [SAY, {"role": "model", "parts": [{"text": "The best"}]}]}, "last turn"),
        ({"contents": [{"role": "user", "parts": []}]}, "must not be empty"),
        ({"contents": [{"role": "user", "parts": [{}]}]}, "initialized field"),
        ({"contents": [{"role": "user", "parts": [{"text": "x", "inlineData": {}}]}]}, "initialized field"),
        (
            {
                "contents": [
                    {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "!"}}]}
                ]
            },
            "Base64",
        ),
        ({"contents": [SAY], "systemInstruction": {"parts": []}}, "must not be empty"),
        (
            {"contents": [SAY], "tools": [{"functionDeclarations": [{"name": "a b"}]}]},
            "Invalid function name",
        ),
        ({"contents": [SAY], "tools": [{"functionDeclarations": [{"name": "a"}] * 2}]}, "Duplicate"),
        ({"contents": [SAY], "generationConfig": {"maxOutputTokens": 99_999}}, "maxOutputTokens"),
        (
            {
                "contents": [SAY],
                "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW", "thinkingBudget": 5}},
            },
            "only one of",
        ),
        (
            {"contents": [SAY], "generationConfig": {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}},
            "MINIMAL",
        ),
        ({"contents": [SAY], "generationConfig": {"thinkingConfig": {"thinkingBudget": 500}}}, "budget"),
        ({"contents": [SAY, {"role": "model", "parts": [CALL]}, SAY]}, "equal to the number"),
        ({"contents": [SAY, {"role": "model", "parts": [CALL]}, ANSWER]}, "thought_signature"),
    ],
)
def test_a_broken_rule_is_answered_in_the_vendors_words(server: GeminiServer, body: Json, words: str) -> None:
    status, answer = post(server, body)

    assert (status, answer["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert words in answer["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "model", "version", "status"),
    [
        ({}, "gemini-4-argon", "v1beta", 403),
        ({"x-goog-api-key": "no"}, "gemini-4-argon", "v1beta", 400),
        (HEADERS, "gemini-nobody", "v1beta", 404),
        (HEADERS, "gemini-embedding-2", "v1beta", 404),
        (HEADERS, "gemini-4-argon", "v1", 404),
    ],
)
def test_keys_models_and_versions_are_checked(
    server: GeminiServer, headers: dict[str, str], model: str, version: str, status: int
) -> None:
    assert post(server, {"contents": [SAY]}, model, headers, version)[0] == status


def test_both_spellings_of_a_field_are_one(server: GeminiServer) -> None:
    """Source: proto3 "JSON mapping": a parser takes lowerCamelCase and the proto's own name."""
    body = {"contents": [SAY], "generation_config": {"thinking_config": {"thinking_level": "MINIMAL"}}}

    assert "MINIMAL" in post(server, body)[1]["error"]["message"]
