"""What providers store for rent, over the book: found after a start, gone when deleted, let go when it no longer pays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.caching.accounts import adopted, released
from core.caching.book import CacheBook, gaps_of, with_page
from core.caching.contents import is_worth_rent
from core.caching.gaps import own_odds
from core.caching.ledger import adopt, drop_named, is_live, of_discussion
from core.caching.parameters import scope_settings
from core.values.cache import CacheLedgerEntry, CachePrices, DiscussionCacheState, LedgerScope
from core.values.provider import StoredContent

Changed = tuple[tuple[str, DiscussionCacheState | None], ...]
"""Discussions whose page changed, with the state of each, in the order of the changes."""


class Unneeded(msgspec.Struct, frozen=True):
    """Stored prefixes of a discussion that are not worth their rent."""

    discussion_id: str
    provider: str
    names: frozenset[str]


def contents_found(
    book: CacheBook,
    provider: str,
    key_id: str,
    contents: Sequence[StoredContent],
    efforts: Mapping[str, str],
    now: datetime,
) -> tuple[CacheBook, Changed]:
    """Count on what a provider was found to store, and on nothing else that it was believed to.

    Args:
        contents: those of discussions that exist and have a page; efforts: of all that exist, by id.
    """
    found = sorted(contents, key=lambda content: (content.expires_at, content.name))
    believed = {entry.name for scope, entry in _named(book) if scope.provider == provider}
    book, gone = contents_gone(book, believed - {content.name for content in found}, now)
    changed = list(gone)
    for name in {content.discussion_id: None for content in found}:
        own = [content for content in found if content.discussion_id == name]
        ledger = book.ledger
        for content in own:
            scope = LedgerScope(provider, key_id, content.model, scope_settings(efforts[name]))
            ledger = adopt(ledger, scope, content, name)
        page = book.pages[name]
        state = adopted(page.cache.state, provider, own[-1])
        cache = replace(page.cache, state=state, ledger=of_discussion(ledger, name))
        book = with_page(replace(book, ledger=ledger), name, replace(page, cache=cache))
        changed.append((name, state))
    return book, tuple(changed)


def contents_gone(book: CacheBook, names: Collection[str], now: datetime) -> tuple[CacheBook, Changed]:
    """Stored prefixes are gone: believe in them no more."""
    owners = sorted({entry.discussion_id for _, entry in _named(book) if entry.name in names})
    book = replace(book, ledger=drop_named(book.ledger, names))
    changed = []
    for name in owners:
        page = book.pages.get(name)
        if page is None:
            continue
        state = None if page.cache.state is None else released(page.cache.state, now)
        cache = replace(page.cache, state=state, ledger=of_discussion(book.ledger, name))
        book = with_page(book, name, replace(page, cache=cache))
        changed.append((name, state))
    return book, tuple(changed)


def stored_names(book: CacheBook, discussion_id: str, provider: str) -> frozenset[str]:
    """What a provider is believed to store of what this discussion used last."""
    owned = (entry for scope, entry in _named(book) if scope.provider == provider)
    return frozenset(entry.name for entry in owned if entry.discussion_id == discussion_id)


def unneeded(
    book: CacheBook, prices: Callable[[str, str], CachePrices], now: datetime
) -> tuple[Unneeded, ...]:
    """What nobody is likely to come back to while it is stored. Never of a discussion that is being answered.

    Args:
        prices: of a provider's model now.
    """
    busy = {call.discussion_id for call in book.calls.values()}
    found: dict[tuple[str, str], set[str]] = {}
    for scope, entry in _named(book):
        if entry.discussion_id not in busy and not _pays(
            book, entry, prices(scope.provider, scope.model), now
        ):
            found.setdefault((entry.discussion_id, scope.provider), set()).add(entry.name)
    return tuple(Unneeded(*owner, frozenset(names)) for owner, names in found.items())


def _pays(book: CacheBook, entry: CacheLedgerEntry, prices: CachePrices, now: datetime) -> bool:
    """Whether a stored prefix is worth keeping: its rent is less than what another turn is expected to save."""
    if not is_live(entry, now) or not prices.storage_usd:
        return True
    page = book.pages.get(entry.discussion_id)
    last = None if page is None else page.cache.last_turn_at
    idle_s = (now - last).total_seconds() if last is not None else 0.0
    left_s = (entry.expires_at - now).total_seconds()
    last_s = last.timestamp() if last is not None else 0.0
    return is_worth_rent(
        entry.tokens, left_s, max(0.0, idle_s), prices, own_odds(gaps_of(book, entry.discussion_id), last_s)
    )


def _named(book: CacheBook) -> tuple[tuple[LedgerScope, CacheLedgerEntry], ...]:
    """Entries that a provider stores under a name."""
    scopes = book.ledger.entries.items()
    return tuple((scope, entry) for scope, found in scopes for entry in found.values() if entry.name)
