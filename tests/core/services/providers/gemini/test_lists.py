"""Gemini's list of models, its token counts, and where requests go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.provider import ReasoningDelta
from core.services.providers.clients import make_provider
from core.services.providers.gemini.client import GeminiProvider
from core.services.providers.model_data import packaged_models
from tests.core.services.providers.gemini.kit import ARGON, asked, provider_at
from tests.core.services.providers.outcomes import (
    PNG,
    TOOLS,
    ask,
    assistant,
    blobs,
    picture,
    run,
    server_settings,
    user,
)
from tests.vendors.gemini_server import (
    KEY,
    GeminiServer,
    Said,
)


@pytest.fixture
def server() -> Iterator[GeminiServer]:
    with GeminiServer() as running:
        yield running


def test_the_servers_list_tells_windows_and_leaves_out_what_cannot_speak(server: GeminiServer) -> None:
    server.page_size = 3
    listed = {model.id: model for model in provider_at(server).list_models()}

    assert "gemini-embedding-2" not in listed
    assert len(listed) == 6
    tiny = listed["gemini-9-tiny"]
    assert (tiny.context_tokens, tiny.max_output_tokens, tiny.label) == (2_000, 500, "Gemini 9 Tiny")


def test_tokens_of_the_whole_request_are_counted_by_the_vendors_endpoint(server: GeminiServer) -> None:
    request = ask(ARGON, user("Count me.", picture()), assistant("One."), user("And me."), tools=TOOLS)
    counted = provider_at(server).count_tokens(request, blobs(PNG))
    billed = asked(server, request).usage.input_tokens

    assert counted == billed
    assert server.requests[0].path == f"/v1beta/models/{ARGON}:countTokens"


@pytest.mark.parametrize("method", ["list_models", "count_tokens"])
def test_lists_and_counts_fail_in_the_same_words(server: GeminiServer, method: str) -> None:
    provider = provider_at(server, "AIzaSyWrong0123456789abcdefghijklmnopqr")
    with pytest.raises(ProviderError, match="refused the key") as caught:
        provider.list_models() if method == "list_models" else provider.count_tokens(ask(ARGON), blobs())

    assert caught.value.kind is FailureKind.BAD_KEY


def test_the_sdks_own_variable_sets_the_address(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    provider = make_provider(server_settings("gemini"), KEY, packaged_models())

    assert run(provider, ask(ARGON)).text == "Hello there."


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"])
@pytest.mark.parametrize("by_variable", [False, True])
def test_a_proxy_does_not_capture_loopback(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch, variable: str, *, by_variable: bool
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    if by_variable:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
    settings = server_settings("gemini", "" if by_variable else server.url)

    assert run(GeminiProvider(settings, KEY), ask(ARGON)).text == "Hello there."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GOOGLE_API_KEY", "AIzaSyOther0123456789abcdefghijklmnopqr"),
        ("GOOGLE_GENAI_USE_VERTEXAI", "true"),
        ("GOOGLE_GENAI_USE_ENTERPRISE", "true"),
        ("GOOGLE_CLOUD_PROJECT", "elsewhere"),
        ("GOOGLE_GENAI_API_VERSION", "v1"),
        ("GOOGLE_GENAI_HTTP_CLIENT", "httpx2"),
    ],
)
def test_the_environment_does_not_send_the_request_elsewhere(
    server: GeminiServer, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    assert asked(server, ask(ARGON)).error is None
    assert server.requests[0].headers["x-goog-api-key"] == KEY


def test_reasoning_that_is_only_a_seal_shows_no_text(server: GeminiServer) -> None:
    server.replies.append(Said(({"functionCall": {"name": "f", "args": {}}},)))
    shown = [item for item in asked(server, ask(ARGON)).items if isinstance(item, ReasoningDelta)]

    assert [item.text for item in shown] == [""]
