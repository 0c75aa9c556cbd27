"""Keeps what is known of the providers' caches: plans each request, learns from its usage, remembers across restarts."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from typing import Protocol

from core.aggregate import AggregateStack
from core.cache.blocks import CountTokens
from core.cache.decide import DecideMemo, Decision, Market, Turn, decide
from core.cache.gaps import observe
from core.cache.gate import PlannedCall, gate
from core.cache.ledger import correct, forget_discussion, merge, of_discussion, record
from core.cache.replay import Replayed, records_for, replay
from core.errors import SlopError
from core.tokens import estimate_tokens, scaled
from core.values.cache import (
    CachePlan,
    CachePrices,
    CacheSettings,
    DiscussionCacheState,
    GapStats,
    Ledger,
    LedgerScope,
    Mechanism,
)
from core.values.effects import CallProvider, StackSpec
from core.values.ids import make_id
from core.values.messages import AttachmentPart, ReasoningPart, ToolCallPart, ToolResultPart
from core.values.provider import ModelProfile, ProviderKind, RequestPart
from core.values.records import Record, ViewRecord
from core.values.settings import CachingSettings
from core.values.stack import Segment, ToolSchema
from core.values.state import ProviderTotals
from core.values.usage import Usage, add_usage

log = logging.getLogger(__name__)

GATE_WAIT_S = 30.0
"""Longest that a call waits for another that writes the same prefix to begin its answer."""

IMAGE_TOKENS = 1_500


@dataclass(frozen=True, slots=True)
class KeptCache:
    """What is kept of a discussion's cache across restarts (`cache.json`)."""

    state: DiscussionCacheState | None = None
    ledger: Ledger = field(default_factory=Ledger)
    gaps: GapStats = field(default_factory=GapStats)
    miss_reason: str = ""


class CacheStore(Protocol):
    """Where it is kept. `core.store.cache_state` is the real one."""

    def load(self, discussion_id: str) -> KeptCache:
        """What was kept; nothing where there is none or it cannot be read."""
        ...

    def save(self, discussion_id: str, kept: KeptCache) -> None:
        """Keep it. Raises StorageError."""
        ...

    def records(self, discussion_id: str) -> tuple[Record, ...]:
        """The discussion's log. Raises StorageError."""
        ...


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

    state: DiscussionCacheState
    totals: ProviderTotals
    miss_reason: str = ""


