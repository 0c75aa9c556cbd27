"""Pings over the book: which prefixes are due to be read only to keep them, and what an answer to one changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from core.kernel.tokens import scaled
from core.kernel.values.cache import (
    CacheLedgerEntry,
    CachePrices,
    CacheSettings,
    DiscussionCacheState,
    ExtensionEvidence,
    GapStats,
)
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.state import ProviderTotals
from core.kernel.values.usage import Usage, UsageKind
from core.services.spending.estimates import booked
from core.talk.caching.accounts import after_upkeep, total_allowed
from core.talk.caching.cache_book import BookedCall, BookPage, CacheBook, gaps_of, with_page
from core.talk.caching.cache_ledger import (
    CacheHit,
    is_live,
    of_discussion,
    rests_on_extension,
    with_extension,
)
from core.talk.caching.keepalive import (
    Idle,
    after_ping,
    best_idle,
    lifted,
    ping_marks,
    ping_request,
    ping_tokens,
)
from core.talk.caching.planned_calls import Cost, added


class Ping(msgspec.Struct, frozen=True):
    """A prefix that is worth reading again only to keep it. `request` ends behind it; `started_at`: when it is sent."""

    discussion_id: str
    provider: str
    request: ProviderRequest
    idle: Idle
    call: BookedCall
    started_at: datetime


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


def ping_usd(ping: Ping) -> float:
    """Expected cost of a ping, 0 where the price is not known."""
    return ping_tokens(ping.idle, ping.call.prices) * (ping.call.prices.input_usd or 0.0)


class Upkept(msgspec.Struct, frozen=True):
    """Outcome of a ping or a prewarm.

    Args:
        usage: as it is booked, with its cost; None where nothing is billed.
        totals: of the provider; state: of the discussion's cache; None where nothing is new.
    """

    usage: Usage | None = None
    totals: ProviderTotals | None = None
    state: DiscussionCacheState | None = None


def stopped(book: CacheBook, discussion_ids: Collection[str]) -> CacheBook:
    """No more pings of these discussions until their next turn; what they have under way leaves nothing to keep."""
    calls = {
        name: replace(call, is_abandoned=True) if call.discussion_id in discussion_ids else call
        for name, call in book.calls.items()
    }
    book = replace(book, calls=calls)
    for name in discussion_ids:
        if name in book.pages:
            book = with_page(book, name, replace(book.pages[name], idle=()))
    return book


def pinged(
    book: CacheBook,
    ping: Ping,
    usage: Usage | None,
    cost: Cost,
    *,
    has_failed: bool = False,
    is_cut: bool = False,
) -> tuple[CacheBook, Upkept]:
    """A ping is over: renew what it read, or stop after a miss. One that was refused, or could not be noted and did
    not leave, is tried once more.

    Where a newer turn ended meanwhile, the discussion is as that turn left it: of the ping only its entry counts, and
    what it cost.

    Args:
        usage: as reported; None where it was not made, or refused; has_failed: it got no answer;
            is_cut: we broke it off before it could say.
    """
    read = 0 if has_failed or usage is None else usage.cache_read_tokens
    name, at = ping.discussion_id, ping.started_at
    page = book.pages[name]
    if page.last_call is ping.call and ping.idle in page.idle:
        if usage is None and not ping.idle.is_retried:
            tried = replace(ping.idle, is_retried=True)
            idle = tuple(tried if one == ping.idle else one for one in page.idle)
        else:
            idle = (after_ping(ping.idle, ping.call.prices, read, at),)
        page = replace(page, idle=idle)
        book = with_page(book, name, page)
    if usage is None:
        return book, Upkept()
    if not has_failed:
        book = _with_entry(book, ping, usage)
    read_tokens, tokens = (scaled(idle.tokens, ping.call.off) for idle in (ping.idle, lifted(ping.idle)))
    more = tokens - read_tokens
    whole = Usage(
        input_tokens=tokens,
        output_tokens=0,
        cache_read_tokens=read_tokens,
        cache_write_tokens=more,
        cache_write_1h_tokens=more,
    )
    is_whole = not (has_failed or is_cut)
    book, paid = upkeep(
        book, name, ping.call.prices, usage, whole, cost, UsageKind.KEEPALIVE, is_whole=is_whole
    )
    return book, replace(paid, state=book.pages[name].cache.state)


def upkeep(
    book: CacheBook,
    discussion_id: str,
    prices: CachePrices,
    reported: Usage,
    expected: Usage,
    cost: Cost,
    kind: UsageKind,
    *,
    is_whole: bool = True,
) -> tuple[CacheBook, Upkept]:
    """Book what a ping or a prewarm cost, at its estimate where the provider did not say, and take it from the balance."""
    provider, model = prices.provider, prices.model
    page = book.pages.get(discussion_id)
    if page is not None:
        cache = replace(page.cache, balance=after_upkeep(page.cache.balance, reported, prices))
        book = with_page(book, discussion_id, replace(page, cache=cache))
    usage = booked(reported, expected, 0, lambda used: cost(provider, model, used), is_whole=is_whole)
    book, totals = added(book, provider, model, usage, cost, kind=kind)
    return book, Upkept(usage=usage, totals=totals)


def may_prewarm(book: CacheBook, call: BookedCall) -> bool:
    """True if a prewarm stays within the sum that caching may lose on its discussion."""
    prices, plan = call.prices, call.decision.plan
    longest = max((write.ttl_s for write in plan.writes), default=0)
    cost = plan.read_tokens * prices.read + plan.write_tokens * prices.write_at(longest)
    balance = book.pages[call.discussion_id].cache.balance
    return prices.input_usd == 0.0 or cost <= total_allowed(balance, call.decision.wire.total_tokens)


def _with_entry(book: CacheBook, ping: Ping, usage: Usage) -> CacheBook:
    """Add what was read, or written anew: it lives from the ping's start, unless a later request has renewed
    it.
    """
    idle, scope, name = ping.idle, ping.call.scope, ping.discussion_id
    entries = dict(book.ledger.entries.get(scope, {}))
    known = entries.get(idle.prefix_hash)
    after = lifted(idle)
    is_held = usage.cache_read_tokens != 0 or bool(usage.cache_write_tokens)
    page = book.pages[name]
    if known is None and not page.idle:
        return book  # invalidated meanwhile
    if not is_held:
        entries.pop(idle.prefix_hash, None)
    else:
        entry = known or CacheLedgerEntry(
            prefix_hash=idle.prefix_hash,
            tokens=idle.tokens,
            ttl_s=idle.ttl_s,
            expires_at=ping.started_at,
            discussion_id=name,
        )
        until = ping.started_at + timedelta(seconds=entry.ttl_s)
        entries[idle.prefix_hash] = replace(entry, expires_at=max(entry.expires_at, until))
        entries |= {front.prefix_hash: front for front in _fronts(ping, entries)}
        if idle.lift is not None:
            until = ping.started_at + timedelta(seconds=after.ttl_s)
            entries[after.prefix_hash] = CacheLedgerEntry(
                prefix_hash=after.prefix_hash,
                tokens=after.tokens,
                ttl_s=after.ttl_s,
                expires_at=until,
                discussion_id=name,
                is_extended=True,
                front_s=idle.ttl_s,
            )
    ledger = replace(book.ledger, entries={**book.ledger.entries, scope: entries})
    if known is not None and (seen := _evidence(ping, known, usage)) is not None:
        ledger = with_extension(ledger, seen)
    state = page.cache.state
    if state is not None and state.expires_at is not None and is_held and page.last_call is ping.call:
        state = _renewed(state, after, scaled(after.tokens, ping.call.off), ping.started_at)
    cache = replace(page.cache, state=state, ledger=of_discussion(ledger, name))
    return with_page(replace(book, ledger=ledger), name, replace(page, cache=cache))


def _fronts(ping: Ping, entries: Mapping[str, CacheLedgerEntry]) -> Iterator[CacheLedgerEntry]:
    """Entries before the one that was kept that bear a mark of the ping, as it leaves them: what discussions share is among them.

    One that was not held is written for nothing, which is no proof that it was.
    """
    idle, wire, at = ping.idle, ping.call.decision.wire, ping.started_at
    marks = () if ping.request.cache is None else ping.request.cache.marks
    keys = {mark.after_key for mark in marks}
    for block, prefix, tokens in zip(wire.blocks, wire.hashes, wire.ends, strict=True):
        if block.key not in keys or tokens >= idle.tokens:
            continue
        known = entries.get(prefix)
        if known is None or not is_live(known, at):
            known = CacheLedgerEntry(
                prefix_hash=prefix,
                tokens=tokens,
                ttl_s=idle.ttl_s,
                expires_at=at,
                discussion_id=ping.discussion_id,
                is_unsure=True,
            )
        until = max(known.expires_at, at + timedelta(seconds=known.ttl_s))
        yield replace(known, expires_at=until, discussion_id=ping.discussion_id)


def _evidence(ping: Ping, entry: CacheLedgerEntry, usage: Usage) -> ExtensionEvidence | None:
    """Evidence of whether an earlier mark for long kept what it stood behind; None where the ping tells nothing of it."""
    scope, writes, read = ping.call.scope, ping.call.prices.writes, usage.cache_read_tokens
    hit = CacheHit(
        index=0,
        tokens=entry.tokens,
        ttl_s=entry.ttl_s,
        prefix_hash=entry.prefix_hash,
        is_extended=entry.is_extended,
        expires_at=entry.expires_at,
    )
    if read is None or not writes or not rests_on_extension(hit, writes[0].ttl_s, ping.started_at):
        return None
    if read:
        return ExtensionEvidence(provider=scope.provider, model=scope.model, kept=1)
    return ExtensionEvidence(
        provider=scope.provider,
        model=scope.model,
        kept=0,
        lost=1,
        at=ping.started_at,
        discussion_id=ping.discussion_id,
        expected_tokens=ping.idle.tokens,
        read_tokens=read,
    )


def _renewed(
    state: DiscussionCacheState, idle: Idle, tokens: int, started_at: datetime
) -> DiscussionCacheState:
    """The state after a ping kept a part of it: the part that lives longer, or all.

    Args:
        tokens: of the part, in the provider's count.
    """
    until = started_at + timedelta(seconds=idle.ttl_s)
    is_long_part = abs(tokens - state.long_tokens) < abs(tokens - state.tokens_cached)
    if state.long_until is not None and is_long_part:
        return replace(state, long_until=max(state.long_until, until))
    return replace(state, expires_at=until if state.expires_at is None else max(state.expires_at, until))


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
    idle, decision = replace(best[0], balance=None), call.decision
    marks = ping_marks(decision.plan, idle, decision.request)
    request = replace(ping_request(decision.request, idle), cache=replace(decision.plan, marks=marks))
    return Ping(
        discussion_id=discussion_id,
        provider=call.scope.provider,
        request=request,
        idle=idle,
        call=call,
        started_at=now,
    )
