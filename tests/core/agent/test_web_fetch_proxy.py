"""`web_fetch` through a proxy of the environment: a real one on loopback, a real server with TLS behind it."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer

import pytest

from core.agent.tools import web_fetch
from core.agent.tools.web_fetch import Network, fetching_tool
from tests.certificates import make_certificate
from tests.core.agent.desks import Desk
from tests.core.agent.test_web_fetch import Site

PUBLIC = "93.184.216.34"
SECRET = "proxy-pass-93"


class Proxy:
    """A proxy that takes CONNECT, and leads every tunnel to one place of this machine.

    Attributes:
        asked: the first line of each request; heads: its headers; answer: its status where it refuses.
    """

    def __init__(self, port: int) -> None:
        self.asked: list[str] = []
        self.heads: list[str] = []
        self.answer = ""
        proxy = self

        class Handler(StreamRequestHandler):
            def handle(self) -> None:
                proxy.asked.append(self.rfile.readline().decode().strip())
                lines = iter(lambda: self.rfile.readline().decode().strip(), "")
                proxy.heads.append("\n".join(lines))
                if proxy.answer or not proxy.asked[-1].startswith("CONNECT "):
                    self.wfile.write(f"HTTP/1.1 {proxy.answer or '400 No'}\r\n\r\n".encode())
                    return
                with socket.create_connection(("127.0.0.1", port)) as behind:
                    self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                    back = threading.Thread(target=_carry, args=(behind, self.connection))
                    back.start()
                    _carry(self.connection, behind)
                    back.join()

        self.server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


def _carry(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A server with a certificate of `page.example` that the system trusts."""
    certificate, key = make_certificate(tmp_path, "page.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    site = Site()
    site.server.socket = context.wrap_socket(site.server.socket, server_side=True)
    site.put("/", b"the page behind", "text/plain")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    web_fetch._trust.cache_clear()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()
    thread.join()
    web_fetch._trust.cache_clear()


@pytest.fixture
def proxy(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    proxy = Proxy(site.port)
    thread = threading.Thread(target=proxy.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    monkeypatch.setenv("https_proxy", proxy.url.replace("//", f"//person:{SECRET}@"))
    monkeypatch.setenv("http_proxy", proxy.url)
    yield proxy
    proxy.server.shutdown()
    proxy.server.server_close()
    thread.join()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """The real judgement of addresses, over names of a test."""
    names = {"page.example": [PUBLIC], "inner.example": ["10.0.0.7"], "six.example": ["2606:2800:220:1::1"]}
    desk = Desk(tmp_path)
    desk.tools = {"web_fetch": fetching_tool(Network(lambda host, _: names[host]))}
    return desk


def test_a_page_comes_through_the_proxy_which_is_told_the_address_that_was_judged(
    desk: Desk, site: Site, proxy: Proxy
) -> None:
    answer = desk.use("web_fetch", url="https://page.example/")

    assert "the page behind" in answer.text
    assert proxy.asked == [f"CONNECT {PUBLIC}:443 HTTP/1.1"], "no name, which it could look up elsewhere"
    assert "page.example" not in proxy.heads[0]
    assert "Proxy-Authorization: Basic" in proxy.heads[0]
    assert site.asked == [("/", "page.example")]


@pytest.mark.parametrize("host", ["inner.example", "127.0.0.1", "localhost", "10.0.0.7"])
def test_a_proxy_opens_no_way_into_the_network_around_it(desk: Desk, proxy: Proxy, host: str) -> None:
    assert desk.use("web_fetch", url=f"https://{host}/").is_error
    assert proxy.asked == []


def test_nothing_is_fetched_past_a_proxy(desk: Desk, site: Site, proxy: Proxy) -> None:
    """A plain page, which it would ask for by name; an address that our client cannot tell it; one that it refuses."""
    plain = desk.use("web_fetch", url="http://page.example/")
    assert plain.is_error
    assert "only https:// pages" in plain.text
    six = desk.use("web_fetch", url="https://six.example/")
    assert six.is_error
    assert "IPv6" in six.text
    assert proxy.asked == []

    proxy.answer = "403 Forbidden by policy"
    refused = desk.use("web_fetch", url="https://page.example/")
    assert "through the proxy that is set: 403 Forbidden by policy" in refused.text
    assert SECRET not in refused.text
    assert site.asked == []


def test_a_proxy_that_is_away_or_cannot_be_used_is_said_without_its_password(
    desk: Desk, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    for named in (
        f"http://person:{SECRET}@127.0.0.1:{port}",
        f"socks5://person:{SECRET}@127.0.0.1:{port}",
        "gopher://x",
    ):
        monkeypatch.setenv("https_proxy", named)
        answer = desk.use("web_fetch", url="https://page.example/")
        assert answer.is_error
        assert "through the proxy that is set" in answer.text
        assert SECRET not in answer.text
    assert site.asked == []


def test_no_proxy_leaves_a_host_out(
    tmp_path: Path, site: Site, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path)
    network = Network(lambda *_: ["127.0.0.1"], lambda ip: ip == "127.0.0.1")
    desk.tools = {"web_fetch": fetching_tool(network)}
    monkeypatch.setenv("no_proxy", "page.example")

    assert "the page behind" in desk.use("web_fetch", url=f"https://page.example:{site.port}/").text
    assert proxy.asked == []
