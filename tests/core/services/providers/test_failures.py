"""Failures in one sentence, with a remedy, never with a key."""

from __future__ import annotations

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.errors import FailureKind, ProviderError
from core.services.providers.failures import (
    checked_key,
    kind_of_status,
    provider_error,
    retry_after_s,
    scrub,
    transport_error,
)
from core.services.providers.server_words import ServerWords, meaning, remedy_of
from tests.core.services.providers.outcomes import server_settings

SERVER = server_settings("anthropic")
URL = "http://127.0.0.1:1/v1"


@pytest.mark.parametrize("kind", FailureKind)
def test_every_kind_names_the_provider_or_the_model_and_a_remedy(kind: FailureKind) -> None:
    error = provider_error(kind, SERVER, model="m-1", detail="Because.", url=URL)

    assert "Anthropic" in error.what or "'m-1'" in error.what
    assert error.what.endswith(": Because")
    assert error.remedy
    assert str(error).endswith(URL)


@pytest.mark.parametrize(
    "message",
    [
        "messages.25.content.0: Could not process image",
        "Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting",
        "The image data you provided does not represent a valid image. Please check your input and try again.",
        "You uploaded an unsupported image. Please make sure your image is valid.",
        "messages.0.content.1.image.source.base64.data: Image does not match the provided media type image/png",
        "messages.0.content.0.document.source.base64: The PDF specified is password protected.",
        "messages.0.content.1: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    ],
)
def test_a_file_in_the_log_that_a_vendor_cannot_read_is_told_with_the_way_to_take_it_off(
    message: str,
) -> None:
    """The file went along with each later message, and nothing said how to send without it."""
    words = ServerWords(message=message)
    assert meaning(words, 400) is FailureKind.BAD_REQUEST
    assert remedy_of(words, 400) == "Edit the message with the file, remove the file there, and retry"


def test_a_server_without_a_label_is_named_by_its_id() -> None:
    bare = server_settings("ollama")

    assert "ollama" in provider_error(FailureKind.NO_NETWORK, bare).what.lower()


def test_a_long_reason_is_one_short_line() -> None:
    error = provider_error(FailureKind.BAD_REQUEST, SERVER, detail="x\n" * 5000)

    assert "\n" not in error.what
    assert len(error.what) < 500


SECRET = st.text("abcdefABCDEF0123456789_-", min_size=24, max_size=60)


@given(
    SECRET,
    st.sampled_from(["{}", "Bearer {}", "sk-ant-{}", "http://u:{}@h/x", "key={} is bad", "?key={}&a=1"]),
)
def test_the_key_in_use_is_never_in_a_message(key: str, form: str) -> None:
    error = provider_error(
        FailureKind.BAD_KEY, SERVER, detail=form.format(key), url=f"http://h/{form.format(key)}", key=key
    )

    assert key not in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-abcdefgh",
        "Authorization: Bearer abcdefghijkl",
        "AIzaSyA0123456789abcdefghijklmnop",
        "http://me:secret99@host/x",
        "https://h/x?key=secret99",
    ],
)
def test_what_looks_like_a_key_is_struck_out_even_when_it_is_not_ours(text: str) -> None:
    shown = scrub(text)

    assert not any(word in shown for word in ("abcdefgh", "secret99"))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, FailureKind.BAD_REQUEST),
        (401, FailureKind.BAD_KEY),
        (402, FailureKind.NO_QUOTA),
        (403, FailureKind.FORBIDDEN),
        (404, FailureKind.BAD_REQUEST),
        (408, FailureKind.TIMED_OUT),
        (413, FailureKind.REQUEST_TOO_LARGE),
        (429, FailureKind.RATE_LIMITED),
        (500, FailureKind.SERVER_FAULT),
        (502, FailureKind.SERVER_FAULT),
        (503, FailureKind.OVERLOADED),
        (504, FailureKind.TIMED_OUT),
        (529, FailureKind.OVERLOADED),
    ],
)
def test_a_status_alone_has_a_kind(status: int, kind: FailureKind) -> None:
    assert kind_of_status(status) is kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Fri, 20 Nov 2026 10:01:00 GMT", "date": "Fri, 20 Nov 2026 10:00:00 GMT"}, 60.0),
        ({"retry-after": "Fri, 20 Nov 2026 10:01:00 -0000", "date": "Fri, 20 Nov 2026 10:00:00 GMT"}, 60.0),
        ({"retry-after": "Fri, 20 Nov 2026 09:00:00 GMT", "date": "Fri, 20 Nov 2026 10:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 99 Nov"}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


def test_a_date_without_a_servers_clock_is_measured_by_ours() -> None:
    assert retry_after_s({"retry-after": "Fri, 20 Nov 2009 10:00:00 GMT"}) == 0.0


REQUEST = httpx2.Request("GET", URL)


@pytest.mark.parametrize(
    ("error", "before", "after"),
    [
        (httpx2.ConnectError("refused"), FailureKind.NO_NETWORK, FailureKind.STREAM_DROPPED),
        (httpx2.RemoteProtocolError("peer closed"), FailureKind.NO_NETWORK, FailureKind.STREAM_DROPPED),
        (httpx2.ReadError("reset"), FailureKind.NO_NETWORK, FailureKind.STREAM_DROPPED),
        (httpx2.ConnectTimeout("slow"), FailureKind.TIMED_OUT, FailureKind.TIMED_OUT),
        (httpx2.ReadTimeout("slow"), FailureKind.TIMED_OUT, FailureKind.TIMED_OUT),
        (httpx2.ProxyError("407"), FailureKind.NO_NETWORK, FailureKind.NO_NETWORK),
        (httpx2.UnsupportedProtocol("ftp"), FailureKind.BAD_REQUEST, FailureKind.BAD_REQUEST),
        (httpx2.InvalidURL("bad"), FailureKind.BAD_REQUEST, FailureKind.BAD_REQUEST),
        (httpx2.DecodingError("gzip"), FailureKind.BAD_REPLY, FailureKind.BAD_REPLY),
    ],
)
def test_what_the_connection_raises_depends_on_whether_the_reply_had_begun(
    error: Exception, before: FailureKind, after: FailureKind
) -> None:
    for has_begun, kind in ((False, before), (True, after)):
        found = transport_error(error, SERVER, url=URL, key=None, has_begun=has_begun)
        assert found is not None
        assert found.kind is kind


def test_the_cause_is_found_inside_an_sdks_own_error() -> None:
    try:
        try:
            raise httpx2.ConnectError("refused")  # noqa: TRY301
        except httpx2.ConnectError as error:
            raise RuntimeError("the SDK's words") from error
    except RuntimeError as error:
        found = transport_error(error, SERVER, url=URL, key=None, has_begun=False)

    assert found is not None
    assert "refused" in found.what


def test_an_error_that_is_not_the_connections_is_left_alone() -> None:
    assert transport_error(ValueError("x"), SERVER, url=URL, key=None, has_begun=False) is None


def test_a_certificate_that_is_not_trusted_has_its_own_remedy() -> None:
    error = httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate")
    found = transport_error(error, SERVER, url=URL, key=None, has_begun=False)

    assert found is not None
    assert "certificate" in found.remedy


def test_the_number_of_a_systems_error_is_left_out() -> None:
    error = httpx2.ConnectError("[Errno 111] Connection refused")
    found = transport_error(error, SERVER, url=URL, key=None, has_begun=False)

    assert found is not None
    assert found.what.endswith("cannot be reached: Connection refused")


def test_a_key_is_stripped_of_what_a_paste_brings_along() -> None:
    assert checked_key(SERVER, "  sk-abc\n", "X") == "sk-abc"


@pytest.mark.parametrize("key", ["a b", "a\tb", "ключ", "a\x00b"])
def test_a_key_with_characters_that_no_key_has_is_refused(key: str) -> None:
    with pytest.raises(ProviderError) as caught:
        checked_key(SERVER, key, "X")

    assert caught.value.kind is FailureKind.BAD_KEY
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please try again in 20s. Visit the page of limits", 20.0),
        ("Please try again in 7m12.5s", 432.5),
        ("Please try again in 1 hour, 2 minutes and 3 seconds", 3723.0),
        ("Please retry after 45 seconds", 45.0),
        ("Try again in 120ms", 0.12),
        ("Try again in 5 mins 30 secs", 330.0),
        ("Slow down; retry after: 20s", 20.0),
        ("Wait 2 hrs, then retry", 7200.0),
        ("Please wait 43321 seconds before retrying", 43321.0),
        ("Rate limit of 50 per 86400s exceeded", None),
        ("Retry in a few seconds", None),
    ],
)
def test_a_wait_that_only_the_words_name_is_kept(words: str, seconds: float | None) -> None:
    """Source: Groq, OpenAI, Azure, Gemini and GitHub Models, messages of rate limits."""
    told = provider_error(FailureKind.RATE_LIMITED, SERVER, detail=words)
    by_header = provider_error(FailureKind.RATE_LIMITED, SERVER, detail=words, retry_after_s=3.0)

    assert told.retry_after_s == seconds
    assert by_header.retry_after_s == 3.0


@pytest.mark.parametrize(("seconds", "words"), [(12.0, "12 s"), (200.0, "3m 20s"), (43_321.0, "12 h 2 min")])
def test_a_long_wait_is_told_in_hours(seconds: float, words: str) -> None:
    told = provider_error(FailureKind.RATE_LIMITED, SERVER, retry_after_s=seconds)

    assert told.remedy == f"Wait {words} and retry"
