"""Batches over HTTP against the real program: submitted, the program closed, another collects, previews free, applies."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.front.hooks.conftest import AS_PERSON, World
from tests.core.front.hooks.harvest_world import asked, old_discussion, text_of
from tests.core.knowledge.harvest.harvests import reply
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said

MODEL = "claude-haiku-4-5"


@pytest.fixture
def vendor() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def far(world: World, vendor: AnthropicServer, monkeypatch: pytest.MonkeyPatch) -> World:
    """A program on one old conversation, that a model of the vendor reads."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    world.config.write_text(
        f'[providers.anthropic]\nbase_url = "{vendor.url}"\n'
        f'[ai_settings]\nprovider = "anthropic"\nmodel = "{MODEL}"\n',
        encoding="utf-8",
    )
    old_discussion(world, "tides")
    world.start()
    world.discussion("shown")
    return world


def test_a_batch_outlives_the_program_and_another_applies_it(far: World, vendor: AnthropicServer) -> None:
    sent = asked(far, "batch")
    assert [row["state"] for row in sent["batches"]["rows"]] == ["submitted"], sent["problem"]
    assert sent["batched"]["submitted_requests"] == 1
    far.stop()
    vendor.replies.append(Said(({"type": "text", "text": reply("High tide is late.")},)))
    vendor.batches.finish()

    far.start()
    found = asked(far, "batch", {"submits": False})

    assert found["batches"]["rows"] == []
    assert [row["state"] for row in found["batched"]["closed"]["rows"]] == ["collected"]
    assert found["use"]["calls"] == 1
    asked_before = len(vendor.requests)
    previewed = asked(far, "preview")
    assert [row["head"] for row in previewed["preview"]["items"]["rows"]] == ["High tide is late."]
    assert len(vendor.requests) == asked_before, "its reply was kept"
    asked(far, "apply", {"items": "all"})
    assert "High tide is late." in text_of(far, "facts.md")


def test_a_batch_past_the_days_limit_is_not_sent_until_that_is_said(
    far: World, vendor: AnthropicServer
) -> None:
    far.stop()
    with far.config.open("a", encoding="utf-8") as config:
        config.write("\n[ai_settings.caching]\nday_limit_usd = 0.00001\n")
    far.start()

    found = asked(far, "batch")

    assert "and go past the limit" in found["problem"]
    assert found["is_past_limit"]
    assert vendor.batches.made == 0
    asked(far, "batch", {"over_limit": True}, 403)
    assert vendor.batches.made == 0
    asked(far, "batch", {"over_limit": True}, 200, **AS_PERSON)
    assert vendor.batches.made == 1


def test_an_open_batch_keeps_its_conversation_from_a_preview_and_is_cancelled(
    far: World, vendor: AnthropicServer
) -> None:
    sent = asked(far, "batch")
    (row,) = sent["batches"]["rows"]
    answer = far.client.post("/api/harvest/preview", {"wait": True})
    assert (answer.status_code, "Reading them now costs you twice" in answer.text) == (409, True)
    assert far.client.post("/api/harvest/batch/cancel", {"tags": ["other"]}).status_code == 404

    stopping = asked(far, "batch/cancel", {"tags": [row["tag"]]})
    assert [one["is_cancelling"] for one in stopping["batches"]["rows"]] == [True]
    assert vendor.batches.last.status == "canceling"
    vendor.batches.finish()
    closed = asked(far, "batch", {"submits": False})

    assert closed["batches"]["rows"] == []
    assert [one["state"] for one in closed["batched"]["closed"]["rows"]] == ["cancelled"]
    assert vendor.batches.batches == {}


def test_a_server_without_batches_says_so(world: World) -> None:
    old_discussion(world, "tides")
    world.start()
    world.discussion("shown")

    found = asked(world, "batch")

    assert "offers no batches" in found["problem"]
    assert world.server.bodies == []
