"""A client of Gemini at a server on loopback, for tests."""

from __future__ import annotations

from core.kernel.values.provider import ProviderRequest
from core.services.providers.gemini.client import GeminiProvider
from core.services.providers.model_data import packaged_models
from tests.core.services.providers.outcomes import PNG, Outcome, blobs, run, server_settings
from tests.vendors.gemini_server import (
    KEY,
    GeminiServer,
)

ARGON = "gemini-4-argon"
FLASH = "gemini-2.5-flash"


def provider_at(server: GeminiServer, key: str | None = KEY, **settings: float) -> GeminiProvider:
    return GeminiProvider(server_settings("gemini", server.url, **settings), key, packaged_models())


def asked(server: GeminiServer, request: ProviderRequest, **settings: float) -> Outcome:
    return run(provider_at(server, KEY, **settings), request, blobs(PNG, b"a,b\n1,2\n", b"\0\1"))
