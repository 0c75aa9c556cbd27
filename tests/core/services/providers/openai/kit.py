"""A client of OpenAI at a server on loopback, for tests."""

from __future__ import annotations

from core.kernel.values.provider import ProviderRequest
from core.services.providers.model_data import packaged_models
from core.services.providers.openai.client import OpenAiProvider
from tests.core.services.providers.outcomes import PNG, Outcome, blobs, run, server_settings
from tests.vendors.openai_server import KEY, OpenAiServer

SOL = "gpt-6.1-sol"


def provider_at(server: OpenAiServer, key: str | None = KEY, **settings: float) -> OpenAiProvider:
    return OpenAiProvider(server_settings("openai", f"{server.url}/v1", **settings), key, packaged_models())


def asked(server: OpenAiServer, request: ProviderRequest, **settings: float) -> Outcome:
    return run(provider_at(server, KEY, **settings), request, blobs(PNG, b"a,b\n1,2\n", b"\0\1"))
