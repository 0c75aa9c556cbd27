"""The book of caches as a value: what providers hold, the person's gaps, calls under way, a page a discussion."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CachePrices,
    DiscussionCache,
    GapStats,
    Habits,
    LedgerScope,
    SentKnowledge,
    StoredRent,
    Talk,
    TurnGap,
)
from core.kernel.values.stack import ToolSchema
from core.kernel.values.state import ProviderTotals
from core.talk.caching.accounts import invalidated
from core.talk.caching.cache_ledger import (
    forget_discussion,
    live_entries,
    merge,
    of_discussion,
    record,
    renewed,
)
from core.talk.caching.decision import Decision
from core.talk.caching.economy import KEPT_GAPS, KEPT_TALKS, observed, stats_of, with_gap
from core.talk.caching.keepalive import Idle
from core.talk.caching.rewrites import holds_withdrawn
from core.talk.caching.sent_request import sent_knowledge
from core.talk.caching.view import Replayed, SharedBase, shared_base

_NEVER = GapStats(own=(TurnGap(365 * 86_400.0),) * KEPT_GAPS, turns=KEPT_GAPS)
"""Gaps of a discussion to which nobody is expected to come back."""

OWN_TURN_S = 15.0
"""Seconds that a turn of an autonomous discussion takes, about: its interval counts from the turn's end, what its provider
holds from the request's start. Else a rest of five minutes looks as if an entry of five minutes lived through it."""


class BookedCall(msgspec.Struct, frozen=True):
    """A call that was planned.

    Args:
        mode: of the discussion, see `mode_of`.
        has_begun: its answer has, so that what it wrote can be read.
        off: what the provider counted of it over what was planned, once it has said so.
        is_abandoned: it would not be sent like that again, so that nothing of it is kept warm.
        is_strange: it begins its discussion, and what it shares was not sent by another; None: it begins none, or the
            first that is known of, or one for a task.
        is_round: it goes on with a turn, after results of tools.
        offered: tools of servers that it offers, None where it offers no tools.
    """

    discussion_id: str
    scope: LedgerScope
    prices: CachePrices
    decision: Decision
    started_at: datetime
    mode: str = ""
    has_begun: bool = False
    off: float = 1.0
    is_abandoned: bool = False
    is_strange: bool | None = None
    is_round: bool = False
    offered: tuple[ToolSchema, ...] | None = None


class BookPage(msgspec.Struct, frozen=True):
    """Page of one discussion in the book.

    Args:
        cache: what `cache.json` holds; replayed: the view as the log tells it.
        idle: what the last call left alive; last_call: that call, for pings.
        warming: a prewarming that was not answered yet.
        is_task: its last turn is a task that another discussion gave: nobody comes back to it.
    """

    cache: DiscussionCache = msgspec.field(default_factory=DiscussionCache)
    replayed: Replayed = msgspec.field(default_factory=Replayed)
    idle: tuple[Idle, ...] = ()
    last_call: BookedCall | None = None
    warming: BookedCall | None = None
    is_task: bool = False


class CacheBook(msgspec.Struct, frozen=True):
    """All that decides money, beside prices and settings. Each step gives a new book; nothing in it is changed.

    Args:
        ledger: of all discussions; habits: the person's.
        calls: under way, by id; pages: by discussion; totals: of this run, by provider.
        shared: layers 6 and 7a as they were sent last, by mode.
        turns: that were answered; changed: those of them that found layers 6 or 7 changed.
        answered: providers and models that were seen to answer.
        intervals: seconds to the next turn of autonomous discussions, which follow their own clock.
        order: counts the changes of pages; of two books the higher is the later.
        settled: contents whose rent was booked to its end in this run, with that end; gone: those that were deleted.
    """

    ledger: CacheLedger = msgspec.field(default_factory=CacheLedger)
    habits: Habits = msgspec.field(default_factory=Habits)
    calls: Mapping[str, BookedCall] = msgspec.field(default_factory=dict)
    pages: Mapping[str, BookPage] = msgspec.field(default_factory=dict)
    totals: Mapping[str, ProviderTotals] = msgspec.field(default_factory=dict)
    shared: Mapping[str, SharedBase] = msgspec.field(default_factory=dict)
    turns: int = 0
    changed: int = 0
    answered: frozenset[tuple[str, str]] = frozenset()
    intervals: Mapping[str, float] = msgspec.field(default_factory=dict)
    settled: Mapping[str, datetime] = msgspec.field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    order: int = 0

    @property
    def edits(self) -> float:
        """Share of the turns that found layers 6 or 7 changed, 0 to 1."""
        return self.changed / max(self.turns, self.changed, 1)


def with_offered(book: CacheBook, discussion_id: str, offered: tuple[ToolSchema, ...] | None) -> CacheBook:
    """Replace what is known of the tools that a discussion's last request offered."""
    page = book.pages[discussion_id]
    return with_page(book, discussion_id, replace(page, cache=replace(page.cache, offered=offered)))


