"""The OpenAI SDK wherever it is used: a client for one server, and its failures in our words."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.provider import Stopped
from core.kernel.values.settings import ServerSettings
from core.kernel.values.usage import Usage
from core.services.providers.door import FOREIGN, counted_usage, part_of, text_of, word_of
from core.services.providers.endings import stop_at
from core.services.providers.failures import (
    kind_of_status,
    provider_error,
    redirect_error,
    retry_after_s,
    transport_error,
)
from core.services.providers.http import http_client, plain_address
from core.services.providers.late_packages import load_late
from core.services.providers.server_words import ServerWords, meaning, remedy_of, words_of

if TYPE_CHECKING:
    import openai
    from openai._types import RequestOptions

load_late("openai.types")

CALL_OPTIONS: RequestOptions = {"security": {"bearer_auth": True}}
"""Said by `create`, too: a call for an answer never carries a key of administrators."""

DONE = "[DONE]"
"""Last line of a stream."""

OPENAI_URL = "https://api.openai.com/v1"

_KIND_OF_CODE: Mapping[str, FailureKind] = {
    "context_length_exceeded": FailureKind.CONTEXT_TOO_LONG,
    "exceed_context_size_error": FailureKind.CONTEXT_TOO_LONG,
    "insufficient_quota": FailureKind.NO_QUOTA,
    "billing_hard_limit_reached": FailureKind.NO_QUOTA,
    "billing_not_active": FailureKind.NO_QUOTA,
    "exceeded_current_quota_error": FailureKind.NO_QUOTA,
    "invalid_api_key": FailureKind.BAD_KEY,
    "model_not_found": FailureKind.UNKNOWN_MODEL,
    "rate_limit_exceeded": FailureKind.RATE_LIMITED,
    "request_too_large": FailureKind.REQUEST_TOO_LARGE,
    "server_error": FailureKind.SERVER_FAULT,
    "server_is_overloaded": FailureKind.OVERLOADED,
    "slow_down": FailureKind.OVERLOADED,
    "unavailable_error": FailureKind.OVERLOADED,
    "unsupported_country_region_territory": FailureKind.FORBIDDEN,
    "vector_store_timeout": FailureKind.TIMED_OUT,
}
"""Codes and types that say more than the status.

Source: OpenAI "Error codes" and types/responses/response_error.py (openai 3.51.0), llama.cpp server README (2026-11).
"""


def openai_client(
    server: ServerSettings, key: str | None, base_url: str, *, is_vendor: bool
) -> openai.OpenAI:
    """Make the SDK's client. Blocks while the SDK is imported (about a second, once).

    Args:
        base_url: where requests go, with its version path.
        is_vendor: whether this is OpenAI itself; no one else is told the environment's organization, project,
            headers and keys, which are meant for OpenAI.

    Raises:
        ProviderError: the environment names a proxy that cannot be used.
    """
    import openai

    http = http_client(server, base_url)
    if not key:
        # The SDK sends nothing without a key; servers without one get no header at all.
        http.event_hooks["request"].append(lambda request: request.headers.pop("authorization", None))
    hidden: dict[str, Any] = {}
    if not is_vendor:
        ambient = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
        names = [line.partition(":")[0].strip() for line in ambient if ":" in line]
        hidden = dict.fromkeys((*names, "OpenAI-Organization", "OpenAI-Project"), openai.Omit())
        hidden["Authorization"] = f"Bearer {key or 'none'}"
    return openai.OpenAI(
        api_key=key or "none",
        admin_api_key="",
        base_url=plain_address(base_url),
        max_retries=0,
        http_client=http,
        default_headers=hidden,
    )


@cache
def done_stream(event_type: Any) -> Any:
    """The SDK's stream of events of this type, which keeps whether its last line came: `is_done`. The SDK is imported here."""
    import openai

    class DoneStream(openai.Stream[event_type]):
        is_done = False

        def _iter_events(self) -> Iterator[Any]:
            for event in super()._iter_events():
                self.is_done |= event.data.startswith(DONE)
                yield event

    return DoneStream


def sdk_failures() -> tuple[type[Exception], ...]:
    """Failures of a call through the SDK that are the server's.

    Besides its own errors: the HTTP client's, where a stream breaks, and `FOREIGN`: a foreign reply shows only when a
    field is used.
    """
    import httpx2
    import openai

    return (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, *FOREIGN)


