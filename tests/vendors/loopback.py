"""A real HTTP server on loopback, the base of every vendor's: captured requests and scripted faults.

The vendors' servers know nothing of the program: they follow the vendors' documents.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

from tests.patience import PATIENCE_S

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Captured:
    """A request as it came in. Header names are lower case; `body` is the very bytes.

    `peer_port` tells connections apart.
    """

    method: str
    path: str
    query: Mapping[str, tuple[str, ...]]
    headers: Mapping[str, str]
    body: bytes
    peer_port: int = 0

    @property
    def json(self) -> Json:
        """The body as an object, empty where it is none."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamReply:
    """An answer in parts; each is written, flushed and one chunk on the wire.

    `on_begin` is called when the first part is about to go out.
    """

    parts: Iterator[bytes]
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    on_begin: Callable[[], None] = lambda: None


def json_reply(status: int, body: object, headers: Mapping[str, str] | None = None) -> Reply:
    """An answer in JSON, compact as the vendors send it."""
    data = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    return Reply(status, data, {"content-type": "application/json", **(headers or {})})


def count_tokens(text: str) -> int:
    """A token for four bytes, in what a stand-in of a model says: any fixed rule will do."""
    return (len(text.encode()) + 3) // 4


SMALL_PIECES, GROWTH = 20, 20


def pieces(text: str, size: int) -> list[str]:
    """A text as it is streamed: 20 pieces of `size` characters, the rest in pieces twenty times as long.

    What a client does with small ones shows in the first; each of thousands would pass ten layers to show it again.
    """
    head, large = size * SMALL_PIECES, size * GROWTH
    starts = [*range(0, min(head, len(text)), size), *range(head, len(text), large)]
    return [text[start : start + (size if start < head else large)] for start in starts]


class Gate:
    """Something that a server waits at until the test opens it, or until the client leaves."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.client_left = threading.Event()
        self._go = threading.Event()

    def open(self) -> None:
        """Let the server go on, now and at every later wait."""
        self._go.set()

    def wait(self, connection: socket.socket) -> bool:
        """Wait for `open`. Returns False where the client left instead."""
        threading.Thread(target=self._watch, args=(connection,), daemon=True).start()
        self.reached.set()
        self._go.wait(PATIENCE_S)
        return not self.client_left.is_set()

    def _watch(self, connection: socket.socket) -> None:
        try:
            has_left = not connection.recv(1, socket.MSG_PEEK)
        except OSError:
            has_left = True
        if has_left and not self._go.is_set():
            self.client_left.set()
            self._go.set()


@dataclass(frozen=True, slots=True)
class Answer:
    """Instead of the vendor's answer: this one, whatever was asked."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Silent:
    """No answer at all until the gate opens; the client may leave before."""

    gate: Gate


@dataclass(frozen=True, slots=True)
class HangUp:
    """Close the connection without a byte."""


@dataclass(frozen=True, slots=True)
class DropAfter:
    """Send so many parts of the stream, then cut the connection (no last chunk)."""

    parts: int


@dataclass(frozen=True, slots=True)
class DropAfterBytes:
    """Send so many bytes of the stream, in the middle of an event where it falls so, then cut the connection."""

    size: int


@dataclass(frozen=True, slots=True)
class EndAfter:
    """Send so many parts, then end the body properly, although the vendor's last event is missing."""

    parts: int


@dataclass(frozen=True, slots=True)
class InsertAfter:
    """Send so many parts, then these bytes, then end the body (an error event, garbage)."""

    parts: int
    data: bytes


