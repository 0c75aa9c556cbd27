"""Patience with a server that sends, but nothing that belongs to a reply: as long as with one that is silent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from core.base.errors import FailureKind, ProviderError
from core.base.figures import time_limit
from core.providers.failures import provider_error
from core.values.settings import ServerSettings

T = TypeVar("T")


def sensible(
    events: Iterable[T],
    is_known: Callable[[T], object],
    server: ServerSettings,
    *,
    is_named: bool = True,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[T]:
    """Pass events on.

    Args:
        is_known: whether an event belongs to a reply, be it only a sign of life; server: whose `timeout_s` counts.
        is_named: the error names the server; False where its client does so with every error.
        clock: seconds, monotonic.

    Raises:
        ProviderError: TIMED_OUT, nothing known came for `timeout_s`.
    """
    since = clock()
    for event in events:
        if is_known(event):
            since = clock()
        elif clock() - since > server.timeout_s:
            detail = f"nothing that belongs to a reply for {time_limit(server.timeout_s)}"
            if not is_named:
                raise ProviderError(FailureKind.TIMED_OUT, detail)
            raise provider_error(FailureKind.TIMED_OUT, server, detail=detail)
        yield event
