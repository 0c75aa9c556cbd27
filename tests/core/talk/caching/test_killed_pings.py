"""A ping is booked once, whenever the program is killed: at what the provider said, or at its estimate, marked."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from core.app.app_messages import Effect, Event, HomeOpened, Input
from core.app.dispatch import step
from core.kernel import disk as disks
from core.kernel import paths
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary
from core.kernel.values.provider import ProviderKind, ProviderRequest
from core.kernel.values.records import UsageRecord
from core.kernel.values.settings import CachingSettings, Settings
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from core.services.providers.protocol import CancelToken, ReadBlob
from core.services.settings.settings_messages import SettingsSettled, TellSettled
from core.services.spending import shared_reserves
from core.services.spending.shared_reserves import SharedReserves, SpendingHandler
from core.services.spending.spending_messages import SpendingEffect, SpentCounted
from core.talk.caching.caching_messages import DuePing, PingsDue, SendPing
from core.talk.caching.caching_worker import CacheHandler
from core.talk.caching.pings import Upkept
from core.talk.discussion import discussion_store, log
from core.talk.discussion.discussion_messages import AppendRecords, SummariesLoaded
from core.talk.discussion.discussion_worker import DiscussionHandler
from core.talk.discussion.log import is_booked
from core.talk.discussion.reply_journal import Journals
from tests.core.app.playbook import START, settings_loaded

CHOSEN = "20261120-110000-abcdef"
EXPECTED_USD, BILLED_USD = 0.25, 0.125
PAID = Usage(input_tokens=9, cache_read_tokens=9, cost_usd=BILLED_USD)


class KilledError(BaseException):
    """The program ends here, without a chance to tidy up."""


@dataclass
class Fate:
    """Kills at the n-th place that is passed; -1 never."""

    at: int = -1
    passed: int = 0

    def pass_by(self) -> None:
        if self.passed == self.at:
            raise KilledError
        self.passed += 1


@dataclass
class Vendor:
    """Bills each ping that reaches it."""

    fate: Fate
    pings: int = 0

    def prewarm(self, _request: ProviderRequest, _read_blob: ReadBlob, _cancel: CancelToken) -> Usage:
        self.fate.pass_by()
        self.pings += 1
        self.fate.pass_by()
        return PAID


@dataclass
class Keeper:
    """One ping is due; its clients are the vendor's."""

    vendor: Vendor

    def get(self, _provider: str) -> Vendor:
        return self.vendor

    def kind(self, _provider: str) -> ProviderKind:
        return ProviderKind.ANTHROPIC

    def due_pings(self, _settings: object) -> tuple[Any, ...]:
        return (type("Due", (), {"provider": "anthropic", "discussion_id": CHOSEN, "request": None})(),)

    def pinged(self, _ping: object, usage: Usage | None, *, has_failed: bool, is_cut: bool) -> Upkept:
        assert not has_failed
        return Upkept(usage)


@dataclass
class Program:
    """All of a program that a ping passes through. `order`: which of the workers is the faster."""

    home: Path
    vendor: Vendor
    order: Callable[[tuple[Effect, ...]], Iterable[Effect]]
    number: int
    state: AppState = field(default_factory=AppState)
    steps: int = 0

    def __post_init__(self) -> None:
        self.inbox: deque[Event] = deque()
        emit = cast("Any", self.inbox.append)
        reserves = SharedReserves(self.home, lambda: START)
        keeper = cast("Any", Keeper(self.vendor))
        blobs = cast("Any", lambda *_: None)
        self.spending = SpendingHandler(reserves, emit, partial(is_booked, self.home))
        self.disk = DiscussionHandler(self.home, lambda: START, emit, Journals(self.home), reserves)
        self.cache = CacheHandler(keeper, keeper, emit, blobs, blobs, blobs, reserves.note_out)

    def start(self) -> None:
        settings = replace(Settings(), caching=CachingSettings(keepalive=True))
        known = DiscussionSummary(_meta(), START)
        self.play(HomeOpened(str(self.home)), settings_loaded(settings=settings), SpentCounted(START, 0.0))
        self.play(SummariesLoaded((known,), True))

    def play(self, *events: Event) -> None:
        self.inbox.extend(events)
        while self.inbox:
            self.steps += 1
            given = Input(START, f"{self.number}/{self.steps}", self.inbox.popleft())
            self.state, effects = step(self.state, given)
            for effect in self.order(effects):
                if isinstance(effect, SpendingEffect):
                    self.spending.handle(effect)
                elif isinstance(effect, AppendRecords):
                    self.disk.handle(effect)
                elif isinstance(effect, TellSettled):
                    self.inbox.append(SettingsSettled(effect.number))
                elif isinstance(effect, SendPing):
                    self.cache.handle(effect)


