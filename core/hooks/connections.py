"""Connections of the Hook API: how long a head may take, how many may wait, and errors as JSON. Imports uvicorn."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from core.base.figures import time_limit
from core.hooks.guard import Limits, not_understood

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
            longest.refuse(503, "too_many", "Too many connections wait for their request")

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
                self.refuse(408, "slow_head", f"No request arrived within {time_limit(limits.head_s)}")

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
