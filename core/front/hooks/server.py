"""The server: a thread with a loop on a loopback port, and the files that tell where. Imports uvicorn."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from core.front.hooks.client import Address, new_token, own_pid, proof_of, publish, withdraw
from core.front.hooks.fields import Body, Data, Query, RefusedError, encode, error_data, for_a_person
from core.front.hooks.guard import IS_PERSON, App, Guard, Limits, not_understood, read_all, refuse
from core.front.hooks.operation import (
    Answer,
    HookDesk,
    Operation,
    ProgramFront,
    Request,
    read_body,
    read_query,
    taken,
)
from core.front.hooks.table import operations
from core.kernel.errors import StorageError
from core.kernel.figures import time_limit
from core.kernel.language import in_english, tr

# Connections of the Hook API: how long a head may take, how many may wait, and errors as JSON. Imports
# uvicorn.

AT_ONCE = 32
"""Connections that are taken in one go. Between two goes those that wait too long make room."""

QUEUE = 1_024
"""Connections that the system holds until they are taken."""

LINGER_S = 2

log = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """Uvicorn's server, with a long queue before a narrow door, and one word for each kind of trouble."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        asyncio.get_running_loop().set_exception_handler(_said_once())
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(QUEUE)


def config(app: Any, limits: Limits) -> uvicorn.Config:
    """Settings of uvicorn for an application."""
    return uvicorn.Config(
        app,
        backlog=AT_ONCE,
        http=_protocol(limits),
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=LINGER_S,
    )


def _protocol(limits: Limits) -> type[H11Protocol]:
    """Uvicorn's protocol, with a time for heads, a number of connections, and errors as JSON.

    Whoever comes last is served: where too many are open, the one that has waited longest without a request goes. Those
    that have begun one count by the guard's bounds, and keep nobody out who comes while they are being refused.
    """
    idle: dict[Any, None] = {}

    class Protocol(H11Protocol):
        _head_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._make_room()
            idle[self] = None
            self._await_head()

        def connection_lost(self, exc: Exception | None) -> None:
            idle.pop(self, None)
            self._got_head()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                idle.pop(self, None)
                self._got_head()
            elif self.conn.trailing_data[0] and self._head_timer is None:
                self._await_head()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if (
                self.conn.their_state is h11.SEND_BODY
            ):  # answered unread: what still drips in keeps a place for nothing
                self.transport.close()
            elif self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                idle[self] = None

        def _make_room(self) -> None:
            if len(self.connections) <= limits.connections:
                return
            longest = next(iter(idle), None)
            if (
                longest is None
            ):  # each has a request: of those the guard lets few go on, and ends the others at once
                return
            del idle[longest]
            longest.refuse(503, "too_many", tr("Too many connections are open without a request"))

        def send_400_response(self, msg: str) -> None:
            self.refuse(400, "not_http", msg)

        def _await_head(self) -> None:
            self._head_timer = self.loop.call_later(limits.head_s, self._give_up)

        def _got_head(self) -> None:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

        def _give_up(self) -> None:
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self.refuse(
                    408,
                    "slow_head",
                    tr("No request arrived within {head_s}", head_s=time_limit(limits.head_s)),
                )

        def refuse(self, status: int, code: str, what: str) -> None:
            if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
                self.transport.write(not_understood(status, code, what))
            self.transport.close()

    return Protocol


def _said_once() -> Any:
    """A handler of what goes wrong on the loop: each kind is logged once, not thousands of times a second."""
    said: set[str] = set()

    def handle(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        kind = f"{context.get('message')} {type(context.get('exception')).__name__}"
        if kind not in said:
            said.add(kind)
            log.error("the Hook API has trouble: %s (said once)", kind, exc_info=context.get("exception"))

    return handle


# The application: routes requests to operations and turns what they return into HTTP. Imports starlette.

HttpEndpoint = Callable[[HttpRequest], Awaitable[Response]]
_DEFAULT_LIMITS = Limits()


def make_app(
    desk: HookDesk,
    token: str,
    hosts: tuple[str, ...],
    limits: Limits = _DEFAULT_LIMITS,
    approvals_token: str = "",
) -> Guard:
    """The guarded application.

    Args:
        desk: what requests share; token: what each must carry; hosts: `127.0.0.1:port` and the like.
        approvals_token: a person's, which may stand in its place and do more; empty: nobody has one.
    """
    served = operations(has_clock=desk.clock is not None)
    routes = [_route(desk, operation, limits) for operation in served]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _not_routed})
    app.router.redirect_slashes = False
    open_paths = [operation.path for operation in served if operation.is_open]
    return Guard(cast("App", app), token, hosts, limits, open_paths, approvals_token)


def _route(desk: HookDesk, operation: Operation, limits: Limits) -> Route:
    route = Route(operation.path, _endpoint(desk, operation, limits), methods=[operation.method])
    assert route.methods is not None
    route.methods.discard("HEAD")
    return route


def _endpoint(desk: HookDesk, operation: Operation, limits: Limits) -> HttpEndpoint:
    async def endpoint(request: HttpRequest) -> Response:
        try:
            with in_english():  # the Hook API is a protocol
                _check_person(operation, request)
                return _response(await operation.run(await _read(desk, operation, request, limits)))
        except RefusedError as error:
            return _Refusal(error, limits)
        except Exception:  # the edge of the worker: the next request must still be answered
            log.exception("an operation of the Hook API failed: %s", operation.id)
            return _json(
                500, error_data("broken", tr("The program failed while it answered"), tr("See the log file"))
            )

    return endpoint


def _check_person(operation: Operation, request: HttpRequest) -> None:
    """Raise RefusedError (403) where a program asks for what a person alone may do."""
    if operation.needs_person and not request.scope.get(IS_PERSON, False):
        raise for_a_person()


