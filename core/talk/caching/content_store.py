"""Stored prefixes at providers, over the book: found after a start, held while it pays, let go, gone, and booked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedgerEntry,
    CachePrices,
    CacheSettings,
    DiscussionCacheState,
    LedgerScope,
    OwedRent,
    StoredRent,
)
from core.kernel.values.provider import ContentsReport, StoredContent
from core.kernel.values.state import ProviderTotals
from core.kernel.values.usage import Usage, add_usage
from core.talk.caching.accounts import adopted, after_rent, released, total_allowed
from core.talk.caching.cache_book import CacheBook, gaps_of, with_page
from core.talk.caching.cache_ledger import adopt, drop_named, extended, of_discussion
from core.talk.caching.contents import (
    Prices,
    RentDue,
    found_gone,
    hold_of,
    longer_s,
    rent_share,
    settled,
    with_content,
    without,
)
from core.talk.caching.contents import ending as rent_ending
from core.talk.caching.economy import own_odds
from core.talk.caching.offers import scope_settings

ASK_AGAIN = timedelta(seconds=30)
"""A provider that neither lengthened a lifetime nor ended it is asked again so much later."""

Changed = tuple[tuple[str, DiscussionCacheState | None], ...]
"""Discussions whose page changed, with the state of each, in the order of the changes."""


class Unneeded(msgspec.Struct, frozen=True):
    """Stored prefixes of a discussion that are not worth their rent."""

    discussion_id: str
    provider: str
    names: frozenset[str]


class Extension(msgspec.Struct, frozen=True):
    """A stored prefix that is worth holding for longer than it lives: `ttl_s` seconds from now."""

    discussion_id: str
    provider: str
    name: str
    ttl_s: int


class Gone(msgspec.Struct, frozen=True):
    """Consequences of stored prefixes that are gone. `due`: the rent that they ended with."""

    changed: Changed = ()
    due: tuple[RentDue, ...] = ()


class Tending(msgspec.Struct, frozen=True):
    """Work to be done on stored prefixes now. `changed`: whose rows or states did; `due`: rent that was booked."""

    extend: tuple[Extension, ...] = ()
    release: tuple[Unneeded, ...] = ()
    changed: Changed = ()
    due: tuple[RentDue, ...] = ()


def contents_found(
    book: CacheBook,
    provider: str,
    key_id: str,
    contents: Sequence[StoredContent],
    efforts: Mapping[str, str],
    prices: Prices,
    now: datetime,
) -> tuple[CacheBook, Gone]:
    """Count on what a provider was found to store, and on nothing else that it was believed to.

    Args:
        contents: those of discussions that exist and have a page; efforts: of all that exist, by id.
    """
    found = sorted(contents, key=lambda content: (content.expires_at, content.name))
    believed = {entry.name for scope, entry in _named(book) if scope.provider == provider}
    believed |= {row.name for _, row in _rows(book) if row.provider == provider}
    absent = believed - {content.name for content in found}
    book, gone = contents_gone(book, absent, prices, now, absent)
    book = replace(book, gone=book.gone.difference(content.name for content in found))
    changed = list(gone.changed)
    for name in {content.discussion_id: None for content in found}:
        own = [content for content in found if content.discussion_id == name]
        ledger, rents = book.ledger, book.pages[name].cache.rents
        for content in own:
            scope = LedgerScope(
                provider=provider, key_id=key_id, model=content.model, settings=scope_settings(efforts[name])
            )
            ledger = adopt(ledger, scope, content, name)
            rents = with_content(rents, provider, content)
        page = book.pages[name]
        state = adopted(page.cache.state, provider, own[-1])
        cache = replace(page.cache, state=state, ledger=of_discussion(ledger, name), rents=rents)
        book = with_page(replace(book, ledger=ledger), name, replace(page, cache=cache))
        changed.append((name, state))
    return book, Gone(tuple(changed), gone.due)


def reported(
    book: CacheBook,
    discussion_id: str,
    provider: str,
    report: ContentsReport,
    started_at: datetime,
    now: datetime,
) -> CacheBook:
    """A call said what became of its stored prefix: its rent begins, goes on, or has ended.

    Args:
        started_at: of the call. One that another discussion made goes on to be booked for that.
    """
    for name in {name for name, row in _rows(book) if row.name == report.lost_name}:
        book = _with_rents(book, name, found_gone(book.pages[name].cache.rents, {report.lost_name}, now))
    if report.stored is None or report.stored.name in book.gone:
        return book
    stored = report.stored
    tenant = next((name for name, row in _rows(book) if row.name == stored.name), discussion_id)
    since = stored.created_at if report.is_new else started_at
    since = max(since, book.settled.get(stored.name, since))
    rents = with_content(book.pages[tenant].cache.rents, provider, stored, started_at, since)
    return _with_rents(book, tenant, rents)


def freshest(book: CacheBook, report: ContentsReport) -> ContentsReport:
    """A call's report as things stand by now: a content may be extended or deleted while a call uses it."""
    stored = report.stored
    if stored is None:
        return report
    if stored.name in book.gone:
        return ContentsReport(text=report.text, lost_name=stored.name)
    ends = max([stored.expires_at, *(row.expires_at for _, row in _rows(book) if row.name == stored.name)])
    return replace(report, stored=replace(stored, expires_at=ends))


