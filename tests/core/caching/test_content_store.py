"""The caching worker and what Gemini stores, over the real SDK and a server that stores and bills as the vendor does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from msgspec.structs import replace

from core.app import home as store_home
from core.app.messages import Event
from core.base.errors import ProviderError
from core.caching.cache_store import HomeCacheStore
from core.caching.keeper import CacheKeeper, CacheSetup
from core.caching.messages import (
    AdoptContents,
    CacheReported,
    ContentsDeleted,
    DeleteContents,
    ForgetCache,
    OrphansFound,
    RentPaid,
    ReleaseCache,
    TendContents,
)
from core.caching.offers import cache_prices
from core.caching.worker import CacheHandler
from core.context.stack import build_stack
from core.discussion import store
from core.providers.clients import Clients
from core.providers.model_data import packaged_models
from core.providers.protocol import CancelToken
from core.values.cache import CachePlan, CachePrices
from core.values.curation import NamedText, Preset
from core.values.discussion import DiscussionMeta
from core.values.provider import ContentsReport, ModelProfile, ProviderKind, UsageUpdate
from core.values.settings import CachingSettings, ServerSettings
from core.values.spec import CallToBuild, StackSpec
from core.values.stack import StackInputs
from core.values.usage import Usage
from tests.core.providers.asking import NO_BLOBS, outcome
from tests.core.providers.caching_kit import words
from tests.vendors.gemini_server import KEY, GeminiServer, error_reply
from tests.vendors.loopback import Answer

E = TypeVar("E")
FLASH = "gemini-3.8-flash"
ID = "20261120-120000-abcdef"
EFFORTS: Mapping[str, str] = {ID: "auto"}
RULES = NamedText("rules", words(6000, "rules"))


class World:
    """A home with a discussion, Gemini at loopback, and programs that come and go. Time goes on by `later`."""

    def __init__(self, home: Path, server: GeminiServer) -> None:
        self.home, self.server = home, server
        self.ahead = timedelta()
        self.count = 0
        store_home.open_home(home, self.now())
        store.create(home, DiscussionMeta(ID, "Tides", self.now(), "gemini", FLASH))
        self.clients = Clients()
        self.start()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def start(self) -> None:
        """A program that starts: it knows only what is on disk."""
        self.clients = Clients()
        settings = ServerSettings("gemini", "gemini", "Gemini", self.server.url)
        self.clients.configure({"gemini": settings}, {"gemini": KEY}, packaged_models())
        self.events: list[Event] = []
        setup = CacheSetup(
            prices=lambda kind, provider, model, at: cache_prices(provider, kind, model, at),
            kind=self.clients.kind,
            key_id=self.clients.key_id,
            cost=lambda _provider, _model, _usage: None,
            counted=dict,
        )
        self.keeper = CacheKeeper(HomeCacheStore(self.home), setup, self.now)
        self.handler = CacheHandler(
            self.keeper,
            self.clients,
            self.events.append,
            lambda _spec: None,
            lambda _spec: NO_BLOBS,
            self.prices,
        )

    def prices(self, provider: str, model: str) -> CachePrices:
        return cache_prices(provider, ProviderKind.GEMINI, model, self.now())

    def turn(self, text: str = "When?") -> tuple[CachePlan, ContentsReport | None, Usage]:
        """A turn over the wire: planned, sent, accounted for."""
        self.count += 1
        inputs = StackInputs(provider="gemini", model=FLASH, system_text=RULES, user_text=text)
        spec = StackSpec(ID, inputs, Preset(""), "/project")
        call = CallToBuild(f"c{self.count}", f"q{self.count}", f"u{self.count}", spec)
        profile = ModelProfile("gemini", FLASH, context_tokens=1_000_000)
        request, plan, _ = self.keeper.plan_call(call, build_stack(inputs), profile, 1.0)
        found = outcome(self.clients.get("gemini").stream(request, NO_BLOBS, CancelToken()))
        assert found.error is None, found.error
        reports = [x.contents for x in found.items if isinstance(x, UsageUpdate) and x.contents is not None]
        report = reports[-1] if reports else None
        self.ended = self.keeper.ended(call.call_id, found.usage, report)
        return plan, report, found.usage

    def store(self, display: str, tokens: int = 5000) -> str:
        """A content that stands there from before; its name."""
        body = {
            "model": f"models/{FLASH}",
            "displayName": display,
            "contents": [{"parts": [{"text": words(tokens)}]}],
        }
        return str(self.server.cache.stored.create(body, owner=KEY)["name"])

    @property
    def left(self) -> list[str]:
        """Names of what the server stores."""
        page = self.server.cache.stored.page(owner=KEY)
        return [one["name"] for one in page.get("cachedContents", [])]

    def tend(self, **chosen: bool | int) -> None:
        """A look after what is stored."""
        self.handler.handle(TendContents((ID,), CachingSettings(**chosen)))  # type: ignore[arg-type]

    def told(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with GeminiServer() as server:
        world = World(tmp_path / "home", server)
        yield world
        world.clients.close()


def test_after_a_kill_what_is_stored_is_found_and_the_next_turn_reads_it(world: World) -> None:
    """The program was killed: nothing was deleted, and `cache.json` is lost as well."""
    _, made, _ = world.turn()
    (world.home / "discussions" / ID / "cache.json").unlink()
    world.start()

    world.handler.handle(AdoptContents("gemini", EFFORTS))
    (told,) = world.told(CacheReported)
    plan, report, usage = world.turn()

    assert made is not None
    assert made.stored is not None
    assert told.state is not None
    assert (told.state.tokens_cached, told.state.expires_at) == (made.stored.tokens, made.stored.expires_at)
    assert plan.read_tokens > 4000
    assert report is not None
    assert report.stored is not None
    assert report.stored.name == made.stored.name
    assert (usage.cache_read_tokens or 0) > 4000
    assert len(world.left) == 1


def test_what_belongs_to_no_discussion_is_orphaned_with_its_rent_and_nothing_is_deleted(world: World) -> None:
    gone = world.store(f"manual-slop/20260101-000000-gonegone/{1:032}")
    world.store("somebody else's")
    world.handler.handle(AdoptContents("gemini", EFFORTS))

    (found,) = world.told(OrphansFound)
    (orphan,) = found.orphans
    assert (orphan.name, orphan.discussion_id) == (gone, "20260101-000000-gonegone")
    assert orphan.tokens >= 5000
    assert orphan.usd_per_hour == pytest.approx(orphan.tokens * 0.5e-6)
    assert len(world.left) == 2


def test_deleting_orphans_leaves_what_is_foreign(world: World) -> None:
    gone = world.store(f"manual-slop/gone/{1:032}")
    foreign = world.store("somebody else's")
    world.handler.handle(AdoptContents("gemini", EFFORTS))

    world.handler.handle(DeleteContents("gemini", (gone,)))

    assert world.left == [foreign]
    assert world.told(ContentsDeleted) == [ContentsDeleted("gemini", (gone,))]


def test_what_could_not_be_deleted_is_said_and_stays_an_orphan(world: World) -> None:
    names = tuple(sorted((world.store("manual-slop/a/1"), world.store("manual-slop/b/2"))))
    world.server.is_faultable = lambda captured: captured.method == "DELETE"  # type: ignore[method-assign]
    world.server.faults.append(Answer(error_reply(503, "UNAVAILABLE", "Overloaded.")))

    with pytest.raises(ProviderError, match="could not be deleted"):
        world.handler.handle(DeleteContents("gemini", names))

    assert world.told(ContentsDeleted) == [ContentsDeleted("gemini", names[1:])]
    assert world.left == [names[0]]


def test_a_list_that_cannot_be_had_is_logged_and_no_more(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.server.is_faultable = lambda captured: captured.method == "GET"  # type: ignore[method-assign]
    world.server.faults.append(Answer(error_reply(503, "UNAVAILABLE", "Overloaded.")))

    world.handler.handle(AdoptContents("gemini", EFFORTS))

    assert world.events == []
    assert "still stores" in caplog.text


def test_what_is_believed_and_not_stored_any_more_is_forgotten_at_the_start(world: World) -> None:
    world.turn()
    (name,) = world.left
    world.clients.get("gemini").caches.delete(name)  # type: ignore[attr-defined]
    world.start()
    assert world.keeper.known(ID) is not None
    world.keeper.stored_names(ID, "gemini")

    world.handler.handle(AdoptContents("gemini", EFFORTS))

    assert world.keeper.stored_names(ID, "gemini") == frozenset()
    plan, report, _ = world.turn()
    assert plan.read_tokens == 0
    assert report is not None
    assert report.is_new


def test_one_that_someone_else_deleted_costs_no_turn_and_is_shown_as_gone(world: World) -> None:
    world.turn()
    world.server.cache.stored.delete(world.left[0], owner=KEY)

    _, report, usage = world.turn()

    assert report is not None
    assert report.lost_name
    assert not usage.cache_read_tokens
    assert world.ended is not None
    assert world.ended.state is not None
    assert world.ended.state.tokens_cached == 0
    assert "could not be used" in world.ended.miss_reason
    assert world.turn()[1].is_new  # type: ignore[union-attr]


def test_disabling_deletes_what_is_stored_and_says_so(world: World) -> None:
    world.turn()
    world.handler.handle(ReleaseCache(ID, "gemini"))

    assert world.left == []
    (told,) = world.told(CacheReported)
    assert told.state is not None
    assert told.state.tokens_cached == 0
    assert world.keeper.stored_names(ID, "gemini") == frozenset()


def test_invalidating_deletes_also_what_was_stored_before_a_restart(world: World) -> None:
    world.turn()
    world.start()
    world.handler.handle(ForgetCache(ID, "gemini"))
    assert world.left == []


def test_what_nobody_comes_back_to_is_deleted_before_its_hour_is_over(world: World) -> None:
    world.turn()
    world.tend()
    assert len(world.left) == 1

    world.ahead = timedelta(minutes=40)
    world.tend()

    assert world.left == []
    assert world.told(ContentsDeleted)


def test_a_discussion_that_is_being_answered_is_not_idle(world: World) -> None:
    world.turn()
    inputs = StackInputs(provider="gemini", model=FLASH, system_text=RULES, user_text="Long?")
    call = CallToBuild("c9", "q9", "u9", StackSpec(ID, inputs, Preset(""), "/project"))
    profile = ModelProfile("gemini", FLASH, context_tokens=1_000_000)
    world.keeper.plan_call(call, build_stack(inputs), profile, 1.0)

    world.ahead = timedelta(minutes=40)
    world.tend()

    assert len(world.left) == 1


def test_an_idle_one_that_cannot_be_deleted_is_logged_and_tried_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.turn()
    world.server.is_faultable = lambda captured: captured.method == "DELETE"  # type: ignore[method-assign]
    world.server.faults.append(Answer(error_reply(503, "UNAVAILABLE", "Overloaded.")))
    world.ahead = timedelta(minutes=40)

    world.tend()
    assert "was not deleted" in caplog.text
    world.tend()

    assert world.left == []


def test_the_end_of_the_program_deletes_what_is_stored_and_the_next_start_knows(world: World) -> None:
    world.turn()
    world.handler.release_held()
    assert world.left == []

    world.start()
    plan, report, _ = world.turn()
    assert plan.read_tokens == 0
    assert report is not None
    assert (report.lost_name, report.is_new) == ("", True)


def test_the_state_says_when_the_stored_prefix_ends_also_after_it_was_used(world: World) -> None:
    _, made, _ = world.turn()
    world.turn()
    assert made is not None
    assert made.stored is not None
    assert world.ended is not None
    assert world.ended.state is not None
    assert world.ended.state.expires_at == made.stored.expires_at
    assert replace(world.ended.state, hit_count=0).tokens_cached > 4000
