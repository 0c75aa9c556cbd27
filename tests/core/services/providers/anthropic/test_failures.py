"""How calls to Anthropic fail, end early or are cancelled, through its real SDK."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.kernel.errors import FailureKind
from core.kernel.values.provider import UsageUpdate
from core.services.providers.anthropic.client import AnthropicProvider
from tests.core.services.providers.anthropic.kit import OPUS, asked, provider_at
from tests.core.services.providers.outcomes import ask, run, server_settings
from tests.vendors.anthropic_server import KEY, AnthropicServer, error_event
from tests.vendors.loopback import (
    Answer,
    DropAfter,
    DropAfterBytes,
    Fault,
    InsertAfter,
    Reply,
    Rewrite,
    json_reply,
)


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as running:
        yield running


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
        (Answer(Reply(200, b"<html>hello</html>", {})), FailureKind.BAD_REPLY, "an invalid answer"),
        (
            Answer(Reply(200, b"event: message_start\ndata: {nope\n\n", {})),
            FailureKind.BAD_REPLY,
            "an invalid answer",
        ),
        (Answer(Reply(200, b"", {"content-encoding": "gzip"})), FailureKind.BAD_REPLY, "an invalid answer"),
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


@pytest.mark.parametrize("kind", ["text/event-stream; charset=utf-8", "text/html"])
def test_a_stream_that_ends_before_its_first_event_may_be_billed_and_a_page_is_not(
    server: AnthropicServer, kind: str
) -> None:
    server.faults.append(Answer(Reply(200, b"", {"content-type": kind})))
    error = asked(server, ask(OPUS)).failure

    assert error.kind is FailureKind.BAD_REPLY
    assert error.is_lost == kind.startswith("text/event-stream")


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


@pytest.mark.parametrize("fault", [DropAfter(5), DropAfterBytes(700), InsertAfter(5, b"")])
def test_a_stream_that_breaks_off_has_told_its_usage_once(server: AnthropicServer, fault: Fault) -> None:
    server.faults.append(fault)
    result = asked(server, ask(OPUS))

    assert result.failure.kind is FailureKind.STREAM_DROPPED
    assert "Hello ther".startswith(result.text)
    assert sum(isinstance(item, UsageUpdate) for item in result.items) == 1


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


def test_an_echoed_key_is_struck_out(server: AnthropicServer) -> None:
    server.faults.append(_error(401, "authentication_error", f"bad key {KEY} or plainkey"))

    assert KEY not in str(asked(server, ask(OPUS)).failure)


def test_a_name_that_does_not_resolve_is_no_network() -> None:
    provider = AnthropicProvider(server_settings("anthropic", "http://nobody.invalid"), KEY)

    assert run(provider, ask(OPUS)).failure.kind is FailureKind.NO_NETWORK