def contents_gone(
    book: CacheBook, names: Collection[str], prices: Prices, now: datetime, absent: Collection[str] = ()
) -> tuple[CacheBook, Gone]:
    """Forget stored prefixes that are gone, and book their rent up to its end.

    Args:
        absent: those of them that were found to be gone; the others were deleted now.
    """
    owners = {entry.discussion_id for _, entry in _named(book) if entry.name in names}
    tenants = {name for name, row in _rows(book) if row.name in names}
    book = replace(book, ledger=drop_named(book.ledger, names), gone=book.gone.union(names))
    changed: list[tuple[str, DiscussionCacheState | None]] = []
    due: list[RentDue] = []
    for name in sorted(owners | tenants):
        page = book.pages.get(name)
        if page is None:
            continue
        was = page.cache.state
        state = released(was, now) if was is not None and name in owners else was
        before = without(found_gone(page.cache.rents, absent, now), names, now)
        rents, rent = settled(name, before, prices, now)
        cache = replace(page.cache, state=state, ledger=of_discussion(book.ledger, name), rents=rents)
        book = _settled(with_page(book, name, replace(page, cache=cache)), before, rents)
        changed.append((name, state))
        due += rent
    return _paid(book, due), Gone(tuple(changed), tuple(due))


def content_extended(
    book: CacheBook, discussion_id: str, provider: str, content: StoredContent
) -> tuple[CacheBook, DiscussionCacheState | None]:
    """A stored prefix lives for longer."""
    book = replace(book, ledger=extended(book.ledger, content))
    for name, row in _rows(book):
        if row.name == content.name:
            book = _with_rents(book, name, with_content(book.pages[name].cache.rents, provider, content))
    page = book.pages[discussion_id]
    state = page.cache.state
    state = None if state is None else replace(state, expires_at=content.expires_at)
    cache = replace(page.cache, state=state, ledger=of_discussion(book.ledger, discussion_id))
    return with_page(book, discussion_id, replace(page, cache=cache)), state


def stored_names(book: CacheBook, discussion_id: str, provider: str) -> frozenset[str]:
    """Names of what a provider is believed to store of what this discussion used last."""
    owned = (entry for scope, entry in _named(book) if scope.provider == provider)
    return frozenset(entry.name for entry in owned if entry.discussion_id == discussion_id)


def overdue(
    book: CacheBook, discussion_id: str, prices: Prices, now: datetime
) -> tuple[CacheBook, tuple[RentDue, ...]]:
    """Book the rent of a discussion that is due: of what ended while no program ran, too."""
    page = book.pages[discussion_id]
    rents, due = settled(discussion_id, page.cache.rents, prices, now)
    if rents == page.cache.rents:
        return book, ()
    book = _settled(_with_rents(book, discussion_id, rents), page.cache.rents, rents)
    return _paid(book, due), due


