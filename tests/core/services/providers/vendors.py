"""The vendors side by side: for behaviour that all clients share, whatever is on the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.services.providers.clients import make_provider
from core.services.providers.model_data import packaged_models
from core.services.providers.protocol import Provider
from tests.core.services.providers.outcomes import server_settings
from tests.vendors import anthropic_server, gemini_server, openai_server
from tests.vendors.compatible_server import MODEL, CompatibleServer
from tests.vendors.loopback import LoopbackServer

COMPATIBLE_KEY = "own-key-0123456789"


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor's client and its server on loopback.

    Args:
        path: of its API below the server's address; model: that every test may ask.
        parts: of its stream that bring `said`, the beginning of "Hello there."
        wrong_key: in the vendor's form.
    """

    kind: str
    make_server: Callable[[], LoopbackServer]
    key: str
    model: str
    parts: int
    said: str
    wrong_key: str
    path: str = ""

    def at(self, url: str, key: str | None = None, **settings: Any) -> Provider:
        """Its client for a server at `url`, with the right key unless told."""
        own = server_settings(self.kind, url, **settings)
        return make_provider(own, self.key if key is None else key, packaged_models())

    def client(self, server: LoopbackServer, key: str | None = None, **settings: Any) -> Provider:
        """Its client for its server."""
        return self.at(f"{server.url}{self.path}", key, **settings)


VENDORS = (
    Vendor(
        "anthropic",
        anthropic_server.AnthropicServer,
        anthropic_server.KEY,
        "claude-opus-5-5",
        parts=5,
        said="Hello ther",
        wrong_key="sk-ant-wrong-0123456789",
    ),
    Vendor(
        "gemini",
        gemini_server.GeminiServer,
        gemini_server.KEY,
        "gemini-4-argon",
        parts=2,
        said="Hello ther",
        wrong_key="AIzaSyWrong0123456789abcdefghijklmnopqr",
    ),
    Vendor(
        "openai",
        openai_server.OpenAiServer,
        openai_server.KEY,
        "gpt-6.1-sol",
        parts=5,
        said="Hello",
        wrong_key="sk-proj-wrong-0123456789abcdef",
        path="/v1",
    ),
    Vendor(
        "compatible",
        lambda: CompatibleServer(key=COMPATIBLE_KEY),
        COMPATIBLE_KEY,
        MODEL,
        parts=2,
        said="Hello",
        wrong_key="wrong-key-0123456789",
        path="/v1",
    ),
)
