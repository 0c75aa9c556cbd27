"""The server: a thread with a loop on a loopback port, and the files that tell where. Imports uvicorn."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from core.base.errors import StorageError
from core.hooks.address import Address, new_token, own_pid, publish, withdraw
from core.hooks.app import make_app
from core.hooks.guard import Limits, not_understood
from core.hooks.proof import proof_of
from core.hooks.request import HookDesk

HOST = "127.0.0.1"
START_S = 10.0
STOP_S = 5.0
LINGER_S = 2
_DEFAULT_LIMITS = Limits()


class HookServer:
    """Serves the Hook API from `start` to `stop`.

    Args:
        desk: what requests share; home: where the address and the token are left; port: 0 for any.
    """

    def __init__(
        self, desk: HookDesk, home: Path, *, port: int = 0, limits: Limits = _DEFAULT_LIMITS
    ) -> None:
        self._desk = desk
        self._home = home
        self._port = port
        self._limits = limits
        self._server: uvicorn.Server | None = None
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hooks", daemon=True)
        self._socket: socket.socket | None = None
        self.address = Address("", own_pid(), new_token())

    def start(self) -> None:
        """Listen, then leave the address and the token in the home.

        Raises:
            StorageError: the port is taken, or the home cannot be written; nothing listens then.
        """
        self._socket = _listening(self._port)
        port = self._socket.getsockname()[1]
        self.address = Address(f"http://{HOST}:{port}", own_pid(), self.address.token)
        token, pid = self.address.token, self.address.pid
        self._desk.prove = lambda nonce: proof_of(token, nonce, port, pid)
        hosts = (f"{HOST}:{port}", f"localhost:{port}")
        app = make_app(self._desk, self.address.token, hosts, self._limits)
        self._server = uvicorn.Server(_config(app, self._limits))
        self._thread.start()
        self._is_up.wait(START_S)
        try:
            publish(self._home, self.address)
        except StorageError:
            self.stop()
            raise

    def stop(self) -> None:
        """Let everybody who waits go, take the files away, end. Idempotent."""
        withdraw(self._home)
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
        await self._server.serve(sockets=[self._socket])


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.bind((HOST, port))
        listening.listen(64)
    except OSError as error:
        listening.close()
        raise StorageError(
            f"The Hook API cannot listen on port {port}: {error.strerror}",
            remedy="Set hooks.port to 0, or to a free port",
            errno=error.errno,
        ) from error
    return listening


def _config(app: Any, limits: Limits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
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
    """Uvicorn's protocol, with a time for heads and errors as JSON."""

    class Protocol(H11Protocol):
        _head_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._await_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._got_head()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._got_head()
            elif self.conn.trailing_data[0] and self._head_timer is None:
                self._await_head()

        def send_400_response(self, msg: str) -> None:
            self._refuse(400, "not_http", msg)

        def _await_head(self) -> None:
            self._head_timer = self.loop.call_later(limits.head_s, self._give_up)

        def _got_head(self) -> None:
            if self._head_timer is not None:
                self._head_timer.cancel()
                self._head_timer = None

        def _give_up(self) -> None:
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self._refuse(408, "slow_head", f"No request arrived within {limits.head_s:g} s")

        def _refuse(self, status: int, code: str, what: str) -> None:
            if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
                self.transport.write(not_understood(status, code, what))
            self.transport.close()

    return Protocol
