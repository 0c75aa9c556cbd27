"""Keeps what is known of the providers' caches: plans each request, learns from its usage, remembers across restarts."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Protocol

from core import paths
from core.aggregate import AggregateStack
from core.cache.accounts import after_usage, invalidated
from core.cache.decide import DecideMemo, Decision, Market, Turn, decide
from core.cache.gaps import KEPT_GAPS, observe
from core.cache.gate import PlannedCall, gate
from core.cache.keepalive import Idle, after_ping, best_idle, idle_entries, ping_marks, ping_request
from core.cache.ledger import correct, forget_discussion, merge, of_discussion, record
from core.cache.replay import Replayed, records_for, replay
from core.errors import SlopError
from core.store import log as store_log
from core.store.cache_state import load_cache, save_cache
from core.values.cache import (
    CachePlan,
    CachePrices,
    DiscussionCache,
    DiscussionCacheState,
    GapStats,
    Ledger,
    LedgerScope,
)
from core.values.effects import CallProvider, StackSpec
from core.values.ids import make_id
from core.values.provider import ContentsReport, ModelProfile, ProviderKind, ProviderRequest
from core.values.records import Record, ViewRecord
from core.values.settings import CachingSettings
from core.values.state import ProviderTotals
from core.values.usage import Usage, add_usage
from core.workers.cache_settings import settings_for, token_counter, with_contents

log = logging.getLogger(__name__)

GATE_WAIT_S = 30.0
"""Longest that a call waits for another that writes the same prefix to begin its answer."""


class CacheStore(Protocol):
    """Where it is kept. `HomeCacheStore` is the real one."""

    def load(self, discussion_id: str) -> DiscussionCache:
        """What was kept; nothing where there is none or it cannot be read."""
        ...

    def save(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Keep it. Raises StorageError."""
        ...

    def records(self, discussion_id: str) -> tuple[Record, ...]:
        """The discussion's log. Raises StorageError."""
        ...


class HomeCacheStore:
    """`cache.json` and the log of each discussion of a home."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def load(self, discussion_id: str) -> DiscussionCache:
        """Never fails: what cannot be read costs one miss, and is logged."""
        loaded = load_cache(self._home, discussion_id)
        if loaded.problem:
            log.warning("%s (%s)", loaded.problem, discussion_id)
        return loaded.cache

    def save(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Replace `cache.json`; a discussion that is gone gets no folder anew. Raises StorageError."""
        if paths.discussion_dir(self._home, discussion_id).is_dir():
            save_cache(self._home, discussion_id, cache)

    def records(self, discussion_id: str) -> tuple[Record, ...]:
        """The whole log. Raises StorageError."""
        return tuple(store_log.read(self._home, discussion_id).records)


@dataclass(frozen=True, slots=True)
class CacheSetup:
    """What planning asks of the rest of the program.

    Args:
        prices: of a provider's kind and model at a time; kind: of a provider; key_id: names its key without telling.
        cost: of a usage in USD, None where unknown.
        counted: o200k tokens by sha256; settings: the person's, asked anew each time.
    """

    prices: Callable[[ProviderKind, str, str, datetime], CachePrices]
    kind: Callable[[str], ProviderKind]
    key_id: Callable[[str], str]
    cost: Callable[[str, str, Usage], float | None]
    counted: Callable[[], Mapping[str, int]]
    settings: Callable[[], CachingSettings]


@dataclass(frozen=True, slots=True)
class CacheReport:
    """What the controller learns after a call."""

    state: DiscussionCacheState | None
    totals: ProviderTotals
    miss_reason: str = ""


@dataclass(frozen=True, slots=True)
class Ping:
    """A prefix that is worth reading again only to keep it. `request` ends behind it."""

    discussion_id: str
    provider: str
    request: ProviderRequest
    idle: Idle
    call: _Call


