"""Talks to a running program through its Hook API: what a command beside a window uses. Standard library only."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import os
import platform
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from core.app.home import owner
from core.kernel import paths
from core.kernel.codecs import read_json
from core.kernel.disk import reported, write_file
from core.kernel.errors import SlopError, StorageError
from core.kernel.language import tr
from core.kernel.opener import read_file

# The two files by which other programs of the same person find the Hook API: its address and its token.


class Address(msgspec.Struct, frozen=True):
    """Address of a running program, and the token that every request to it needs."""

    url: str
    pid: int
    token: str

    def __repr__(self) -> str:
        return f"Address(url={self.url!r}, pid={self.pid}, token=<hidden>)"

    def __rich_repr__(self) -> list[tuple[str, str]]:
        return [("url", self.url)]


def new_token() -> str:
    """A fresh token: 256 bits, safe in a header."""
    return secrets.token_urlsafe(32)


def publish(home: Path, address: Address) -> None:
    """Write the token (mode 0600), then the address: who finds the address finds its token.

    Raises:
        StorageError: neither file is left.
    """
    token_file = home / paths.HOOK_TOKEN_FILE
    try:
        with reported("replace", token_file):
            token_file.unlink(missing_ok=True)  # never follow a link with a secret
        write_file(token_file, address.token.encode(), mode=0o600)
        data = json.dumps({"pid": address.pid, "url": address.url}, sort_keys=True)
        write_file(home / paths.HOOK_FILE, data.encode(), mode=0o600)
    except BaseException:
        withdraw(home, address)
        raise


def withdraw(home: Path, address: Address) -> None:
    """Remove both files, but not those of a program that owns the data folder by now.

    What cannot be removed is of no use: its token ends with the program.
    """
    left = find(home)
    if left is not None and (left.pid, left.token) != (address.pid, address.token):
        return
    for name in (paths.HOOK_FILE, paths.HOOK_TOKEN_FILE):
        with suppress(OSError):
            (home / name).unlink()


def find(home: Path) -> Address | None:
    """The address that a program wrote into the data folder, None if there is none. That program may have been killed."""
    try:
        data = read_json(read_file(home / paths.HOOK_FILE))
        token = read_file(home / paths.HOOK_TOKEN_FILE).decode("ascii").strip()
        url, pid = data["url"], data["pid"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    is_sound = isinstance(url, str) and url.startswith("http://127.0.0.1:") and type(pid) is int
    return Address(url=url, pid=pid, token=token) if is_sound and token else None


def own_pid() -> int:
    """The process that listens."""
    return os.getpid()


HELLO_PATH = "/api/hello"
MOST_HELLO_BYTES = 4_096
KNOCK_S = 2.0
"""Longest wait for a program's proof, and for its status: what else can be done goes on without it."""
WAIT_S = 60.0

StreamEvent = tuple[str, dict[str, Any]]


# Proof that whoever listens on a port is the program that left the token: both sides of it.

NONCE_BYTES = 24
_PURPOSE = "manual-slop hello v1"


def new_nonce() -> str:
    """A fresh question: 192 bits, in hexadecimal digits."""
    return secrets.token_hex(NONCE_BYTES)


def proof_of(token: str, nonce: str, port: int, pid: int) -> str:
    """Answer to a question, which only a holder of the token can give.

    Port and process are the answerer's own: an answer that was fetched from a program on another port proves nothing.

    Args:
        nonce: as it was asked; port, pid: of the program that answers.

    Returns:
        HMAC-SHA256 under the token, 64 hexadecimal digits.
    """
    said = "\n".join((_PURPOSE, nonce, str(port), str(pid)))
    return hmac.new(token.encode(), said.encode(), hashlib.sha256).hexdigest()


def is_proof(given: object, token: str, nonce: str, port: int, pid: int) -> bool:
    """True if an answer is that of the program that holds the token, in constant time."""
    if not isinstance(given, str) or not given.isascii():
        return False
    return hmac.compare_digest(given, proof_of(token, nonce, port, pid))


class HookError(SlopError):
    """The program refused a request, or hung up.

    Args:
        status: HTTP status, 0 where no answer came; code: the refusal's stable word.
    """

    def __init__(self, what: str, remedy: str = "", *, status: int = 0, code: str = "") -> None:
        super().__init__(what, remedy=remedy)
        self.status = status
        self.code = code


