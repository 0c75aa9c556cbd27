"""How calls to Gemini fail, end early or are cancelled, through its real SDK."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from core.errors import FailureKind
from core.providers.base import CancelToken
from core.providers.gemini import GeminiProvider
from core.values.provider import (
    StopKind,
)
from tests.core.providers.asking import (
    PROMPT_S,
    ask,
    run,
    run_beside,
    server_settings,
    user,
)
from tests.core.providers.gemini_kit import ARGON, asked, provider_at
from tests.vendors.gemini_server import (
    KEY,
    GeminiServer,
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


@pytest.mark.parametrize("fault", [DropAfter(2), DropAfterBytes(700), EndAfter(2)])
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
