"""The server: a thread with a loop on a loopback port, and the files that tell where. Imports uvicorn."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

from core.base.errors import StorageError
from core.hooks.address import Address, new_token, own_pid, publish, withdraw
from core.hooks.app import make_app
from core.hooks.connections import Server, config
from core.hooks.guard import Limits
from core.hooks.proof import proof_of
from core.hooks.request import HookDesk

HOST = "127.0.0.1"
START_S = 10.0
STOP_S = 5.0
OWNER_LOOK_S = 1.0
_DEFAULT_LIMITS = Limits()


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
        """Leave the address in the home again once another program that owned it, and left its own, has ended."""
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
            f"The Hook API cannot listen on port {port}: {error.strerror}",
            remedy="Set hooks.port to 0, or to a free port",
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
