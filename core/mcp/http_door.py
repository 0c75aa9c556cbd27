"""The way of the host to MCP servers over HTTP: bounded answers, addresses judged, faults told as answers in words."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import Any

import httpx2

from core.kernel import figures
from core.kernel.codecs import read_json
from core.kernel.frame import flat, one_line
from core.kernel.web_addresses import is_public
from core.mcp.bounds import MOST_MESSAGE_BYTES, MOST_PARTS, has_too_many_parts, marks_in

CONNECT_S, SILENCE_S = 10.0, 300.0
_MOST_FAULT_BYTES = 64_000
_SHOWN_BYTES, _SHOWN_CHARS = 400, 80
_OWN_FAULT = -32000


Resolve = Callable[[str, int], Awaitable[list[str]]]


async def _resolved(host: str, port: int) -> list[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


def http_client(bearer: str, proxy: str, *, may_reach_own: bool) -> tuple[httpx2.AsyncClient, HttpDoor]:
    """Make the client that the SDK sends through, with its door. Redirects are the SDK's matter: it stays on the origin.

    Raises:
        ValueError, ImportError: the proxy cannot be used.
    """
    door = HttpDoor(
        httpx2.AsyncHTTPTransport(trust_env=False, proxy=proxy or None), may_reach_own=may_reach_own
    )
    headers = {"Accept-Encoding": "identity"}
    if bearer:
        headers["Authorization"] = f"Bearer {bearer}"
    timeout = httpx2.Timeout(CONNECT_S, read=SILENCE_S)
    return httpx2.AsyncClient(transport=door, headers=headers, timeout=timeout, trust_env=False), door


class HttpDoor(httpx2.AsyncBaseTransport):
    """Transport that answers a fault of the way, or a status without the protocol's words, with an error of the protocol.

    The SDK ends its whole connection over an exception, and says of a status no more than that it is one.

    Args:
        inner: the way to the net; may_reach_own: this machine and its network may be connected to.
        resolve: IP addresses of a host; raises OSError.
    """

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, *, may_reach_own: bool, resolve: Resolve | None = None
    ) -> None:
        self._inner = inner
        self._resolve = resolve or _resolved
        self._may_reach_own = may_reach_own
        self.session_over = asyncio.Event()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request. Raises what the inner transport does for a stream that only listens."""
        had_session = "mcp-session-id" in request.headers
        try:
            response = await self._inner.handle_async_request(
                request if self._may_reach_own else await self._pinned(request)
            )
        except httpx2.TimeoutException:
            return self._told(request, "it did not answer in time")
        except (httpx2.TransportError, OSError) as error:
            return self._told(request, f"it cannot be reached ({str(error) or type(error).__name__})")
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            return self._told(request, "its answer is packed, which was not asked for")
        response.stream = _Bounded(response.stream, MOST_MESSAGE_BYTES)
        if request.method != "POST":
            return response
        if response.is_redirect:
            return response
        if response.status_code < 400:
            return await self._answering(request, response)
        if had_session and response.status_code == HTTPStatus.NOT_FOUND:
            self.session_over.set()
        return await self._with_words(request, response)

    async def aclose(self) -> None:
        """Close the way."""
        await self._inner.aclose()

    async def _pinned(self, request: httpx2.Request) -> httpx2.Request:
        """The request to an address that was judged: a name may lead elsewhere at the next question.

        A request of its own, since the client judges redirects by the one that it sent.
        """
        host, port = request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80)
        addresses = await self._resolve(host, port)
        if not addresses or not all(map(is_public, addresses)):
            raise httpx2.ConnectError(
                f"{host} is a machine of this network, where a project's server may not be"
            )
        return httpx2.Request(
            request.method,
            request.url.copy_with(host=addresses[0]),
            headers=request.headers,  # Host as it was written
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": host},
        )

    async def _answering(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """An answer that is one message, where that answers what was asked; else a fault in words.

        Nothing else comes after it, and the SDK would wait for an answer until its time is over.
        """
        number = _asked_id(request)
        is_json = response.headers.get("content-type", "").lower().startswith("application/json")
        if number is None or not is_json:
            return response
        try:
            body = await response.aread()
        except (httpx2.TransportError, httpx2.StreamError) as error:
            return self._told(request, str(error) or "its answer broke off")
        finally:
            await response.aclose()
        problem = _fault_of(body, number)
        if problem:
            return self._told(request, problem)
        return httpx2.Response(response.status_code, headers=response.headers, content=body, request=request)

    async def _with_words(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """A status that tells of a fault, with the server's error in the protocol's form or ours."""
        body = b""
        try:
            body = await response.aread()
            said = read_json(body[:_MOST_FAULT_BYTES])
        except (httpx2.HTTPError, ValueError, RecursionError):
            said = None
        finally:
            await response.aclose()
        if isinstance(said, dict) and isinstance(said.get("error"), dict) and "jsonrpc" in said:
            return httpx2.Response(
                response.status_code,
                headers={"content-type": "application/json"},
                content=body,
                request=request,
            )
        return self._told(request, _status_words(response.status_code), response.status_code)

    def _told(
        self, request: httpx2.Request, problem: str, status: int = HTTPStatus.BAD_GATEWAY
    ) -> httpx2.Response:
        error: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "error": {"code": _OWN_FAULT, "message": problem}}
        headers = {"content-type": "application/json"}
        return httpx2.Response(status, headers=headers, content=json.dumps(error).encode(), request=request)


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error where it is over its bound in bytes, or in values of JSON."""

    def __init__(self, inner: Any, most_bytes: int) -> None:
        self._inner = inner
        self._most_bytes = most_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._most_bytes
        parts: list[bytes] = []
        marks, next_look = 0, MOST_PARTS
        async for part in self._inner:
            left -= len(part)
            if left < 0:
                raise httpx2.StreamError(f"its answer is over {figures.size(self._most_bytes)}")
            parts.append(part)
            marks += marks_in(part)
            if marks > next_look:
                next_look = 2 * marks
                if has_too_many_parts(b"".join(parts)):
                    raise httpx2.StreamError(f"its answer has more than {MOST_PARTS:,} values")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


def _asked_id(request: httpx2.Request) -> int | str | None:
    """Id of the request of the protocol in a body, None where it asks for no answer."""
    try:
        said = read_json(request.content)
    except (httpx2.RequestNotRead, ValueError, RecursionError):
        return None
    return said.get("id") if isinstance(said, dict) and "method" in said else None


def _fault_of(body: bytes, number: int | str) -> str:
    """Reason why a message is no answer to the request of this id, empty where it is one. An error that names no request
    (the server could not read its id) says what it says.
    """
    try:
        said = read_json(body)
    except (ValueError, RecursionError):
        said = None
    fault = said.get("error") if isinstance(said, dict) and said.get("id") is None else None
    if isinstance(fault, dict) and isinstance(fault.get("message"), str):
        return str(fault["message"]) or "it refused, without a word"
    is_answer = isinstance(said, dict) and "method" not in said and str(said.get("id")) == str(number)
    if is_answer and isinstance(said, dict) and ("result" in said or "error" in said):
        return ""
    shown = one_line(flat(body[:_SHOWN_BYTES].decode("utf-8", "replace")), _SHOWN_CHARS)
    return f"its answer is not of the protocol: {shown!r}" if shown else "it answered without a word"


def _status_words(status: int) -> str:
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"it wants another key (status {status}): set the entry of the keyring that its `key` names"
    if status == HTTPStatus.NOT_FOUND:
        return "it knows no such address or session (status 404)"
    try:
        phrase = f" {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    return f"it answered with status {status}{phrase}"
