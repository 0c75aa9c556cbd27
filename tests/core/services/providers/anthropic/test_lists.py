"""Anthropic's list of models, its token counts, and where requests go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.kernel.errors import FailureKind
from core.kernel.values.provider import Effort
from core.services.providers.anthropic.client import AnthropicProvider
from core.services.providers.clients import make_provider
from core.services.providers.model_data import packaged_models
from tests.core.services.providers.anthropic.kit import HAIKU_OLD, OPUS, asked, provider_at
from tests.core.services.providers.outcomes import TOOLS, ask, blobs, run, server_settings, user
from tests.vendors.anthropic_server import KEY, AnthropicServer


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as running:
        yield running


def test_the_servers_list_tells_windows_efforts_and_pictures(server: AnthropicServer) -> None:
    server.page_size = 2
    listed = {model.id: model for model in provider_at(server).list_models()}

    assert len(listed) == 5
    novel = listed["claude-novel-6"]
    assert (novel.context_tokens, novel.max_output_tokens, novel.takes_images) == (1_000_000, 256_000, True)
    assert novel.efforts == (Effort.LOW, Effort.HIGH)
    assert novel.thinking == "adaptive"
    assert listed["claude-sonnet-5-5"].thinking_off == "between_tools"
    assert listed[HAIKU_OLD].thinking == "budget"
    assert novel.from_server


def test_tokens_are_counted_by_the_vendors_endpoint(server: AnthropicServer) -> None:
    request = ask(OPUS, user("Count me."), tools=TOOLS)
    counted = provider_at(server).count_tokens(request, blobs())
    billed = asked(server, request).usage.input_tokens

    assert counted == billed
    assert server.requests[0].path == "/v1/messages/count_tokens"


@pytest.mark.parametrize("method", ["list_models", "count_tokens"])
def test_lists_and_counts_fail_in_the_same_words(server: AnthropicServer, method: str) -> None:
    provider = provider_at(server, "sk-ant-wrong-0123456789")
    with pytest.raises(Exception, match="refused the key") as caught:
        provider.list_models() if method == "list_models" else provider.count_tokens(ask(OPUS), blobs())

    assert caught.value.kind is FailureKind.BAD_KEY  # type: ignore[attr-defined]


def test_the_sdks_own_variable_sets_the_address(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    provider = make_provider(server_settings("anthropic"), KEY, packaged_models())

    assert run(provider, ask(OPUS)).text == "Hello there."


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"])
@pytest.mark.parametrize("by_variable", [False, True])
def test_a_proxy_does_not_capture_loopback(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch, variable: str, *, by_variable: bool
) -> None:
    monkeypatch.setenv(variable, "socks5://127.0.0.1:9")
    if by_variable:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    settings = server_settings("anthropic", "" if by_variable else server.url)

    assert run(AnthropicProvider(settings, KEY), ask(OPUS)).text == "Hello there."


def test_keys_of_the_environment_do_not_stand_in_for_the_one_given(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-other-0123456789")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other-token-0123456789")

    assert asked(server, ask(OPUS)).error is None
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
