"""Keeps what is known of the providers' caches: plans each request, learns from its usage, remembers across restarts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from core.aggregate import AggregateStack
from core.cache.accounts import after_contents, after_usage, invalidated
from core.cache.contents import contents_usd
from core.cache.decide import Decision, Market, Turn, decide
from core.cache.gaps import KEPT_GAPS, observe
from core.cache.gate import PlannedCall, gate
from core.cache.keepalive import Idle, after_ping, best_idle, idle_entries, ping_marks, ping_request
from core.cache.ledger import correct, forget_discussion, live_entries, of_discussion, record
from core.cache.replay import Replayed, records_for
from core.cache.rewrite import is_warm, rewrite_due, sent_knowledge
from core.values.cache import (
    CachePlan,
    CachePrices,
    DiscussionCacheState,
    Ledger,
    LedgerScope,
    Rewrite,
    SentKnowledge,
)
from core.values.effects import CallProvider, StackSpec
from core.values.ids import make_id
from core.values.provider import ContentsReport, ModelProfile, ProviderKind, ProviderRequest
from core.values.records import ViewRecord
from core.values.settings import CachingSettings
from core.values.stack import Segment
from core.values.state import ProviderTotals
from core.values.usage import Usage, add_usage
from core.workers.cache_desks import CacheDesks, Call, Desk
from core.workers.cache_settings import scope_settings, settings_for, token_counter, with_contents

GATE_WAIT_S = 30.0
"""Longest that a call waits for another that writes the same prefix to begin its answer."""

GATE_TRIES = 3
"""How often a call is planned anew because of others, at most; then it goes."""

_NOW = threading.Event()
_NOW.set()

_FACTOR_STEP = 0.05
"""A model's token factor moves a little with every call; blocks are counted anew when it has moved so far."""


@dataclass(frozen=True, slots=True)
class CacheSetup:
    """What planning asks of the rest of the program.

    Args:
        prices: of a provider's kind and model at a time; kind: of a provider; key_id: names its key without telling.
        cost: of a usage in USD, None where unknown.
        counted: o200k tokens by sha256; settings: the person's, asked anew each time.
        label: a provider's name as the person knows it.
    """

    prices: Callable[[ProviderKind, str, str, datetime], CachePrices]
    kind: Callable[[str], ProviderKind]
    key_id: Callable[[str], str]
    cost: Callable[[str, str, Usage], float | None]
    counted: Callable[[], Mapping[str, int]]
    settings: Callable[[], CachingSettings]
    label: Callable[[str], str] = str


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
    call: Call