def with_page(book: CacheBook, discussion_id: str, page: BookPage) -> CacheBook:
    """The book with a discussion's page in place of the one before."""
    return replace(book, pages={**book.pages, discussion_id: page}, order=book.order + 1)


def learned(
    book: CacheBook, habits: Habits, ledger: CacheLedger, answered: frozenset[tuple[str, str]] = frozenset()
) -> CacheBook:
    """Take up what was learned of the person and the models, once, before the first discussion is opened."""
    return replace(
        book, habits=habits, ledger=merge((book.ledger, ledger)), answered=book.answered | answered
    )


def opened(book: CacheBook, discussion_id: str, cache: DiscussionCache, replayed: Replayed) -> CacheBook:
    """Take up what was kept of a discussion: its part of the ledger, its gaps, its view; in place of what was known
    before, where another program went on with it.
    """
    habits = book.habits
    if (page := book.pages.get(discussion_id)) is not None:
        told = {row.record_id for row in cache.owed}
        owed = (*cache.owed, *(row for row in page.cache.owed if row.record_id not in told))
        cache = replace(cache, owed=owed)
        if page.cache.epoch == cache.epoch:
            cache = replace(cache, ledger=renewed(cache.ledger, book.ledger))
        turns, known = max(0, book.turns - page.cache.turns), min(page.cache.turns, page.cache.changed)
        book = replace(book, turns=turns, changed=max(0, book.changed - known))
    if not cache.in_habits:
        for gap in cache.gaps:
            habits = replace(habits, own=with_gap(habits.own, gap.seconds, gap.ended_s))
        cache = replace(cache, in_habits=True)
    if discussion_id not in habits.talks and cache.turns and cache.last_turn_at is not None:
        talk = Talk(cache.turns, cache.last_turn_at.timestamp())
        habits = replace(habits, talks={**habits.talks, discussion_id: talk})
    book = replace(book, ledger=merge((book.ledger, cache.ledger)), habits=habits)
    turns = cache.turns
    book = replace(book, turns=book.turns + turns, changed=book.changed + min(turns, cache.changed))
    if replayed.view is not None and cache.last_turn_at is not None:
        book = with_shared(book, cache.mode, shared_base(replayed.view, cache.last_turn_at))
    rents = tuple(
        row for row in cache.rents if row.name not in book.settled
    )  # the file was in the trash meanwhile
    cache = replace(cache, ledger=of_discussion(cache.ledger, discussion_id), rents=rents)
    return with_page(book, discussion_id, BookPage(cache=cache, replayed=replayed))


def kept_beside(book: CacheBook, discussion_id: str, there: DiscussionCache) -> CacheBook:
    """Take up what another program kept of a discussion while a turn of ours ran there: the turn stands, and of theirs what
    is stored or owed for money, a lifetime that they renewed, and an invalidation.
    """
    page = book.pages[discussion_id]
    cache = page.cache
    if there.epoch == cache.epoch:
        book = replace(book, ledger=renewed(book.ledger, there.ledger))
    told, gone = {row.record_id for row in cache.owed}, book.gone.union(book.settled)
    theirs = {row.name: row for row in there.rents if row.name not in gone}
    rents = {row.name: _paid_by_either(row, theirs.get(row.name, row)) for row in cache.rents}
    cache = replace(
        cache,
        owed=(*cache.owed, *(row for row in there.owed if row.record_id not in told)),
        ledger=of_discussion(book.ledger, discussion_id),
        rents=tuple({**theirs, **rents}.values()),
        epoch=max(cache.epoch, there.epoch),
    )
    return with_page(book, discussion_id, replace(page, cache=cache))


def _paid_by_either(row: StoredRent, other: StoredRent) -> StoredRent:
    """A content's row with the rent that either program has booked, and with the later end."""
    paid, ends = max(row.paid_until, other.paid_until), max(row.expires_at, other.expires_at)
    return replace(row, paid_until=paid, expires_at=ends)


def with_shared(book: CacheBook, mode: str, base: SharedBase | None) -> CacheBook:
    """Note what a discussion of a mode sent of layers 6 and 7a, if that is the newest."""
    known = book.shared.get(mode)
    if not mode or base is None or (known is not None and known.at > base.at):
        return book
    return replace(book, shared={**book.shared, mode: base})


def started(book: CacheBook, *, is_strange: bool) -> CacheBook:
    """Learn of a new discussion whether the shared prefix of another would have been of use to it."""
    starts, strange = book.habits.starts + 1, book.habits.strange + is_strange
    if starts > KEPT_TALKS:
        starts, strange = starts // 2, strange // 2
    return replace(book, habits=replace(book.habits, starts=starts, strange=strange))


def paced(book: CacheBook, discussion_id: str, interval_s: float | None) -> CacheBook:
    """Count on a discussion's next turn after so many seconds; None: on the person's gaps again."""
    intervals = {name: one for name, one in book.intervals.items() if name != discussion_id}
    return replace(
        book, intervals=intervals if interval_s is None else {**intervals, discussion_id: interval_s}
    )


