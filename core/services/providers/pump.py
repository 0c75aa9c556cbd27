"""One call under way, pumped on a thread of its own so that a cancel is felt at once and closes its sockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import SimpleQueue

import msgspec

from core.kernel.errors import ProviderError
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
from core.kernel.values.usage import Usage
from core.services.providers.door import sound_item
from core.services.providers.endings import told_of
from core.services.providers.failures import stream_with_retry
from core.services.providers.protocol import CancelToken, Provider, ReadBlob


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
