"""The one holder of the book of caches: behind one lock, swapped whole; every decision is a pure step over it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection
from typing import TypeVar

from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CacheSettings,
    DiscussionCacheState,
    LedgerScope,
    RewriteCosts,
)
from core.kernel.values.provider import ContentsReport, ModelProfile, ProviderKind, ProviderRequest
from core.kernel.values.records import ViewRecord
from core.kernel.values.settings import CachingSettings
from core.kernel.values.spec import PREVIEW_ID, CallToBuild, PlannedRequest, StackSpec
from core.kernel.values.stack import ToolSchema
from core.kernel.values.usage import Usage, UsageKind
from core.kernel.values.window import ContextView
from core.services.spending.estimates import expected_input
from core.talk.caching import cache_book as books
from core.talk.caching import pings, planned_calls
from core.talk.caching.accounts import believed, is_alive
from core.talk.caching.book_holder import BookHolder
from core.talk.caching.cache_book import BookedCall
from core.talk.caching.decision import Market
from core.talk.caching.offers import scope_settings, settings_for
from core.talk.caching.pings import Ping, Upkept
from core.talk.caching.plan_memo import PlanMemo
from core.talk.caching.planned_calls import CacheReport, begins_turn, planned_turn
from core.talk.caching.rewrite import holds_withdrawn, rewrite_costs
from core.talk.context.stack import AggregateStack
from core.talk.context.token_scale import token_counter

GATE_WAIT_S = 30.0
"""Longest that a call waits for another that writes the same prefix to begin its answer."""

GATE_TRIES = 3
"""Times that a call is planned anew because of others, at most; then it goes."""

_NOW = threading.Event()
_NOW.set()

FACTOR_STEP = 0.005
"""A model's token factor moves a little with every call: it counts in such steps, and blocks are counted anew with each.

