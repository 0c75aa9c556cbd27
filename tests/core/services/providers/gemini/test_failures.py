"""How calls to Gemini fail, end early or are cancelled, through its real SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from core.kernel.errors import FailureKind
from core.kernel.values.cache import CachePlan, ContentsPlan, ContentsUse
from tests.core.services.providers.caching_kit import FILES, turn
from tests.core.services.providers.gemini.kit import ARGON, FLASH, asked, provider_at
from tests.core.services.providers.outcomes import ask, run, user
from tests.vendors.gemini_server import (
    GeminiServer,
    data,
    error_body,
    error_reply,
    quota_failure,
    retry_info,
)
from tests.vendors.loopback import (
    Answer,
    DropAfterBytes,
    HangUp,
    InsertAfter,
    Reply,
)


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


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
        (Reply(200, b"<html>hello</html>", {}), FailureKind.BAD_REPLY, "an invalid answer"),
        (Reply(200, b"", {}), FailureKind.BAD_REPLY, "an invalid answer"),
        (Reply(200, b'data: {"candidates": 5}\n\n', {}), FailureKind.BAD_REPLY, "an invalid answer"),
        (Reply(200, b"data: [1, 2]\n\n", {}), FailureKind.BAD_REPLY, "an invalid answer"),
        (Reply(200, b"data: 7\n\n", {}), FailureKind.BAD_REPLY, "an invalid answer"),
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


@pytest.mark.parametrize("key", [None, "", "  "])
def test_no_key_is_said_before_anything_is_sent(server: GeminiServer, key: str | None) -> None:
    error = run(provider_at(server, key), ask(ARGON)).failure

    assert error.kind is FailureKind.NO_KEY
    assert "GEMINI_API_KEY" in error.remedy
    assert server.requests == []


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


def test_a_stream_that_breaks_off_inside_an_event_says_so_and_keeps_the_part(server: GeminiServer) -> None:
    server.faults.append(DropAfterBytes(700))
    result = asked(server, ask(ARGON))

    assert result.failure.kind is FailureKind.STREAM_DROPPED
    assert result.text == "Hello ther"


def test_garbage_in_mid_stream_is_a_bad_reply(server: GeminiServer) -> None:
    server.faults.append(InsertAfter(2, b"data: {oops\n\n"))
    result = asked(server, ask(ARGON))

    assert result.failure.kind is FailureKind.BAD_REPLY
    assert result.text == "Hello ther"


def test_a_turn_that_breaks_off_before_its_answer_is_not_taken_for_begun_because_its_prefix_was_stored(
    server: GeminiServer,
) -> None:
    """It was called a reply that broke in the middle: not sent again, and booked whole."""
    client = provider_at(server)
    stores = CachePlan(contents=ContentsPlan(ContentsUse.CREATE, FILES, "a1" * 16, 3600, ""))
    server.faults.append(HangUp())

    broken, again = (run(client, turn(FLASH, "Hello?", cache=stores)) for _ in range(2))
    client.close()

    assert broken.failure.kind is FailureKind.NO_NETWORK
    assert again.usage.cache_read_tokens
    assert sum(request.path.endswith("cachedContents") for request in server.requests) == 1