@dataclass(slots=True)
class _Desk:
    """What is known of one discussion. Guarded by its lock."""

    cache: DiscussionCache
    replayed: Replayed
    lock: threading.RLock = field(default_factory=threading.RLock)
    memo: DecideMemo = field(default_factory=DecideMemo)
    miss_reason: str = ""
    idle: tuple[Idle, ...] = ()
    last_call: _Call | None = None


@dataclass(slots=True)
class _Call:
    """A call that was planned and has not ended."""

    discussion_id: str
    scope: LedgerScope
    prices: CachePrices
    decision: Decision
    started_at: datetime
    has_begun: threading.Event = field(default_factory=threading.Event)


class CacheKeeper:
    """Thread-safe. Every call: `plan_call`, then `begun` when its answer begins, then `ended` with its usage.

    Args:
        store: keeps it across restarts; setup: asks the rest of the program; clock: UTC.
    """

    def __init__(self, store: CacheStore, setup: CacheSetup, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._setup = setup
        self._clock = clock
        self._lock = threading.RLock()
        self._desks: dict[str, _Desk] = {}
        self._calls: dict[str, _Call] = {}
        self._ledger = Ledger()
        self._gaps = GapStats()
        self._last_turn_at: datetime | None = None
        self._totals: dict[str, ProviderTotals] = {}

    def prewarm_request(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> ProviderRequest:
        """What to read when a discussion opens, so that its first answer starts at once."""
        desk = self._desk(spec.discussion_id)
        with desk.lock:
            market = self._market(spec, factor)
            decision = decide(self._turn(spec, stack, "prewarm", desk, profile), market)
        with self._lock:
            self._ledger = record(self._ledger, market.scope, decision.plan, market.now, spec.discussion_id)
        return replace(decision.request, cache=decision.plan)

    def due_pings(self, off: Collection[str] = ()) -> tuple[Ping, ...]:
        """The pings that are due now, by the person's settings and gaps; none of the discussions in `off`."""
        with self._lock:
            desks = tuple((name, desk) for name, desk in self._desks.items() if name not in off)
        return tuple(ping for name, desk in desks if (ping := self._due(name, desk)) is not None)

    def pinged(self, ping: Ping, usage: Usage | None) -> ProviderTotals | None:
        """A ping was answered (None: it failed): renew what it read, or stop after a miss. Returns the totals."""
        now, desk, call = self._clock(), self._desk(ping.discussion_id), ping.call
        read = usage.cache_read_tokens if usage is not None else 0
        with desk.lock:
            desk.idle = (after_ping(ping.idle, call.prices, read, now),)
        if usage is None:
            return None
        with self._lock:
            again = CachePlan(hit_hash=ping.idle.prefix_hash, read_tokens=ping.idle.tokens)
            self._ledger = record(self._ledger, call.scope, again, now, ping.discussion_id)
            return self._add(ping.provider, call.scope.model, usage)

    def preview(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> CachePlan:
        """What the next request would be planned as; nothing is remembered of it."""
        desk = self._desk(spec.discussion_id)
        with desk.lock:
            turn = self._turn(spec, stack, "preview", desk, profile)
            return decide(turn, self._market(spec, factor)).plan

    def plan_call(
        self, effect: CallProvider, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> tuple[Decision, tuple[ViewRecord, ...]]:
        """Plan a call that is about to be sent. Waits, a while at most, for one that writes the same prefix.

        Args:
            factor: the model's tokens over o200k's for the same text.

        Returns:
            The request with its plan, and the records that the log needs to rebuild its view.
        """
        spec, message_id = effect.spec, effect.user_message_id
        desk = self._desk(spec.discussion_id)
        turn = self._turn(spec, stack, message_id, desk, profile)
        with desk.lock:
            self._observe(desk)
            market = self._market(spec, factor)
            decision = decide(turn, market, desk.memo)
        if self._wait_for_others(effect.call_id, market.scope, decision):
            with desk.lock:
                market = self._market(spec, factor)
                decision = decide(turn, market, desk.memo)
        with desk.lock:
            ids = (make_id(market.now, f"{effect.request_id}/view/{number}") for number in count())
            records = records_for(desk.replayed, decision.view, market.now, ids)
            desk.replayed = _after(desk.replayed, decision, records)
        with self._lock:
            call = _Call(spec.discussion_id, market.scope, market.prices, decision, market.now)
            self._calls[effect.call_id] = call
        request = replace(decision.request, cache=decision.plan)
        return replace(decision, request=request), records

    def begun(self, call_id: str) -> None:
        """The answer begins: what the request wrote can be read from now on."""
        with self._lock:
            call = self._calls.get(call_id)
            if call is None or call.has_begun.is_set():
                return
            self._ledger = record(
                self._ledger, call.scope, call.decision.plan, call.started_at, call.discussion_id
            )
            call.has_begun.set()

    def ended(self, call_id: str, usage: Usage, contents: ContentsReport | None = None) -> CacheReport | None:
        """A call is over: hold the ledger against its usage, and keep what is known. None for an unknown call."""
        if usage != Usage():
            self.begun(call_id)
        with self._lock:
            call = self._calls.pop(call_id, None)
            if call is None:
                return None
            call.has_begun.set()
            provider, plan = call.scope.provider, call.decision.plan
            correction = correct(self._ledger, call.scope, call.decision.wire, plan, usage, provider)
            self._ledger = with_contents(correction.ledger, call.scope, plan, contents)
            totals = self._add(provider, call.scope.model, usage)
            own = of_discussion(self._ledger, call.discussion_id)
            idle = idle_entries(call.decision.wire, self._ledger, call.scope, call.started_at)
        desk = self._desk(call.discussion_id)
        with desk.lock:
            known = desk.cache.state
            state = after_usage(known, call.discussion_id, provider, plan, usage, call.started_at)
            reason = contents.text if contents is not None and contents.text else correction.reason
            desk.miss_reason = reason or (usage.miss_reason if not usage.cache_read_tokens else "")
            desk.cache = replace(desk.cache, state=state, ledger=own)
            desk.idle, desk.last_call = idle, call
            self._keep(call.discussion_id, desk.cache)
            return CacheReport(state, totals, desk.miss_reason)

    def known(self, discussion_id: str) -> DiscussionCacheState | None:
        """What is known of a discussion's cache, None where nothing was ever cached."""
        desk = self._desk(discussion_id)
        with desk.lock:
            return desk.cache.state

    def forget(self, discussion_id: str) -> DiscussionCacheState | None:
        """Invalidate: nothing of the discussion is believed to be cached any more."""
        desk = self._desk(discussion_id)
        with self._lock:
            self._ledger = forget_discussion(self._ledger, discussion_id)
        with desk.lock:
            desk.cache = invalidated(desk.cache, self._clock())
            desk.idle = ()
            self._keep(discussion_id, desk.cache)
            return desk.cache.state

    def _due(self, discussion_id: str, desk: _Desk) -> Ping | None:
        with desk.lock:
            call, now = desk.last_call, self._clock()
            if call is None or not desk.idle:
                return None
            kind = self._setup.kind(call.scope.provider)
            settings = settings_for(kind, call.prices, self._setup.settings(), is_enabled=True)
            best = best_idle(desk.idle, call.prices, self._gaps, settings, now)
            if best is None or best[1].ping_at is None or best[1].ping_at > now:
                return None
            idle, decision = best[0], call.decision
            marks = ping_marks(decision.plan, idle, decision.request)
            request = replace(ping_request(decision.request, idle), cache=replace(decision.plan, marks=marks))
            return Ping(discussion_id, call.scope.provider, request, idle, call)

    def _desk(self, discussion_id: str) -> _Desk:
        with self._lock:
            desk = self._desks.get(discussion_id)
            if desk is None:
                cache = self._store.load(discussion_id)
                self._ledger = merge((self._ledger, cache.ledger))
                for gap_s in cache.gaps_s:
                    self._gaps = observe(self._gaps, gap_s)
                desk = self._desks[discussion_id] = _Desk(cache, self._replayed(discussion_id))
            return desk

    def _replayed(self, discussion_id: str) -> Replayed:
        try:
            return replay(self._store.records(discussion_id))
        except SlopError as error:
            log.warning("the view of %s starts anew: %s", discussion_id, error)
            return Replayed()

    def _observe(self, desk: _Desk) -> None:
        """Learn the gap before this turn."""
        now, last = self._clock(), desk.cache.last_turn_at
        own = None if last is None else (now - last).total_seconds()
        with self._lock:
            shared = None if self._last_turn_at is None else (now - self._last_turn_at).total_seconds()
            self._last_turn_at = now
            self._gaps = observe(self._gaps, own, shared)
        gaps_s = desk.cache.gaps_s if own is None else (*desk.cache.gaps_s, own)[-KEPT_GAPS:]
        desk.cache = replace(desk.cache, gaps_s=gaps_s, last_turn_at=now)

    def _turn(
        self, spec: StackSpec, stack: AggregateStack, message_id: str, desk: _Desk, profile: ModelProfile
    ) -> Turn:
        return Turn(
            stack,
            message_id,
            desk.replayed.view,
            spec.effort,
            spec.max_output_tokens,
            spec.discussion_id,
            limit_tokens=profile.context_tokens,
        )

    def _market(self, spec: StackSpec, factor: float) -> Market:
        inputs, now = spec.inputs, self._clock()
        kind = self._setup.kind(inputs.provider)
        prices = self._setup.prices(kind, inputs.provider, inputs.model, now)
        scope = LedgerScope(
            inputs.provider,
            self._setup.key_id(inputs.provider),
            inputs.model,
            f'{{"effort":"{spec.effort}"}}',
        )
        with self._lock:
            ledger, gaps = self._ledger, self._gaps
        return Market(
            scope,
            prices,
            ledger,
            gaps,
            settings_for(kind, prices, self._setup.settings(), spec.caching_enabled),
            now,
            token_counter(self._setup.counted(), factor),
        )

    def _wait_for_others(self, call_id: str, scope: LedgerScope, decision: Decision) -> bool:
        """Wait for the call that is writing a prefix of this one. Whether there was one."""
        with self._lock:
            out = [
                PlannedCall(other_id, call.scope, call.decision.plan, call.decision.wire.hashes, is_out=True)
                for other_id, call in self._calls.items()
                if not call.has_begun.is_set()
            ]
            mine = PlannedCall(call_id, scope, decision.plan, decision.wire.hashes)
            waits = dict(gate((*out, mine)).waits)
            leader = self._calls.get(waits.get(call_id, ""))
        if leader is None:
            return False
        leader.has_begun.wait(GATE_WAIT_S)
        return True

    def _add(self, provider: str, model: str, usage: Usage) -> ProviderTotals:
        """Add a call's usage, and what it would have cost more had nothing been cached."""
        before = self._totals.get(provider, ProviderTotals(provider, saved_usd=0.0))
        fresh = replace(
            usage, cache_read_tokens=0, cache_write_tokens=0, cache_write_5m_tokens=0, cache_write_1h_tokens=0
        )
        paid, without = (self._setup.cost(provider, model, one) for one in (usage, fresh))
        saved = None
        if before.saved_usd is not None and paid is not None and without is not None:
            saved = before.saved_usd + without - paid
        totals = self._totals[provider] = ProviderTotals(provider, add_usage(before.usage, usage), saved)
        return totals

    def _keep(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Nothing is lost where it cannot be kept but what a next start would know."""
        try:
            self._store.save(discussion_id, cache)
        except SlopError as error:
            log.warning("cache state of %s was not kept: %s", discussion_id, error)


def _after(before: Replayed, decision: Decision, records: tuple[ViewRecord, ...]) -> Replayed:
    if not records:
        return before
    files = (*decision.view.base.files, *(file for delta in decision.view.deltas for file in delta.files))
    return Replayed(decision.view, {**before.texts, **{file.sha256: file.text for file in files}})