async def _read(desk: HookDesk, operation: Operation, request: HttpRequest, limits: Limits) -> Request[Any]:
    """The request as the operation takes it. Raises RefusedError."""
    data = b"" if operation.method == "GET" else await read_all(request.receive, limits)
    kind = request.headers.get("content-type", "")
    is_taken = operation.body is not None
    body = read_body(data, kind, is_taken=is_taken, may_be_empty=operation.may_be_empty)
    fields: Body | Query | None = None
    if operation.body is not None:
        fields = taken(operation.body, body)
    elif operation.query is not None:
        fields = read_query(request.query_params.multi_items(), operation.query)
    wants_events = "text/event-stream" in request.headers.get("accept", "")
    names = {name: str(value) for name, value in request.path_params.items()}
    if not request.scope.get(IS_PERSON, False):
        desk = replace(desk, front=ProgramFront(desk.front))
    return Request(desk=desk, names=names, fields=fields, wants_events=wants_events, body=body)


class _Refusal(Response):
    """A refusal that also takes care of the rest of the body."""

    def __init__(self, error: RefusedError, limits: Limits) -> None:
        super().__init__(status_code=error.status)
        self._error = error
        self._limits = limits

    async def __call__(self, scope, receive, send) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
        await refuse(self._error, scope["headers"], receive, send, self._limits)


def _response(answer: Answer) -> Response:
    headers = {"Cache-Control": "no-store", **answer.headers}
    if answer.events is not None:
        return StreamingResponse(answer.events, media_type="text/event-stream", headers=headers)
    if isinstance(answer.data, bytes):
        return Response(answer.data, media_type="image/png", headers=headers)
    assert answer.data is not None
    return _json(answer.status, answer.data, headers)


def _json(status: int, data: Data, headers: Mapping[str, str] | None = None) -> Response:
    return Response(encode(data), status, dict(headers or {}), media_type="application/json")


async def _not_routed(_request: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "not_found", 405: "wrong_method"}.get(error.status_code, "refused")
    what = {404: tr("This path does not exist"), 405: tr("This path does not take that method")}.get(
        error.status_code, error.detail
    )
    data = error_data(code, what, tr("See docs/openapi.json"))
    return _json(error.status_code, data, {**(error.headers or {}), "Connection": "close"})


HOST = "127.0.0.1"
START_S = 10.0
STOP_S = 5.0
OWNER_LOOK_S = 1.0


class HookServer:
    """Serves the Hook API from `start` to `stop`.

    Args:
        desk: what requests share; home: where the address and the token are left; port: 0 for any.
        approvals_token: a person's, kept nowhere but here; empty: nobody approves over HTTP.
    """

    def __init__(
        self,
        desk: HookDesk,
        home: Path,
        *,
        port: int = 0,
        limits: Limits = _DEFAULT_LIMITS,
        approvals_token: str = "",
    ) -> None:
        self._desk = desk
        self._home = home
        self._port = port
        self._limits = limits
        self._approvals_token = approvals_token
        self._server: Server | None = None
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hooks", daemon=True)
        self._socket: socket.socket | None = None
        self.address = Address(url="", pid=own_pid(), token=new_token())

    def start(self) -> None:
        """Listen, then leave the address and the token in the data folder.

        Raises:
            StorageError: the port is taken, or the data folder cannot be written; nothing listens then.
        """
        self._socket = _listening(self._port)
        port = self._socket.getsockname()[1]
        self.address = Address(url=f"http://{HOST}:{port}", pid=own_pid(), token=self.address.token)
        token, pid = self.address.token, self.address.pid
        self._desk.prove = lambda nonce: proof_of(token, nonce, port, pid)
        hosts = (f"{HOST}:{port}", f"localhost:{port}")
        app = make_app(self._desk, self.address.token, hosts, self._limits, self._approvals_token)
        self._server = Server(config(app, self._limits))
        self._thread.start()
        self._is_up.wait(START_S)
        try:
            publish(self._home, self.address)
        except StorageError:
            self.stop()
            raise

    def stop(self) -> None:
        """Let everybody who waits go, take the files away, end. Idempotent."""
        withdraw(self._home, self.address)
        self._desk.watch.close()
        if self._server is not None:
            self._server.should_exit = True
            self._thread.join(STOP_S)
            self._server = None
        if self._socket is not None:
            self._socket.close()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        assert self._server is not None
        assert self._socket is not None
        self._desk.watch.start()
        self._is_up.set()
        again = asyncio.create_task(self._publish_again())
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            again.cancel()

    async def _publish_again(self) -> None:
        """Leave the address in the data folder again once another program that owned it, and left its own, has ended."""
        was = ""
        while True:
            await asyncio.sleep(OWNER_LOOK_S)
            holder = self._desk.front.snapshot().program.holder
            if was and not holder:
                with suppress(StorageError):
                    publish(self._home, self.address)
            was = holder


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        _claim(listening)
        listening.bind((HOST, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        raise StorageError(
            tr("The Hook API cannot listen on port {port}: {strerror}", port=port, strerror=error.strerror),
            remedy=tr("Set hooks.port to 0, or to a free port"),
            errno=error.errno,
        ) from error
    return listening


def _claim(listening: socket.socket) -> None:
    """Let a fixed port be taken again at once after a kill, and by nobody else while we have it.

    On POSIX the option takes what a dead connection still holds, never from one that listens. On Windows it would take
    from one that listens: there the port is claimed for us alone. Source: socket(7); Microsoft "Using SO_REUSEADDR and
    SO_EXCLUSIVEADDRUSE" (read 2026-11).
    """
    if sys.platform == "win32":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
