"""Turns of a day over the program's own book of caches: planned, and let go with the view that they send."""

from __future__ import annotations

from collections.abc import Container

from msgspec.structs import replace

from core.kernel.values.cache import CachePrices, CacheSettings, DiscussionCache, LedgerScope
from core.kernel.values.usage import Usage
from core.services.providers.blocks import CountTokens
from core.talk.caching import cache_book as books
from core.talk.caching import planned_calls
from core.talk.caching.cache_book import BookedCall, CacheBook
from core.talk.caching.decision import DecideMemo, Market, PlannedTurn
from core.talk.caching.economy import ping_window_s
from core.talk.caching.view import Replayed
from tests.bench.cache_days import Ask
from tests.vendors.billing.clock import moment


def turn_opened(book: CacheBook, ask: Ask) -> CacheBook:
    """The book with the discussion of a request on it, its turn begun where the request is the first of one."""
    if ask.discussion not in book.pages:
        book = books.opened(book, ask.discussion, DiscussionCache(), Replayed())
    return books.turn_begun(book, ask.discussion, moment(ask.at_s)) if ask.is_turn else book


def market_for(
    book: CacheBook, ask: Ask, prices: CachePrices, settings: CacheSettings, count: CountTokens
) -> Market:
    """Everything that a request is planned against when it is asked."""
    scope, gaps = LedgerScope(prices.provider, "key", prices.model), books.gaps_of(book, ask.discussion)
    return Market(scope, prices, book.ledger, gaps, settings, moment(ask.at_s), count)


def turn_planned(book: CacheBook, ask: Ask, market: Market, memos: dict[str, DecideMemo]) -> BookedCall:
    """The call of a request."""
    turn = PlannedTurn(ask.stack, ask.message_id, discussion_id=ask.discussion, next_round=ask.next_round)
    return planned_calls.plan_call(book, turn, market, memos.setdefault(ask.discussion, DecideMemo()))


def turn_let_go(book: CacheBook, call_id: str, call: BookedCall) -> CacheBook:
    """The book with a call under way, and the view that it sends on its page."""
    book, _ = planned_calls.admitted(book, call_id, call, None)
    page = book.pages[call.discussion_id]
    return books.with_page(book, call.discussion_id, replace(page, replayed=Replayed(call.decision.view)))


def next_look(
    book: CacheBook, looked: Container[tuple[str, float]], end_s: float
) -> tuple[float, str] | None:
    """Moment and discussion of the next look at what a ping could keep: shortly before it dies. One clock for all days.

    Args:
        looked: looks that were made; end_s: none is later.
    """
    due = (
        (at_s, name)
        for name, page in book.pages.items()
        for idle in page.idle
        for at_s in (idle.used_at.timestamp() + ping_window_s(idle.ttl_s),)
        if at_s < end_s and (name, at_s) not in looked
    )
    return min(due, default=None)


AFTER_S = 24 * 3_600.0
"""A day is played for so long after its last turn: pings go on, and what is stored comes to its end."""


def no_price(_provider: str, _model: str, _usage: Usage) -> float | None:
    """No price: the engine bills, not the program."""
    return None