class CacheKeeper:
    """Thread-safe. Every call: `plan_call`, then `begun` when its answer begins, then `ended` with its usage.

    Args:
        desks: what is known, kept across restarts; setup: asks the rest of the program; clock: UTC.
    """

    def __init__(self, desks: CacheDesks, setup: CacheSetup, clock: Callable[[], datetime]) -> None:
        self._desks = desks
        self._setup = setup
        self._clock = clock
        self._last_turn_at: datetime | None = None
        self._totals: dict[str, ProviderTotals] = {}

    def prewarm_request(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> ProviderRequest:
        """What to read when a discussion opens, so that its first answer starts at once."""
        desk = self._desks.desk(spec.discussion_id)
        with desk.lock:
            market = self._market(spec, factor)
            decision = decide(self._turn(spec, stack, "prewarm", desk, profile), market)
        with self._desks.lock:
            ledger = record(self._desks.ledger, market.scope, decision.plan, market.now, spec.discussion_id)
            self._desks.ledger = ledger
        desk.warming = self._sent(decision, market.scope, market.prices)
        return replace(decision.request, cache=decision.plan)

    def prewarmed(self, discussion_id: str) -> None:
        """The prefix was read: its layer 7 is now what the provider holds."""
        desk = self._desks.desk(discussion_id)
        with desk.lock:
            desk.cache = replace(desk.cache, sent=desk.warming or desk.cache.sent)
            self._desks.keep(discussion_id, desk.cache)

    def due_pings(self, off: Collection[str] = ()) -> tuple[Ping, ...]:
        """The pings that are due now, by the person's settings and gaps; none of the discussions in `off`."""
        with self._desks.lock:
            desks = tuple((name, desk) for name, desk in self._desks.opened() if name not in off)
        return tuple(ping for name, desk in desks if (ping := self._due(name, desk)) is not None)

    def pinged(self, ping: Ping, usage: Usage | None) -> ProviderTotals | None:
        """A ping was answered (None: it failed): renew what it read, or stop after a miss. Returns the totals."""
        now, desk, call = self._clock(), self._desks.desk(ping.discussion_id), ping.call
        read = usage.cache_read_tokens if usage is not None else 0
        with desk.lock:
            desk.idle = (after_ping(ping.idle, call.prices, read, now),)
        if usage is None:
            return None
        with self._desks.lock:
            again = CachePlan(hit_hash=ping.idle.prefix_hash, read_tokens=ping.idle.tokens)
            self._desks.ledger = record(self._desks.ledger, call.scope, again, now, ping.discussion_id)
            return self._add(ping.provider, call.scope.model, usage)

    def preview(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> CachePlan:
        """What the next request would be planned as; nothing is remembered of it."""
        desk = self._desks.desk(spec.discussion_id)
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
        desk = self._desks.desk(spec.discussion_id)
        turn = self._turn(spec, stack, message_id, desk, profile)
        with desk.lock:
            self._observe(desk)
        tries, may_wait = 0, True
        while True:
            with desk.lock:
                market = self._market(spec, factor)
                decision = decide(turn, market, desk.memo)
            call = Call(spec.discussion_id, market.scope, market.prices, decision, market.now)
            until = self._enter(effect.call_id, call, market.ledger if may_wait else None)
            if until is None:
                break
            tries += 1
            may_wait = until.wait(GATE_WAIT_S) and tries < GATE_TRIES
        with desk.lock:
            ids = (make_id(market.now, f"{effect.request_id}/view/{number}") for number in count())
            records = records_for(desk.replayed, decision.view, market.now, ids)
            desk.replayed = _after(desk.replayed, decision, records)
        request = replace(decision.request, cache=decision.plan)
        return replace(decision, request=request), records

    def begun(self, call_id: str) -> None:
        """The answer begins: what the request wrote can be read from now on."""
        with self._desks.lock:
            call = self._desks.calls.get(call_id)
            if call is None or call.has_begun.is_set():
                return
            self._desks.ledger = record(
                self._desks.ledger, call.scope, call.decision.plan, call.started_at, call.discussion_id
            )
            call.has_begun.set()

    def ended(self, call_id: str, usage: Usage, contents: ContentsReport | None = None) -> CacheReport | None:
        """A call is over: hold the ledger against its usage, and keep what is known. None for an unknown call."""
        if usage != Usage():
            self.begun(call_id)
        with self._desks.lock:
            call = self._desks.calls.pop(call_id, None)
            if call is None:
                return None
            has_begun = call.has_begun.is_set()
            call.has_begun.set()
            provider, plan = call.scope.provider, call.decision.plan
            label = self._setup.label(provider)
            correction = correct(self._desks.ledger, call.scope, call.decision.wire, plan, usage, label)
            self._desks.ledger = with_contents(correction.ledger, call.scope, plan, contents)
            rent = contents_usd(call.prices, contents)
            totals = self._add(provider, call.scope.model, usage, rent)
            own = of_discussion(self._desks.ledger, call.discussion_id)
            idle = idle_entries(call.decision.wire, self._desks.ledger, call.scope, call.started_at)
        desk = self._desks.desk(call.discussion_id)
        with desk.lock:
            known = desk.cache.state
            state = after_usage(known, call.discussion_id, provider, plan, usage, call.started_at)
            state = after_contents(state, contents, self._clock())
            reason = contents.text if contents is not None and contents.text else correction.reason
            desk.miss_reason = reason or (usage.miss_reason if not usage.cache_read_tokens else "")
            sent = self._sent(call.decision, call.scope, call.prices) if has_begun else desk.cache.sent
            desk.cache = replace(desk.cache, state=state, ledger=own, sent=sent)
            desk.idle, desk.last_call = idle, call
            self._desks.keep(call.discussion_id, desk.cache)
            return CacheReport(state, totals, desk.miss_reason)

    def known(self, discussion_id: str) -> DiscussionCacheState | None:
        """What is known of a discussion's cache, None where nothing was ever cached."""
        return self._desks.peek(discussion_id).state

    def rewrite(
        self, spec: StackSpec, layer: Sequence[Segment], profile: ModelProfile, factor: float
    ) -> Rewrite | None:
        """What the discussion's next turn writes anew because layer 7 is not what was sent; None where nothing.

        Args:
            layer: 7 as the next request would send it.
        """
        cache, market = self._desks.peek(spec.discussion_id), self._market(spec, factor)
        state, sent = cache.state, cache.sent
        if state is None or sent is None or not is_warm(state, market.now):
            return None
        is_kept = state.expires_at is None and self._setup.kind(state.provider) is ProviderKind.EMBEDDED
        until = None if is_kept else state.expires_at or sent.expires_at
        if until is not None and until <= market.now:
            return None
        return rewrite_due(sent, state, layer, market.scope, market.prices, market.count, until)

    def forget(self, discussion_id: str) -> DiscussionCacheState | None:
        """Invalidate: nothing of the discussion is believed to be cached any more."""
        desk = self._desks.desk(discussion_id)
        with self._desks.lock:
            self._desks.ledger = forget_discussion(self._desks.ledger, discussion_id)
        with desk.lock:
            desk.cache = invalidated(desk.cache, self._clock())
            desk.idle = ()
            self._desks.keep(discussion_id, desk.cache)
            return desk.cache.state

    def _due(self, discussion_id: str, desk: Desk) -> Ping | None:
        with desk.lock:
            call, now = desk.last_call, self._clock()
            if call is None or not desk.idle:
                return None
            kind = self._setup.kind(call.scope.provider)
            settings = settings_for(kind, call.prices, self._setup.settings(), is_enabled=True)
            best = best_idle(desk.idle, call.prices, self._desks.gaps, settings, now)
            if best is None or best[1].ping_at is None or best[1].ping_at > now:
                return None
            idle, decision = best[0], call.decision
            marks = ping_marks(decision.plan, idle, decision.request)
            request = replace(ping_request(decision.request, idle), cache=replace(decision.plan, marks=marks))
            return Ping(discussion_id, call.scope.provider, request, idle, call)

    def _sent(self, decision: Decision, scope: LedgerScope, prices: CachePrices) -> SentKnowledge:
        with self._desks.lock:
            live = live_entries(self._desks.ledger, scope, self._clock())
        return sent_knowledge(decision.request, decision.wire, live, scope, prices)

    def _observe(self, desk: Desk) -> None:
        """Learn the gap before this turn."""
        now, last = self._clock(), desk.cache.last_turn_at
        own = None if last is None else (now - last).total_seconds()
        with self._desks.lock:
            shared = None if self._last_turn_at is None else (now - self._last_turn_at).total_seconds()
            self._last_turn_at = now
            self._desks.gaps = observe(self._desks.gaps, own, shared)
        gaps_s = desk.cache.gaps_s if own is None else (*desk.cache.gaps_s, own)[-KEPT_GAPS:]
        desk.cache = replace(desk.cache, gaps_s=gaps_s, last_turn_at=now)

    def _turn(
        self, spec: StackSpec, stack: AggregateStack, message_id: str, desk: Desk, profile: ModelProfile
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
            scope_settings(spec.effort),
        )
        with self._desks.lock:
            ledger, gaps = self._desks.ledger, self._desks.gaps
        return Market(
            scope,
            prices,
            ledger,
            gaps,
            settings_for(kind, prices, self._setup.settings(), spec.caching_enabled),
            now,
            token_counter(self._setup.counted(), factor),
            count_revision=round(factor / _FACTOR_STEP),
        )

    def _enter(self, call_id: str, call: Call, seen: Ledger | None) -> threading.Event | None:
        """Let a call go; or tell what it must wait for and then be planned again.

        Looking and going are one: of two that come at once, the second sees the first.

        Args:
            seen: the ledger that it was planned by, another one by now asks for another plan; None: it goes at once.
        """
        with self._desks.lock:
            if seen is None:
                self._desks.calls[call_id] = call
                return None
            out = [
                PlannedCall(
                    other_id, other.scope, other.decision.plan, other.decision.wire.hashes, is_out=True
                )
                for other_id, other in self._desks.calls.items()
                if not other.has_begun.is_set()
            ]
            mine = PlannedCall(call_id, call.scope, call.decision.plan, call.decision.wire.hashes)
            waits = dict(gate((*out, mine)).waits)
            leader = self._desks.calls.get(waits.get(call_id, ""))
            if leader is not None:
                return leader.has_begun
            if seen is not self._desks.ledger:
                return _NOW
            self._desks.calls[call_id] = call
            return None

    def _add(self, provider: str, model: str, usage: Usage, rent: float | None = 0.0) -> ProviderTotals:
        """Add a call's usage, and what it would have cost more had nothing been cached, less what storing costs."""
        before = self._totals.get(provider, ProviderTotals(provider, saved_usd=0.0))
        fresh = replace(
            usage, cache_read_tokens=0, cache_write_tokens=0, cache_write_5m_tokens=0, cache_write_1h_tokens=0
        )
        paid, without = (self._setup.cost(provider, model, one) for one in (usage, fresh))
        saved = None
        if usage.input_tokens is None and rent:  # it was stored, and the turn came to nothing
            paid = without = 0.0
        if before.saved_usd is not None and paid is not None and without is not None and rent is not None:
            saved = before.saved_usd + without - paid - rent
        totals = self._totals[provider] = ProviderTotals(provider, add_usage(before.usage, usage), saved)
        return totals


def _after(before: Replayed, decision: Decision, records: tuple[ViewRecord, ...]) -> Replayed:
    if not records:
        return before
    files = (*decision.view.base.files, *(file for delta in decision.view.deltas for file in delta.files))
    return Replayed(decision.view, {**before.texts, **{file.sha256: file.text for file in files}})