So all plans of one turn count by one factor, and none is chosen for being counted earlier.
"""

T = TypeVar("T")

log = logging.getLogger(__name__)


class CacheKeeper(BookHolder):
    """Holds the current `CacheBook`, and nothing else that decides.

    Every call: `plan_call`, then `begun` when its answer begins, then `ended` with its usage. The rules:

    - Held: the book, which is a value; for each call under way an event that is set when its answer begins; for each
      discussion a memo that only saves time.
    - Any thread may call. A call's own thread waits in `plan_call`, at the gate, with no lock held.
    - Locks: the file's of what was learned, or a discussion's, first, then the book's; never two discussions'. The book's is held for one pure step,
      never while a request is planned, a disk is asked or another call is awaited. Readers take the book as it
      stands, without the lock.
    - A call is planned outside the book's lock and admitted under it: if the ledger is another one by then, it is
      planned anew.
    - What was learned over all discussions (`caching.json`) is read before the first of them, and written after each call
      that taught something.
    - Read: a discussion's `cache.json` and log before its first step, and again where another program wrote it while
      no call of ours is under way. Written: its `cache.json` after a step that changes what is held for it, under the
      discussion's lock and from the book as it stands then. What cannot be written is logged: it costs a miss.

    Args:
        store: where it is kept across restarts; setup: asks the rest of the program; clock: UTC.
    """

    def plan_call(
        self, effect: CallToBuild, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> PlannedRequest:
        """Plan a call that is about to be sent. Waits, a while at most, for one that writes the same prefix.

        Args:
            factor: the model's tokens over o200k's for the same text.

        Returns:
            The request with its plan, and the records that the log needs to rebuild its view.
        """
        spec, name = effect.spec, effect.spec.discussion_id
        memo, turn = self._open(name), planned_turn(spec, stack, effect.user_message_id, profile)
        if begins_turn(turn):
            self._change(lambda book: books.turn_begun(book, name, self._clock(), is_task=spec.is_task))
        tries, may_wait = 0, True
        while True:
            with memo.lock:
                seen = self._book
                call = planned_calls.plan_call(
                    seen, turn, self._market(spec, factor, memo.calls), memo.calls.decide
                )
            until = self._admit(effect.call_id, call, seen.ledger if may_wait else None)
            if until is None:
                break
            tries += 1
            may_wait = until.wait(GATE_WAIT_S) and tries < GATE_TRIES
        with memo.lock:
            before = self._book.pages[name].replayed.view
            memo.sent = memo.calls.copied()
            replayed, records = planned_calls.shown(self._book, call, effect.request_id)
            self._change(lambda book: books.with_view(book, name, replayed))
        return _planned(call, before, records)

    def begun(self, call_id: str) -> None:
        """The answer begins: what the request wrote can be read from now on, also by the program after a kill."""
        with self._lock:
            call = self._book.calls.get(call_id)
            self._book = planned_calls.begun(self._book, call_id)
            if call_id in self._answers:
                self._answers[call_id].set()
        if call is not None and not call.has_begun:
            self._keep(call.discussion_id)

    def ended(
        self,
        call_id: str,
        usage: Usage,
        contents: ContentsReport | None = None,
        paid: Usage | None = None,
        *,
        is_kept_later: bool = False,
    ) -> CacheReport | None:
        """A call is over: hold the ledger against its usage, and keep what is known. None for an unknown call.

        Args:
            paid: the usage as it is booked, where that is not what the provider said; is_kept_later: by `keep`.
        """
        cost, label, now = self._setup.cost, self._setup.label, self._clock()
        with self._lock:
            self._book, report = planned_calls.ended(
                self._book, call_id, usage, contents, now, cost, label, paid=paid
            )
            if call_id in self._answers:
                self._answers.pop(call_id).set()
        if report is not None and not is_kept_later:
            self.keep(report.discussion_id)
        return report

    def keep(self, discussion_id: str) -> None:
        """Write what is known of a discussion's cache, and what was learned of all."""
        self._keep(discussion_id)
        self._keep_learned()

    def preview(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> PlannedRequest:
        """Plan of the next request, for a message `PREVIEW_ID`; no decision stands on it."""
        memo = self._open(spec.discussion_id).of_preview()
        turn, book = planned_turn(spec, stack, PREVIEW_ID, profile), self._book
        with memo.lock:
            call = planned_calls.plan_call(book, turn, self._market(spec, factor, memo), memo.decide)
        return _planned(call, book.pages[spec.discussion_id].replayed.view)

    def recalled_behind(self, discussion_id: str) -> tuple[str, ...]:
        """Passages that stay in a discussion's view behind earlier turns with tools; none where it is cold and written anew."""
        cache = self.known(discussion_id)
        if cache is None or not is_alive(cache, self._clock()):
            return ()
        self._open(discussion_id)
        view = self._book.pages[discussion_id].replayed.view
        return () if view is None else tuple(tail.retrieved for tail in view.tails if tail.retrieved)

    def prewarm_request(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> ProviderRequest | None:
        """Request to read when a discussion opens, so that its first answer starts at once; None: it may lose too much."""
        self._open(spec.discussion_id)
        turn = planned_turn(spec, stack, "prewarm", profile)
        call = planned_calls.plan_call(self._book, turn, self._market(spec, factor))
        if not pings.may_prewarm(self._book, call):
            return None
        self._change(lambda book: books.prewarming(book, call))
        return replace(call.decision.request, cache=call.decision.plan)

    def prewarmed(self, discussion_id: str) -> None:
        """The prefix was read: its layer 7 is now what the provider holds."""
        self._open(discussion_id)
        self._change(lambda book: books.prewarmed(book, discussion_id))
        self._keep(discussion_id)

    def due_pings(self, settings: CachingSettings, off: Collection[str] = ()) -> tuple[Ping, ...]:
        """The pings that are due now, by the person's settings and gaps; none of the discussions in `off`."""

        def settings_of(call: BookedCall) -> CacheSettings:
            kind = self._setup.kind(call.scope.provider)
            return settings_for(kind, call.prices, settings, is_enabled=True)

        return pings.due_pings(self._book, settings_of, self._clock(), off)

    def pace(self, discussion_id: str, interval_s: float | None) -> None:
        """Count on a discussion's next turn after so many seconds, or on the person's gaps again."""
        self._change(lambda book: books.paced(book, discussion_id, interval_s))

    def stop_pings(self, discussion_ids: Collection[str]) -> None:
        """Nothing of them is kept warm until their next turn."""
        self._change(lambda book: pings.stopped(book, discussion_ids))

    def pinged(
        self, ping: Ping, usage: Usage | None, *, has_failed: bool = False, is_cut: bool = False
    ) -> Upkept:
        """A ping is over (None: it was not made, or refused): renew what it read, or stop after a miss."""
        cost = self._setup.cost
        upkept = self._step(
            lambda book: pings.pinged(book, ping, usage, cost, has_failed=has_failed, is_cut=is_cut)
        )
        self._keep(ping.discussion_id)
        return upkept

    def prewarm_paid(self, request: ProviderRequest, usage: Usage, *, is_whole: bool = True) -> Upkept:
        """A prewarm was answered, or its answer was lost or not waited for: book what it cost."""
        cost, plan = self._setup.cost, request.cache
        expected = expected_input(replace(plan, fresh_tokens=0), 0) if plan is not None else Usage()
        return self._step(
            lambda book: pings.upkeep(
                book,
                request.discussion_id,
                self._prices(request.provider, request.model),
                usage,
                replace(expected, output_tokens=0),
                cost,
                UsageKind.PREWARM,
                is_whole=is_whole,
            )
        )

    def known(self, discussion_id: str) -> DiscussionCacheState | None:
        """Cache of one discussion as known, None where nothing was ever cached."""
        cache, book = self._peek(discussion_id), self._book
        ledger = book.ledger if discussion_id in book.pages else cache.ledger
        return believed(cache, ledger, discussion_id, self._clock())

    def offered(self, discussion_id: str) -> tuple[ToolSchema, ...] | None:
        """Tools of servers that a discussion's last request offered, as far as that is known; None where it is not."""
        return self._peek(discussion_id).offered

    def drop_offered(self, discussion_id: str) -> None:
        """The next request offers what is approved by then, also after a restart."""
        self._open(discussion_id)
        self._change(lambda book: books.with_offered(book, discussion_id, None))
        self._keep(discussion_id)

    def rewrite(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> RewriteCosts:
        """Costs of changes of layers 6 and 7 in the discussion's next turn, and those of a deletion.

        Args:
            stack: these layers as the next request would send them.
        """
        name = spec.discussion_id
        cache = replace(self._peek(name), state=self.known(name))
        provider = "" if cache.state is None else cache.state.provider
        is_kept = bool(provider) and self._setup.kind(provider) is ProviderKind.EMBEDDED
        page = self._book.pages.get(name)
        view = None if page is None else page.replayed.view
        return rewrite_costs(cache, name, stack, self._market(spec, factor), view, is_kept=is_kept)

    def withdrawn(
        self, withdrawals: int, others: Collection[str], deleted: Collection[str] = (), *, is_on: bool
    ) -> tuple[str, ...]:
        """Something was taken out of knowledge or deleted: keep nothing warm that may hold it.

        Args:
            others: discussions to be looked at though they were not used in this run; deleted: those that hold it.

        Returns:
            Discussions whose last request may have sent it.
        """
        found = self._step(lambda book: books.withdrawn(book, withdrawals, deleted, is_on=is_on))
        known = self._book.pages
        caches = ((name, self._store.load(name).sent) for name in others if name not in known)
        unused = (
            name
            for name, sent in caches
            if name in deleted or (sent and holds_withdrawn(sent, withdrawals, is_on=is_on))
        )
        return (*found, *unused)

    def forget(self, discussion_id: str) -> DiscussionCacheState | None:
        """Invalidate: nothing of the discussion is believed to be cached any more."""
        self._open(discussion_id)
        self._change(lambda book: books.forgotten(book, discussion_id, self._clock()))
        return self._keep(discussion_id).state

    def _admit(self, call_id: str, call: BookedCall, seen: CacheLedger | None) -> threading.Event | None:
        """Let a call go; or give what it must wait for before it is planned again."""
        with self._lock:
            self._book, wait = planned_calls.admitted(self._book, call_id, call, seen)
            if wait is not None:
                return self._answers[wait.leader] if wait.leader else _NOW
            self._answers[call_id] = threading.Event()
            return None

    def _market(self, spec: StackSpec, factor: float, memo: PlanMemo | None = None) -> Market:
        inputs, now, book, counted = spec.inputs, self._clock(), self._book, self._setup.counted()
        if memo is not None:
            memo.follow(counted)
        kind, step = self._setup.kind(inputs.provider), round(factor / FACTOR_STEP)
        prices = self._setup.prices(kind, inputs.provider, inputs.model, now)
        return Market(
            scope=LedgerScope(
                provider=inputs.provider,
                key_id=self._setup.key_id(inputs.provider),
                model=inputs.model,
                settings=scope_settings(spec.effort),
            ),
            prices=prices,
            ledger=book.ledger,
            gaps=books.gaps_of(book, spec.discussion_id),
            settings=replace(
                settings_for(kind, prices, spec.caching, spec.caching_enabled),
                may_store=self._setup.may_store(),
            ),
            now=now,
            count=token_counter(
                counted, step * FACTOR_STEP, None if memo is None else memo.estimated, spec.profile
            ),
            count_revision=(step, 0 if memo is None else memo.counted),
        )


def _planned(
    call: BookedCall, before: ContextView | None, records: tuple[ViewRecord, ...] = ()
) -> PlannedRequest:
    request, plan = call.decision.request, call.decision.plan
    return PlannedRequest(
        request=replace(request, cache=plan),
        plan=plan,
        view=call.decision.view,
        before=before,
        records=records,
    )