def gaps_of(book: CacheBook, discussion_id: str) -> GapStats:
    """Gaps that tell when the next turn of a discussion comes."""
    interval_s = book.intervals.get(discussion_id)
    if interval_s is not None:
        return GapStats(own=(TurnGap(interval_s + OWN_TURN_S),) * KEPT_GAPS, turns=KEPT_GAPS)
    page = book.pages.get(discussion_id)
    if page is not None and page.is_task:
        return _NEVER
    cache = page.cache if page is not None else DiscussionCache()
    return stats_of(book.habits, discussion_id, cache.gaps, max(1, cache.turns))


def turn_begun(book: CacheBook, discussion_id: str, now: datetime, *, is_task: bool = False) -> CacheBook:
    """Learn the gap before a turn; of an autonomous discussion's own pace nothing is learned of the person.

    Args:
        is_task: it answers a task that another discussion gave: no turn of the person's, and none follows it.
    """
    page, now_s = replace(book.pages[discussion_id], is_task=is_task), now.timestamp()
    cache = page.cache
    if is_task:
        return with_page(book, discussion_id, replace(page, cache=replace(cache, last_turn_at=now)))
    if discussion_id in book.intervals:
        cache = replace(cache, last_turn_at=now, turns=cache.turns + 1)
        return with_page(book, discussion_id, replace(page, cache=cache))
    own = None
    if cache.turns and cache.last_turn_at is not None:
        own = (now - cache.last_turn_at).total_seconds()
    habits = observed(book.habits, discussion_id, cache.turns + 1, own, now_s)
    cache = replace(cache, gaps=with_gap(cache.gaps, own, now_s), last_turn_at=now, turns=cache.turns + 1)
    return with_page(replace(book, habits=habits), discussion_id, replace(page, cache=cache))


def prewarming(book: CacheBook, call: BookedCall) -> CacheBook:
    """A prefix is about to be read ahead. It may be given up: nothing is counted on before it is answered."""
    return with_page(book, call.discussion_id, replace(book.pages[call.discussion_id], warming=call))


def prewarmed(book: CacheBook, discussion_id: str) -> CacheBook:
    """The prefix was read: what that wrote is held, and its layer 7 is now what the provider knows."""
    page = book.pages[discussion_id]
    call = page.warming
    if call is None:
        return book
    ledger = record(book.ledger, call.scope, call.decision.plan, call.started_at, discussion_id)
    book = with_shared(
        replace(book, ledger=ledger), call.mode, shared_base(call.decision.view, call.started_at)
    )
    cache = replace(
        page.cache, sent=sent_by(book, call, call.started_at), ledger=of_discussion(ledger, discussion_id)
    )
    return with_page(book, discussion_id, replace(page, cache=cache, warming=None))


def forgotten(book: CacheBook, discussion_id: str, now: datetime) -> CacheBook:
    """Invalidate: nothing of the discussion is believed to be cached any more."""
    page = book.pages[discussion_id]
    book = replace(book, ledger=forget_discussion(book.ledger, discussion_id))
    return with_page(book, discussion_id, replace(page, cache=invalidated(page.cache, now), idle=()))


def sent_by(book: CacheBook, call: BookedCall, now: datetime, reply_tokens: int = 0) -> SentKnowledge:
    """Layers 6 and 7 as a call sent them, and what of its cache others would leave."""
    live, decision = live_entries(book.ledger, call.scope, now), call.decision
    sent = sent_knowledge(decision.wire, decision.view, live, call.scope)
    return replace(sent, superseded_tokens=decision.plan.superseded_tokens, reply_tokens=reply_tokens)


def turn_answered(
    book: CacheBook, discussion_id: str, sent: SentKnowledge, *, is_round: bool
) -> tuple[CacheBook, int]:
    """Learn whether a turn found layers 6 or 7 changed; its rounds, which repeat them, count as no turns.

    Returns:
        The book, and how many turns of the discussion did.
    """
    cache = book.pages[discussion_id].cache
    before = cache.sent
    is_changed = (
        before is not None
        and before.documents is not None
        and (set(before.parts), set(before.documents)) != (set(sent.parts), set(sent.documents or ()))
    )
    changed = min(cache.changed + is_changed, KEPT_GAPS)
    turns = book.turns + (not is_round)
    return replace(book, turns=turns, changed=book.changed + is_changed), changed


def withdrawn(
    book: CacheBook, withdrawals: int, deleted: Collection[str] = (), *, is_on: bool
) -> tuple[CacheBook, tuple[str, ...]]:
    """After something was deleted, keep no prefix warm that may contain it.

    Args:
        withdrawals, is_on: as of `holds_withdrawn`; deleted: discussions that hold something else that went.

    Returns:
        Discussions whose last request may have sent it.
    """
    found = tuple(
        name
        for name, page in book.pages.items()
        if name in deleted
        or (page.cache.sent is not None and holds_withdrawn(page.cache.sent, withdrawals, is_on=is_on))
    )
    for name in found:
        book = with_page(book, name, replace(book.pages[name], idle=(), last_call=None))
    return book, found
