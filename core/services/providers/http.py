"""The HTTP client that every vendor's SDK is given: time-outs, proxies, cancellation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.figures import time_limit
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.settings import ServerSettings
from core.kernel.web_addresses import is_loopback
from core.services.providers.door import (
    EndlessError,
    SenselessError,
    bounded_body,
    bounded_error,
)
from core.services.providers.event_stream import NoReplyError, api_of, sound_events
from core.services.providers.failures import provider_error
from core.services.providers.pump import current_call

if TYPE_CHECKING:
    import httpx2

_WHOLE = "manual_slop.is_whole"
"""Extension of a request: its answer is read to its end before anybody sees of it."""


def http_client(server: ServerSettings, base_url: str) -> httpx2.Client:
    """Make the client that an SDK sends through.

    - A proxy of the environment is used, never for loopback.
    - Time-outs are the settings', whatever the SDK asks for: `connect_timeout_s` to connect and to get a place in the
      pool, `timeout_s` for silence while reading or writing. There is no limit on the whole call.
    - A connection serves one request: people pause for minutes between turns, when a pooled one has gone stale, and
      a cancelled call may then shut its own socket and no one else's.
    - Redirects are not followed: the key would travel along.
    - An answer is bounded on the wire (`response_bounds`), and asked for as it is: one that is packed could be of any
      size.

    Args:
        base_url: where the SDK will connect to (settings, else its environment variable), empty for its default.

    Raises:
        ProviderError: the address is no URL, or the environment names a proxy that cannot be used.
    """
    import httpx2

    try:
        httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        remedy = tr("Correct the provider's address (base_url) in the settings")
        raise provider_error(
            FailureKind.BAD_REQUEST, server, detail=str(error), remedy=remedy, url=base_url
        ) from error

    class Client(httpx2.Client):
        """Notes of each request whether its answer is read as a whole: what such a reader waits for must end."""

        def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
            request.extensions[_WHOLE] = not stream
            return super().send(request, stream=stream, **options)

    query = httpx2.URL(base_url).params

    def prepare(request: httpx2.Request) -> None:
        if query:
            request.url = request.url.copy_merge_params(query)
        request.extensions["timeout"] = {
            "connect": server.connect_timeout_s,
            "pool": server.connect_timeout_s,
            "read": server.timeout_s,
            "write": server.timeout_s,
        }
        request.headers["Accept-Encoding"] = "identity"
        call = current_call()
        if call is not None:
            request.extensions["trace"] = call.trace

    def bound(response: httpx2.Response) -> None:
        response.stream = _bounded(response, server.timeout_s)

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
    hooks: dict[str, list[Callable[..., object]]] = {"request": [prepare], "response": [bound]}
    if is_loopback(base_url):
        # With a transport of our own the client builds none for the environment's proxies.
        return Client(transport=httpx2.HTTPTransport(limits=limits), event_hooks=hooks)
    try:
        return Client(limits=limits, event_hooks=hooks)
    except (ImportError, ValueError, httpx2.InvalidURL) as error:
        raise provider_error(
            FailureKind.NO_NETWORK,
            server,
            detail=str(error),
            remedy=tr("Correct or unset the proxy in the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY)"),
            url=base_url,
        ) from error


_ENDPOINTS = late(r"/(?:chat/completions|completions|responses|messages|models)/?$")


def plain_address(base_url: str, *added: str) -> str:
    """An address as an SDK puts paths behind it: without its query, which every request keeps, and without what a person
    copied too much.

    Args:
        added: endings that the SDK adds itself, the longest first.
    """
    address = base_url.partition("#")[0].partition("?")[0].rstrip("/")
    address = _ENDPOINTS.sub("", address)
    for ending in added:
        address = address.removesuffix(ending)
    return address


def _bounded(response: httpx2.Response, patience_s: float) -> httpx2.SyncByteStream:
    import httpx2

    assert isinstance(response.stream, httpx2.SyncByteStream)
    stream: httpx2.SyncByteStream = response.stream
    bounded: Callable[..., Iterator[bytes]]
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        bounded = bounded_error
    elif response.request.extensions.get(_WHOLE):
        bounded = partial(bounded_body, has_lines=False)
    elif api := api_of(response.request.url.path):
        bounded = lambda pieces, patience, clock: sound_events(pieces, api, patience, clock)  # noqa: E731
    else:
        bounded = bounded_body

    class Bounded(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            try:
                yield from bounded(stream, patience_s, passed_s)
            except SenselessError as error:
                said = tr("no part of a reply for {patience_s}", patience_s=time_limit(patience_s))
                raise httpx2.ReadTimeout(said) from error
            except (EndlessError, NoReplyError) as error:
                raise httpx2.DecodingError(str(error)) from error

        def close(self) -> None:
            stream.close()

    return Bounded()


# Patience with a server that sends, but nothing that belongs to a reply: as long as with one that is
# silent.

T = TypeVar("T")


def passed_s() -> float:
    """Seconds by which patience is measured, monotonic."""
    return time.monotonic()


def sensible(
    events: Iterable[T],
    is_known: Callable[[T], object],
    server: ServerSettings,
    *,
    is_named: bool = True,
    clock: Callable[[], float] | None = None,
) -> Iterator[T]:
    """Pass events on.

    Args:
        is_known: whether an event belongs to a reply, be it only a sign of life; server: whose `timeout_s` counts.
        is_named: the error names the server; False where its client does so with every error.
        clock: by default `passed_s`.

    Raises:
        ProviderError: TIMED_OUT, nothing known came for `timeout_s`.
    """
    clock = clock or passed_s
    since = clock()
    for event in events:
        if is_known(event):
            since = clock()
        elif clock() - since > server.timeout_s:
            detail = tr("no part of a reply for {timeout_s}", timeout_s=time_limit(server.timeout_s))
            if not is_named:
                raise ProviderError(FailureKind.TIMED_OUT, detail)
            raise provider_error(FailureKind.TIMED_OUT, server, detail=detail)
        yield event
