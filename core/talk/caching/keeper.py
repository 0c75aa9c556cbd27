"""The one holder of the book of caches: behind one lock, swapped whole, with pages read and written and the last plans."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.values.cache import (
    CacheLedger,
    CachePrices,
    CacheSettings,
    DiscussionCache,
    DiscussionCacheState,
    ExtensionEvidence,
    LedgerScope,
    RewriteCosts,
)
from core.kernel.values.provider import (
    ContentsReport,
    ModelProfile,
    ProviderKind,
    ProviderRequest,
    StoredContent,
)
from core.kernel.values.records import ViewRecord
from core.kernel.values.settings import CachingSettings
from core.kernel.values.spec import PREVIEW_ID, CallToBuild, PlannedRequest, StackSpec
from core.kernel.values.stack import ToolSchema
from core.kernel.values.state import ProviderTotals
from core.kernel.values.usage import Usage, UsageKind
from core.kernel.values.window import ContextView
from core.services.spending.estimates import expected_input
from core.talk.caching import cache_book as books
from core.talk.caching import content_store, pings, planned_calls
from core.talk.caching.accounts import believed, is_alive, is_warm
from core.talk.caching.cache_book import BookedCall, CacheBook
from core.talk.caching.cache_file import HomeCacheStore, Learned
from core.talk.caching.cache_ledger import lost_extensions
from core.talk.caching.content_store import ASK_AGAIN, Gone, Tending
from core.talk.caching.contents import RentDue
from core.talk.caching.decision import DecideMemo, Market
from core.talk.caching.offers import CacheSetup, scope_settings, settings_for
from core.talk.caching.pings import Ping, Upkept
from core.talk.caching.planned_calls import CacheReport, begins_turn, planned_turn
from core.talk.caching.rewrites import holds_withdrawn, rewrite_costs
from core.talk.caching.view import Replayed, replay
from core.talk.context.stack import AggregateStack
from core.talk.context.token_scale import token_counter

# Memo of a discussion's last plans: it saves time, and nothing is decided by it.


@dataclass
class PlanMemo:
    """Memo of plans of one kind. One thread at a time: `lock`.

    Args:
        estimated: digests of texts that these plans counted by their size; counted: how often some of them were
            counted since, so that plans are compared by the same figures.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    decide: DecideMemo = field(default_factory=DecideMemo)
    estimated: set[str] = field(default_factory=set)
    counted: int = 0

    def follow(self, counted: Mapping[str, int]) -> None:
        """Note that some of what was estimated is counted by now."""
        if not self.estimated.isdisjoint(counted):
            self.estimated.clear()
            self.counted += 1

    def copied(self) -> PlanMemo:
        """A memo that knows the same, with a lock of its own. What is remembered is shared, not copied: O(views)."""
        return PlanMemo(decide=self.decide.copied(), estimated=set(self.estimated), counted=self.counted)


@dataclass
class DiscussionMemo:
    """One discussion's lock, and the memos of its calls, under that lock, and of its previews, which wait for no call.

    A preview goes on from what the last call left, so that both hold one set of blocks.

    `mark`: of what is kept of it on disk, as it was read or written here last; `sent`: of the last call, until a preview
    takes it.
    """

    lock: threading.RLock = field(default_factory=threading.RLock)
    calls: PlanMemo = field(default_factory=PlanMemo)
    previews: PlanMemo = field(default_factory=PlanMemo)
    mark: object = None
    sent: PlanMemo | None = None

    def of_preview(self) -> PlanMemo:
        """The memo of previews, going on from the last call's. Of two that ask at once both get what saves time."""
        sent, self.sent = self.sent, None
        if sent is not None:
            self.previews = sent
        return self.previews

    def forget(self) -> None:
        """Let go of what was planned: the next plan is made without it, the same in more time."""
        self.calls, self.previews, self.sent = PlanMemo(), PlanMemo(), None


_PLANS_KEPT = 8
"""Discussions whose last plans are kept: a person goes back and forth between a few."""

# The book of caches and what stands behind it: the lock, the pages read and written, what is stored for
# rent and booked.

T = TypeVar("T")

log = logging.getLogger(__name__)


