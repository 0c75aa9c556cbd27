"""Connections that ask nothing keep nobody out, a port is had again after a kill, and a name in JSON stands once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.front.hooks.fields import RefusedError
from core.front.hooks.operation import HookDesk, Watch, parse
from core.front.hooks.server import HookServer
from core.kernel.errors import StorageError
from tests.core.front.hooks.conftest import QUICK, WAIT_S, World

FEW = replace(QUICK, connections=12, head_s=2 * WAIT_S, linger_s=2 * WAIT_S, refusals=4)
"""Limits under which a client of these tests gives up before a connection runs out."""
HALF = b"POST /api/discussions HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY_DUE = b"POST /api/discussions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{"


@pytest.fixture
def links() -> Iterator[ExitStack]:
    with ExitStack() as held:
        yield held


def connected(world: World, links: ExitStack, said: bytes) -> socket.socket:
    port = int(world.client.url.rsplit(":", 1)[1])
    link = links.enter_context(socket.create_connection(("127.0.0.1", port), timeout=WAIT_S))
    link.sendall(said)
    return link


@pytest.mark.parametrize("said", [b"", HALF, BODY_DUE], ids=["silent", "half a head", "half a body"])
def test_who_asks_is_answered_at_once_however_many_wait(world: World, links: ExitStack, said: bytes) -> None:
    world.start(limits=FEW)
    for _ in range(40):
        connected(world, links, said)

    answers = [world.client.get("/api/status").status_code for _ in range(3)]

    assert answers == [200] * 3


def test_the_one_that_has_waited_longest_goes_and_is_told(world: World, links: ExitStack) -> None:
    world.start(limits=FEW)
    first = connected(world, links, HALF)
    for _ in range(FEW.connections):
        connected(world, links, HALF)

    assert first.recv(100).startswith(b"HTTP/1.1 503 ")


def test_requests_whose_bodies_are_due_keep_nobody_out(world: World, links: ExitStack) -> None:
    world.start(limits=replace(FEW, body_s=WAIT_S))
    token = (world.home / "hook_token").read_text().strip()
    head = (
        f"POST /api/discussions HTTP/1.1\r\nHost: {world.client.url[7:]}\r\nAuthorization: Bearer {token}\r\n"
    )
    more = "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n"
    for _ in range(FEW.connections):
        assert connected(world, links, (head + more).encode()).recv(100).startswith(b"HTTP/1.1 100 ")

    assert world.client.get("/api/status").status_code == 200


def test_a_connection_that_is_kept_open_after_an_answer_makes_room_too(
    world: World, links: ExitStack
) -> None:
    world.start(limits=FEW)
    hello = f"GET /api/hello?nonce={'0' * 48} HTTP/1.1\r\nHost: {world.client.url[7:]}\r\n\r\n".encode()
    for _ in range(40):
        assert connected(world, links, hello).recv(100).startswith(b"HTTP/1.1 200 ")

    assert world.client.get("/api/status").status_code == 200


def server_on(world: World, port: int) -> HookServer:
    return HookServer(HookDesk(world.controller, Watch(world.controller)), world.home, port=port)


def test_a_fixed_port_is_had_again_while_the_system_still_remembers_its_connections(world: World) -> None:
    world.start()
    port = int(world.client.url.rsplit(":", 1)[1])
    link = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
    world.client.get("/api/status")
    world.hooks.stop()
    assert link.recv(100) == b""  # the server has closed first: its end waits in TIME_WAIT
    link.close()

    again = server_on(world, port)
    again.start()
    assert again.address.url.endswith(f":{port}")
    again.stop()


def test_a_port_that_another_listens_on_is_not_taken(running: World, tmp_path: Path) -> None:
    port = int(running.client.url.rsplit(":", 1)[1])
    with pytest.raises(StorageError, match=f"cannot listen on port {port}"):
        server_on(running, port).start()


@pytest.mark.parametrize(
    "data",
    [
        b'{"name": "a", "name": "b"}',
        b'{"a": {"b": 1, "b": 1}}',
        b'[{"a": 1, "a": 2}]',
        b'{"a\\u0000": 1, "a": 2}',
    ],
)
def test_a_name_that_stands_twice_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError, match="given twice"):
        parse(data)


def test_the_same_name_in_two_objects_is_fine() -> None:
    assert parse(b'{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}') == {"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}


def test_who_goes_on_with_a_body_that_was_answered_unread_is_let_go(world: World, links: ExitStack) -> None:
    world.start(limits=FEW)
    hello = f"GET /api/hello?nonce={'0' * 48} HTTP/1.1\r\nHost: {world.client.url[7:]}\r\nContent-Length: 90000\r\n\r\n".encode()
    for _ in range(FEW.connections + 4):
        link = connected(world, links, hello)
        said = b""
        while part := link.recv(1_000):
            said += part
        assert said.startswith(b"HTTP/1.1 200 ")

    assert world.client.get("/api/status").status_code == 200
