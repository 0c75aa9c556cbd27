"""The way to servers over HTTP: where a project's may lead, and faults in the words of the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import httpx2
import pytest

from core.mcp.bounds import MOST_PARTS
from core.mcp.http_door import HttpDoor


class Net(httpx2.AsyncBaseTransport):
    """A net that notes what reaches it, and answers as it was told."""

    def __init__(self, status: int = 200, body: bytes = b"{}", **headers: str) -> None:
        self.answer = (status, body, headers)
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        status, body, headers = self.answer
        return httpx2.Response(
            status, headers={name.replace("_", "-"): text for name, text in headers.items()}, content=body
        )


def ask(net: Net, *addresses: str, may_reach_own: bool = False, content: bytes = b"{}") -> tuple[int, str]:
    """Status and body of an answer through the door; the host leads to these addresses."""

    async def resolve(_host: str, _port: int) -> list[str]:
        return list(addresses)

    async def run() -> tuple[int, str]:
        async with httpx2.AsyncClient(
            transport=HttpDoor(net, may_reach_own=may_reach_own, resolve=resolve)
        ) as client:
            answer = await client.post("https://tools.example.org:8443/mcp", content=content)
            assert str(answer.request.url) == "https://tools.example.org:8443/mcp"
            return answer.status_code, answer.text

    return asyncio.run(run())


def words(answer: tuple[int, str]) -> str:
    return str(json.loads(answer[1])["error"]["message"])


def test_a_project_s_server_whose_name_leads_into_this_network_is_not_asked() -> None:
    for addresses in (("127.0.0.1",), ("93.184.216.34", "10.0.0.7"), ("::ffff:192.168.0.1",), ()):
        net = Net()
        assert "machine of this network" in words(ask(net, *addresses))
        assert net.requests == []


def test_it_is_asked_at_the_address_that_was_judged_by_the_name_that_was_written() -> None:
    net = Net()

    assert ask(net, "93.184.216.34") == (200, "{}")

    (request,) = net.requests
    assert str(request.url) == "https://93.184.216.34:8443/mcp"
    assert (request.headers["host"], request.extensions["sni_hostname"]) == (
        "tools.example.org:8443",
        "tools.example.org",
    )


def test_a_person_s_own_server_may_be_on_this_machine() -> None:
    net = Net()

    assert ask(net, "127.0.0.1", may_reach_own=True) == (200, "{}")
    assert str(net.requests[0].url) == "https://tools.example.org:8443/mcp"


def test_faults_come_as_errors_of_the_protocol_and_the_server_s_own_words_stay() -> None:
    own = b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no such tool"}}'

    assert words(ask(Net(400, own), may_reach_own=True)) == "no such tool"
    assert "status 401" in words(ask(Net(401, b"<html>"), may_reach_own=True))
    assert "status 503 Service Unavailable" in words(ask(Net(503, b"[" * 50_000), may_reach_own=True))
    assert "status 599" in words(ask(Net(599), may_reach_own=True))
    assert "is packed" in words(ask(Net(200, b"", content_encoding="gzip"), may_reach_own=True))


CALL = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call"}'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"jsonrpc": "2.0", "id": null, "error": {"code": -1, "message": "no"}}', "no"),
        (
            b'{"jsonrpc": "2.0", "id": null, "error": {"code": -1, "message": ""}}',
            "it refused, without a word",
        ),
        (b'{"jsonrpc": "2.0", "id": 8, "result": {}}', "is not of the protocol"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping"}', "is not of the protocol"),
        (b"[" * 200_000, "is not of the protocol"),
        (b"\xff\x00", "is not of the protocol"),
        (b"", "it answered without a word"),
    ],
)
def test_one_message_that_is_no_answer_to_its_request_is_a_fault_in_words(body: bytes, said: str) -> None:
    net = Net(200, body, content_type="application/json; charset=utf-8")

    assert said in words(ask(net, may_reach_own=True, content=CALL))


@pytest.mark.parametrize(
    "content", [CALL, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', b"{"]
)
def test_an_answer_a_redirect_and_what_answers_no_request_pass_as_they_came(content: bytes) -> None:
    json_type = "application/json"
    right = b'{"jsonrpc": "2.0", "id": "7", "result": {}}'
    for net in (
        Net(200, right, content_type=json_type, mcp_session_id="s"),
        Net(307, b"{}", content_type=json_type, location="https://elsewhere.example.org/"),
        Net(202, b"", content_type="text/plain"),
        Net(200, b"data: {}\n\n", content_type="text/event-stream"),
    ):
        status, body, _ = net.answer
        assert ask(net, may_reach_own=True, content=content) == (status, body.decode())


class Pieces(httpx2.AsyncByteStream):
    """A body that comes in pieces."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(10):
            yield b"[]," * (MOST_PARTS // 10)


class Pouring(Net):
    """A net whose answers come in pieces."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=Pieces())


def test_an_answer_of_more_values_than_a_message_may_have_ends_in_an_error() -> None:
    with pytest.raises(httpx2.StreamError, match="more than 250,000 values"):
        ask(Pouring(), may_reach_own=True)
