"""The HTTP client that every vendor's SDK is given: time-outs, proxies; and the thread that reads a call's socket, so that it can be cancelled."""

from __future__ import annotations

import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from http import HTTPStatus
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.figures import time_limit
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.provider import (
    WHOLE_REPLY,
    ProviderRequest,
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.settings import ServerSettings
from core.kernel.values.usage import Usage
from core.kernel.web_addresses import is_loopback
from core.services.providers.door import (
    EndlessError,
    SenselessError,
    bounded_body,
    bounded_error,
    sound_item,
)
from core.services.providers.endings import told_of
from core.services.providers.event_stream import NoReplyError, api_of, sound_events
from core.services.providers.failures import provider_error, stream_with_retry
from core.services.providers.protocol import CancelToken, Provider, ReadBlob

if TYPE_CHECKING:
    import httpx2


class Call:
    """The sockets of one call. Thread-safe.

    The HTTP client reports each socket it opens (`trace`); `close` shuts them down, which wakes the thread that
    reads from them and tells the server that nobody listens any more.
    """

    def __init__(self, *, is_sent: bool = False) -> None:
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._is_closed = False
        self.is_sent = is_sent
        """True once a request's body goes out: all of it may have arrived before anybody here hears of that."""
        self.has_begun = False
        """True once the head of an answer to the last request has arrived: a turn may store its prefix before it is sent."""

    def trace(self, event: str, info: Mapping[str, object]) -> None:
        """Take in an event of the HTTP client's `trace` extension."""
        if event.endswith("send_request_headers.started"):
            self.has_begun = False
        if event.endswith("receive_response_headers.complete"):
            self.has_begun = True
        if event.endswith("send_request_body.started"):
            self.is_sent = True
        if not event.endswith(("connect_tcp.complete", "start_tls.complete")):
            return
        stream = info.get("return_value")
        sock = getattr(stream, "get_extra_info", lambda _: None)("socket")
        if isinstance(sock, socket.socket):
            self._hold(sock)

    def close(self) -> None:
        """Shut down every socket, now and those still to come. Idempotent."""
        with self._lock:  # also while shutting down: whoever closes next must find it done
            self._is_closed = True
            for sock in self._sockets:
                _shut_down(sock)

    def release(self) -> None:
        """Close the sockets for good. Only for the thread that used them, when it is done."""
        with self._lock:
            for sock in self._sockets:
                sock.close()
            self._sockets.clear()

    def _hold(self, sock: socket.socket) -> None:
        with self._lock:
            if not self._is_closed:
                self._sockets.append(sock)
                return
        _shut_down(sock)


_CURRENT: ContextVar[Call | None] = ContextVar("call", default=None)


def current_call() -> Call | None:
    """The call that runs on this thread, None outside of one."""
    return _CURRENT.get()


@contextmanager
def asking(call: Call) -> Iterator[None]:
    """Let a question on this thread be a call: whoever closes that ends it at once, and no socket stays behind."""
    token = _CURRENT.set(call)
    try:
        yield
    finally:
        _CURRENT.reset(token)
        call.release()


_MOST_WAITING, _FEW_WAITING = 1_000, 500
"""Items that a server may be ahead of the reader: one that sends faster waits, and its pieces take no memory here."""


class _Items:
    """Items of a call on their way from the thread that reads its socket."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[StreamItem | BaseException | None] = SimpleQueue()
        self._room = threading.Event()
        self._is_over = False

    def put(self, item: StreamItem | BaseException | None) -> None:
        """Hand an item over at once."""
        self._queue.put(item)

    def put_in_turn(self, item: StreamItem) -> None:
        """Hand an item over; wait while the reader is far behind."""
        self._queue.put(item)
        if self._is_full():
            self._room.clear()
            if self._is_full():
                self._room.wait()

    def _is_full(self) -> bool:
        return self._queue.qsize() >= _MOST_WAITING and not self._is_over

    def get(self) -> StreamItem | BaseException | None:
        """The next item."""
        item = self._queue.get()
        if not self._room.is_set() and self._queue.qsize() <= _FEW_WAITING:
            self._room.set()
        return item

    def end(self) -> None:
        """Nobody reads any more."""
        self._is_over = True
        self._room.set()


def run_call(
    produce: Callable[[], Iterator[StreamItem]], cancel: CancelToken, *, is_sent: bool = False
) -> Iterator[StreamItem]:
    """Run a provider's blocking iterator on its own thread and yield what it yields, through the typed door.

    When cancelled, whatever the call is doing (resolving a name, connecting, waiting for the first byte, reading):
    what had arrived is yielded, then `Stopped(CANCELLED)`, at once. The thread ends when its sockets are closed.

    Args:
        is_sent: the request has left already, by another way than the HTTP client's.

    Raises:
        Whatever `produce` raises, and ProviderError where an item has no valid shape.
    """
    if cancel.is_cancelled:
        yield Stopped(kind=StopKind.CANCELLED, is_sent=is_sent)
        return
    call = Call(is_sent=is_sent)
    items = _Items()
    threading.Thread(target=_pump, args=(produce, call, items), name="provider-call", daemon=True).start()
    cancel.on_cancel(call.close)
    cancel.on_cancel(lambda: items.put(Stopped(kind=StopKind.CANCELLED, is_sent=call.is_sent)))
    try:
        while (item := items.get()) is not None:
            if isinstance(item, BaseException):
                item = _cancelled_or_raise(item, cancel, call)
            yield item
            if isinstance(item, Stopped):
                return
    finally:
        call.close()
        items.end()


def _pump(produce: Callable[[], Iterator[StreamItem]], call: Call, items: _Items) -> None:
    _CURRENT.set(call)
    try:
        for item in produce():
            items.put_in_turn(sound_item(item))
        items.put(None)
    except Exception as error:  # noqa: BLE001 - the edge of this thread: the reader raises it
        items.put(error)
    finally:
        call.release()


def _cancelled_or_raise(error: BaseException, cancel: CancelToken, call: Call) -> Stopped:
    """A call whose sockets a cancel closed fails in some way: that is no failure."""
    if cancel.is_cancelled:
        return Stopped(kind=StopKind.CANCELLED, is_sent=call.is_sent)
    raise error


def _shut_down(sock: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


# A reply as a whole, for callers that wait for its end and show nothing of it before.


class WholeReply(msgspec.Struct, frozen=True):
    """Reply of a call, without its reasoning and tool calls.

    Args:
        usage: empty where none was reported; told: why it is not whole, in a sentence without its stop; empty where it is.
    """

    text: str
    usage: Usage
    stop: StopKind
    told: str = ""


class CallSpent(msgspec.Struct, frozen=True):
    """Usage of a call as far as it is known, however the call ended.

    Args:
        reported: as the provider said; texts: all that the model wrote, for counting.
        is_whole: the provider ended the reply itself; is_billed: it may bill this call.
        lost: attempts before it whose answers never came.
    """

    reported: Usage
    texts: tuple[str, ...]
    is_whole: bool
    is_billed: bool
    lost: int = 0


class _Arrived:
    """The part of a reply that has come."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.written: list[str] = []
        self.usage, self.stop = Usage(), Stopped(kind=StopKind.COMPLETED)
        self.is_whole, self.is_out, self.lost = False, True, 0

    def add(self, item: StreamItem) -> None:
        match item:
            case TextDelta():
                self.texts.append(item.text)
                self.written.append(item.text)
            case ReasoningDelta():
                self.written.append(item.text)
            case ToolCallReady():
                self.written.append(item.part.arguments_json)
            case UsageUpdate():
                self.usage = item.usage
            case Stopped():
                self.stop = item
                self.is_out = item.is_sent
                self.is_whole = item.kind is not StopKind.CANCELLED

    def failed(self, error: ProviderError) -> None:
        self.lost += error.is_lost

    def spent(self) -> CallSpent:
        is_billed = self.is_out or self.usage != Usage() or bool(self.written)
        return CallSpent(
            reported=self.usage,
            texts=tuple(self.written),
            is_whole=self.is_whole,
            is_billed=is_billed,
            lost=self.lost,
        )


def whole_reply(
    provider: Provider,
    request: ProviderRequest,
    cancel: CancelToken,
    on_spent: Callable[[CallSpent], object] = lambda _spent: None,
    *,
    most_chars: int | None = None,
    read_blob: ReadBlob | None = None,
) -> WholeReply:
    """Send a request, with retries, and wait for the reply.

    Args:
        on_spent: told once how the call ended, also where it fails; most_chars: as for `stream_with_retry`.
        read_blob: reads attachments, None where the request has none.

    Raises:
        ProviderError: as `Provider.stream`; what had arrived is then dropped.
    """
    arrived = _Arrived()
    try:
        for item in stream_with_retry(
            provider,
            request,
            read_blob or no_attachments,
            cancel,
            lambda _attempt, _wait_s, error: arrived.failed(error),
            most_chars=most_chars,
        ):
            arrived.add(item)
    except ProviderError as error:
        arrived.is_out = error.is_lost
        raise
    finally:
        on_spent(arrived.spent())
    kind = arrived.stop.kind
    told = "" if kind in {*WHOLE_REPLY, StopKind.CANCELLED} else told_of(arrived.stop)[0]
    return WholeReply(text="".join(arrived.texts), usage=arrived.usage, stop=kind, told=told)


def warmed(items: Iterable[StreamItem]) -> Usage | None:
    """Usage of a request that asks for no reply, as `Prewarms.prewarm` returns it."""
    usage = Usage()
    for item in items:
        if isinstance(item, UsageUpdate):
            usage = item.usage
        elif isinstance(item, Stopped) and not item.is_sent and usage == Usage():
            return None
    return usage


def no_attachments(sha256: str) -> bytes:
    """Reader for requests without attachments."""
    raise LookupError(sha256)


_WHOLE = "manual_slop.is_whole"
"""Extension of a request: its answer is read to its end before anybody sees of it."""


def http_client(server: ServerSettings, base_url: str) -> httpx2.Client:
    """Make the client that an SDK sends through.

    - A proxy of the environment is used, never for loopback.
    - Time-outs are the settings', whatever the SDK asks for: `connect_timeout_s` to connect and to get a place in the
      pool, `timeout_s` for silence while reading or writing. There is no limit on the whole call.
    - A connection serves one request: people pause for minutes between turns, when a pooled one has gone stale, and
      a cancelled call may then shut its own socket and no one else's.
    - Redirects are not followed to other places: the key would travel along. One within the same server is, once.
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
            response = super().send(request, stream=stream, **options)
            target = _moved(request, response)
            if target is None:
                return response
            response.close()
            again = self.build_request(
                request.method,
                target,
                headers=request.headers,
                content=request.content,
                extensions=request.extensions,
            )
            return super().send(again, stream=stream, **options)

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


_KEPT = frozenset({HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT})
"""Redirects under which a request stays as it is."""


def _moved(request: httpx2.Request, response: httpx2.Response) -> httpx2.URL | None:
    """The other path of the same server to which a request shall go: frameworks send so for a slash at the end of a path."""
    if response.status_code not in _KEPT or not response.has_redirect_location:
        return None
    import httpx2

    old = request.url
    try:
        new = old.join(response.headers["location"])
    except httpx2.InvalidURL:
        return None
    same = (new.scheme, new.host, new.port) == (old.scheme, old.host, old.port)
    return new if same and new != old and not new.userinfo else None


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
    coding = response.headers.get("Content-Encoding", "").strip().lower()
    is_packed = coding in _ZLIB
    if is_packed:
        del response.headers["Content-Encoding"]  # unpacked below, before the SDK looks for it
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
                yield from bounded(_unpacked(stream, coding) if is_packed else stream, patience_s, passed_s)
            except zlib.error as error:
                raise httpx2.DecodingError(str(error)) from error
            except SenselessError as error:
                said = tr("no part of a reply for {patience_s}", patience_s=time_limit(patience_s))
                raise httpx2.ReadTimeout(said) from error
            except (EndlessError, NoReplyError) as error:
                raise httpx2.DecodingError(str(error)) from error

        def close(self) -> None:
            stream.close()

    return Bounded()


_ZLIB = ("gzip", "x-gzip", "deflate")
_UNPACKED_BYTES = 65_536
"""Bytes that are unpacked at once: the bounds of an answer count each piece."""
_GZIP = 0x1F
"""First byte of what gzip packs."""


def _unpacked(pieces: Iterable[bytes], coding: str) -> Iterator[bytes]:
    """The bytes of a body that a server packs although it was asked not to, as they come: of all parts that it packs by
    themselves. Raises zlib.error: they are torn.

    Source: RFC 1952 2.2, "members" of gzip; RFC 9110 8.4.1.2: some servers send deflate without the head of zlib.
    """
    unpacker = None
    for piece in pieces:
        rest = piece
        while rest:
            if unpacker is None:
                has_head = coding != "deflate" or rest[0] == _GZIP or rest[0] & 15 == zlib.DEFLATED
                unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32 if has_head else -zlib.MAX_WBITS)
            elif unpacker.eof:
                if rest[0] != _GZIP:
                    break  # padding
                unpacker = zlib.decompressobj(zlib.MAX_WBITS | 32)
            plain = unpacker.decompress(rest, _UNPACKED_BYTES)
            rest = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if plain:
                yield plain
    if unpacker is not None and (plain := unpacker.flush()):
        yield plain


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
