"""Gemini's stored prefixes through the whole program: the real SDK, a server that stores and bills, a real home."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.caching.messages import DeleteOrphanedCaches, DisableCaching
from core.context.messages import CreatePreset
from core.discussion.messages import CreateDiscussion
from core.turn.messages import SendPrompt
from core.values.curation import FileItem
from tests.core.app.programs import Programs, until
from tests.core.providers.caching_kit import words
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.values import Parts
from tests.vendors.gemini_server import KEY, GeminiServer

MODEL = "gemini-3.8-flash"


class World(Programs):
    """A project with a long file, a home, Gemini at loopback; programs come and go."""

    def __init__(self, base: Path, server: GeminiServer) -> None:
        super().__init__(base)
        self.server = server
        (self.project / "tides.py").write_text("height = 1\n" * 3000, encoding="utf-8")

    def store(self, display: str) -> str:
        """A content that stands at the server already; its name."""
        body = {
            "model": f"models/{MODEL}",
            "displayName": display,
            "contents": [{"parts": [{"text": words(5000)}]}],
        }
        return str(self.server.cache.stored.create(body, owner=KEY)["name"])

    @property
    def left(self) -> list[str]:
        page = self.server.cache.stored.page(owner=KEY)
        return [one["name"] for one in page.get("cachedContents", [])]

    def stored_turn(self, controller: AppController) -> str:
        """A discussion whose first turn stores its prefix; its id."""
        controller.send(CreateDiscussion("Tides", "gemini", MODEL))
        chosen = until(controller, lambda s: bool(s.discussions.selected_id)).discussions.selected_id
        controller.send(CreatePreset("core", (FileItem("tides.py"),)))
        until(controller, lambda s: s.discussions.summaries[chosen].meta.preset == "core")
        self.ask(controller, chosen, "one")
        until(
            controller, lambda s: chosen in s.caching.caches and s.caching.caches[chosen].tokens_cached > 4000
        )
        return chosen

    def ask(self, controller: AppController, chosen: str, text: str) -> None:
        turns = len(controller.snapshot().discussions.open[chosen].messages)
        controller.send(SendPrompt(chosen, text))
        until(
            controller,
            lambda s: (
                chosen not in s.turns.calls
                and len(s.discussions.open[chosen].messages) > turns + 1
                and s.discussions.open[chosen].messages[-1].usage is not None
            ),
        )


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with GeminiServer() as server:
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        world = World(tmp_path, server)
        yield world
        world.stop()


def test_orphans_are_told_at_the_start_and_deleted_when_the_person_says_so(world: World) -> None:
    orphan = world.store(f"manual-slop/20260101-000000-gonegone/{1:032}")
    foreign = world.store("somebody else's")

    controller = world.start()
    state = until(controller, lambda s: bool(s.caching.orphans))
    assert [one.name for one in state.caching.orphans] == [orphan]
    assert world.left == [orphan, foreign]

    controller.send(DeleteOrphanedCaches())
    until(controller, lambda s: not s.caching.orphans)
    assert world.left == [foreign]


def test_making_a_stored_prefix_and_its_rent_are_part_of_what_was_spent(world: World) -> None:
    """The bill as the vendor makes it, the prefix being stored up to its end."""
    controller = world.start()
    chosen = world.stored_turn(controller)
    world.ask(controller, chosen, "two")
    usages = [m.usage for m in controller.snapshot().discussions.open[chosen].messages if m.usage]
    sent = sum(usage.input_tokens or 0 for usage in usages)
    state = until(controller, lambda s: s.caching.totals["gemini"].usage.input_tokens == sent)

    now_s, prices = time.time(), Prices()
    (stored,) = world.server.cache.stored.page(owner=KEY)["cachedContents"]
    tokens = stored["usageMetadata"]["totalTokenCount"]
    rates = prices.rates("google", MODEL, now_s, tokens)
    rent = tokens * rates.plain + prices.storage(MODEL, tokens * 1.0, now_s)
    parts = [Parts((u.input_tokens or 0) - tokens, u.cache_read_tokens or 0) for u in usages]
    said = usages[0].output_tokens or 0
    assert said == usages[1].output_tokens
    bill = [prices.cost("google", MODEL, p, now_s, output_tokens=said) for p in parts]
    plain = [prices.cost("google", MODEL, Parts(p.total), now_s, output_tokens=said) for p in parts]

    assert [u.cost_usd for u in usages] == pytest.approx([float(bill[0] + rent), float(bill[1])])
    assert state.spending.spent_today_usd == pytest.approx(float(sum(bill) + rent))
    assert state.caching.totals["gemini"].saved_usd == pytest.approx(float(sum(plain) - sum(bill) - rent))


def test_after_a_crash_the_stored_prefix_is_adopted_and_the_next_turn_reads_it(
    world: World, tmp_path: Path
) -> None:
    """The home as it was while the first program ran; that program's end deletes nothing of this copy's."""
    first = world.start()
    chosen = world.stored_turn(first)
    (name,) = world.left
    shutil.copytree(world.home, tmp_path / "crashed", ignore=shutil.ignore_patterns("*.lock", "hook*"))
    (tmp_path / "crashed" / "discussions" / chosen / "cache.json").unlink()
    world.home = tmp_path / "crashed"

    second = world.start()
    state = until(second, lambda s: chosen in s.caching.caches and chosen in s.discussions.open)
    assert state.caching.caches[chosen].tokens_cached > 4000
    assert not state.caching.orphans
    world.ask(second, chosen, "two")

    usage = second.snapshot().discussions.open[chosen].messages[-1].usage
    assert usage is not None
    assert (usage.cache_read_tokens or 0) > 4000
    assert world.server.bodies[-1]["cachedContent"] == name


def test_disabling_deletes_what_is_stored(world: World) -> None:
    controller = world.start()
    chosen = world.stored_turn(controller)
    assert len(world.left) == 1

    controller.send(DisableCaching(chosen))
    until(controller, lambda s: s.caching.caches[chosen].tokens_cached == 0)

    assert world.left == []


def test_the_end_of_the_program_deletes_it_and_the_next_start_does_not_believe_in_it(world: World) -> None:
    first = world.start()
    chosen = world.stored_turn(first)
    first.stop()
    assert world.left == []

    second = world.start()
    state = until(second, lambda s: chosen in s.caching.caches)
    assert state.caching.caches[chosen].tokens_cached == 0


def test_without_a_key_nobody_is_asked_and_no_sdk_is_loaded(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.delitem(sys.modules, "google.genai", raising=False)
    controller = world.start()
    later = controller.clock() + timedelta(seconds=2.5)  # two ticks
    until(controller, lambda s: s.now is not None and s.now > later)

    assert not controller.snapshot().caching.adopted
    assert world.server.requests == []
    assert "google.genai" not in sys.modules
