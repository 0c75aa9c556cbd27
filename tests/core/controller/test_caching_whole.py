"""Prompt caching through the whole program: the real SDK, a server that bills as its vendor does, a real home."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.controller import AppController
from core.values import commands as c
from core.values.curation import FileItem
from core.values.state import AppState
from tests.core.controller.programs import Programs, until
from tests.vendors.anthropic_server import KEY, AnthropicServer

MODEL = "claude-opus-5-5"


class World(Programs):
    """A project with a long file and a short one, a home, a server; programs come and go."""

    def __init__(self, base: Path, server: AnthropicServer) -> None:
        super().__init__(base)
        self.server = server
        self.write("one")

    def write(self, mark: str) -> None:
        (self.project / "tides.py").write_text("height = 1\n" * 2000, encoding="utf-8")
        (self.project / "notes.py").write_text(f"# {mark}\n", encoding="utf-8")

    def discussion(self, controller: AppController) -> str:
        controller.send(c.CreateDiscussion("Sky", "anthropic", MODEL))
        chosen = until(controller, lambda s: bool(s.selected_id)).selected_id
        if "core" not in controller.snapshot().project.presets:
            controller.send(c.CreatePreset("core", (FileItem("notes.py"), FileItem("tides.py"))))
        controller.send(c.SetDiscussionPreset(chosen, "core"))
        until(controller, lambda s: s.summaries[chosen].meta.preset == "core")
        return chosen


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        world = World(tmp_path, server)
        yield world
        world.stop()


def ask(controller: AppController, chosen: str, text: str) -> AppState:
    """Send, and wait until the reply is logged and its cache is accounted for."""
    before = controller.snapshot()
    calls = before.totals["anthropic"].usage.input_tokens or 0 if "anthropic" in before.totals else 0
    controller.send(c.SendPrompt(chosen, text))
    return until(
        controller,
        lambda s: (
            chosen not in s.calls
            and "anthropic" in s.totals
            and (s.totals["anthropic"].usage.input_tokens or 0) > calls
        ),
    )


def last_usage(state: AppState, chosen: str) -> Any:
    usage = state.open[chosen].messages[-1].usage
    assert usage is not None
    return usage


def test_the_second_turn_reads_what_the_first_wrote_and_the_panel_knows(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)

    first = last_usage(ask(controller, chosen, "one"), chosen)
    state = ask(controller, chosen, "two")
    second = last_usage(state, chosen)

    assert first.cache_write_tokens > 5000
    assert second.cache_read_tokens >= 0.9 * first.cache_write_tokens
    held = state.caches[chosen]
    assert held.hit_count == 1
    assert held.expires_at is not None
    assert state.totals["anthropic"].saved_usd is not None
    assert state.plans[chosen].sentences


def test_a_changed_file_joins_the_turn_while_the_prefix_is_warm(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    wrote = last_usage(ask(controller, chosen, "one"), chosen).cache_write_tokens
    world.write("two")

    usage = last_usage(ask(controller, chosen, "two"), chosen)

    body = json.dumps(world.server.bodies[-1])
    assert usage.cache_read_tokens >= 0.9 * wrote
    assert "# one" in body
    assert "# two" in body


def test_after_a_restart_the_next_turn_still_hits(world: World) -> None:
    first = world.start()
    chosen = world.discussion(first)
    wrote = last_usage(ask(first, chosen, "one"), chosen).cache_write_tokens
    first.stop()

    second = world.start()
    until(second, lambda s: chosen in s.open and chosen in s.caches)
    usage = last_usage(ask(second, chosen, "two"), chosen)

    assert usage.cache_read_tokens >= 0.9 * wrote


def test_after_invalidate_the_next_request_misses_and_the_one_after_hits(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    ask(controller, chosen, "one")
    controller.send(c.InvalidateCache(chosen))
    until(
        controller,
        lambda s: s.summaries[chosen].meta.cache_epoch == 1 and s.caches[chosen].tokens_cached == 0,
    )

    missed = last_usage(ask(controller, chosen, "two"), chosen)
    hit = last_usage(ask(controller, chosen, "three"), chosen)

    assert not missed.cache_read_tokens
    assert hit.cache_read_tokens > 5000
    assert "cache epoch 1" in json.dumps(world.server.bodies[-1])


def test_a_discussion_whose_caching_is_disabled_sends_no_mark(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    controller.send(c.DisableCaching(chosen))
    until(controller, lambda s: not s.summaries[chosen].meta.caching_enabled)

    usage = last_usage(ask(controller, chosen, "one"), chosen)

    assert "cache_control" not in json.dumps(world.server.bodies[-1])
    assert not usage.cache_write_tokens


def test_switching_the_provider_and_back_still_hits(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    wrote = last_usage(ask(controller, chosen, "one"), chosen).cache_write_tokens
    controller.send(c.SetModel(chosen, "anthropic", "claude-sonnet-5-5"))
    until(controller, lambda s: s.summaries[chosen].meta.model == "claude-sonnet-5-5")
    assert not last_usage(ask(controller, chosen, "two"), chosen).cache_read_tokens
    controller.send(c.SetModel(chosen, "anthropic", MODEL))
    until(controller, lambda s: s.summaries[chosen].meta.model == MODEL)

    assert last_usage(ask(controller, chosen, "three"), chosen).cache_read_tokens >= 0.9 * wrote


def know(world: World, controller: AppController, fact: str) -> AppState:
    """Write down a fact as an editor would, and make the digest of it."""
    folder = world.home / "knowledge"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "facts.md").write_text(f"# Facts\n\n- {fact}\n", encoding="utf-8")
    controller.send(c.RegenerateDigest())
    return until(controller, lambda s: fact in s.knowledge.digest)


def test_a_regenerated_digest_says_what_the_next_turn_rewrites_and_the_bill_agrees(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    know(world, controller, "Tides are M2.")
    ask(controller, chosen, "one")
    before = ask(controller, chosen, "two")
    assert not before.rewrites

    know(world, controller, "Tides are S2.")
    state = until(controller, lambda s: chosen in s.rewrites)
    found = state.rewrites[chosen]
    (notice,) = (n for n in state.notices if n.id == "rewrites")
    usage = last_usage(ask(controller, chosen, "three"), chosen)

    assert found.why == "the digest changed"
    assert found.cost_usd is not None
    assert "«Sky»" in notice.text
    assert f"est. ${found.cost_usd:.2f}" in notice.text
    assert not usage.cache_read_tokens
    assert usage.cache_write_tokens == pytest.approx(found.tokens, rel=0.05)
    state = until(controller, lambda s: chosen not in s.rewrites)
    assert all(n.id != "rewrites" for n in state.notices)


def test_a_digest_that_is_what_it_was_again_rewrites_nothing(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    know(world, controller, "Tides are M2.")
    ask(controller, chosen, "one")

    know(world, controller, "Tides are S2.")
    until(controller, lambda s: chosen in s.rewrites)
    know(world, controller, "Tides are M2.")

    state = until(controller, lambda s: chosen not in s.rewrites)
    assert all(n.id != "rewrites" for n in state.notices)


def test_a_change_while_the_program_was_away_is_said_at_the_next_start(world: World) -> None:
    first = world.start()
    chosen = world.discussion(first)
    know(world, first, "Tides are M2.")
    ask(first, chosen, "one")
    first.send(c.CreateDiscussion("Other", "anthropic", MODEL))
    other = until(first, lambda s: s.selected_id != chosen).selected_id
    first.stop()
    (world.home / "knowledge" / "digest.md").unlink()

    second = world.start()
    state = until(second, lambda s: chosen in s.rewrites)

    assert other in state.open
    assert chosen not in state.open
    assert state.rewrites[chosen].why == "knowledge is off"
