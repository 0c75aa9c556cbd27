"""A loopback IRC server over TLS: lets one in, says what a test wants, hangs up when it is told to."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from tests.certificates import make_certificate
from tests.patience import PATIENCE_S


class IrcServer:
    """One client at a time. `heard`: the lines that clients sent.

    Args:
        folder: for its certificate.
    """

    def __init__(self, folder: Path) -> None:
        self.certificate, key = make_certificate(folder)
        self.heard: SimpleQueue[str] = SimpleQueue()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(self.certificate, key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._client: ssl.SSLSocket | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def say(self, data: bytes) -> None:
        """Send bytes as they are to the client that is in."""
        assert self._client is not None
        self._client.sendall(data)

    def hang_up(self) -> None:
        """Close the connection of the client that is in."""
        assert self._client is not None
        self._client.shutdown(socket.SHUT_RDWR)

    def until(self, start: str) -> str:
        """The next line that begins so."""
        while not (line := self.heard.get(timeout=PATIENCE_S)).startswith(start):
            pass
        return line

    def close(self) -> None:
        """Take no more."""
        with suppress(OSError):  # else a wait for the next one goes on
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                plain, _ = self._listener.accept()
            except OSError:
                return
            try:
                with self._context.wrap_socket(plain, server_side=True) as client:
                    self._client = client
                    self._talk(client)
            except OSError:
                continue

    def _talk(self, client: ssl.SSLSocket) -> None:
        with client.makefile("rb") as lines:
            for raw in lines:
                line = raw.decode().rstrip("\r\n")
                if line.startswith("USER"):
                    client.sendall(b":irc.example 001 slop :Welcome\r\n")
                if line.startswith("JOIN"):
                    client.sendall(b":irc.example 366 slop #ops :End\r\n")
                self.heard.put(line)
