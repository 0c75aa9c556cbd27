"""One call under way, pumped on a thread of its own so that a cancel is felt at once and closes its sockets."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import SimpleQueue

from core.providers.door import sound_item
from core.providers.protocol import CancelToken
from core.values.provider import StopKind, Stopped, StreamItem


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


def run_call(
    produce: Callable[[], Iterator[StreamItem]], cancel: CancelToken, *, is_sent: bool = False
) -> Iterator[StreamItem]:
    """Run a provider's blocking iterator on its own thread and yield what it yields, through the typed door.

    When cancelled, whatever the call is doing (resolving a name, connecting, waiting for the first byte, reading):
    what had arrived is yielded, then `Stopped(CANCELLED)`, at once. The thread ends when its sockets are closed.

    Args:
        is_sent: the request has left already, by another way than the HTTP client's.

    Raises:
        Whatever `produce` raises, and ProviderError where an item is none.
    """
    if cancel.is_cancelled:
        yield Stopped(StopKind.CANCELLED, is_sent=is_sent)
        return
    call = Call(is_sent=is_sent)
    queue: SimpleQueue[StreamItem | BaseException | None] = SimpleQueue()
    threading.Thread(target=_pump, args=(produce, call, queue), name="provider-call", daemon=True).start()
    cancel.on_cancel(call.close)
    cancel.on_cancel(lambda: queue.put(Stopped(StopKind.CANCELLED, is_sent=call.is_sent)))
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                item = _cancelled_or_raise(item, cancel, call)
            yield item
            if isinstance(item, Stopped):
                return
    finally:
        call.close()


def _pump(
    produce: Callable[[], Iterator[StreamItem]],
    call: Call,
    queue: SimpleQueue[StreamItem | BaseException | None],
) -> None:
    _CURRENT.set(call)
    try:
        for item in produce():
            queue.put(sound_item(item))
        queue.put(None)
    except Exception as error:  # noqa: BLE001 - the edge of this thread: the reader raises it
        queue.put(error)
    finally:
        call.release()


def _cancelled_or_raise(error: BaseException, cancel: CancelToken, call: Call) -> Stopped:
    """A call whose sockets a cancel closed fails in some way: that is no failure."""
    if cancel.is_cancelled:
        return Stopped(StopKind.CANCELLED, is_sent=call.is_sent)
    raise error


def _shut_down(sock: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
