"""Clients: made when first called, made anew when their settings change, kept while they are good."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import ServerSettings
from core.services.providers.clients import Clients, Stores
from tests.core.services.providers.caching_kit import words
from tests.core.services.providers.gemini.kit import FLASH
from tests.patience import PATIENCE_S
from tests.vendors.gemini_server import KEY, GeminiServer, error_reply
from tests.vendors.loopback import Answer, Captured, Reply, StreamReply

ANTHROPIC = ServerSettings("anthropic", "anthropic", "Anthropic")
EMBEDDED = ServerSettings("embedded", "embedded", "Built-in model")
SERVERS = {"anthropic": ANTHROPIC, "embedded": EMBEDDED}
KEYS = {"anthropic": "sk-1"}
MODELS = (ModelProfile("anthropic", "claude-opus-5-5"),)


@pytest.fixture
def clients() -> Clients:
    clients = Clients()
    clients.configure(SERVERS, KEYS, MODELS)
    return clients


def test_a_client_is_made_once(clients: Clients) -> None:
    assert clients.get("anthropic") is clients.get("anthropic")


def test_reading_the_same_settings_again_keeps_it(clients: Clients) -> None:
    before = clients.get("anthropic")
    clients.configure(dict(SERVERS), dict(KEYS), tuple(MODELS))
    assert clients.get("anthropic") is before


@pytest.mark.parametrize(
    ("servers", "keys", "models"),
    [
        ({"anthropic": replace(ANTHROPIC, base_url="http://127.0.0.1:1")}, KEYS, MODELS),
        (SERVERS, {"anthropic": "sk-2"}, MODELS),
        (SERVERS, KEYS, ()),
    ],
)
def test_a_new_address_key_or_list_of_models_makes_it_anew(
    clients: Clients,
    servers: dict[str, ServerSettings],
    keys: dict[str, str],
    models: tuple[ModelProfile, ...],
) -> None:
    before = clients.get("anthropic")
    clients.configure(servers, keys, models)
    assert clients.get("anthropic") is not before


def test_the_embedded_models_process_outlives_a_new_list_of_models(clients: Clients) -> None:
    before = clients.get("embedded")
    clients.configure(SERVERS, KEYS, ())
    assert clients.get("embedded") is before
    clients.close()


@pytest.mark.parametrize(
    ("kind", "base_url", "is_local"),
    [
        ("compatible", "http://127.0.0.1:11434/v1", True),
        ("compatible", "http://localhost:8080/v1", True),
        ("compatible", "http://192.168.1.20:8080/v1", False),
        ("compatible", "https://llm.example.com/v1", False),
        ("compatible", "", False),
        ("embedded", "", True),
        ("openai", "http://127.0.0.1:4000/v1", False),
    ],
)
def test_nobody_is_paid_for_the_models_of_this_machine_alone(
    clients: Clients, kind: str, base_url: str, is_local: bool
) -> None:
    clients.configure({"own": ServerSettings("own", kind, "Own", base_url=base_url)}, {}, ())
    assert clients.is_local("own") is is_local
    assert not clients.is_local("another")


def test_without_a_key_the_failure_says_where_to_enter_one(clients: Clients) -> None:
    clients.configure(SERVERS, {}, MODELS)
    with pytest.raises(ProviderError) as failed:
        clients.get("anthropic")
    assert failed.value.kind is FailureKind.NO_KEY
    assert "Settings" in failed.value.remedy


def test_a_provider_that_is_gone_or_switched_off_is_named(clients: Clients) -> None:
    clients.configure({"anthropic": replace(ANTHROPIC, is_enabled=False)}, KEYS, MODELS)
    for name in ("anthropic", "nobody"):
        with pytest.raises(ProviderError, match=name):
            clients.get(name)


def test_a_provider_is_called_what_the_person_calls_it(clients: Clients) -> None:
    assert (clients.label("embedded"), clients.label("gone")) == ("Built-in model", "gone")


def test_closing_twice_is_harmless(clients: Clients) -> None:
    clients.get("anthropic")
    clients.close()
    clients.close()


@pytest.fixture
def gemini() -> Iterator[GeminiServer]:
    with GeminiServer() as server:
        yield server


def storing(clients: Clients, server: GeminiServer) -> str:
    """Let the client of Gemini hold a content; its name."""
    settings = ServerSettings("gemini", "gemini", "Gemini", server.url)
    clients.configure({"gemini": settings}, {"gemini": KEY}, ())
    body = {
        "model": f"models/{FLASH}",
        "displayName": f"manual-slop/d1/{1:032}",
        "contents": [{"parts": [{"text": words(2100)}]}],
    }
    name = str(server.cache.stored.create(body, owner=KEY)["name"])
    client = clients.get("gemini")
    assert isinstance(client, Stores)
    assert [content.name for content in client.adopt({"d1"})] == [name]
    return name


def test_what_is_billed_while_it_is_stored_is_deleted_at_the_end(
    clients: Clients, gemini: GeminiServer
) -> None:
    name = storing(clients, gemini)

    assert clients.release() == (name,)
    assert not gemini.cache.stored.page(owner=KEY).get("cachedContents")


def test_a_client_that_settings_replaced_still_deletes_what_it_stored(
    clients: Clients, gemini: GeminiServer
) -> None:
    name = storing(clients, gemini)
    clients.configure({}, {}, ())

    assert clients.release() == (name,)
    assert not gemini.cache.stored.page(owner=KEY).get("cachedContents")


def test_what_cannot_be_deleted_at_the_end_is_logged_and_ends_nothing(
    clients: Clients, gemini: GeminiServer, caplog: pytest.LogCaptureFixture
) -> None:
    storing(clients, gemini)
    gemini.is_faultable = lambda captured: captured.method == "DELETE"  # type: ignore[method-assign]
    gemini.faults.append(Answer(error_reply(503, "UNAVAILABLE", "Overloaded.")))

    assert clients.release() == ()
    assert "could not be deleted" in caplog.text


def test_the_end_does_not_wait_for_a_network_that_is_silent(
    clients: Clients, gemini: GeminiServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    storing(clients, gemini)
    answer, answers = gemini.answer, threading.Event()

    def silent(captured: Captured) -> Reply | StreamReply:
        if captured.method == "DELETE":
            answers.wait(PATIENCE_S)
        return answer(captured)

    gemini.answer = silent  # type: ignore[method-assign]
    monkeypatch.setattr("core.services.providers.clients.RELEASE_S", 0.2)

    assert clients.release() == ()
    answers.set()

    assert "was not all deleted" in caplog.text