def ending(
    book: CacheBook, names: Collection[str], now: datetime | None
) -> tuple[CacheBook, tuple[str, ...]]:
    """Deletions were asked for and not answered yet, or (None) were. Gives the discussions whose rent it is."""
    tenants = tuple({name: None for name, row in _rows(book) if row.name in names})
    for name in tenants:
        book = _with_rents(book, name, rent_ending(book.pages[name].cache.rents, names, now))
    return book, tenants


def owed(book: CacheBook, discussion_id: str) -> tuple[RentDue, ...]:
    """Rent that was settled and is not known to stand in a discussion's log."""
    rows = book.pages[discussion_id].cache.owed
    return tuple(
        RentDue(
            discussion_id=discussion_id,
            provider="",
            model="",
            cost_usd=row.cost_usd,
            input_usd=None,
            record_id=row.record_id,
            at=row.at,
            is_estimate=row.is_estimate,
        )
        for row in rows
    )


def without_owed(book: CacheBook, discussion_id: str, record_id: str) -> CacheBook:
    """A rent stands in the discussion's log."""
    page = book.pages.get(discussion_id)
    if page is None:
        return book
    left = tuple(row for row in page.cache.owed if row.record_id != record_id)
    return with_page(book, discussion_id, replace(page, cache=replace(page.cache, owed=left)))


def tended(
    book: CacheBook,
    discussion_ids: Collection[str],
    prices: Prices,
    settings: Callable[[CachePrices], CacheSettings],
    now: datetime,
    off: Collection[str] = (),
) -> tuple[CacheBook, Tending]:
    """Hold what is worth its rent, let go of the rest, and book the rent that is due.

    Nothing is decided of a discussion that is being answered.

    Args:
        discussion_ids: those that are looked at beside all with rent that is not booked to its end.
        prices: of a provider's model now; settings: the person's, for a model with these prices.
        off: discussions for which no more is to be spent.
    """
    extend: list[Extension] = []
    release: dict[tuple[str, str], set[str]] = {}
    due: list[RentDue] = []
    changed: list[tuple[str, DiscussionCacheState | None]] = []
    looked_at = {name for name, page in book.pages.items() if page.cache.rents}
    busy = {call.discussion_id for call in book.calls.values()}
    for name in sorted(looked_at.union(discussion_ids) - busy):
        before = book.pages[name].cache
        book, rent = overdue(book, name, prices, now)
        book = _expired(book, name, now)
        due += rent
        if book.pages[name].cache is not before:
            changed.append((name, book.pages[name].cache.state))
    for name, row in _rows(book):
        owner, wanted_s = _wanted(book, name, row, prices, settings, now, off)
        if not wanted_s or (row.asked_at is not None and now - row.asked_at < ASK_AGAIN):
            continue
        book = _asked(book, name, row, now)
        if wanted_s < 0:
            release.setdefault((owner, row.provider), set()).add(row.name)
        else:
            extend.append(
                Extension(discussion_id=owner, provider=row.provider, name=row.name, ttl_s=wanted_s)
            )
    unneeded = tuple(
        Unneeded(discussion_id=discussion_id, provider=provider, names=frozenset(names))
        for (discussion_id, provider), names in release.items()
    )
    return book, Tending(extend=tuple(extend), release=unneeded, changed=tuple(changed), due=tuple(due))


def _expired(book: CacheBook, discussion_id: str, now: datetime) -> CacheBook:
    """Nothing is held any more once the end that was known of has come."""
    page = book.pages[discussion_id]
    state = page.cache.state
    if state is None or not state.tokens_cached or state.expires_at is None or state.expires_at > now:
        return book
    cache = replace(page.cache, state=replace(state, tokens_cached=0))
    return with_page(book, discussion_id, replace(page, cache=cache))