class HookClient:
    """Requests to one program. Each on a connection of its own, over which the program has first proven who it is.

    Args:
        address: from `find`; timeout_s: longest silence; knock_s: longest wait for the proof, None: `KNOCK_S`.
    """

    def __init__(self, address: Address, timeout_s: float = WAIT_S, knock_s: float | None = None) -> None:
        parts = urlsplit(address.url)
        assert parts.hostname is not None
        self._host, self._port = parts.hostname, parts.port
        self._address = address
        self.timeout_s = timeout_s
        self._knock_s = knock_s

    def get(self, path: str) -> Any:
        """The answer's data. Raises HookError."""
        return self._data("GET", path, None)

    def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """The answer's data. Raises HookError."""
        return self._data("POST", path, body)

    def act(self, panel: str, action: str, **fields: Any) -> None:
        """Send a command of a panel. Raises HookError."""
        self.post("/api/ui", {"panel": panel, "action": action, **fields})

    def events(self, path: str, body: dict[str, Any]) -> Iterator[StreamEvent]:
        """Server-sent events, as they come. Raises HookError."""
        connection, answer = self._open("POST", path, body, "text/event-stream")
        try:
            name = ""
            while line := answer.readline():
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, read_json(value)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise HookError(tr("The running Manual Slop stopped answering: {error}", error=error)) from error
        finally:
            connection.close()

    def _data(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        connection, answer = self._open(method, path, body, "application/json")
        try:
            return read_json(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise HookError(
                tr("The running Manual Slop did not answer in JSON: {error}", error=error)
            ) from error
        finally:
            connection.close()

    def _open(
        self, method: str, path: str, body: dict[str, Any] | None, accept: str
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=self.timeout_s)
        headers = {"Authorization": f"Bearer {self._address.token}", "Accept": accept}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.connect()
            connection.auto_open = 0  # nothing goes over another connection than the one that is proven
            self._check_peer(connection)
            connection.request(method, quote(path, safe="/%"), data, headers)
            answer = connection.getresponse()
            if answer.status >= http.client.BAD_REQUEST:
                raise _refusal(answer.status, answer.read())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise HookError(tr("The running Manual Slop does not answer: {error}", error=error)) from error
        except HookError:
            connection.close()
            raise
        return connection, answer

    def _check_peer(self, connection: http.client.HTTPConnection) -> None:
        """Have the program that listens prove that it is the one of the address, within the time for a knock.

        Raises:
            HookError: it is another. Neither the token nor anything of the person has been sent.
        """
        nonce = new_nonce()
        timer = threading.Timer(_knock_s(self._knock_s), _shut, (connection,))
        timer.daemon = True
        timer.start()
        try:
            connection.request("GET", f"{HELLO_PATH}?nonce={nonce}", headers={"Accept": "application/json"})
            answer = connection.getresponse()
            body = answer.read(MOST_HELLO_BYTES)
        finally:
            timer.cancel()
        try:
            given = read_json(body)["proof"]
        except (ValueError, LookupError, TypeError, RecursionError):
            given = None
        assert self._port is not None
        if not is_proof(given, self._address.token, nonce, self._port, self._address.pid):
            raise HookError(
                tr("Another program listens at the address of Manual Slop"),
                remedy=tr("Start Manual Slop again; nothing was sent"),
                code="not_proven",
            )


def _knock_s(wanted_s: float | None) -> float:
    return KNOCK_S if wanted_s is None else wanted_s


def _shut(connection: http.client.HTTPConnection) -> None:
    with suppress(OSError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)


def _refusal(status: int, body: bytes) -> HookError:
    try:
        found = read_json(body)["error"]
        return HookError(found["message"], found["remedy"], status=status, code=found["code"])
    except (ValueError, LookupError, TypeError):
        return HookError(
            tr("The running Manual Slop answered with HTTP status {status}", status=status), status=status
        )


def connect(home: Path) -> tuple[HookClient, dict[str, Any]] | None:
    """The program that runs on a data folder with its Hook API on, and its status.

    Returns:
        None where none runs, its API is off, it is too busy to answer, or somebody else listens where a killed program did.
    """
    try:
        return reach(home)
    except HookError:
        return None


def reach(home: Path, knock_s: float | None = None) -> tuple[HookClient, dict[str, Any]] | None:
    """As `connect`, for what only the running program can do: one that is busy is waited for.

    Args:
        knock_s: longest wait for its proof and for its status, None: `KNOCK_S`.

    Raises:
        HookError: a program owns the data folder and left an address, and does not answer there in time.
    """
    address = find(home)
    if address is None or not _is_of_owner(home, address):
        return None
    client = HookClient(address, _knock_s(knock_s), knock_s)
    status: dict[str, Any] = client.get("/api/status")
    client.timeout_s = WAIT_S
    return client, status


def _is_of_owner(home: Path, address: Address) -> bool:
    """True if the process that left the address owns the data folder now: a killed one holds no lock."""
    try:
        holder = owner(home)
    except StorageError:
        return False
    return holder is not None and (holder.pid, holder.host) == (address.pid, platform.node())
