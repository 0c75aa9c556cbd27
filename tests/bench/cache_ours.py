"""Replays a day as the program would live it: its own book of caches plans, learns and pings; the engine bills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from core.kernel.values.cache import CacheLedger, CachePrices, CacheSettings
from core.kernel.values.usage import Usage
from core.services.providers.blocks import wire_of
from core.talk.caching.cache_book import BookedCall, CacheBook
from core.talk.caching.decision import DecideMemo, Decision, Market
from core.talk.caching.pings import Ping, due_pings, pinged
from core.talk.caching.planned_calls import begun, ended
from core.talk.caching.planner import PlanInputs, plan
from tests.bench.cache_days import Ask, LabelCounter
from tests.bench.cache_policies import Bill, InProcess, Line, in_place, prices_for
from tests.bench.cache_turns import (
    AFTER_S,
    market_for,
    next_look,
    no_price,
    turn_let_go,
    turn_opened,
    turn_planned,
)
from tests.vendors.billing.anthropic import AnthropicCache
from tests.vendors.billing.clock import moment
from tests.vendors.billing.values import Parts


@dataclass(slots=True)
class Ours:
    """The program at work on one day, over its own book. It learns gaps as they come.

    Args:
        read: price of reading, as a multiple; tail_last: layer 8 after the last mark (rule 1).
        bills: by discussion, pings included; corrections: reports that were not what was foreseen.
    """

    read: float
    settings: CacheSettings = field(default_factory=CacheSettings)
    tail_last: bool = True
    vendor: type[AnthropicCache] = AnthropicCache
    line: Line | None = None
    book: CacheBook = field(default_factory=CacheBook)
    bills: dict[str, Bill] = field(default_factory=dict)
    memos: dict[str, DecideMemo] = field(default_factory=dict)
    count: LabelCounter = field(default_factory=LabelCounter)
    corrections: int = 0
    sent_by: Line = field(init=False)
    prices: CachePrices = field(init=False)

    def replay(self, day: Sequence[Ask]) -> Bill:
        """Bill a day, and the pings after its last turn."""
        self.prices = prices_for(self.read)
        self.sent_by = self.line or InProcess(self.prices.model, self.vendor)
        for number, ask in enumerate(day):
            if self.settings.keepalive:
                self._ping_until(ask.at_s)
            self._ask(ask, f"call {number}")
        if self.settings.keepalive:
            self._ping_until(day[-1].at_s + AFTER_S)
        return self.bill

    @property
    def bill(self) -> Bill:
        """Of all discussions."""
        total = Bill()
        for bill in self.bills.values():
            total.join(bill)
        return total

    @property
    def ledger(self) -> CacheLedger:
        """Ledger of what the program believes to be held."""
        return self.book.ledger

    def _ask(self, ask: Ask, call_id: str) -> None:
        name, now = ask.discussion, moment(ask.at_s)
        self.sent_by.clock.now_s = ask.at_s
        self.book = turn_opened(self.book, ask)
        call = self._plan(ask)
        self.book = turn_let_go(self.book, call_id, call)
        self.book = begun(self.book, call_id)
        parts = self.sent_by.send(call.decision.request, call.decision.plan.marks, ask.answer)
        bill = self.bills.setdefault(name, Bill())
        bill.add(parts)
        bill.asks += 1
        self.book, report = ended(self.book, call_id, _usage(parts), None, now, no_price)
        self.corrections += bool(report and report.miss_reason)

    def _plan(self, ask: Ask) -> BookedCall:
        market = market_for(self.book, ask, self.prices, self.settings, self.count)
        call = turn_planned(self.book, ask, market, self.memos)
        decision = self._decided(ask, call.decision)
        return call if self.tail_last else replace(call, decision=_planned_in_place(decision, market))

    def _decided(self, ask: Ask, decision: Decision) -> Decision:
        """For tests that look at every request."""
        del ask
        return decision

    def _ping_until(self, end_s: float) -> None:
        """Send what is due before a moment. A prefix is looked at once in its lifetime: when a ping is last due."""
        looked: set[tuple[str, float]] = set()
        while (look := next_look(self.book, looked, end_s)) is not None:
            looked.add((look[1], look[0]))
            self._look(*look)

    def _look(self, at_s: float, name: str) -> None:
        """Ping a discussion if that is due."""
        others = [other for other in self.book.pages if other != name]
        for ping in due_pings(self.book, lambda _: self.settings, moment(at_s), others):
            self._ping(ping, at_s)

    def _ping(self, ping: Ping, at_s: float) -> None:
        self.sent_by.clock.now_s = at_s
        marks = () if ping.request.cache is None else ping.request.cache.marks
        parts = self.sent_by.ping(ping.request, marks)
        bill = self.bills[ping.discussion_id]
        bill.add(parts)
        bill.pings += 1
        self.book, _ = pinged(self.book, ping, _usage(parts), no_price)
        self.corrections += not parts.read  # it read what was believed to be held


def _usage(parts: Parts) -> Usage:
    return Usage(
        input_tokens=parts.total,
        cache_read_tokens=parts.read,
        cache_write_tokens=parts.write + parts.write_long,
        cache_write_1h_tokens=parts.write_long,
    )


def _planned_in_place(decision: Decision, market: Market) -> Decision:
    """The same view with layer 8 between 7 and 9: rule 1 switched off."""
    request = in_place(decision.request)
    wire = wire_of(request, market.scope, market.count)
    inputs = PlanInputs(
        wire, market.scope, market.prices, market.ledger, market.gaps, market.settings, market.now
    )
    return replace(decision, request=request, wire=wire, plan=plan(inputs))