def _wanted(
    book: CacheBook,
    tenant: str,
    row: StoredRent,
    prices: Prices,
    settings: Callable[[CachePrices], CacheSettings],
    now: datetime,
    off: Collection[str],
) -> tuple[str, int]:
    """Last user of a content, and for how many seconds more it is to be asked for; 0: as it is, -1: let go."""
    entry = next((entry for _, entry in _named(book) if entry.name == row.name), None)
    owner = tenant if entry is None else entry.discussion_id
    page, price = book.pages.get(owner), prices(row.provider, row.model)
    if any(call.discussion_id in {owner, tenant} for call in book.calls.values()) or now >= row.expires_at:
        return owner, 0
    chosen = settings(price)
    if entry is None or owner in off or not chosen.is_enabled:
        return owner, -1
    last = None if page is None else page.cache.last_turn_at
    if last is None or not price.storage_usd:
        return owner, 0
    call = None if page is None else page.last_call
    if call is not None and row.used_at is not None and row.used_at < call.started_at:
        # The last turn passed it by: what stands before it has changed, or another one holds more.
        return owner, -1
    if _is_spent(book, tenant, row, price, now):
        return owner, -1
    held = hold_of(price, own_odds(gaps_of(book, owner), last.timestamp()), chosen.longest_ttl_s)
    idle_s = max(0.0, (now - last).total_seconds())
    return owner, longer_s(row.expires_at, idle_s, now, held) if held.until_s(idle_s) > idle_s else -1


def _is_spent(book: CacheBook, tenant: str, row: StoredRent, price: CachePrices, now: datetime) -> bool:
    """True if with its rent until now a content has cost the discussion all that caching may lose on it."""
    unpaid_s = (now - row.paid_until).total_seconds()
    rent = row.tokens * rent_share(price, unpaid_s)
    return rent >= total_allowed(book.pages[tenant].cache.balance, row.tokens)


def _asked(book: CacheBook, tenant: str, row: StoredRent, now: datetime) -> CacheBook:
    rents = book.pages[tenant].cache.rents
    asked = tuple(replace(one, asked_at=now) if one.name == row.name else one for one in rents)
    return _with_rents(book, tenant, asked)


def _with_rents(book: CacheBook, discussion_id: str, rents: tuple[StoredRent, ...]) -> CacheBook:
    page = book.pages[discussion_id]
    return with_page(book, discussion_id, replace(page, cache=replace(page.cache, rents=rents)))


def _settled(book: CacheBook, before: Iterable[StoredRent], after: Iterable[StoredRent]) -> CacheBook:
    """Note to what end the rows were booked that are no more: a call that used one may be accounted for later."""
    left = {row.name for row in after}
    ends = {row.name: max(row.paid_until, row.expires_at) for row in before if row.name not in left}
    return replace(book, settled={**book.settled, **ends}) if ends else book


def _paid(book: CacheBook, due: Sequence[RentDue]) -> CacheBook:
    """The totals and balances with rent that was booked: it was paid, and takes from what caching saved."""
    totals = dict(book.totals)
    for rent in due:
        page = book.pages[rent.discussion_id]
        balance = after_rent(page.cache.balance, rent.cost_usd, rent.input_usd)
        cache = replace(page.cache, balance=balance)
        if rent.cost_usd is not None and rent.at is not None:
            owed = OwedRent(
                record_id=rent.record_id, at=rent.at, cost_usd=rent.cost_usd, is_estimate=rent.is_estimate
            )
            cache = replace(cache, owed=(*cache.owed, owed))
        book = with_page(book, rent.discussion_id, replace(page, cache=cache))
        known = totals.get(rent.provider, ProviderTotals(provider=rent.provider, saved_usd=0.0))
        saved, cost = known.saved_usd, rent.cost_usd
        totals[rent.provider] = replace(
            known,
            usage=add_usage(known.usage, Usage(cost_usd=cost, is_estimate=rent.is_estimate)),
            saved_usd=None if saved is None or cost is None else saved - cost,
            booked=known.booked + 1,
        )
    return replace(book, totals=totals) if due else book


def _rows(book: CacheBook) -> tuple[tuple[str, StoredRent], ...]:
    """Rows of what is stored for rent, each with the discussion that it is booked for."""
    return tuple((name, row) for name, page in book.pages.items() for row in page.cache.rents)


def _named(book: CacheBook) -> tuple[tuple[LedgerScope, CacheLedgerEntry], ...]:
    """Entries that a provider stores under a name."""
    scopes = book.ledger.entries.items()
    return tuple((scope, entry) for scope, found in scopes for entry in found.values() if entry.name)