@dataclass(slots=True)
class _Desk:
    """What is known of one discussion. Guarded by its lock."""

    kept: KeptCache
    replayed: Replayed
    lock: threading.RLock = field(default_factory=threading.RLock)
    memo: DecideMemo = field(default_factory=DecideMemo)
    turn_at: datetime | None = None


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
        self._last_turn_at: datetime | None = None
        self._totals: dict[str, ProviderTotals] = {}

    def preview(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> CachePlan:
        """What the next request would be planned as; nothing is remembered of it."""
        desk = self._desk(spec.discussion_id)
        with desk.lock:
            turn = self._turn(spec, stack, "preview", desk, profile)
            return decide(turn, self._market(spec, factor, desk)).plan

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
            market = self._market(spec, factor, desk)
            decision = decide(turn, market, desk.memo)
        if self._wait_for_others(effect.call_id, market.scope, decision):
            with desk.lock:
                market = self._market(spec, factor, desk)
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

    def ended(self, call_id: str, usage: Usage) -> CacheReport | None:
        """A call is over: hold the ledger against its usage, and keep what is known. None for an unknown call."""
        if usage != Usage():
            self.begun(call_id)
        with self._lock:
            call = self._calls.pop(call_id, None)
            if call is None:
                return None
            call.has_begun.set()
            provider = call.scope.provider
            correction = correct(
                self._ledger, call.scope, call.decision.wire, call.decision.plan, usage, provider
            )
            self._ledger = correction.ledger
            totals = self._add(provider, call.scope.model, usage)
        desk = self._desk(call.discussion_id)
        with desk.lock:
            state = self._state_after(desk, call, usage)
            reason = correction.reason or desk.kept.miss_reason
            desk.kept = KeptCache(
                state, of_discussion(self._ledger, call.discussion_id), desk.kept.gaps, reason
            )
            self._keep(call.discussion_id, desk.kept)
            return CacheReport(state, totals, reason)

    def known(self, discussion_id: str) -> KeptCache:
        """What is known of a discussion's cache."""
        desk = self._desk(discussion_id)
        with desk.lock:
            return desk.kept

    def forget(self, discussion_id: str, at: datetime | None = None) -> KeptCache:
        """Invalidate: nothing of the discussion is believed to be cached any more."""
        desk = self._desk(discussion_id)
        with self._lock:
            self._ledger = forget_discussion(self._ledger, discussion_id)
        with desk.lock:
            state = desk.kept.state
            if state is not None:
                state = replace(
                    state, tokens_cached=0, expires_at=None, last_invalidated_at=at or self._clock()
                )
            desk.kept = replace(desk.kept, state=state, ledger=Ledger(), miss_reason="Invalidated by you.")
            self._keep(discussion_id, desk.kept)
            return desk.kept

    def _desk(self, discussion_id: str) -> _Desk:
        with self._lock:
            desk = self._desks.get(discussion_id)
            if desk is None:
                kept = self._store.load(discussion_id)
                self._ledger = merge((self._ledger, kept.ledger))
                desk = self._desks[discussion_id] = _Desk(kept, self._replayed(discussion_id))
            return desk

    def _replayed(self, discussion_id: str) -> Replayed:
        try:
            return replay(self._store.records(discussion_id))
        except SlopError as error:
            log.warning("the view of %s starts anew: %s", discussion_id, error)
            return Replayed()

    def _observe(self, desk: _Desk) -> None:
        """Learn the gap before this turn."""
        now = self._clock()
        with self._lock:
            shared = None if self._last_turn_at is None else (now - self._last_turn_at).total_seconds()
            self._last_turn_at = now
        own = None if desk.turn_at is None else (now - desk.turn_at).total_seconds()
        desk.turn_at = now
        desk.kept = replace(desk.kept, gaps=observe(desk.kept.gaps, own, shared))

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

    def _market(self, spec: StackSpec, factor: float, desk: _Desk) -> Market:
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
            ledger = self._ledger
        return Market(
            scope,
            prices,
            ledger,
            desk.kept.gaps,
            _settings_for(kind, prices, self._setup.settings(), spec.caching_enabled),
            now,
            _counter(self._setup.counted(), factor),
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

    def _state_after(self, desk: _Desk, call: _Call, usage: Usage) -> DiscussionCacheState:
        before, plan = desk.kept.state, call.decision.plan
        read, written = usage.cache_read_tokens, usage.cache_write_tokens
        cached = max(read or 0, (read or 0) + (written or 0))
        entries = of_discussion(self._ledger, call.discussion_id).entries.get(call.scope, {})
        ends = [entry.expires_at for entry in entries.values()]
        is_managed = call.prices.mechanism is Mechanism.IMPLICIT
        same = before is not None and before.provider == call.scope.provider
        return DiscussionCacheState(
            discussion_id=call.discussion_id,
            provider=call.scope.provider,
            cached_at=call.started_at,
            expires_at=None if is_managed or not ends else max(ends),
            hit_count=(before.hit_count if same and before is not None else 0) + bool(read),
            tokens_cached=cached,
            last_invalidated_at=before.last_invalidated_at if before is not None else None,
            caching_enabled=plan.is_enabled,
        )

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

    def _keep(self, discussion_id: str, kept: KeptCache) -> None:
        """Nothing is lost where it cannot be kept but what a next start would know."""
        try:
            self._store.save(discussion_id, kept)
        except SlopError as error:
            log.warning("cache state of %s was not kept: %s", discussion_id, error)


def _after(before: Replayed, decision: Decision, records: tuple[ViewRecord, ...]) -> Replayed:
    if not records:
        return before
    files = (*decision.view.base.files, *(file for delta in decision.view.deltas for file in delta.files))
    return Replayed(decision.view, {**before.texts, **{file.sha256: file.text for file in files}})


def _settings_for(
    kind: ProviderKind, prices: CachePrices, settings: CachingSettings, is_enabled: bool
) -> CacheSettings:
    """The person's switches as the planner takes them."""
    found = CacheSettings(
        is_enabled=is_enabled,
        appends_changes=settings.appends_changes,
        keepalive=settings.keepalive,
        keepalive_cap_usd=settings.keepalive_cap_usd,
    )
    match kind:
        case ProviderKind.ANTHROPIC:
            ttl_s = {"5m": 300, "1h": 3600}.get(settings.anthropic_ttl)
            return replace(found, is_enabled=is_enabled and settings.anthropic_enabled, ttl_s=ttl_s)
        case ProviderKind.OPENAI:
            ttl_s = {"30m": 1800, "12h": 43_200}.get(settings.openai_ttl)
            return replace(found, ttl_s=ttl_s, longest_ttl_s=43_200 if ttl_s == 43_200 else 3600)
        case ProviderKind.GEMINI:
            most = 10_080 if settings.gemini_allow_long else 60
            ttl_s = min(settings.gemini_ttl_minutes, most) * 60
            wants = settings.gemini_enabled or prices.mechanism is not Mechanism.CONTENTS
            return replace(found, is_enabled=is_enabled and wants, ttl_s=ttl_s, longest_ttl_s=ttl_s)
        case _:
            return found


def _counter(counted: Mapping[str, int], factor: float) -> CountTokens:
    """Tokens of a part for the model in use, from what was counted and from sizes."""

    def tokens_of(part: RequestPart | ToolSchema) -> int:
        match part:
            case Segment():
                known = counted.get(part.sha256)
                return scaled(
                    estimate_tokens(len(part.text.encode("utf-8", "replace"))) if known is None else known,
                    factor,
                )
            case AttachmentPart():
                return IMAGE_TOKENS if part.is_image else scaled(estimate_tokens(part.size_bytes), factor)
            case ToolCallPart():
                return scaled(estimate_tokens(len(part.arguments_json) + len(part.name)), factor)
            case ToolResultPart() | ReasoningPart():
                return scaled(estimate_tokens(len(part.text)), factor)
            case ToolSchema():
                return scaled(estimate_tokens(len(part.description) + len(part.parameters_json)), factor)

    return tokens_of


def key_id(key: str) -> str:
    """A short name for a key that does not tell it; empty for none."""
    return hashlib.sha256(f"manual-slop/{key}".encode()).hexdigest()[:12] if key else ""
