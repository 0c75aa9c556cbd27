"""Who listens on a dead program's port gets neither the token nor a word, whatever it answers; files are used."""

from __future__ import annotations

import json
import platform
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest
import tomli_w

from core.app.home import acquire, owner
from core.front.cli import main, send_beside
from core.front.hooks import client as client_module
from core.front.hooks.client import (
    Address,
    HookClient,
    HookError,
    connect,
    is_proof,
    new_nonce,
    own_pid,
    proof_of,
    publish,
)
from core.kernel.errors import StorageError
from tests.core.front.hooks.conftest import World
from tests.patience import PATIENCE_S

TOKEN = "the-token-of-a-killed-program"
WORDS = "words that nobody else may read"


class Impostor:
    """Listens on loopback, keeps what it hears, and answers as it is told: bytes to send, None to hang up at once."""

    def __init__(self, answer: Callable[[bytes], bytes | None]) -> None:
        self.heard = b""
        self.is_over = threading.Event()
        self._answer = answer
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        self._threads = [threading.Thread(target=self._listen, daemon=True)]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in self._threads:
            thread.join(PATIENCE_S)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                link, _ = self._socket.accept()
                link.settimeout(0.05)
                thread = threading.Thread(target=self._serve, args=(link,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, link: socket.socket) -> None:
        with link, suppress(OSError):
            while not self.is_over.is_set():
                try:
                    said = link.recv(65536)
                except TimeoutError:
                    continue
                if not said:
                    return
                self.heard += said
                answer = self._answer(said)
                if answer is None:
                    return
                link.sendall(answer)


def http(body: bytes, *more: str) -> bytes:
    head = "\r\n".join(
        ("HTTP/1.1 200 OK", "content-type: application/json", f"content-length: {len(body)}", *more)
    )
    return head.encode() + b"\r\n\r\n" + body


def relay(port: int) -> Callable[[bytes], bytes]:
    """Hands each request to the true program and its answer back."""

    def answer(said: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
            head, _, rest = said.partition(b"\r\nHost: ")
            link.sendall(head + f"\r\nHost: 127.0.0.1:{port}\r\n".encode() + rest.partition(b"\r\n")[2])
            return link.recv(65536)

    return answer


ANSWERS: dict[str, Callable[[bytes], bytes | None]] = {
    "yes to all": lambda _: http(b'{"proof": true, "project": {"root": "/"}, "providers": []}'),
    "a proof of its own": lambda _: http(json.dumps({"proof": proof_of("guess", "0" * 48, 1, 1)}).encode()),
    "the nonce": lambda said: http(json.dumps({"proof": said.split(b"nonce=")[-1][:48].decode()}).encode()),
    "a list": lambda _: http(b"[1]"),
    "a deep list": lambda _: http(b"[" * 4000),
    "text past ascii": lambda _: http('{"proof": "ß"}'.encode()),
    "no http": lambda _: b"SSH-2.0-OpenSSH_9.9\r\n",
    "endless head": lambda _: b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 10_000,
    "endless body": lambda _: b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000,
    "closes": lambda _: None,
    "closes after": lambda _: http(b"{}", "connection: close"),
    "never answers": lambda _: b"",
}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home that this process owns: the impostor's cause is as good as it can be."""
    held = acquire(tmp_path / "home")
    yield tmp_path / "home"
    held.release()  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ANSWERS)
def test_an_impostor_gets_no_token_and_no_words(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(client_module, "KNOCK_S", 0.3)
    with Impostor(ANSWERS[name]) as impostor:
        publish(home, Address(impostor.url, own_pid(), TOKEN))

        assert connect(home) is None
        with pytest.raises(HookError):
            HookClient(Address(impostor.url, own_pid(), TOKEN)).post("/api/discussions", {"name": WORDS})

    assert impostor.heard.startswith(b"GET /api/hello?nonce=")
    assert TOKEN.encode() not in impostor.heard
    assert WORDS.encode() not in impostor.heard


def test_one_that_owns_the_home_and_does_not_answer_is_not_said_to_be_none(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(send_beside, "ANSWER_S", 0.3)
    with Impostor(ANSWERS["never answers"]) as impostor:
        publish(home, Address(impostor.url, own_pid(), TOKEN))
        assert main(["autonomy", "--home", str(home)]) == 1

    assert "The running Manual Slop does not answer" in capsys.readouterr().err
    assert TOKEN.encode() not in impostor.heard


def test_one_that_relays_to_the_true_program_is_seen_by_its_port(running: World) -> None:
    with Impostor(relay(int(running.client.url.rsplit(":", 1)[1]))) as between:
        stranger = HookClient(Address(between.url, own_pid(), running.hooks.address.token))
        with pytest.raises(HookError) as refused:
            stranger.get("/api/status")

    assert refused.value.code == "not_proven"
    assert running.hooks.address.token.encode() not in between.heard


def test_the_words_go_through_files_where_an_impostor_listens(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.chdir(world.project)
    with Impostor(ANSWERS["yes to all"]) as impostor:
        world.home.mkdir()
        publish(world.home, Address(impostor.url, own_pid(), TOKEN))

        assert main(["send", "--home", str(world.home), WORDS]) == 0

    assert "Hello there." in capsys.readouterr().out
    assert impostor.heard == b""  # the lock alone says that nobody owns the home
    assert WORDS in json.dumps(world.server.bodies[-1])


@pytest.mark.parametrize("change", [{"pid": 1}, {"host": "elsewhere"}, {"pid": "x"}])
def test_an_address_of_another_process_than_the_owner_is_not_asked(
    home: Path, change: dict[str, object]
) -> None:
    with Impostor(ANSWERS["yes to all"]) as impostor:
        publish(home, Address(impostor.url, own_pid(), TOKEN))
        told = {"pid": own_pid(), "host": platform.node(), **change}
        (home / "owner.toml").write_text(tomli_w.dumps(told))

        assert connect(home) is None
    assert impostor.heard == b""


def test_the_true_program_is_taken(running: World) -> None:
    found = connect(running.home)

    assert found is not None
    assert found[1]["project"]["root"] == str(running.project)


def test_hello_needs_no_token_and_keeps_the_other_rules(running: World) -> None:
    nonce = new_nonce()
    bare = {"authorization": ""}
    answered = running.client.get(f"/api/hello?nonce={nonce}", **bare)

    address = running.hooks.address
    port = int(address.url.rsplit(":", 1)[1])
    assert is_proof(answered.json()["proof"], address.token, nonce, port, address.pid)
    assert running.client.get("/api/hello", **bare).status_code == 422
    assert running.client.get("/api/hello?nonce=short", **bare).status_code == 422
    assert running.client.get(f"/api/hello?nonce={nonce}", **bare, host="evil.example").status_code == 403
    assert (
        running.client.get(f"/api/hello?nonce={nonce}", **bare, origin="http://evil.example").status_code
        == 403
    )
    assert running.client.get("/api/hello/", **bare).status_code == 401
    assert running.client.get("/api/status", **bare).status_code == 401


def test_a_proof_is_of_one_token_one_question_one_port_and_one_process() -> None:
    given = proof_of("t", "n", 1, 2)
    assert is_proof(given, "t", "n", 1, 2)
    for other in (("u", "n", 1, 2), ("t", "m", 1, 2), ("t", "n", 3, 2), ("t", "n", 1, 3)):
        assert not is_proof(given, *other)
    assert not is_proof(None, "t", "n", 1, 2)


def test_who_owns_a_home_is_known_without_taking_it(home: Path, tmp_path: Path) -> None:
    found = owner(home)
    assert found is not None
    assert found.pid == own_pid()
    (tmp_path / "free").mkdir()
    assert owner(tmp_path / "free") is None
    with pytest.raises(StorageError):
        owner(tmp_path / "gone")
