"""Guard before every operation: Host, Origin, token, path, size, time and number of requests."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec
from msgspec.structs import replace

from core.front.hooks.fields import RefusedError, encode, error_data
from core.kernel.figures import time_limit
from core.kernel.language import tr

AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
AsgiSend = Callable[[AsgiMessage], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, AsgiSend], Awaitable[None]]

_PLAIN = re.compile(rb"/[A-Za-z0-9._~%!$&'()*+,;=:@/-]*")
_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


IS_PERSON = "manual_slop.is_person"
"""Key of the scope: true where the request carries the approval token."""


class Limits(msgspec.Struct, frozen=True):
    """Limits of requests in size, time and number.

    Args:
        head_s: for the request line and headers; body_s: for the whole body; requests: under way at once.
        connections: open at once, those among them that wait for a request; refusals: whose rest of a body is read.
        linger_s, linger_bytes: what is still read of a body that is refused, so that its sender sees why.
    """

    body_bytes: int = 20_000_000
    path_bytes: int = 2_048
    head_s: float = 10.0
    body_s: float = 20.0
    requests: int = 64
    connections: int = 128
    linger_s: float = 1.0
    linger_bytes: int = 1_000_000
    refusals: int = 16


class Guard:
    """An ASGI app around another.

    Args:
        app: what answers requests that pass; token: what they must carry; hosts: the names they may call us by.
        open_paths: those that need no token; approvals_token: stands in its place and says that a person asks, which
            the scope tells the app under `IS_PERSON`; empty for none.
    """

    def __init__(
        self,
        app: App,
        token: str,
        hosts: Iterable[str],
        limits: Limits,
        open_paths: Iterable[str] = (),
        approvals_token: str = "",
    ) -> None:
        self._app = app
        self._open_paths = frozenset(path.encode() for path in open_paths)
        self._token = f"Bearer {token}".encode()
        self._approvals_token = f"Bearer {approvals_token}".encode() if approvals_token else b""
        self._hosts = frozenset(host.encode() for host in hosts)
        self._limits = limits
        self._under_way = self._refusing = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: AsgiSend) -> None:
        """Answer one request."""
        assert scope["type"] == "http", scope["type"]
        headers: list[tuple[bytes, bytes]] = list(scope["headers"])
        try:
            is_open = scope["raw_path"] in self._open_paths
            scope[IS_PERSON] = self._check_sender(headers, is_open=is_open)
            self._check_path(scope)
            self._check_size(headers)
        except RefusedError as error:
            await self._refuse(error, headers, receive, send)
            return
        self._under_way += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1

    async def _refuse(
        self, error: RefusedError, headers: list[tuple[bytes, bytes]], receive: Receive, send: AsgiSend
    ) -> None:
        """Refuse; the rest of a body is read for a few at once, so that they cannot keep others out."""
        is_one_of_few = self._refusing < self._limits.refusals
        limits = self._limits if is_one_of_few else replace(self._limits, linger_s=0.0)
        self._refusing += 1
        try:
            await refuse(error, headers, receive, send, limits)
        finally:
            self._refusing -= 1

    def _check_sender(self, headers: list[tuple[bytes, bytes]], *, is_open: bool) -> bool:
        """A page in a browser cannot get past these, nor another program without the token. True for a person's."""
        hosts = _all(headers, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise RefusedError(
                403,
                "wrong_host",
                tr("The request's Host header is not the address of the Hook API"),
                tr("Use the address from hook.json in the data folder"),
            )
        if _all(headers, b"origin"):
            raise RefusedError(
                403, "origin", tr("The Hook API refuses requests from web pages"), tr("Send no Origin header")
            )
        tokens = _all(headers, b"authorization")
        token = tokens[0] if len(tokens) == 1 else b""
        is_person = bool(self._approvals_token) and hmac.compare_digest(token, self._approvals_token)
        if not (is_open or is_person or hmac.compare_digest(token, self._token)):
            raise RefusedError(
                401,
                "no_token",
                tr("The token is missing, or belongs to an earlier start"),
                tr("Send `Authorization: Bearer` with the content of hook_token"),
                {"WWW-Authenticate": "Bearer"},
            )
        if self._under_way >= self._limits.requests:
            raise RefusedError(
                503, "too_many", tr("Too many requests are running"), "Wait", {"Retry-After": "1"}
            )
        return is_person

    def _check_path(self, scope: MutableMapping[str, Any]) -> None:
        """A path names one thing in one way: no dots, no doubled, encoded or backward separators."""
        path: bytes = scope["raw_path"]
        if len(path) + len(scope["query_string"]) > self._limits.path_bytes:
            raise RefusedError(414, "long_path", tr("The path is too long"))
        if _PLAIN.fullmatch(path) is None or _BAD_ESCAPE.search(path) or b"//" in path:
            raise _bad_path()
        for part in path.split(b"/"):
            name = unquote_to_bytes(part)
            try:
                text = name.decode()
            except UnicodeDecodeError as error:
                raise _bad_path() from error
            if text in {".", ".."} or any(mark in "/\\" or ord(mark) < 32 or mark == "\x7f" for mark in text):
                raise _bad_path()

    def _check_size(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Refuse by what is announced; what comes in pieces is counted by `read_all`."""
        for length in _all(headers, b"content-length"):
            if not length.isdigit() or len(length) > 15 or int(length) > self._limits.body_bytes:
                raise _too_large(self._limits)


async def read_all(receive: Receive, limits: Limits) -> bytes:
    """The body of a request, whole.

    Raises:
        RefusedError: 413 it is too large, 408 it did not come in time, 400 its sender has gone.
    """
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limits.body_s):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise RefusedError(400, "gone", tr("The request ended before its whole body arrived"))
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if size > limits.body_bytes:
                    raise _too_large(limits)
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError as error:
        raise RefusedError(
            408,
            "slow_body",
            tr("The body did not arrive within {body_s}", body_s=time_limit(limits.body_s)),
            tr("Send the whole body without a pause"),
        ) from error


async def refuse(
    error: RefusedError,
    headers: list[tuple[bytes, bytes]],
    receive: Receive,
    send: AsgiSend,
    limits: Limits,
) -> None:
    """Answer with an error and end the connection; read a little of an unread body, so that the answer is seen."""
    body = encode(error.data)
    names = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    fields = [(n.lower().encode(), v.encode()) for n, v in {**names, **error.headers}.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": fields})
    has_body = bool(_all(headers, b"content-length") or _all(headers, b"transfer-encoding"))
    await send({"type": "http.response.body", "body": body, "more_body": True})
    if has_body and not _all(headers, b"expect"):
        with suppress(TimeoutError):
            await asyncio.wait_for(_drain(receive, limits.linger_bytes), limits.linger_s)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _drain(receive: Receive, most: int) -> None:
    while most > 0:
        message = await receive()
        most -= len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


def not_understood(status: int, code: str, what: str) -> bytes:
    """A whole answer for what never became a request."""
    body = encode(error_data(code, what))
    head = f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    return f"{head}connection: close\r\n\r\n".encode() + body


def _all(headers: list[tuple[bytes, bytes]], wanted: bytes) -> list[bytes]:
    return [value for name, value in headers if name == wanted]


def _bad_path() -> RefusedError:
    return RefusedError(
        400, "bad_path", tr("The path holds dots, separators or characters that no name may have")
    )


def _too_large(limits: Limits) -> RefusedError:
    return RefusedError(
        413,
        "too_large",
        tr("A body may have at most {body_bytes:,} bytes", body_bytes=limits.body_bytes),
        tr("Send a smaller body"),
    )
