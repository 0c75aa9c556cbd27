"""Clients: made when first called, made anew when their settings change, kept while they are good."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import FailureKind, ProviderError
from core.values.provider import ModelProfile
from core.values.settings import ServerSettings
from core.workers.clients import Clients

ANTHROPIC = ServerSettings("anthropic", "anthropic", "Anthropic")
EMBEDDED = ServerSettings("embedded", "embedded", "Embedded model")
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


def test_closing_twice_is_harmless(clients: Clients) -> None:
    clients.get("anthropic")
    clients.close()
    clients.close()


def test_what_is_billed_while_held_is_deleted_at_the_end(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    gemini = ServerSettings("gemini", "gemini", "Gemini")
    clients.configure({"gemini": gemini}, {"gemini": "key"}, ())
    client = clients.get("gemini")
    released: list[str] = []
    monkeypatch.setattr(type(client), "release", lambda _self: released.append("all"))

    clients.close()

    assert released == ["all"]


def test_a_release_that_fails_is_logged_and_ends_nothing(
    clients: Clients, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clients.configure({"gemini": ServerSettings("gemini", "gemini", "Gemini")}, {"gemini": "key"}, ())
    client = clients.get("gemini")

    def fail(_self: object) -> None:
        raise ProviderError(FailureKind.NO_NETWORK, "2 stored prefixes could not be deleted")

    monkeypatch.setattr(type(client), "release", fail)
    clients.close()
    assert "could not be deleted" in caplog.text
