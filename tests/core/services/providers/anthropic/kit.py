"""A client of Anthropic at a server on loopback, for tests."""

from __future__ import annotations

from core.kernel.values.provider import ProviderRequest
from core.services.providers.anthropic.client import AnthropicProvider
from core.services.providers.model_data import packaged_models
from tests.core.services.providers.outcomes import PNG, Outcome, blobs, run, server_settings
from tests.vendors.anthropic_server import KEY, AnthropicServer

OPUS = "claude-opus-5-5"
HAIKU_OLD = "claude-haiku-4-5"


def provider_at(server: AnthropicServer, key: str | None = KEY, **settings: float) -> AnthropicProvider:
    return AnthropicProvider(server_settings("anthropic", server.url, **settings), key, packaged_models())


def asked(server: AnthropicServer, request: ProviderRequest, **settings: float) -> Outcome:
    return run(provider_at(server, KEY, **settings), request, blobs(PNG, b"a,b\n1,2\n", b"\0\1"))
