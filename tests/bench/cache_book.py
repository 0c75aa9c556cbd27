"""Drives the book of caches through a day as the program does, with a clock of its own, against any vendor's bill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from core.kernel.values.cache import CachePrices, CacheSettings
from core.kernel.values.provider import ContentsReport, StoredContent
from core.kernel.values.usage import Usage
from core.talk.caching import content_store, pings, planned_calls
from core.talk.caching.cache_book import BookedCall, CacheBook
from core.talk.caching.decision import DecideMemo, Decision
from core.talk.caching.pings import Ping
from tests.bench.cache_days import Ask, LabelCounter
from tests.bench.cache_turns import (
    AFTER_S,
    market_for,
    next_look,
    no_price,
    turn_let_go,
    turn_opened,
    turn_planned,
)
from tests.vendors.billing.clock import Clock, moment


class Vendor(Protocol):
    """Takes a day's requests, and remembers what they are billed.

    Args:
        clock: whoever sends sets it first.
    """

    clock: Clock

    def send(self, ask: Ask, decision: Decision) -> tuple[Usage, ContentsReport | None]:
        """Send a request as it was planned."""
        ...

    def ping(self, ping: Ping) -> Usage:
        """Read a prefix, only to keep it."""
        ...

    def extend(self, name: str, ttl_s: int) -> StoredContent:
        """Let a stored content live for so long from now."""
        ...

    def delete(self, name: str) -> None:
        """End a stored content."""
        ...


@dataclass(slots=True)
class BookDriver:
    """A program on one day. It learns gaps as they come.

    Args:
        tick_s: how often it looks after what is stored; what a ping could keep is looked at when one is due.
    """

    vendor: Vendor
    prices: CachePrices
    settings: CacheSettings = field(default_factory=CacheSettings)
    tick_s: float = 60.0
    book: CacheBook = field(default_factory=CacheBook)
    memos: dict[str, DecideMemo] = field(default_factory=dict)
    count: LabelCounter = field(default_factory=LabelCounter)
    rent_usd: float = 0.0

    def replay(self, day: Sequence[Ask]) -> None:
        """Play a day, and what comes after its last turn."""
        now_s = day[0].at_s
        for ask in day:
            self._pass(now_s, ask.at_s)
            now_s = ask.at_s
            self._ask(ask)
        self._pass(now_s, now_s + AFTER_S)

    def _ask(self, ask: Ask) -> None:
        self.vendor.clock.now_s = ask.at_s
        self.book = turn_opened(self.book, ask)
        market = market_for(self.book, ask, self.prices, self.settings, self.count)
        call = turn_planned(self.book, ask, market, self.memos)
        self.book = turn_let_go(self.book, "call", call)
        usage, contents = self.vendor.send(ask, call.decision)
        self.book = planned_calls.begun(self.book, "call")
        self.book, _ = planned_calls.ended(self.book, "call", usage, contents, moment(ask.at_s), no_price)
        self._tick(ask.at_s)

    def _pass(self, now_s: float, end_s: float) -> None:
        """Let time pass, while there is something to look after."""
        looked: set[tuple[str, float]] = set()
        tick_s = now_s + self.tick_s
        while True:
            is_stored = any(page.cache.rents for page in self.book.pages.values())
            look = next_look(self.book, looked, end_s) if self.settings.keepalive else None
            at_s = min(tick_s if is_stored else end_s, end_s if look is None else look[0])
            if at_s >= end_s:
                return
            if look is not None and at_s == look[0]:
                looked.add((look[1], look[0]))
                self._look(at_s)
            else:
                self._tick(at_s)
                tick_s += self.tick_s

    def _look(self, at_s: float) -> None:
        """Send the pings that are due."""
        self.vendor.clock.now_s = at_s
        for ping in pings.due_pings(self.book, self._for_call, moment(at_s)):
            usage = self.vendor.ping(ping)
            self.book, _ = pings.pinged(self.book, ping, usage, no_price)

    def _tick(self, at_s: float) -> None:
        """Look after what is stored."""
        self.vendor.clock.now_s = at_s
        if not any(page.cache.rents for page in self.book.pages.values()):
            return
        now = moment(at_s)
        self.book, tending = content_store.tended(self.book, (), self._price, self._for_prices, now)
        self.rent_usd += sum(due.cost_usd or 0.0 for due in tending.due)
        for extension in tending.extend:
            content = self.vendor.extend(extension.name, extension.ttl_s)
            self.book, _ = content_store.content_extended(
                self.book, extension.discussion_id, extension.provider, content
            )
        for unneeded in tending.release:
            for name in unneeded.names:
                self.vendor.delete(name)
            self.book, gone = content_store.contents_gone(self.book, unneeded.names, self._price, now)
            self.rent_usd += sum(due.cost_usd or 0.0 for due in gone.due)

    def _price(self, _provider: str, _model: str) -> CachePrices:
        return self.prices

    def _for_call(self, _call: BookedCall) -> CacheSettings:
        return self.settings

    def _for_prices(self, _prices: CachePrices) -> CacheSettings:
        return self.settings