def sdk_error(
    error: Exception,
    server: ServerSettings,
    *,
    model: str,
    url: str,
    key: str | None,
    has_begun: bool,
) -> ProviderError:
    """Translate one of `sdk_failures`.

    Args:
        has_begun: whether the reply's headers had arrived.
    """
    import openai

    if (found := transport_error(error, server, url=url, key=key, has_begun=has_begun)) is not None:
        return found
    if isinstance(error, openai.APIResponseValidationError) or not isinstance(error, openai.APIError):
        return provider_error(FailureKind.BAD_REPLY, server, detail=str(error), url=url, key=key)
    headers: Mapping[str, str] = {}
    status = None
    if isinstance(error, openai.APIStatusError):
        headers, status = error.response.headers, error.status_code
        if error.response.is_redirect:
            return redirect_error(server, status, headers, url=url, key=key)
    body = error.body
    if isinstance(body, str) and isinstance(error, openai.APIStatusError):
        body = error.response.text or body  # the SDK keeps what stands under "error" alone
    words = words_of(body) if body else ServerWords(message=text_of(error.message))
    return failure(
        server,
        message=words.message or text_of(error.message),
        code=words.code or error.code,
        error_type=words.kind or error.type,
        status=status,
        headers=headers,
        model=model,
        url=url,
        key=key,
    )


def failure(
    server: ServerSettings,
    *,
    message: object,
    code: object = "",
    error_type: object = "",
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    request_id: str = "",
    model: str = "",
    url: str = "",
    key: str | None = None,
) -> ProviderError:
    """The error for a failure that the server described, in a body or in the middle of a stream.

    Args:
        message, code, error_type: as the server gave them, whatever they are.
    """
    heads = headers or {}
    words = ServerWords(message=text_of(message), code=word_of(code), kind=text_of(error_type))
    kind = _kind(words, status)
    return provider_error(
        kind,
        server,
        model=model,
        detail=words.message or words.code or words.kind,
        remedy=remedy_of(words, status),
        url=url,
        key=key,
        status=status,
        request_id=request_id or heads.get("x-request-id", ""),
        retry_after_s=retry_after_s(heads),
    )


def _kind(words: ServerWords, status: int | None) -> FailureKind:
    if sure := meaning(words, status, is_sure=True):
        return sure
    known = _KIND_OF_CODE.get(words.code) or _KIND_OF_CODE.get(words.kind)
    if known not in {None, FailureKind.SERVER_FAULT}:
        return known
    number = status or (int(words.code) if words.code.isdecimal() and len(words.code) == 3 else None)
    if told := meaning(words, status) or known:
        return told
    if number is None:
        is_ours = words.kind == "invalid_request_error" or words.code.startswith(
            ("invalid_", "image_", "unsupported_")
        )
        return FailureKind.BAD_REQUEST if is_ours else FailureKind.SERVER_FAULT
    return kind_of_status(number)


# A response of OpenAI about itself: what it used, and why it ended.


def usage_of(usage: Any, request_id: str, *, has_cache: bool = True) -> Usage:
    """Usage of a response. `input_tokens` already holds cache reads and writes; what is missing is not reported.

    What was read stands there also where nothing was: where it does not, what the input costs is an estimate.

    Args:
        has_cache: False of a server that refused the fields of caching: there is nothing that it would have to say.

    Source: openai types/responses/response_usage.py, 3.51.0; OpenAI "Prompt caching" (read 2026-11-24).
    """
    read = getattr(usage, "input_tokens_details", None)
    written = getattr(usage, "output_tokens_details", None)
    by_ttl = getattr(read, "cache_write_tokens_details", None)
    found = counted_usage(
        input_tokens=getattr(usage, "input_tokens", None),
        output_tokens=getattr(usage, "output_tokens", None),
        cache_read_tokens=part_of(read, "cached_tokens"),
        cache_write_tokens=part_of(read, "cache_write_tokens"),
        cache_write_12h_tokens=part_of(by_ttl, "ttl_12h_tokens"),
        reasoning_tokens=part_of(written, "reasoning_tokens"),
        request_id=request_id,
    )
    is_untold = has_cache and found.input_tokens is not None and found.cache_read_tokens is None
    return replace(found, is_estimate=found.is_estimate or is_untold)


def stop_of(response: Any, *, has_calls: bool, has_refused: bool) -> Stopped:
    """Reason for which a response ended."""
    word = word_of(response.status)
    if word == "incomplete" or response.incomplete_details is not None:
        word = word_of(getattr(response.incomplete_details, "reason", None)) or "incomplete"
    return stop_at(word or "completed", has_calls=has_calls, has_refused=has_refused)
