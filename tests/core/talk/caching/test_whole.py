"""Prompt caching through the whole program: the real SDK, a server that bills as its vendor does, a real home."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.app.controller import AppController
from core.kernel.values.curation import FileItem
from core.kernel.values.discussion import CallPhase
from core.kernel.values.state import AppState
from core.knowledge.file_writer import write_lock
from core.knowledge.knowledge_messages import DeleteKnowledgeItem, RegenerateDigest
from core.services.settings.settings_messages import ChangeSetting
from core.talk.caching.caching_messages import DisableCaching, InvalidateCache
from core.talk.caching.rewrites import withdrawal_text
from core.talk.context.context_messages import CreatePreset
from core.talk.discussion.discussion_messages import ChangeDiscussion, CreateDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.core.app.programs import Programs, until
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
        controller.send(CreateDiscussion("Sky", "anthropic", MODEL))
        chosen = until(controller, lambda s: bool(s.discussions.selected_id)).discussions.selected_id
        if "core" not in controller.snapshot().config.project.presets:
            controller.send(CreatePreset("core", (FileItem("notes.py"), FileItem("tides.py"))))
        controller.send(ChangeDiscussion(discussion_id=chosen, changes={"preset": "core"}))
        until(controller, lambda s: s.discussions.summaries[chosen].meta.preset == "core")
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
    calls = (
        before.caching.totals["anthropic"].usage.input_tokens or 0
        if "anthropic" in before.caching.totals
        else 0
    )
    controller.send(SendPrompt(chosen, text))
    return until(
        controller,
        lambda s: (
            chosen not in s.turns.calls
            and "anthropic" in s.caching.totals
            and (s.caching.totals["anthropic"].usage.input_tokens or 0) > calls
        ),
    )


def last_usage(state: AppState, chosen: str) -> Any:
    usage = state.discussions.open[chosen].messages[-1].usage
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
    held = state.caching.caches[chosen]
    assert held.hit_count == 1
    assert held.expires_at is not None
    assert state.caching.totals["anthropic"].saved_usd is not None
    assert state.caching.plans[chosen].sentences


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
    until(second, lambda s: chosen in s.discussions.open and chosen in s.caching.caches)
    usage = last_usage(ask(second, chosen, "two"), chosen)

    assert usage.cache_read_tokens >= 0.9 * wrote


def test_after_invalidate_the_next_request_misses_and_the_one_after_hits(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    ask(controller, chosen, "one")
    controller.send(InvalidateCache(chosen))
    until(
        controller,
        lambda s: (
            s.discussions.summaries[chosen].meta.cache_epoch == 1
            and s.caching.caches[chosen].tokens_cached == 0
        ),
    )

    missed = last_usage(ask(controller, chosen, "two"), chosen)
    hit = last_usage(ask(controller, chosen, "three"), chosen)

    assert not missed.cache_read_tokens
    assert hit.cache_read_tokens > 5000
    assert "cache epoch 1" in json.dumps(world.server.bodies[-1])


def test_a_discussion_whose_caching_is_disabled_sends_no_mark(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    controller.send(DisableCaching(chosen))
    until(controller, lambda s: not s.discussions.summaries[chosen].meta.caching_enabled)

    usage = last_usage(ask(controller, chosen, "one"), chosen)

    assert "cache_control" not in json.dumps(world.server.bodies[-1])
    assert not usage.cache_write_tokens


def test_caching_that_is_switched_off_right_before_a_send_marks_nothing_in_it(world: World) -> None:
    """The switch was asked for first: it holds in the request, however long the file takes."""
    controller = world.start()
    chosen = world.discussion(controller)
    ask(controller, chosen, "one")
    assert "cache_control" in json.dumps(world.server.bodies[-1])

    controller.send(ChangeSetting("ai_settings.caching.anthropic_enabled", False))
    ask(controller, chosen, "two")

    assert "cache_control" not in json.dumps(world.server.bodies[-1])


def test_switching_the_provider_and_back_still_hits(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    wrote = last_usage(ask(controller, chosen, "one"), chosen).cache_write_tokens
    controller.send(
        ChangeDiscussion(
            discussion_id=chosen, changes={"provider": "anthropic", "model": "claude-sonnet-5-5"}
        )
    )
    until(controller, lambda s: s.discussions.summaries[chosen].meta.model == "claude-sonnet-5-5")
    assert not last_usage(ask(controller, chosen, "two"), chosen).cache_read_tokens
    controller.send(ChangeDiscussion(discussion_id=chosen, changes={"provider": "anthropic", "model": MODEL}))
    until(controller, lambda s: s.discussions.summaries[chosen].meta.model == MODEL)

    assert last_usage(ask(controller, chosen, "three"), chosen).cache_read_tokens >= 0.9 * wrote


def know(world: World, controller: AppController, fact: str) -> AppState:
    """Write down a fact as an editor would, and make the digest of it."""
    folder = world.home / "knowledge"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "facts.md").write_text(f"# Facts\n\n- {fact}\n", encoding="utf-8")
    controller.send(RegenerateDigest())
    return until(controller, lambda s: fact in s.knowledge.digest)


def test_a_regenerated_digest_joins_the_next_message_and_what_was_sent_is_read(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    know(world, controller, "Tides are M2.")
    ask(controller, chosen, "one")
    before = ask(controller, chosen, "two")
    assert not before.caching.rewrites

    know(world, controller, "Tides are S2.")
    state = until(controller, lambda s: chosen in s.caching.rewrites)
    found = state.caching.rewrites[chosen]
    (notice,) = (n for n in state.program.notices if n.id == "rewrites")
    usage = last_usage(ask(controller, chosen, "three"), chosen)
    body = world.server.bodies[-1]

    assert (found.why, found.is_appended) == ("the digest changed", True)
    assert notice.text.startswith("The next message carries this change: «Sky», ~")
    assert usage.cache_read_tokens
    assert not (usage.cache_write_tokens or 0) > 3 * found.tokens, "the last reply is written with it"
    assert body["system"] == world.server.bodies[-2]["system"]
    assert "Tides are S2." in json.dumps(body["messages"])
    state = until(controller, lambda s: chosen not in s.caching.rewrites)
    assert all(n.id != "rewrites" for n in state.program.notices)
    assert all("nothing explains it" not in n.text for n in state.program.notices)


def _is_rewritten(state: AppState, discussion_id: str) -> bool:
    """True if the next request sends anew, and does not append."""
    found = state.caching.rewrites.get(discussion_id)
    return found is not None and not found.is_appended


def test_a_deleted_item_says_its_price_first_and_is_nowhere_in_the_next_request(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    know(world, controller, "Tides are M2.")
    ask(controller, chosen, "one")
    know(world, controller, "Tides are S2.")
    state = ask(controller, chosen, "two")
    assert "Tides are M2." in json.dumps(world.server.bodies[-1])
    state = until(controller, lambda s: chosen in s.caching.withdrawals)
    assert state.caching.withdrawals[chosen].tokens > 0, "the price is said before"
    assert withdrawal_text(state).startswith(
        "The removal counts at once: the next turn rewrites the cache of 1 warm discussion"
    )
    (item,) = (i for file in state.knowledge.categories for i in file.items if "S2" in i.text)

    controller.send(DeleteKnowledgeItem(item))
    # It is counted before and after the files are written: what stands then is the price.
    state = until(controller, lambda s: _is_rewritten(s, chosen) and "S2" not in s.knowledge.digest)
    price = state.caching.rewrites[chosen]
    assert withdrawal_text(state) == "", "another one costs nothing more: the next turn rewrites anyway"
    state = ask(controller, chosen, "three")
    usage = last_usage(state, chosen)

    sent = json.dumps(world.server.bodies[-1])
    assert "S2" not in sent
    assert "M2" not in sent
    assert not usage.cache_read_tokens
    assert usage.cache_write_tokens == pytest.approx(price.tokens, rel=0.1)


def test_a_send_right_behind_a_deletion_carries_nothing_of_it(world: World) -> None:
    """The files are still being written when the words are sent: another program writes knowledge first."""
    controller = world.start()
    chosen = world.discussion(controller)
    know(world, controller, "Tides are M2.")
    state = ask(controller, chosen, "one")
    assert "Tides are M2." in json.dumps(world.server.bodies[-1])
    (item,) = (i for file in state.knowledge.categories for i in file.items if "M2" in i.text)

    with write_lock(world.home):
        controller.send(DeleteKnowledgeItem(item))
        controller.send(SendPrompt(chosen, "two"))
        state = until(
            controller,
            lambda s: chosen in s.turns.calls and s.turns.calls[chosen].phase is not CallPhase.SAVING,
        )
        assert not state.turns.calls[chosen].built
        assert len(world.server.bodies) == 1
    until(controller, lambda s: chosen not in s.turns.calls)

    assert "M2" not in json.dumps(world.server.bodies[-1])


def test_a_digest_that_is_what_it_was_again_rewrites_nothing(world: World) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    know(world, controller, "Tides are M2.")
    ask(controller, chosen, "one")

    know(world, controller, "Tides are S2.")
    until(controller, lambda s: chosen in s.caching.rewrites)
    know(world, controller, "Tides are M2.")

    state = until(controller, lambda s: chosen not in s.caching.rewrites)
    assert all(n.id != "rewrites" for n in state.program.notices)


def test_a_change_while_the_program_was_away_is_said_at_the_next_start(world: World) -> None:
    first = world.start()
    chosen = world.discussion(first)
    know(world, first, "Tides are M2.")
    ask(first, chosen, "one")
    first.send(CreateDiscussion("Other", "anthropic", MODEL))
    other = until(first, lambda s: s.discussions.selected_id != chosen).discussions.selected_id
    first.stop()
    (world.home / "knowledge" / "digest.md").unlink()

    second = world.start()
    state = until(second, lambda s: chosen in s.caching.rewrites and other in s.discussions.open)

    assert other in state.discussions.open
    assert chosen not in state.discussions.open
    assert state.caching.rewrites[chosen].why == "the program no longer sends knowledge"
