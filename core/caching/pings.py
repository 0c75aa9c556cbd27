"""Pings over the book: which prefixes are due to be read only to keep them, and what an answer to one changes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.caching.accounts import after_ping_paid
from core.caching.book import BookedCall, BookPage, CacheBook, gaps_of, with_page
from core.caching.calls import Cost, added
from core.caching.keepalive import Idle, after_ping, best_idle, ping_marks, ping_request
from core.caching.ledger import record
from core.values.cache import CachePlan, CacheSettings, GapStats
from core.values.provider import ProviderRequest
from core.values.state import ProviderTotals
from core.values.usage import Usage


class Ping(msgspec.Struct, frozen=True):
    """A prefix that is worth reading again only to keep it. `request` ends behind it."""

    discussion_id: str
    provider: str
    request: ProviderRequest
    idle: Idle
    call: BookedCall


def due_pings(
    book: CacheBook,
    settings: Callable[[BookedCall], CacheSettings],
    now: datetime,
    off: Collection[str] = (),
) -> tuple[Ping, ...]:
    """The pings that are due, by the person's settings and gaps; none of the discussions in `off`.

    Args:
        settings: for a discussion whose last call this was.
    """
    pages = ((name, page) for name, page in book.pages.items() if name not in off)
    return tuple(
        ping
        for name, page in pages
        if (ping := _due(name, page, gaps_of(book, name), settings, now)) is not None
    )


def pinged(
    book: CacheBook, ping: Ping, usage: Usage | None, now: datetime, cost: Cost
) -> tuple[CacheBook, ProviderTotals | None]:
    """A ping was answered (None: it failed): renew what it read, or stop after a miss."""
    read = usage.cache_read_tokens if usage is not None else 0
    page = book.pages[ping.discussion_id]
    idle = after_ping(ping.idle, ping.call.prices, read, now)
    if usage is None:
        return with_page(book, ping.discussion_id, replace(page, idle=(idle,))), None
    paid = after_ping_paid(page.cache.balance, usage, ping.call.prices)
    cache = replace(page.cache, balance=paid)
    book = with_page(book, ping.discussion_id, replace(page, idle=(idle,), cache=cache))
    again = CachePlan(hit_hash=ping.idle.prefix_hash, read_tokens=ping.idle.tokens)
    ledger = record(book.ledger, ping.call.scope, again, now, ping.discussion_id)
    return added(replace(book, ledger=ledger), ping.provider, ping.call.scope.model, usage, cost)


def _due(
    discussion_id: str,
    page: BookPage,
    gaps: GapStats,
    settings: Callable[[BookedCall], CacheSettings],
    now: datetime,
) -> Ping | None:
    call = page.last_call
    if call is None or not page.idle:
        return None
    idles = tuple(replace(idle, balance=page.cache.balance) for idle in page.idle)
    best = best_idle(idles, call.prices, gaps, settings(call), now)
    if best is None or best[1].ping_at is None or best[1].ping_at > now:
        return None
    idle, decision = best[0], call.decision
    marks = ping_marks(decision.plan, idle, decision.request)
    request = replace(ping_request(decision.request, idle), cache=replace(decision.plan, marks=marks))
    return Ping(discussion_id, call.scope.provider, request, idle, call)
