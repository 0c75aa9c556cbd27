"""The book of caches and what stands behind it: the lock, the pages read and written, what is stored for rent and booked."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.values.cache import (
    CachePrices,
    CacheSettings,
    DiscussionCache,
    DiscussionCacheState,
    ExtensionEvidence,
)
from core.kernel.values.provider import StoredContent
from core.kernel.values.settings import CachingSettings
from core.kernel.values.state import ProviderTotals
from core.talk.caching import cache_book as books
from core.talk.caching import content_store
from core.talk.caching.cache_book import CacheBook
from core.talk.caching.cache_file import CacheStore, Learned
from core.talk.caching.cache_ledger import lost_extensions
from core.talk.caching.content_store import ASK_AGAIN, Gone, Tending
from core.talk.caching.contents import RentDue
from core.talk.caching.offers import CacheSetup, settings_for
from core.talk.caching.plan_memo import DiscussionMemo
from core.talk.caching.view import Replayed, replay

T = TypeVar("T")

log = logging.getLogger(__name__)


class BookHolder:
    """Holds the book; of its decisions only those on what is stored for rent. The rules are `CacheKeeper`'s.

    Rent is in the books once its record stands in the discussion's log. Until then it is owed, in `cache.json`: what the
    disk refuses is told again after a while, what the program's end cuts off by the next start.
    """

    def __init__(self, store: CacheStore, setup: CacheSetup, clock: Callable[[], datetime]) -> None:
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
        self._told: dict[str, datetime | None] = {}

    def adopt(
        self, provider: str, contents: Sequence[StoredContent], efforts: Mapping[str, str]
    ) -> tuple[tuple[DiscussionCacheState, ...], tuple[RentDue, ...]]:
        """Count on what a provider was found to store for discussions that exist, and on nothing else.

        Gives the states that changed, and the rent that what is gone ended with. `efforts`: of all discussions, by id.
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
        """Stored prefixes are gone: believe in them no more. Returns the states that changed, and their last rent.

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
        """Order of the book as it stands."""
        return self._book.order

    def standing(self, discussion_id: str) -> tuple[DiscussionCacheState | None, int]:
        """State of a discussion's cache in the book as it stands, and the book's order; None where it has none."""
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
        with memo.lock:
            if discussion_id not in self._book.pages or self._is_foreign(discussion_id):
                page, was_away = self._book.pages.get(discussion_id), memo.mark is None
                memo.mark = self._store.mark(discussion_id)  # before it is read: a later one is seen as such
                cache, replayed = self._store.load(discussion_id), self._replayed(discussion_id)
                self._change(lambda book: books.opened(book, discussion_id, cache, replayed))
                if page is not None and was_away:
                    self._tell_anew(page.cache)
        return memo

    def _is_foreign(self, discussion_id: str) -> bool:
        """True if another program kept something of a discussion since, and no call of ours is to be booked there."""
        if any(call.discussion_id == discussion_id for call in self._book.calls.values()):
            return False
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

    def _keep(self, discussion_id: str) -> DiscussionCache:
        """Write what is held for a discussion as the book stands; give it back."""
        memo = self._memos[discussion_id] if discussion_id in self._book.pages else self._open(discussion_id)
        with memo.lock:
            cache = self._book.pages[discussion_id].cache
            try:
                self._store.save(discussion_id, cache)
                memo.mark = self._store.mark(discussion_id)
            except SlopError as error:
                log.warning("cache state of %s was not kept: %s", discussion_id, error)
            return cache

    def _kept(self, gone: Gone) -> tuple[tuple[DiscussionCacheState, ...], tuple[RentDue, ...]]:
        for discussion_id, _ in gone.changed:
            self._keep(discussion_id)
        return tuple(state for _, state in gone.changed if state is not None), self._telling(gone.due)

    def _prices(self, provider: str, model: str) -> CachePrices:
        return self._setup.prices(self._setup.kind(provider), provider, model, self._clock())