def _meta() -> DiscussionMeta:
    return DiscussionMeta(CHOSEN, "Tides", START, "anthropic", "claude-opus-5-5")


def _runs(program: Program, fate: Fate, at: int, *events: Event) -> bool:
    """A start, and what happens then. True where the program was killed."""
    fate.at, fate.passed = at, 0
    try:
        program.start()
        program.play(*events)
    except KilledError:
        return True
    finally:  # the system frees its lock
        for lock in (program.home / paths.RESERVES_DIR).glob("*-*.lock"):
            lock.unlink()
    return False


def _booked(home: Path) -> list[tuple[float | None, bool]]:
    """What the log tells of pings. Nothing reserves any more."""
    reserves = home / paths.RESERVES_DIR / paths.RESERVES_FILE
    assert not reserves.exists() or json.loads(reserves.read_bytes())["reserves"] == {}
    records = (one for one in log.read(home, CHOSEN).records if isinstance(one, UsageRecord))
    return [(one.usage.cost_usd, one.usage.is_estimate) for one in records]


@pytest.fixture
def fate(monkeypatch: pytest.MonkeyPatch) -> Fate:
    """What is written before it or after it is a place to be killed at, and of a record half."""
    fate = Fate()
    append = disks.append_file

    def write_passing(path: Path, data: bytes) -> None:
        fate.pass_by()
        disks.write_passing(path, data)
        fate.pass_by()

    def append_file(path: Path, data: bytes, *, disk: disks.Disk) -> disks.Appended:
        fate.pass_by()
        if fate.passed == fate.at:
            append(path, data[: len(data) // 2], disk=disk)
        fate.pass_by()
        done = append(path, data, disk=disk)
        fate.pass_by()
        return done

    monkeypatch.setattr(shared_reserves, "write_passing", write_passing)
    monkeypatch.setattr(log, "append_file", append_file)
    return fate


@pytest.mark.parametrize(("order", "is_next_killed"), [(tuple, True), (reversed, False)])
def test_a_ping_is_booked_once_wherever_the_program_and_the_next_one_are_killed(
    tmp_path: Path, fate: Fate, order: Any, *, is_next_killed: bool
) -> None:
    ways = set[tuple[int, ...]]()
    first, was_killed = 0, True
    while was_killed:
        second, was_killed_again = 0 if is_next_killed else -1, True
        while was_killed_again:
            home, vendor = tmp_path / f"{first}-{second}", Vendor(fate)
            discussion_store.create(home, _meta())
            ping = PingsDue((DuePing(CHOSEN, EXPECTED_USD),))
            was_killed = _runs(Program(home, vendor, order, 1), fate, first, ping)
            was_killed_again = _runs(Program(home, vendor, order, 2), fate, second)
            assert not _runs(Program(home, vendor, order, 3), fate, -1)

            booked = _booked(home)
            assert vendor.pings <= len(booked)
            assert booked in ([], [(BILLED_USD, False)], [(EXPECTED_USD, True)])
            assert was_killed or booked == [(BILLED_USD, False)]
            ways.add((vendor.pings, *(is_estimate for _, is_estimate in booked)))
            second += 1
        first += 1
    assert ways == {(0,), (0, True), (1, True), (1, False)}
