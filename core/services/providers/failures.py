"""Translation of vendors' failures into `ProviderError`: one sentence, one remedy, never a key."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from core.kernel import secrets
from core.kernel.errors import RETRYABLE_KINDS, FailureKind, ProviderError, SlopError
from core.kernel.figures import span, time_limit
from core.kernel.frame import clean, one_line
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.provider import (
    ProviderRequest,
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
)
from core.kernel.values.settings import ServerSettings
from core.services.providers.door import SenselessError
from core.services.providers.protocol import CancelToken, Provider, ReadBlob
from core.services.providers.server_words import CHECK_ADDRESS, ServerWords, meaning, remedy_of, wait_told_s

_DETAIL_CHARS = 400
_SECRETS = late(
    r"(?i)\b(?:bearer\s+\S{8,}|(?:sk|pk|rk)-[a-z0-9_\-]{8,}|AIza[a-z0-9_\-]{20,}|AQ\.[a-z0-9_\-]{20,})"
)
_QUERY_KEY = late(r"(?i)([?&](?:key|api_key|access_token)=)[^&\s]+")
_USER_INFO = late(r"//[^/@\s]+@")
_ERRNO = late(r"^\[Errno -?\d+\] ")

_SENTENCES: Mapping[FailureKind, tuple[str, str]] = {
    FailureKind.NO_KEY: (tr("There is no key for {who}"), tr("Store a key on the settings page")),
    FailureKind.BAD_KEY: (
        tr("{who} refused the key"),
        tr("Check the key in the settings, or make a new key at the provider"),
    ),
    FailureKind.FORBIDDEN: (
        tr("{who} does not allow this request with this key"),
        tr("Check the rights of the key and its project at the provider"),
    ),
    FailureKind.NO_NETWORK: (
        tr("{who} cannot be reached"),
        tr("Check the network, the address in the settings and any proxy, then retry"),
    ),
    FailureKind.TIMED_OUT: (
        tr("{who} did not answer in time"),
        tr("Retry, or raise timeout_s of this provider in the settings"),
    ),
    FailureKind.UNKNOWN_MODEL: (
        tr("{who} does not know the model {model!r}"),
        tr("Choose another model, or refresh the list of models on the settings page"),
    ),
    FailureKind.BAD_REQUEST: (
        tr("{who} refused the request"),
        tr("Read the reason, fix the cause, and retry"),
    ),
    FailureKind.CONTEXT_TOO_LONG: (
        tr("The context is too long for {model!r}"),
        tr("Remove files or old turns, or choose a model with a larger window"),
    ),
    FailureKind.REQUEST_TOO_LARGE: (
        tr("The request is too large for {who}"),
        tr("Remove attachments or files, and retry"),
    ),
    FailureKind.RATE_LIMITED: (tr("{who} limits the rate of requests"), tr("Wait a little and retry")),
    FailureKind.NO_QUOTA: (
        tr("The quota or the credit at {who} is used up"),
        tr("Add credit or raise the limit at the provider, or choose another provider"),
    ),
    FailureKind.NO_TOOLS: (
        tr("{who} does not accept tools with the model {model!r}"),
        tr("Send without tools, or choose another model"),
    ),
    FailureKind.OVERLOADED: (tr("{who} is overloaded"), tr("Retry in a minute, or choose another model")),
    FailureKind.SERVER_FAULT: (
        tr("{who} failed"),
        tr("Retry; if the request fails again, check the provider's status page"),
    ),
    FailureKind.STREAM_DROPPED: (
        tr("The connection to {who} broke during the reply"),
        tr("The program kept the received part; retry to ask again"),
    ),
    FailureKind.BAD_REPLY: (
        tr("{who} sent an invalid answer"),
        tr("Check the API address in the settings, then retry"),
    ),
    FailureKind.CUT_OFF: (
        tr("{who} ended the reply before it was complete"),
        tr("The program kept the received part; press Continue to get the rest, or Retry to ask again"),
    ),
    FailureKind.DECLINED: (
        tr("{who} declined to answer"),
        tr("Use other words, or choose another model"),
    ),
    FailureKind.UNKNOWN_END: (
        tr("{who} ended the reply with an unknown stop reason"),
        tr("The program kept the received part; retry, or choose another model"),
    ),
    FailureKind.SPEND_LIMIT: (tr("A spend limit stops requests to {who}"), tr("Raise the limit in Usage")),
    FailureKind.NOT_INSTALLED: (
        tr("{who} is not installed"),
        tr("Install the missing part, or choose another provider"),
    ),
}


def provider_error(
    kind: FailureKind,
    server: ServerSettings,
    *,
    model: str = "",
    detail: str = "",
    remedy: str = "",
    url: str = "",
    key: str | None = None,
    status: int | None = None,
    request_id: str = "",
    retry_after_s: float | None = None,
    is_lost: bool = False,
) -> ProviderError:
    """Say a failure in the program's words, with the vendor's own reason behind them.

    Args:
        detail: the vendor's message, may be empty; shortened to one line and freed of keys.
        remedy: replaces the usual remedy of the kind.
        url: what was called; shown last, without its query's key.
        key: the key in use, so that it can be struck out wherever it turns up.
        is_lost: as in `ProviderError`.
    """
    sentence, usual_remedy = _SENTENCES[kind]
    what = sentence.format(who=server.label or server.id, model=model)
    if status is not None:
        what += f" (HTTP {status})"
    reason = one_line(clean(scrub(detail, key)), _DETAIL_CHARS).rstrip(". ")
    if reason:
        what += f": {reason}"
    if kind is FailureKind.BAD_REQUEST and status in {404, 405}:
        usual_remedy = CHECK_ADDRESS
    if retry_after_s is None and kind in {FailureKind.RATE_LIMITED, FailureKind.OVERLOADED}:
        retry_after_s = wait_told_s(reason)
    if kind is FailureKind.RATE_LIMITED and retry_after_s is not None:
        usual_remedy = tr("Wait {time} and retry", time=span(retry_after_s))
    return ProviderError(
        kind,
        what,
        remedy=remedy or usual_remedy,
        where=scrub(url, key),
        status=status,
        request_id=request_id,
        retry_after_s=retry_after_s,
        is_lost=is_lost,
    )


def scrub(text: str, key: str | None = None) -> str:
    """Strike out the key in use and whatever else looks like one; a vendor shows keys cut, so even short ones."""
    if key and len(key) >= 4:
        text = text.replace(key, "<key>")
    text = secrets.scrub(text)
    return _USER_INFO.sub("//", _QUERY_KEY.sub(r"\1<key>", _SECRETS.sub("<key>", text)))


def checked_key(server: ServerSettings, key: str | None, variable: str) -> str:
    """The key as it can go into a header.

    Args:
        variable: the environment variable that may hold it, for the remedy.

    Raises:
        ProviderError: NO_KEY where there is none, BAD_KEY where it holds characters that no key has.
    """
    text = (key or "").strip()
    if not text:
        remedy = tr("Set {variable}, or store a key on the settings page", variable=variable)
        raise provider_error(FailureKind.NO_KEY, server, remedy=remedy)
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise provider_error(FailureKind.BAD_KEY, server, detail=tr("the key contains invalid characters"))
    return text


def kind_of_status(status: int) -> FailureKind:
    """Kind of failure by an HTTP status when the body says nothing more."""
    match status:
        case 401:
            return FailureKind.BAD_KEY
        case 402:
            return FailureKind.NO_QUOTA
        case 403:
            return FailureKind.FORBIDDEN
        case 408 | 504:
            return FailureKind.TIMED_OUT
        case 413:
            return FailureKind.REQUEST_TOO_LARGE
        case 429:
            return FailureKind.RATE_LIMITED
        case 503 | 529:
            return FailureKind.OVERLOADED
        case _ if status >= 500:
            return FailureKind.SERVER_FAULT
        case _:
            return FailureKind.BAD_REQUEST


def redirect_error(
    server: ServerSettings, status: int, headers: Mapping[str, str], *, url: str, key: str | None
) -> ProviderError:
    """The failure of a server that answers with another address. It is not followed: the key would travel along."""
    where = headers.get("location") or tr("another address")
    return provider_error(
        FailureKind.BAD_REQUEST,
        server,
        status=status,
        detail=tr("the server redirects to {where}", where=where),
        remedy=tr("If you trust the new address, enter it as base_url of this provider"),
        url=url,
        key=key,
    )


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks us to wait: `retry-after-ms`, or `retry-after` as seconds or as a date.

    A date is measured from the server's own `date` header where it has one, so our clock need not be right.

    Args:
        headers: with case-insensitive lookup, or lower-case names.
    Source: RFC 9110, 10.2.3; `retry-after-ms` as the anthropic and openai SDKs read it (2026-11).
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    until = _date(value)
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds()) if until else None


def transport_error(
    error: BaseException, server: ServerSettings, *, url: str, key: str | None, has_begun: bool
) -> ProviderError | None:
    """Translate what the HTTP client raised, alone or as the cause of an SDK's error.

    Args:
        has_begun: whether the reply's headers had arrived.

    Returns:
        The error to raise, or None where no HTTP failure is in the chain of causes.
    """
    import httpx2

    found = next((e for e in _causes(error) if isinstance(e, httpx2.RequestError | httpx2.InvalidURL)), None)
    if found is None:
        return None
    kind, remedy = _transport_kind(found, has_begun)
    detail = _ERRNO.sub("", str(found)) or type(found).__name__
    if isinstance(found, httpx2.TimeoutException) and not isinstance(found.__cause__, SenselessError):
        connecting = isinstance(found, httpx2.ConnectTimeout)
        limit = server.connect_timeout_s if connecting else server.timeout_s
        detail = tr(
            "{silence} for {duration}",
            silence=tr("no connection") if connecting else tr("silence"),
            duration=time_limit(limit),
        )
    is_silent = isinstance(found, httpx2.ReadTimeout)
    return provider_error(kind, server, detail=detail, remedy=remedy, url=url, key=key, is_lost=is_silent)


def is_answer_lost(error: SlopError) -> bool:
    """True if a request that is answered in one piece may be billed although no answer came.

    A stream's head tells that its request has arrived; before a whole answer nothing does, and a connection that
    broke while it was awaited says nothing of what was done.
    """
    import httpx2

    if not isinstance(error, ProviderError):
        return False
    broke = (httpx2.ReadError, httpx2.RemoteProtocolError)
    return error.is_lost or any(isinstance(cause, broke) for cause in _causes(error))


def _transport_kind(error: Exception, has_begun: bool) -> tuple[FailureKind, str]:
    import httpx2

    match error:
        case httpx2.TimeoutException():
            return FailureKind.TIMED_OUT, ""
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL() | httpx2.LocalProtocolError():
            return FailureKind.BAD_REQUEST, tr("Correct the provider's address (base_url) in the settings")
        case httpx2.ProxyError():
            return FailureKind.NO_NETWORK, tr("Check the proxy in your environment variables, then retry")
        case httpx2.ConnectError() if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return FailureKind.NO_NETWORK, tr(
                "Make the system trust the certificate of the server or the proxy"
            )
        case httpx2.DecodingError():
            words = ServerWords(message=str(error))
            return meaning(words, None) or FailureKind.BAD_REPLY, remedy_of(words, None)
        case httpx2.TransportError() if has_begun:
            return FailureKind.STREAM_DROPPED, ""
        case _:
            return FailureKind.NO_NETWORK, ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _date(text: str) -> datetime | None:
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


# Retries of a failed call: when, and after what wait; and the longest reply that anybody takes in.

MAX_RETRIES = 3
FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 8.0
LONGEST_RETRY_AFTER_S = 60.0

MOST_REPLY_CHARS = 60_000_000
"""A reply that is longer never ends: no model writes as much, and one line of a log must hold it."""

OnRetry = Callable[[int, float, ProviderError], None]
"""Told before each wait: number of the retry (from 1), seconds it waits, what failed."""


def stream_with_retry(
    provider: Provider,
    request: ProviderRequest,
    read_blob: ReadBlob,
    cancel: CancelToken,
    on_retry: OnRetry,
    *,
    max_retries: int = MAX_RETRIES,
    jitter: Callable[[], float] = random.random,
    wait: Callable[[float], bool] | None = None,
    most_chars: int | None = None,
) -> Iterator[StreamItem]:
    """Stream a request, and send it again when it failed before any of the reply had arrived.

    Only `RETRYABLE_KINDS` are tried again, at most `max_retries` times, after a wait that grows and is spread by
    chance. A vendor's retry-after is kept to; one of more than 60 s is not waited for, but raised.

    Args:
        max_retries: >= 0; 0 sends once.
        jitter: gives a number from 0 up to 1.
        wait: waits so many seconds and returns whether the call was cancelled; `cancel.wait` unless told.
        most_chars: of a reply, its reasoning and tool calls with it; `MOST_REPLY_CHARS` unless told.

    Raises:
        ProviderError: of the last attempt, or the reply is longer than it may be: what was yielded stands.
    """
    for attempt in range(1, max_retries + 2):
        has_content, chars = False, 0
        limit = MOST_REPLY_CHARS if most_chars is None else most_chars
        try:
            for item in provider.stream(request, read_blob, cancel):
                has_content = has_content or isinstance(item, TextDelta | ReasoningDelta | ToolCallReady)
                yield item
                chars += _length(item)
                if chars > limit:
                    break
            else:
                return
            raise too_long(limit)
        except ProviderError as error:
            wait_s = retry_wait_s(error, attempt, jitter())
            if has_content or attempt > max_retries or wait_s is None:
                raise
            on_retry(attempt, wait_s, error)
        if (wait or cancel.wait)(wait_s):
            yield Stopped(kind=StopKind.CANCELLED, is_sent=False)
            return


def too_long(most_chars: int) -> ProviderError:
    """A reply that has more characters than anybody takes in."""
    return ProviderError(
        FailureKind.BAD_REPLY,
        tr("The reply is longer than {most_chars:,} characters", most_chars=most_chars),
        remedy=tr("The program kept the received part. Ask for less, or check the server"),
    )


def _length(item: StreamItem) -> int:
    match item:
        case TextDelta() | ReasoningDelta():
            return len(item.text)
        case ToolCallReady():
            return len(item.part.arguments_json)
        case _:
            return 0


def retry_wait_s(error: ProviderError, attempt: int, chance: float) -> float | None:
    """Seconds to wait before trying again, None where it should not be tried.

    Args:
        attempt: which attempt failed, from 1.
        chance: from 0 up to 1; spreads the waits of many clients.
    """
    if error.kind not in RETRYABLE_KINDS:
        return None
    if error.retry_after_s is None:
        longest = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (attempt - 1))
        return longest * (0.5 + chance / 2)
    if error.retry_after_s > LONGEST_RETRY_AFTER_S:
        return None
    return error.retry_after_s + FIRST_WAIT_S * chance