@dataclass(frozen=True, slots=True)
class HoldAfter:
    """Send so many parts, wait at the gate, then the rest."""

    parts: int
    gate: Gate


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Change each part on its way (to leave out fields of the usage, say)."""

    change: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Heard:
    """A request that asked a model to speak and was not refused.

    Args:
        body: as the vendor reads it, the model's name and stored contents included; at_s: by the server's clock.
        is_second: it comes in the place of one that the vendor refused.
    """

    body: Json
    at_s: float
    is_second: bool = False


Fault = Answer | Silent | HangUp | DropAfter | DropAfterBytes | EndAfter | InsertAfter | HoldAfter | Rewrite


class _Http(ThreadingHTTPServer):
    """Says nothing of clients that leave between two requests: that is their right."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class LoopbackServer:
    """Serves on 127.0.0.1 from `with` to its end. Vendors override `answer`.

    Attributes:
        started: all of this process, the newest last; the prefix guard of the tests takes them.
        requests: every request, in the order of arrival.
        heard: those that a model was to answer, in the order in which the vendor took them.
        faults: taken from the left, one for each request that `is_faultable`; empty: behave.
    """

    started: ClassVar[list[LoopbackServer]] = []

    def __init__(self) -> None:
        self.requests: list[Captured] = []
        self.heard: list[Heard] = []
        self._has_refused = False
        self.faults: deque[Fault] = deque()
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.serve(self)

            do_POST = do_PATCH = do_DELETE = do_GET  # noqa: N815 - names that the standard library calls

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Keep quiet."""

        self._http = _Http(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        LoopbackServer.started.append(self)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Json]:
        """The JSON bodies of the requests that ask a model to speak."""
        return [captured.json for captured in self.requests if self.is_faultable(captured)]

    def answer(self, captured: Captured) -> Reply | StreamReply:
        """What the vendor answers. Overridden."""
        raise NotImplementedError

    def heard_body(self, captured: Captured) -> Json | None:
        """The body of a request as the vendor's cache reads it, None where nothing of it is kept. Overridden."""
        return None

    def now_s(self) -> float:
        """Seconds since the epoch by the server's clock."""
        return time.time()

    def is_faultable(self, captured: Captured) -> bool:
        """Whether scripted faults meet this request: those that ask a model to speak."""
        return captured.method == "POST"

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        """Capture the request and answer it, or do what the script says instead."""
        captured = _capture(handler)
        with self._lock:
            self.requests.append(captured)
            faultable = bool(self.faults) and self.is_faultable(captured)
            fault = self.faults.popleft() if faultable else None
        try:
            self._serve(handler, captured, fault)
        except OSError:
            handler.close_connection = True  # the client left

    def _serve(self, handler: BaseHTTPRequestHandler, captured: Captured, fault: Fault | None) -> None:
        match fault:
            case Answer(reply):
                self._has_refused = reply.status != 200
                _send(handler, reply)
                return
            case HangUp():
                _cut(handler)
                return
            case Silent(gate) if not gate.wait(handler.connection):
                _cut(handler)
                return
            case _:
                pass
        answer = self.answer(captured)
        if answer.status != 200 and self.is_faultable(captured):
            self._has_refused = True
        if isinstance(answer, Reply):
            self._note(captured, answer)
            _send(handler, answer)
        else:
            _stream(handler, answer, fault, lambda: self._note(captured, answer))

    def _note(self, captured: Captured, answer: Reply | StreamReply) -> None:
        """The answer begins: what was asked is in the vendor's cache."""
        body = self.heard_body(captured) if answer.status == 200 and self.is_faultable(captured) else None
        if body:
            self.heard.append(Heard(body, self.now_s(), is_second=self._has_refused))
            self._has_refused = False


def _capture(handler: BaseHTTPRequestHandler) -> Captured:
    parts = urlsplit(handler.path)
    return Captured(
        handler.command,
        parts.path,
        {name: tuple(values) for name, values in parse_qs(parts.query, keep_blank_values=True).items()},
        {name.lower(): value for name, value in handler.headers.items()},
        _read_body(handler),
        handler.client_address[1],
    )


def _read_body(handler: BaseHTTPRequestHandler) -> bytes:
    if handler.headers.get("transfer-encoding", "").lower() != "chunked":
        return handler.rfile.read(int(handler.headers.get("content-length") or 0))
    parts = []
    while size := int(handler.rfile.readline().split(b";")[0], 16):
        parts.append(handler.rfile.read(size))
        handler.rfile.readline()
    handler.rfile.readline()
    return b"".join(parts)


def _send(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    _send_head(handler, reply)
    handler.send_header("content-length", str(len(reply.body)))
    handler.end_headers()
    handler.wfile.write(reply.body)


def _send_head(
    handler: BaseHTTPRequestHandler, reply: Reply | StreamReply, usual: Mapping[str, str] | None = None
) -> None:
    handler.send_response_only(reply.status)
    headers = {"date": handler.date_time_string(), **(usual or {}), **reply.headers}
    for name, value in headers.items():
        handler.send_header(name, value)


def _stream(
    handler: BaseHTTPRequestHandler, reply: StreamReply, fault: Fault | None, on_begin: Callable[[], None]
) -> None:
    _send_head(handler, reply, {"content-type": "text/event-stream; charset=utf-8"})
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    handler.wfile.flush()
    sent = 0
    for number, whole in enumerate(reply.parts):
        part = fault.change(whole) if isinstance(fault, Rewrite) else whole
        match fault:
            case DropAfter(parts) if number == parts:
                _cut(handler)
                return
            case EndAfter(parts) if number == parts:
                break
            case InsertAfter(parts, data) if number == parts:
                _chunk(handler, data)
                break
            case HoldAfter(parts, gate) if number == parts and not gate.wait(handler.connection):
                _cut(handler)
                return
            case DropAfterBytes(size) if sent + len(part) > size:
                _chunk(handler, part[: size - sent])
                _cut(handler)
                return
            case _:
                pass
        if number == 0:
            reply.on_begin()
            on_begin()
        _chunk(handler, part)
        sent += len(part)
    handler.wfile.write(b"0\r\n\r\n")
    handler.wfile.flush()


def _chunk(handler: BaseHTTPRequestHandler, data: bytes) -> None:
    if data:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        handler.wfile.flush()


def _cut(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)
