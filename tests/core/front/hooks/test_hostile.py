"""Requests that mean harm: each is refused with its status, in the one shape, and changes nothing."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any

import pytest

from core.front.hooks.guard import Limits
from tests.core.front.hooks.conftest import WAIT_S, World
from tests.patience import PATIENCE_S, ends
from tests.vendors.loopback import Gate, HoldAfter

CREATE = "/api/discussions"


def _status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def _error(answer: bytes) -> Any:
    return json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


def _request(
    world: World, head: str = "", *, method: str = "POST", path: str = CREATE, **change: str
) -> bytes:
    """A request that would make a discussion, with its headers changed."""
    host = world.client.url.removeprefix("http://")
    headers = {"Host": host, "Authorization": f"Bearer {world.client.token}", **change}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items() if value)
    return f"{method} {path} HTTP/1.1\r\n{lines}{head}\r\n".encode()


JSON_HEAD = "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n"


@pytest.fixture
def untouched(running: World) -> Any:
    """A program whose state must be the same in the end."""
    before = running.state
    yield running
    after = running.state
    assert (after.discussions.summaries, after.discussions.open, after.config.project, after.config.settings, after.program.notices) == (
        before.discussions.summaries, before.discussions.open, before.config.project, before.config.settings, before.program.notices,
    )  # fmt: skip
    assert not list((running.home / "discussions").iterdir())


def test_what_is_refused_below_is_taken_when_it_is_as_it_should_be(running: World) -> None:
    assert _status(running.client.raw(_request(running, JSON_HEAD) + b"{}")) == 201
    host = f"localhost:{running.client.url.rsplit(':', 1)[1]}"
    assert _status(running.client.raw(_request(running, JSON_HEAD, Host=host) + b"{}")) == 201
    assert len(running.state.discussions.summaries) == 2


WRONG_TOKENS = (
    "",
    "Bearer",
    "Bearer ",
    "Bearer x",
    "bearer TOKEN",
    "Basic TOKEN",
    "TOKEN",
    "Bearer TOKENx",
    "Bearer é",
)


def test_without_the_token_nothing_is_done(untouched: World) -> None:
    for token in WRONG_TOKENS:
        sent = token.replace("TOKEN", untouched.client.token)
        answer = untouched.client.raw(_request(untouched, JSON_HEAD, Authorization=sent) + b"{}")

        assert (_status(answer), _error(answer)["code"]) == (401, "no_token"), token
        assert b"www-authenticate: Bearer" in answer


def test_two_tokens_are_none(untouched: World) -> None:
    twice = f"Authorization: Bearer {untouched.client.token}\r\n{JSON_HEAD}"

    assert _status(untouched.client.raw(_request(untouched, twice) + b"{}")) == 401


WRONG_HOSTS = (
    "evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "localhost.evil.example:PORT", "[::1]:PORT",
    "0.0.0.0:PORT", "127.0.0.1:PORT.evil.example", "evil@127.0.0.1:PORT",
)  # fmt: skip


def test_another_host_is_refused_also_with_the_token(untouched: World) -> None:
    port = untouched.client.url.rsplit(":", 1)[1]
    for host in WRONG_HOSTS:
        request = _request(untouched, JSON_HEAD, Host=host.replace("PORT", port))
        answer = untouched.client.raw(request + b"{}")

        assert (_status(answer), _error(answer)["code"]) == (403, "wrong_host"), host


def test_a_missing_or_a_second_host_is_refused(untouched: World) -> None:
    assert _status(untouched.client.raw(_request(untouched, JSON_HEAD, Host="") + b"{}")) == 400
    second = untouched.client.raw(_request(untouched, f"Host: evil.example\r\n{JSON_HEAD}") + b"{}")
    assert _status(second) == 400
    assert _error(second)["code"] == "not_http"


def test_pages_of_the_web_are_refused_whatever_their_origin(untouched: World) -> None:
    for origin in ("http://evil.example", "null", untouched.client.url, "file://"):
        answer = untouched.client.raw(_request(untouched, JSON_HEAD, Origin=origin) + b"{}")
        assert (_status(answer), _error(answer)["code"]) == (403, "origin")
    preflight = _request(
        untouched,
        "Access-Control-Request-Method: POST\r\n",
        method="OPTIONS",
        Origin="http://e",
        Authorization="",
    )
    answer = untouched.client.raw(preflight)
    assert _status(answer) == 403
    assert b"access-control" not in answer.lower()


def test_path_tricks_are_refused(untouched: World) -> None:
    for path in (
        "/api/../api/status",
        "/api/./status",
        "//api/status",
        "/api//status",
        "/api/%2e%2e/status",
        "/api/cache/%2e%2E%2f%2e%2e%2fetc%2fpasswd",
        "/api/cache/..%5c..%5cx",
        "/api/cache/a%00b",
        "/api/cache/a%0d%0ax",
        "/api/cache/%ff%fe",
        "/api/cache/%zz",
        "/api/cache/a%2",
        "/api/cache/a\\b",
        "/api/cache/<x>",
        "http://evil.example/api/status",
        "*",
    ):
        answer = untouched.client.raw(_request(untouched, "Connection: close\r\n", method="GET", path=path))
        assert (_status(answer), _error(answer)["code"]) == (400, "bad_path"), path


def test_paths_that_name_nothing_and_methods_that_they_do_not_take(untouched: World) -> None:
    client = untouched.client
    for path in ("/", "/api", "/api/", "/api/status/", "/api/statuss", "/API/status", "/docs", "/api/knowledge/",
                 "/api/knowledge/facts.md", "/api/harvest/", "/api/harvest/undo/x", "/api/discussions/x"):  # fmt: skip
        answer = client.get(path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found"), path
    for method, path in (("DELETE", "/api/status"), ("PUT", "/api/discussions"), ("GET", "/api/ui"),
                         ("GET", "/api/harvest/apply"), ("POST", "/api/harvest"), ("DELETE", "/api/knowledge"),
                         ("PATCH", "/api/cache"), ("TRACE", "/api/status"), ("BREW", "/api/status")):  # fmt: skip
        refused = client.http.request(method, path)
        assert (refused.status_code, refused.json()["error"]["code"]) == (405, "wrong_method"), method
        assert refused.headers["allow"]
    assert client.http.head("/api/status").status_code == 405


def test_a_long_path_is_refused(untouched: World) -> None:
    assert untouched.client.get("/api/cache/" + "a" * 3000).status_code == 414
    assert untouched.client.get("/api/status?" + "a" * 3000).status_code == 414


def test_a_body_that_is_announced_too_large_is_refused_unread(untouched: World) -> None:
    for length in ("100001", "9" * 12, "9" * 30):
        head = JSON_HEAD.replace("Length: 2", f"Length: {length}")
        answer = untouched.client.raw(_request(untouched, head))
        assert _status(answer) in {400, 413}, length
    answer = untouched.client.raw(_request(untouched, JSON_HEAD.replace("Length: 2", "Length: 100001")))
    assert (_status(answer), _error(answer)["code"]) == (413, "too_large")


def test_a_body_that_grows_too_large_in_pieces_is_refused(untouched: World) -> None:
    def pieces() -> Any:
        yield b'{"name": "'
        for _ in range(200):
            yield b"x" * 1000
        yield b'"}'

    answer = untouched.client.http.post(
        CREATE, content=pieces(), headers={"content-type": "application/json"}
    )

    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_a_body_that_does_not_come_is_not_waited_for(untouched: World) -> None:
    head = JSON_HEAD.replace("Length: 2", "Length: 50")
    answer = untouched.client.raw(_request(untouched, head) + b'{"name":')

    assert (_status(answer), _error(answer)["code"]) == (408, "slow_body")


def test_a_body_that_trickles_is_cut_off(untouched: World) -> None:
    host, port = untouched.client.url.removeprefix("http://").split(":")
    head = JSON_HEAD.replace("Length: 2", "Length: 5000")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as link:
        link.sendall(_request(untouched, head))
        stop = threading.Event()

        def trickle() -> None:
            while not stop.wait(0.05):
                try:
                    link.send(b" ")
                except OSError:
                    return

        writer = threading.Thread(target=trickle)
        writer.start()
        received = link.recv(65536)
        stop.set()
        writer.join()
    assert _status(received) == 408


def test_a_head_that_does_not_come_is_not_waited_for(untouched: World) -> None:
    for start in (b"", b"GET /api/sta", _request(untouched)[:-4]):
        answer = untouched.client.raw(start)
        assert (_status(answer), _error(answer)["code"]) == (408, "slow_head"), start


def test_a_second_head_on_a_kept_connection_is_not_waited_for_either(untouched: World) -> None:
    host, port = untouched.client.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as link:
        link.sendall(_request(untouched, method="GET", path="/api/presets"))
        answer = b""
        while b'"presets"' not in answer:
            answer += link.recv(65536)
        link.sendall(b"GET /api/sta")
        answer = link.recv(65536)

    assert (_status(answer), _error(answer)["code"]) == (408, "slow_head")


def test_what_is_no_http_is_refused(untouched: World) -> None:
    for sent in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"HELO x\r\n\r\n",
                 b"GET / HTTP/1.1\r\n bad: x\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000):  # fmt: skip
        answer = untouched.client.raw(sent)
        assert (_status(answer), _error(answer)["code"]) == (400, "not_http"), sent[:20]


def test_smuggled_requests_are_refused(untouched: World) -> None:
    both = "Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
    answer = untouched.client.raw(_request(untouched, both) + b"0\r\n\r\n")
    assert 400 <= _status(answer) < 500
    two = JSON_HEAD + "Content-Length: 30\r\n"
    assert _status(untouched.client.raw(_request(untouched, two) + b"{}")) == 400


def test_no_connection_becomes_a_websocket(untouched: World) -> None:
    head = (
        "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: eA==\r\n"
    )
    assert _status(untouched.client.raw(_request(untouched, head, method="GET"))) == 200


NO_OBJECTS = (
    (b"", "application/json", 400),
    (b"{", "application/json", 400),
    (b"\xff{}", "application/json", 400),
    (b'{"name": NaN}', "application/json", 400),
    (b'{"name": 1e999}', "application/json", 400),
    (b'{"name": ' + b"9" * 5000 + b"}", "application/json", 400),
    (b"[" * 50_000, "application/json", 400),
    (b'{"a":' * 15_000 + b"1" + b"}" * 15_000, "application/json", 400),
    (b"name=x", "application/x-www-form-urlencoded", 415),
    (b"{}", "text/plain", 415),
    (b"{}", "", 415),
    (b"null", "application/json", 422),
    (b'"x"', "application/json", 422),
)


def test_a_body_that_is_not_a_json_object_is_refused(untouched: World) -> None:
    for body, kind, status in NO_OBJECTS:
        headers = {"content-type": kind} if kind else {}
        answer = untouched.client.http.post(CREATE, content=body, headers=headers)

        assert answer.status_code == status, body[:30]
        assert set(answer.json()["error"]) == {"code", "message", "remedy"}


def test_text_that_could_harm_a_log_is_cleaned_where_it_enters(running: World) -> None:
    raw = b'{"name": "a\\u0000b\\ud800c\\r\\nd"}'
    made = running.client.http.post(CREATE, content=raw, headers={"content-type": "application/json"})

    assert made.json()["name"] == "ab\ufffdc d"


def test_more_requests_than_can_be_are_told_to_wait(world: World) -> None:
    world.start(limits=Limits(requests=1))
    chosen = world.discussion()
    gate = Gate()
    world.server.faults.append(HoldAfter(2, gate))
    path = f"/api/discussions/{chosen}/messages"
    waiting = threading.Thread(target=lambda: world.client.post(path, {"text": "x", "wait": True}))
    waiting.start()
    assert gate.reached.wait(WAIT_S)

    refused = world.client.get("/api/status")

    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "too_many")
    gate.open()
    waiting.join()
    assert world.client.get("/api/status").status_code == 200


def test_nobody_but_this_machine_can_connect(running: World) -> None:
    port = int(running.client.url.rsplit(":", 1)[1])
    with socket.socket() as other:
        other.settimeout(2)
        with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
            other.connect(("127.0.0.2", port))


def test_the_token_is_new_at_each_start_and_only_the_persons(world: World) -> None:
    world.start()
    file = world.home / "hook_token"
    first = file.read_text(encoding="ascii")
    assert file.stat().st_mode & 0o777 == 0o600
    assert json.loads((world.home / "hook.json").read_text()) == {
        "pid": world.hooks.address.pid, "url": world.client.url,
    }  # fmt: skip
    world.stop()
    assert not file.exists()
    assert not (world.home / "hook.json").exists()

    world.start()

    assert file.read_text(encoding="ascii") != first
    assert len(first) >= 43
    assert first not in repr(world.hooks.address)


def test_the_end_of_the_program_lets_go_of_those_who_wait(world: World) -> None:
    world.start()
    chosen = world.discussion()
    gate = Gate()
    world.server.faults.append(HoldAfter(2, gate))
    answers: list[int] = []
    path = f"/api/discussions/{chosen}/messages"
    waiting = threading.Thread(
        target=lambda: answers.append(world.client.post(path, {"text": "x", "wait": True}).status_code)
    )
    waiting.start()
    assert gate.reached.wait(WAIT_S)

    ends(world.hooks.stop)
    ends(waiting.join)  # nobody has opened the gate

    assert answers == [503]
    gate.open()