class BookHolder:
    """Holds the book; of its decisions only those on what is stored for rent. The rules are `CacheKeeper`'s.

    Rent is in the books once its record stands in the discussion's log. Until then it is owed, in `cache.json`: what the
    disk refuses is told again after a while, what the program's end cuts off by the next start.
    """

    def __init__(self, store: HomeCacheStore, setup: CacheSetup, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._setup = setup
        self._clock = clock
        self._lock = threading.Lock()
        self._book = CacheBook()
        self._learned = threading.Lock()
        self._is_learned = False
        self._kept_learned: Learned | None = None
        self._answers: dict[str, threading.Event] = {}
        self._memos: dict[str, DiscussionMemo] = {}
        self._planned: dict[str, None] = {}
        self._told: dict[str, datetime | None] = {}

    def adopt(
        self, provider: str, contents: Sequence[StoredContent], efforts: Mapping[str, str]
    ) -> tuple[tuple[DiscussionCacheState, ...], tuple[RentDue, ...]]:
        """Take over the contents that a provider stores for discussions that exist, and forget all others.

        Returns the states that changed, and the rent of contents that are gone. `efforts`: of all discussions, by id.
        """
        for content in contents:
            self._open(content.discussion_id)  # reads its part of the ledger
        key_id, found = self._setup.key_id(provider), content_store.contents_found
        now = self._clock()
        return self._kept(
            self._step(lambda book: found(book, provider, key_id, contents, efforts, self._prices, now))
        )

    def forget_stored(
        self, names: Collection[str], absent: Collection[str] = ()
    ) -> tuple[tuple[DiscussionCacheState, ...], tuple[RentDue, ...]]:
        """Forget stored prefixes that are gone. Returns the states that changed, and the last rent.

        Args:
            absent: those of them that were found to be gone.
        """
        gone, now = content_store.contents_gone, self._clock()
        return self._kept(self._step(lambda book: gone(book, names, self._prices, now, absent)))

    def tended(
        self, discussion_ids: Collection[str], settings: CachingSettings, off: Collection[str] = ()
    ) -> Tending:
        """Contents to be held for longer, those to be let go, and the rent that is due by now.

        Args:
            discussion_ids: those that something is stored for, as far as is known.
            off: discussions for which no more is to be spent.
        """

        def settings_of(prices: CachePrices) -> CacheSettings:
            return settings_for(self._setup.kind(prices.provider), prices, settings, is_enabled=True)

        for discussion_id in discussion_ids:
            self._open(discussion_id)
        now, tend = self._clock(), content_store.tended
        tending = self._step(lambda book: tend(book, discussion_ids, self._prices, settings_of, now, off))
        for discussion_id, _ in tending.changed:
            self._keep(discussion_id)
        again = tuple(rent for name in self._unwritten() for rent in self._due_again(name))
        return replace(tending, due=(*self._telling(tending.due), *again))

    def extended(
        self, discussion_id: str, provider: str, content: StoredContent
    ) -> DiscussionCacheState | None:
        """A stored prefix lives for longer. Returns the discussion's state."""
        self._step(lambda book: content_store.content_extended(book, discussion_id, provider, content))
        return self._keep(discussion_id).state

    def overdue(self, discussion_id: str) -> tuple[RentDue, ...]:
        """The rent of what a discussion stored that is not in the books, also from before a restart."""
        known = self._peek(discussion_id)
        if not self._setup.may_store() or not (known.rents or known.owed):
            return ()  # a command beside a window leaves that one's rent to it
        self._open(discussion_id)
        now = self._clock()
        due = self._step(lambda book: content_store.overdue(book, discussion_id, self._prices, now))
        if due:
            self._keep(discussion_id)
        return (*self._telling(due), *self._due_again(discussion_id))

    def ending(self, names: Collection[str], *, is_answered: bool = False) -> None:
        """The deletion of stored prefixes is asked for by the program's end, which may not hear the answer; or it was answered."""
        at = None if is_answered else self._clock()
        for discussion_id in self._step(lambda book: content_store.ending(book, names, at)):
            self._keep(discussion_id)

    def rent_written(self, discussion_id: str, record_id: str) -> None:
        """A rent stands in the log. Its row in `cache.json` goes with the next change: whoever finds it there asks the log."""
        self._change(lambda book: content_store.without_owed(book, discussion_id, record_id))

    def rent_unwritten(self, record_id: str) -> None:
        """The disk refused the record of a rent: it is told again after a while."""
        with self._lock:
            self._told[record_id] = self._clock()

    def _telling(self, due: tuple[RentDue, ...]) -> tuple[RentDue, ...]:
        with self._lock:
            self._told |= {rent.record_id: None for rent in due}
        return due

    def _tell_anew(self, cache: DiscussionCache) -> None:
        """A discussion is back from the trash: its log had no place for the rent that fell due meanwhile."""
        with self._lock:
            for row in cache.owed:
                self._told.pop(row.record_id, None)

    def _unwritten(self) -> list[str]:
        """Discussions with rent that the disk refused."""
        with self._lock:
            refused = {key for key, failed_at in self._told.items() if failed_at is not None}
        pages = self._book.pages.items() if refused else ()
        return [name for name, page in pages if any(row.record_id in refused for row in page.cache.owed)]

    def _due_again(self, discussion_id: str) -> tuple[RentDue, ...]:
        """Owed rent that nobody writes: of an earlier run, or refused by the disk a while ago."""
        owed = content_store.owed(self._book, discussion_id)
        return self._telling(tuple(rent for rent in owed if self._is_unwritten(rent)))

    def _is_unwritten(self, rent: RentDue) -> bool:
        with self._lock:
            is_told, failed_at = rent.record_id in self._told, self._told.get(rent.record_id)
        if is_told:
            return failed_at is not None and abs(self._clock() - failed_at) >= ASK_AGAIN
        try:
            is_booked = self._store.is_booked(rent.discussion_id, rent.record_id)
        except SlopError as error:  # it waits for a start that can read it
            log.warning("whether the rent of %s is booked is not known: %s", rent.discussion_id, error)
            return False
        if is_booked:
            self.rent_written(rent.discussion_id, rent.record_id)
        return not is_booked

    def totals(self, provider: str) -> ProviderTotals | None:
        """Totals of a provider in this run, None where nothing was paid."""
        return self._book.totals.get(provider)

    @property
    def order(self) -> int:
        """The order that the keeper's book has now."""
        return self._book.order

    def standing(self, discussion_id: str) -> tuple[DiscussionCacheState | None, int]:
        """The present state of a discussion's cache, and the book's order. None if there is no cache."""
        book = self._book
        page = book.pages.get(discussion_id)
        return None if page is None else page.cache.state, book.order

    def stored_names(self, discussion_id: str, provider: str) -> frozenset[str]:
        """Names of what a provider is believed to store of what this discussion used last."""
        self._open(discussion_id)
        return content_store.stored_names(self._book, discussion_id, provider)

    def _step(self, step: Callable[[CacheBook], tuple[CacheBook, T]]) -> T:
        with self._lock:
            self._book, result = step(self._book)
            return result

    def _change(self, step: Callable[[CacheBook], CacheBook]) -> None:
        with self._lock:
            self._book = step(self._book)

    def _open(self, discussion_id: str) -> DiscussionMemo:
        """A discussion's memo; what was kept of it is read from disk the first time, and where another wrote it."""
        self._recall()
        with self._lock:
            memo = self._memos.setdefault(discussion_id, DiscussionMemo())
            self._forget_plans(discussion_id)
        with memo.lock:
            if discussion_id not in self._book.pages or self._is_foreign(discussion_id):
                self._take_up(discussion_id, memo)
        return memo

    def _forget_plans(self, opened: str) -> None:
        """Keep the plans of the discussions that were opened last, this one among them, and of those with a call under way."""
        self._planned.pop(opened, None)
        self._planned[opened] = None
        if len(self._planned) > _PLANS_KEPT:
            busy = {call.discussion_id for call in self._book.calls.values()}
            oldest = next((name for name in self._planned if name not in busy), opened)
            if oldest != opened:
                del self._planned[oldest]
                self._memos[oldest].forget()

    def _take_up(self, discussion_id: str, memo: DiscussionMemo) -> None:
        """Read what was kept of a discussion, under its lock."""
        page, was_away = self._book.pages.get(discussion_id), memo.mark is None
        mark = self._store.mark(discussion_id)  # before it is read: a later one is seen as such
        cache, replayed = self._store.load(discussion_id), self._replayed(discussion_id)
        self._change(lambda book: books.opened(book, discussion_id, cache, replayed))
        memo.mark = mark  # not earlier: who peeks meanwhile would take the old page for what is kept
        if page is not None and was_away:
            self._tell_anew(page.cache)

    def _is_foreign(self, discussion_id: str) -> bool:
        """True if another program kept something of a discussion since, and no call of ours is to be booked there."""
        if any(call.discussion_id == discussion_id for call in self._book.calls.values()):
            return False
        return self._is_changed(discussion_id)

    def _is_changed(self, discussion_id: str) -> bool:
        memo, mark = self._memos.get(discussion_id), self._store.mark(discussion_id)
        return memo is not None and mark is not None and mark != memo.mark  # one in the trash is as it was

    def _recall(self) -> None:
        """The first time, what was learned over all discussions is read from disk."""
        with self._learned:
            if not self._is_learned:
                there = self._store.load_learned()
                self._change(lambda book: books.learned(book, there.habits, there.ledger, there.answered))
                self._is_learned = True

    def _keep_learned(self) -> None:
        """Write what was learned over all discussions as the book stands, where this is not what was written last."""
        with self._learned:
            book = self._book
            learned = Learned(habits=book.habits, extensions=book.ledger.extensions, answered=book.answered)
            if learned == self._kept_learned:
                return
            try:
                self._store.save_learned(learned)
                self._kept_learned = learned
            except SlopError as error:
                log.warning("what was learned of caching was not kept: %s", error)

    def lost_extensions(self) -> tuple[ExtensionEvidence, ...]:
        """Models with which long marks behind short-lived hits are not counted on, with the evidence."""
        self._recall()
        return lost_extensions(self._book.ledger)

    def _peek(self, discussion_id: str) -> DiscussionCache:
        """Cache of one discussion as known, without reading its log."""
        page = self._book.pages.get(discussion_id)
        is_there = page is not None and not self._is_foreign(discussion_id)
        return page.cache if page and is_there else self._store.load(discussion_id)

    def _replayed(self, discussion_id: str) -> Replayed:
        try:
            return replay(self._store.views(discussion_id))
        except SlopError as error:
            log.warning("the view of %s starts anew: %s", discussion_id, error)
            return Replayed()

    def _keep(self, discussion_id: str, *, is_turn: bool = False) -> DiscussionCache:
        """Write what is held for a discussion as the book stands; give it back.

        Args:
            is_turn: a call of ours ended, under the lock on the discussion's calls. Anything else (a ping, rent) is of
                before what another program wrote meanwhile: that stands, and of ours the ledger and what is owed. Beside a
                turn the other's `kept_beside` is taken up.
        """
        memo = self._memos[discussion_id] if discussion_id in self._book.pages else self._open(discussion_id)
        with memo.lock:
            try:
                while not self._is_written(discussion_id, memo, is_turn=is_turn):
                    self._take_up(discussion_id, memo)
            except SlopError as error:
                log.warning("cache state of %s was not kept: %s", discussion_id, error)
            return self._book.pages[discussion_id].cache

    def _is_written(self, discussion_id: str, memo: DiscussionMemo, *, is_turn: bool) -> bool:
        """Write it, looked at, written and marked while no other program can; False where one wrote before. Raises SlopError."""
        with self._store.held(discussion_id):
            if self._is_changed(discussion_id):
                if not is_turn and self._is_foreign(discussion_id):
                    return False
                there = self._store.load(discussion_id)
                self._change(lambda book: books.kept_beside(book, discussion_id, there))
            self._store.save(discussion_id, self._book.pages[discussion_id].cache)
            memo.mark = self._store.mark(discussion_id)
            return True

    def _kept(self, gone: Gone) -> tuple[tuple[DiscussionCacheState, ...], tuple[RentDue, ...]]:
        for discussion_id, _ in gone.changed:
            self._keep(discussion_id)
        return tuple(state for _, state in gone.changed if state is not None), self._telling(gone.due)

    def _prices(self, provider: str, model: str) -> CachePrices:
        return self._setup.prices(self._setup.kind(provider), provider, model, self._clock())


# The one holder of the book of caches: behind one lock, swapped whole; every decision is a pure step over
# it.

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


class CacheKeeper(BookHolder):
    """Holds the current `CacheBook`, and nothing else that decides.

    Every call: `plan_call`, then `begun` when its answer begins, then `ended` with its usage. The rules:

    - Held: the book, which is a value; for each call under way an event that is set when its answer begins; for each
      discussion a memo that only saves time.
    - Any thread may call. A call's own thread waits in `plan_call`, at the gate, with no lock held.
    - Locks: the file's of what was learned, or a discussion's, first, then that of its files, then the book's; never two discussions'. The book's is held for one pure step,
      never while a request is planned, a disk is asked or another call is awaited. Readers take the book as it
      stands, without the lock.
    - A call is planned outside the book's lock and admitted under it: if the ledger is another one by then, it is
      planned anew.
    - What was learned over all discussions (`caching.json`) is read before the first of them, and written after each call
      that taught something.
    - Read: a discussion's `cache.json` and log before its first step, and again where another program wrote it while
      no call of ours is under way, also before a ping. Written: its `cache.json` after a step that changes what is held
      for it, under the discussion's lock and from the book as it stands then; what another program wrote since is
      taken up first, unless a call of ours has just ended; from that look until the file is marked as ours the
      lock of the discussion's files is held. What cannot be written is logged: it costs a miss.

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
            self._change(
                lambda book: books.with_page(book, name, replace(book.pages[name], replayed=replayed))
            )
        return _planned(call, before, records)

    def resent(self, call_id: str, request: ProviderRequest) -> None:
        """A call's request was refused, and is answered in another form."""
        with self._lock:
            self._book = planned_calls.resent(self._book, call_id, request)

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
        """Write what is known of a discussion's cache after a call, and what was learned of all."""
        self._keep(discussion_id, is_turn=True)
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

    def is_held(self, discussion_id: str) -> bool:
        """True while its provider may hold something of a discussion, by what is known and by the clock."""
        cache = self.known(discussion_id)
        return cache is not None and is_warm(cache, self._clock())

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
        """Prewarm request for an opened discussion, so that its first reply starts early. None: it could cost too much."""
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

        for ping in pings.due_pings(self._book, settings_of, self._clock(), off):
            self._open(ping.discussion_id)  # what another program went on with is not ours to keep warm
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
        """After something was deleted, keep no prefix warm that may contain it.

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
