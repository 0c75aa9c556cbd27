"""A home with Gemini at loopback, whose vendor stores prefixes for rent, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import pytest

from core.app import home as store_home
from core.app.app_messages import Event
from core.kernel.values.cache import CachePlan, CachePrices
from core.kernel.values.curation import NamedText, Preset
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.provider import ContentsReport, ModelProfile, ProviderKind, UsageUpdate
from core.kernel.values.settings import CachingSettings, ServerSettings
from core.kernel.values.spec import CallToBuild, StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.usage import Usage
from core.services.providers.clients import Clients
from core.services.providers.model_data import packaged_models
from core.services.providers.protocol import CancelToken
from core.talk.caching.cache_file import HomeCacheStore, Learned, save_learned
from core.talk.caching.caching_messages import RentPaid, TendContents
from core.talk.caching.caching_worker import CacheHandler
from core.talk.caching.keeper import CacheKeeper
from core.talk.caching.offers import CacheSetup, cache_prices
from core.talk.context.stack import build_stack
from core.talk.discussion import discussion_store
from tests.core.services.providers.caching_kit import words
from tests.core.services.providers.outcomes import NO_BLOBS, outcome
from tests.vendors.billing.clock import Clock, moment
from tests.vendors.billing.prices import Prices
from tests.vendors.gemini_server import KEY, GeminiServer

E = TypeVar("E")
FLASH = "gemini-3.8-flash"
ID = "20261120-120000-abcdef"
EFFORTS: Mapping[str, str] = {ID: "auto"}
RULES = NamedText("rules", words(6000, "rules"))
INPUTS = StackInputs(provider="gemini", model=FLASH, system_text=RULES, user_text="When?")


class World:
    """A home with a discussion, Gemini at loopback, and programs that come and go. Time goes on by `later`."""

    def __init__(self, home: Path, server: GeminiServer, clock: Clock) -> None:
        self.server = server
        self.home, self.url, self.clock = home, server.url, clock
        store_home.open_home(home, self.now())
        discussion_store.create(home, DiscussionMeta(ID, "Tides", self.now(), "gemini", FLASH))
        save_learned(home, Learned(answered=frozenset({("gemini", FLASH)})))
        self.begin()

    @classmethod
    def beside(cls, home: Path, url: str, clock: Clock, *, count: int) -> World:
        """A command beside the window of a home, in a process where the server is not; `count`: turns so far."""
        world = cls.__new__(cls)
        world.home, world.url, world.clock = home, url, clock
        world.begin(count=count, may_store=False)
        return world

    def begin(self, *, count: int = 0, may_store: bool = True) -> None:
        """The first start."""
        self.events: list[Event] = []
        self.count, self.made, self.may_store = count, 0, may_store
        self.clients = Clients()
        self.start()

    def now(self) -> datetime:
        return moment(self.clock())

    def later(self, seconds: float) -> None:
        """Time passes, for the program and for the vendor."""
        self.clock.advance(seconds)

    def expires_s(self, name: str) -> float:
        return self.server.cache.stored.find(name, KEY).expires_s

    def rent_agrees(self) -> None:
        """What the program says that storing cost is what the vendor bills, within a hundredth."""
        (hours,) = self.server.cache.stored.token_hours(self.clock()).values()
        billed = float(Prices().storage(FLASH, hours, self.clock()))
        assert sum(one.cost_usd or 0.0 for one in self.told(RentPaid)) == pytest.approx(billed, rel=0.01)

    def start(self) -> None:
        """A program that starts: it knows only what is on disk."""
        self.clients = Clients(clock=self.now)
        settings = ServerSettings("gemini", "gemini", "Gemini", self.url)
        self.clients.configure({"gemini": settings}, {"gemini": KEY}, packaged_models())
        setup = CacheSetup(
            prices=lambda kind, provider, model, at: cache_prices(provider, kind, model, at),
            kind=self.clients.kind,
            key_id=self.clients.key_id,
            cost=lambda _provider, _model, _usage: None,
            counted=dict,
            may_store=lambda: self.may_store,
        )
        self.keeper = CacheKeeper(HomeCacheStore(self.home), setup, self.now)
        self.handler = CacheHandler(
            self.keeper,
            self.clients,
            self.events.append,
            lambda _spec: None,
            lambda _name, _request: NO_BLOBS,
            self.prices,
            lambda _key: True,
        )

    def prices(self, provider: str, model: str) -> CachePrices:
        return cache_prices(provider, ProviderKind.GEMINI, model, self.now())

    def turn(
        self,
        text: str = "When?",
        digest: str = "",
        withdrawals: int = 0,
        rules: NamedText = RULES,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> tuple[CachePlan, ContentsReport | None, Usage]:
        """A turn over the wire: planned, sent, accounted for. `meanwhile`: what happens before its account."""
        parts = self.turn_in_parts(text, digest, withdrawals, rules)
        found = next(parts)
        meanwhile()
        next(parts, None)
        return found

    def turn_in_parts(
        self, text: str = "When?", digest: str = "", withdrawals: int = 0, rules: NamedText = RULES
    ) -> Iterator[tuple[CachePlan, ContentsReport | None, Usage]]:
        """A turn up to its answer, which it yields; then its account."""
        self.count += 1
        inputs = StackInputs(
            provider="gemini",
            model=FLASH,
            system_text=rules,
            user_text=text,
            digest=digest,
            withdrawals=withdrawals,
        )
        spec = StackSpec(ID, inputs, Preset(""), "/project")
        call = CallToBuild(f"c{self.count}", f"q{self.count}", f"u{self.count}", spec)
        profile = ModelProfile("gemini", FLASH, context_tokens=1_000_000)
        planned = self.keeper.plan_call(call, build_stack(inputs), profile, 1.0)
        request, plan = planned.request, planned.plan
        self.keeper.begun(call.call_id)
        found = outcome(self.clients.get("gemini").stream(request, NO_BLOBS, CancelToken()))
        assert found.error is None, found.error
        reports = [x.contents for x in found.items if isinstance(x, UsageUpdate) and x.contents is not None]
        report = reports[-1] if reports else None
        self.made += report is not None and report.is_new
        yield plan, report, found.usage
        self.ended = self.keeper.ended(call.call_id, found.usage, report)

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
