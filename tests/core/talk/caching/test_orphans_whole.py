"""Gemini's stored prefixes through the whole program: the real SDK, a server that stores and bills, a real home."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app.controller import AppController
from core.kernel.values.curation import FileItem
from core.kernel.values.usage import Usage
from core.talk.caching.cache_file import Learned, save_learned
from core.talk.caching.caching_messages import DeleteOrphanedCaches, DisableCaching
from core.talk.context.context_messages import CreatePreset
from core.talk.discussion.discussion_messages import CreateDiscussion, SelectDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.core.app.programs import Programs, until
from tests.core.services.providers.caching_kit import words
from tests.vendors.billing.clock import Clock, moment
from tests.vendors.billing.prices import Prices
from tests.vendors.billing.values import Parts
from tests.vendors.gemini_server import KEY, GeminiServer
from tests.vendors.loopback import Captured

MODEL = "gemini-3.8-flash"


class World(Programs):
    """A project with a long file, a home, Gemini at loopback; programs come and go."""

    def __init__(self, base: Path, server: GeminiServer, time: Clock) -> None:
        super().__init__(base)
        self.server, self.time = server, time
        self.clock = lambda: moment(time())
        (self.project / "tides.py").write_text("height = 1\n" * 3000, encoding="utf-8")
        self.home.mkdir(parents=True, exist_ok=True)
        save_learned(self.home, Learned(answered=frozenset({("gemini", MODEL)})))

    @property
    def creations(self) -> list[Captured]:
        """What was asked to be stored."""
        posts = (one for one in self.server.requests if one.method == "POST")
        return [one for one in posts if one.path.endswith("/cachedContents")]

    def bill(self, usages: Sequence[Usage]) -> float:
        """What the vendor bills for turns, for what they stored, and for the time that it was stored."""
        now_s, prices = self.time(), Prices()
        stored = self.server.cache.stored
        rates = prices.rates("google", MODEL, now_s, 0)
        made = sum(one.tokens for one in stored._all.values())
        hours = sum(stored.token_hours(now_s).values())
        return float(made * rates.plain + prices.storage(MODEL, hours, now_s)) + self._turns(usages)

    def bill_without_caching(self, usages: Sequence[Usage]) -> float:
        return self._turns([replace(usage, cache_read_tokens=0) for usage in usages])

    def _turns(self, usages: Sequence[Usage]) -> float:
        total = 0.0
        for usage in usages:
            read = usage.cache_read_tokens or 0
            parts = Parts((usage.input_tokens or 0) - read, read)
            said = usage.output_tokens or 0
            total += float(Prices().cost("google", MODEL, parts, self.time(), output_tokens=said))
        return total

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
    time = Clock()
    with GeminiServer(clock=time) as server:
        monkeypatch.setenv("GEMINI_API_KEY", KEY)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        world = World(tmp_path, server, time)
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


def test_over_ten_turns_of_a_day_it_is_made_once_and_the_books_are_the_vendors(world: World) -> None:
    """Held between the turns, deleted when nobody comes back; making, reading and rent are part of what was spent."""
    controller = world.start()
    chosen = world.stored_turn(controller)
    for number, gap_s in enumerate((60, 100, 180, 75, 140, 200, 90, 120, 60)):
        world.time.advance(gap_s)
        world.ask(controller, chosen, f"and {number}?")
    assert len(world.creations) == 1
    assert len(world.left) == 1
    usages = [m.usage for m in controller.snapshot().discussions.open[chosen].messages if m.usage]
    assert len(usages) == 10

    world.time.advance(2 * 3600)
    until(controller, lambda s: s.caching.caches[chosen].tokens_cached == 0)
    assert world.left == []
    bill = world.bill(usages)
    state = until(controller, lambda s: s.spending.spent_today_usd == pytest.approx(bill))

    assert state.discussions.summaries[chosen].usage.cost_usd == pytest.approx(bill)
    state = until(controller, lambda s: s.caching.totals["gemini"].usage.cost_usd == pytest.approx(bill))
    totals = state.caching.totals["gemini"]
    assert totals.saved_usd == pytest.approx(world.bill_without_caching(usages) - bill)
    assert world.bill_without_caching(usages) > bill


def test_the_end_of_the_program_books_the_rent_of_what_it_deletes(world: World) -> None:
    first = world.start()
    chosen = world.stored_turn(first)
    world.time.advance(240)
    usages = [m.usage for m in first.snapshot().discussions.open[chosen].messages if m.usage]
    first.stop()
    world.time.advance(9999)

    second = world.start()
    state = until(second, lambda s: chosen in s.discussions.summaries)

    assert state.discussions.summaries[chosen].usage.cost_usd == pytest.approx(world.bill(usages))


def test_a_command_that_sends_one_turn_makes_nothing_and_leaves_what_the_window_stores(world: World) -> None:
    window = world.start()
    chosen = world.stored_turn(window)
    (name,) = world.left
    other = world.start(owns_home=False)
    until(other, lambda s: chosen in s.discussions.summaries)
    other.send(SelectDiscussion(chosen))
    until(other, lambda s: chosen in s.discussions.open)

    world.ask(other, chosen, "two")
    other.stop()

    assert world.server.bodies[-1]["cachedContent"] == name
    assert len(world.creations) == 1
    assert world.left == [name]


def test_a_command_that_sends_the_first_turn_stores_nothing(world: World) -> None:
    command = world.start(owns_home=False)
    command.send(CreateDiscussion("Tides", "gemini", MODEL))
    chosen = until(command, lambda s: bool(s.discussions.selected_id)).discussions.selected_id
    command.send(CreatePreset("core", (FileItem("tides.py"),)))
    until(command, lambda s: s.discussions.summaries[chosen].meta.preset == "core")
    world.ask(command, chosen, "one")

    assert world.creations == []
    assert not any("cachedContent" in body for body in world.server.bodies)


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


@pytest.mark.parametrize("name", ["knowledge/digest.md", "AGENTS.md"])
@pytest.mark.parametrize("left", [None, b"", b" \n\n"], ids=["deleted", "emptied", "blank"])
def test_what_is_deleted_or_emptied_takes_along_what_is_stored_of_it(
    world: World, name: str, left: bytes | None
) -> None:
    """By the person, in a shell or an editor, between two turns."""
    file = world.home / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("- SPRING-TIDES come after the moon is full\n", encoding="utf-8")
    controller = world.start(watches=True)
    chosen = world.stored_turn(controller)
    assert "SPRING-TIDES" in world.creations[0].body.decode()
    assert len(world.left) == 1

    if left is None:
        file.unlink()
    else:
        file.write_bytes(left)
    until(controller, lambda s: s.caching.caches[chosen].tokens_cached == 0)
    assert world.left == []
    world.ask(controller, chosen, "two")
    assert "SPRING-TIDES" not in world.server.requests[-1].body.decode()


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
    later = controller.clock() + timedelta(seconds=2)
    world.time.advance(2)
    until(controller, lambda s: s.now is not None and s.now >= later)  # a tick

    assert not controller.snapshot().caching.adopted
    assert world.server.requests == []
    assert "google.genai" not in sys.modules
