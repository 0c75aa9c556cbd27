"""Retries of a failed call: when, and after what wait; and the longest reply that anybody takes in."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from core.base.errors import RETRYABLE_KINDS, FailureKind, ProviderError
from core.providers.protocol import CancelToken, Provider, ReadBlob
from core.values.provider import (
    ProviderRequest,
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
)

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
            yield Stopped(StopKind.CANCELLED, is_sent=False)
            return


def too_long(most_chars: int) -> ProviderError:
    """A reply that has more characters than anybody takes in."""
    return ProviderError(
        FailureKind.BAD_REPLY,
        f"The reply is longer than {most_chars:,} characters",
        remedy="What arrived is kept. Ask for less, or look at the server",
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
