"""The HTTP client of all SDKs: proxies for the world and never for loopback, time-outs, and calls that can be cut."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from collections.abc import Callable, Iterator

import pytest

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.queue import Lazy
from core.kernel.values.provider import StopKind, Stopped, StreamItem, TextDelta
from core.kernel.web_addresses import is_loopback
from core.services.providers.anthropic.client import AnthropicProvider
from core.services.providers.gemini.client import GeminiProvider
from core.services.providers.http import current_call, http_client, run_call
from core.services.providers.protocol import CancelToken, Provider
from tests.core.services.providers.outcomes import (
    NO_BLOBS,
    ask,
    outcome,
    run,
    run_beside,
    server_settings,
)
from tests.core.services.providers.vendors import VENDORS
from tests.patience import PATIENCE_S
from tests.vendors import gemini_server
from tests.vendors.anthropic_server import KEY, AnthropicServer
from tests.vendors.loopback import Captured, Gate, HoldAfter, LoopbackServer, Reply
from tests.vendors.world.table import SSE, frames, said

FAR = "http://api.vendor.invalid"
OPUS = "claude-opus-5-5"


@pytest.mark.parametrize(
    ("url", "stays"),
    [
        ("http://127.0.0.1:80/v1", True),
        ("http://127.8.9.1", True),
        ("http://localhost:11434", True),
        ("http://LOCALHOST.:1", True),
        ("http://box.localhost", True),
        ("http://[::1]:1/x", True),
        ("http://0.0.0.0:8000", True),
        ("https://api.anthropic.com", False),
        ("http://192.168.1.2", False),
        ("http://127.0.0.1.evil.example", False),
        ("http://localhost@evil.example", False),
        ("", False),
        ("http://[::1", False),
        ("nonsense", False),
    ],
)
def test_loopback_is_told_from_the_rest(url: str, *, stays: bool) -> None:
    assert is_loopback(url) is stays


def test_a_proxy_of_the_environment_is_used_for_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    with AnthropicServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        result = run(AnthropicProvider(server_settings("anthropic", FAR), KEY), ask(OPUS))

    assert result.text == "Hello there."
    assert proxy.requests[0].headers["host"] == "api.vendor.invalid"


def test_no_proxy_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    with AnthropicServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "vendor.invalid")
        result = run(AnthropicProvider(server_settings("anthropic", FAR), KEY), ask(OPUS))

    assert result.failure.kind is FailureKind.NO_NETWORK
    assert proxy.requests == []


def test_a_proxy_that_is_not_there_is_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with AnthropicServer() as gone:
        url = gone.url
    monkeypatch.setenv("HTTP_PROXY", url)

    assert run(AnthropicProvider(server_settings("anthropic", FAR), KEY), ask(OPUS)).failure.kind is (
        FailureKind.NO_NETWORK
    )


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "nonsense://127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_said_with_the_variables(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    with pytest.raises(ProviderError) as caught:
        http_client(server_settings("anthropic"), FAR)

    assert caught.value.kind is FailureKind.NO_NETWORK
    assert "ALL_PROXY" in caught.value.remedy


def test_the_settings_time_outs_hold_whatever_the_sdk_asks_for() -> None:
    settings = server_settings("anthropic", "http://127.0.0.1:9", timeout_s=7.0, connect_timeout_s=3.0)
    with http_client(settings, settings.base_url) as client:
        request = client.build_request("GET", settings.base_url, timeout=None)
        for hook in client.event_hooks["request"]:
            hook(request)

    assert request.extensions["timeout"] == {"connect": 3.0, "pool": 3.0, "read": 7.0, "write": 7.0}


def test_a_connection_serves_one_request() -> None:
    with gemini_server.GeminiServer() as server:
        provider = GeminiProvider(server_settings("gemini", server.url), gemini_server.KEY)
        for _ in range(2):
            assert outcome(provider.stream(ask("gemini-4-argon"), NO_BLOBS, CancelToken())).error is None
        provider.close()

    assert len({request.peer_port for request in server.requests}) == 2


def test_a_cancel_hangs_up_even_while_nobody_reads() -> None:
    gate, cancel = Gate(), CancelToken()
    with AnthropicServer() as server:
        server.faults.append(HoldAfter(5, gate))
        provider = AnthropicProvider(server_settings("anthropic", server.url), KEY)
        stream = provider.stream(ask(OPUS), NO_BLOBS, cancel)
        next(stream)
        assert gate.reached.wait(PATIENCE_S)
        cancel.cancel()
        assert gate.client_left.wait(PATIENCE_S)
        assert outcome(stream).stopped.kind is StopKind.CANCELLED


def test_a_cancel_is_felt_while_a_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    looking, go = threading.Event(), threading.Event()

    def slow(*args: object, **kwargs: object) -> object:
        looking.set()
        go.wait(PATIENCE_S)
        raise socket.gaierror(socket.EAI_NONAME, "nobody")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    cancel = CancelToken()
    provider = AnthropicProvider(server_settings("anthropic", FAR), KEY)
    wait = run_beside(lambda: outcome(provider.stream(ask(OPUS), lambda _: b"", cancel)))
    assert looking.wait(PATIENCE_S)
    cancel.cancel()
    result = wait()
    go.set()

    assert result.stopped.kind is StopKind.CANCELLED


def test_what_a_call_raises_is_raised_to_its_reader_after_what_it_yielded() -> None:
    def produce() -> Iterator[StreamItem]:
        yield TextDelta("a")
        raise ProviderError(FailureKind.OVERLOADED, "x")

    result = outcome(run_call(produce, CancelToken()))

    assert result.text == "a"
    assert result.failure.kind is FailureKind.OVERLOADED


def test_a_call_that_fails_because_it_was_cancelled_is_cancelled() -> None:
    cancel = CancelToken()

    def produce() -> Iterator[StreamItem]:
        cancel.cancel()
        raise ProviderError(FailureKind.STREAM_DROPPED, "its socket was closed")
        yield TextDelta("never")

    assert outcome(run_call(produce, cancel)).items == [Stopped(StopKind.CANCELLED, is_sent=False)]


def test_a_socket_that_opens_after_the_cancel_is_shut_at_once() -> None:
    here, there = socket.socketpair()

    class Stream:
        def get_extra_info(self, _: str) -> socket.socket:
            return here

    def produce() -> Iterator[StreamItem]:
        call = current_call()
        assert call is not None
        call.close()
        call.trace("connection.connect_tcp.complete", {"return_value": Stream()})
        yield Stopped(StopKind.COMPLETED)

    with here, there:
        list(run_call(produce, CancelToken()))
        assert there.recv(1) == b""


def test_outside_of_a_call_there_is_none() -> None:
    assert current_call() is None


def test_something_lazy_is_made_once_and_made_again_after_it_was_released() -> None:
    made: list[int] = []
    released: list[str] = []

    def make() -> str:
        made.append(1)
        return f"client {len(made)}"

    lazy = Lazy(make, released.append)
    lazy.close()

    assert (lazy.get(), lazy.get()) == ("client 1", "client 1")
    lazy.close()
    lazy.close()
    assert released == ["client 1"]
    assert lazy.get() == "client 2"


def test_a_lazy_thing_that_failed_is_tried_again() -> None:
    attempts = iter([ProviderError(FailureKind.NO_KEY, "none"), None])

    def make() -> str:
        error = next(attempts)
        if error is not None:
            raise error
        return "made"

    lazy = Lazy(make, lambda _: None)
    with pytest.raises(ProviderError):
        lazy.get()

    assert lazy.get() == "made"


class _Packing(LoopbackServer):
    """Packs its answers by a coding that nobody asked for, and moves each first request to another address."""

    def __init__(self, coding: str = "", moves: str = "") -> None:
        super().__init__()
        self._coding, self._moves = coding, moves

    def answer(self, captured: Captured) -> Reply:
        if self._moves and not captured.path.endswith("/"):
            return Reply(307, b"", {"location": self._moves})
        body = frames(*said("Hello ", "there.")).encode()
        if not self._coding:
            return Reply(200, body, {"content-type": SSE})
        packed = _PACKED[self._coding](body)
        return Reply(200, packed, {"content-type": SSE, "content-encoding": self._coding.partition(" ")[0]})


_PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "gzip in members": lambda body: gzip.compress(body[:90]) + gzip.compress(body[90:]) + bytes(8),
    "deflate": zlib.compress,
    "deflate alone": lambda body: zlib.compress(body, wbits=-zlib.MAX_WBITS),
}


class _TornPack(_Packing):
    """Names a coding, and sends another thing."""

    def answer(self, captured: Captured) -> Reply:
        return Reply(200, b"no pack at all", {"content-type": SSE, "content-encoding": "gzip"})


def _compatible(server: LoopbackServer) -> Provider:
    return next(one for one in VENDORS if one.kind == "compatible").client(server)


@pytest.mark.parametrize("coding", _PACKED)
def test_a_stream_that_a_server_packs_unasked_is_read(coding: str) -> None:
    with _Packing(coding) as server:
        got = run(_compatible(server), ask("m"))

    assert got.text == "Hello there."


def test_a_torn_packed_stream_is_a_failure() -> None:
    with _TornPack() as server, pytest.raises(ProviderError) as caught:
        list(_compatible(server).stream(ask("m"), NO_BLOBS, CancelToken()))

    assert caught.value.kind is FailureKind.BAD_REPLY


def test_a_redirect_within_the_server_is_followed_once() -> None:
    with _Packing(moves="/v1/chat/completions/") as server:
        got = run(_compatible(server), ask("m"))

    assert got.text == "Hello there."
    assert [one.path for one in server.requests] == ["/v1/chat/completions", "/v1/chat/completions/"]
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize("place", ["http://127.0.0.2:9/v1/chat/completions/", "https://far.invalid/v1/"])
def test_a_redirect_to_another_place_is_told_and_not_followed(place: str) -> None:
    with _Packing(moves=place) as server, pytest.raises(ProviderError) as caught:
        list(_compatible(server).stream(ask("m"), NO_BLOBS, CancelToken()))

    assert place in caught.value.what
    assert "base_url" in caught.value.remedy
    assert len(server.requests) == 1
