"""Prefix reuse of compatible servers: what they report, and how it is turned off where a way is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.kernel.values.cache import CachePlan
from core.services.providers.compatible.client import CompatibleProvider
from core.services.providers.profiles import merge_models
from tests.core.services.providers.caching_kit import sent, turn, words
from tests.core.services.providers.outcomes import server_settings
from tests.vendors.compatible_server import LLAMA_CPP, MODEL, OPENROUTER, VLLM, CompatibleServer, Habits
from tests.vendors.loopback import Answer, json_reply

OFF = CachePlan(is_enabled=False)


@contextmanager
def talking_to(habits: Habits) -> Iterator[tuple[CompatibleServer, CompatibleProvider]]:
    with CompatibleServer(habits) as server:
        client = CompatibleProvider(server_settings("compatible", f"{server.url}/v1"), None)
        yield server, client
        client.close()


def test_the_next_turn_reuses_what_the_server_reports_it_kept() -> None:
    with talking_to(LLAMA_CPP) as (_, client):
        first = sent(client, turn(MODEL, "Hello?")).usage
        second = sent(client, turn(MODEL, "Hello?", "Hello there.", "And?")).usage

    assert first.cache_read_tokens == 0
    assert (second.cache_read_tokens or 0) > 3000
    assert second.cache_write_tokens is None


@pytest.mark.breaks_prefix("another salt is there to miss the cache")
def test_after_a_changed_salt_nothing_is_reused_and_then_it_is_again() -> None:
    salted = f"epoch 1 {words(2000)}"
    with talking_to(LLAMA_CPP) as (_, client):
        sent(client, turn(MODEL, "Hello?", system=words(2000)))
        missed = sent(client, turn(MODEL, "Hello?", system=salted)).usage
        hit = sent(client, turn(MODEL, "Hello?", "Yes.", "And?", system=salted)).usage

    assert (missed.cache_read_tokens or 0) < 100  # the tools stand before it
    assert (hit.cache_read_tokens or 0) > 3000


def test_a_server_that_reports_nothing_says_nothing() -> None:
    with talking_to(VLLM) as (_, client):
        usages = [sent(client, turn(MODEL, "Hello?")).usage for _ in range(2)]

    assert [usage.cache_read_tokens for usage in usages] == [None, None]


def test_caching_off_is_said_to_a_server_that_is_known_to_honour_it() -> None:
    with talking_to(LLAMA_CPP) as (server, client):
        usages = [sent(client, turn(MODEL, "Hello?", cache=OFF)).usage for _ in range(2)]

        assert client.takes_cache_prompt
        assert [body["cache_prompt"] for body in server.bodies if "messages" in body] == [False, False]
        assert [usage.cache_read_tokens for usage in usages] == [0, 0]
        assert [request.path for request in server.requests].count("/v1/models") == 1


def test_other_servers_are_sent_no_field_that_they_do_not_know() -> None:
    with talking_to(OPENROUTER) as (server, client):
        sent(client, turn(MODEL, "Hello?", cache=OFF))
        sent(client, turn(MODEL, "Hello?", cache=OFF))

        assert not client.takes_cache_prompt
        assert all(b"cache_prompt" not in request.body for request in server.requests)
        assert [request.path for request in server.requests].count("/v1/models") == 1


def test_a_server_that_does_not_list_its_models_is_left_alone() -> None:
    with talking_to(LLAMA_CPP) as (server, client):
        server.is_faultable = lambda captured: captured.path == "/v1/models"  # type: ignore[method-assign]
        server.faults.append(Answer(json_reply(500, {"error": "no"})))
        result = sent(client, turn(MODEL, "Hello?", cache=OFF))

    assert result.text == "Hello there."
    assert b"cache_prompt" not in server.requests[-1].body


def test_listing_the_models_tells_who_the_server_is() -> None:
    with talking_to(LLAMA_CPP) as (_, client):
        assert not client.takes_cache_prompt
        listed = client.list_models()
        assert client.takes_cache_prompt
        assert [model.takes_cache_prompt for model in listed] == [True]
        assert merge_models((), listed)[0].takes_cache_prompt
