"""What is known of each discussion's cache, in memory and kept on disk, and the ledger of them all, under one lock."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from core import paths
from core.cache.decide import DecideMemo, Decision
from core.cache.gaps import observe
from core.cache.keepalive import Idle
from core.cache.ledger import merge
from core.cache.replay import Replayed, replay
from core.errors import SlopError
from core.store import log as store_log
from core.store.cache_state import load_cache, save_cache
from core.values.cache import CachePrices, DiscussionCache, GapStats, Ledger, LedgerScope, SentKnowledge
from core.values.records import Record

log = logging.getLogger(__name__)


class CacheStore(Protocol):
    """Where it is kept. `HomeCacheStore` is the real one."""

    def load(self, discussion_id: str) -> DiscussionCache:
        """What was kept; nothing where there is none or it cannot be read."""
        ...

    def save(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Keep it. Raises StorageError."""
        ...

    def records(self, discussion_id: str) -> tuple[Record, ...]:
        """The discussion's log. Raises StorageError."""
        ...


class HomeCacheStore:
    """`cache.json` and the log of each discussion of a home."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def load(self, discussion_id: str) -> DiscussionCache:
        """Never fails: what cannot be read costs one miss, and is logged."""
        loaded = load_cache(self._home, discussion_id)
        if loaded.problem:
            log.warning("%s (%s)", loaded.problem, discussion_id)
        return loaded.cache

    def save(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Replace `cache.json`; a discussion that is gone gets no folder anew. Raises StorageError."""
        if paths.discussion_dir(self._home, discussion_id).is_dir():
            save_cache(self._home, discussion_id, cache)

    def records(self, discussion_id: str) -> tuple[Record, ...]:
        """The whole log. Raises StorageError."""
        return tuple(store_log.read(self._home, discussion_id).records)


@dataclass(slots=True)
class Call:
    """A call that was planned."""

    discussion_id: str
    scope: LedgerScope
    prices: CachePrices
    decision: Decision
    started_at: datetime
    has_begun: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class Desk:
    """What is known of one discussion. Guarded by its lock."""

    cache: DiscussionCache
    replayed: Replayed
    lock: threading.RLock = field(default_factory=threading.RLock)
    memo: DecideMemo = field(default_factory=DecideMemo)
    miss_reason: str = ""
    idle: tuple[Idle, ...] = ()
    last_call: Call | None = None
    warming: SentKnowledge | None = None


class CacheDesks:
    """Thread-safe. Who takes a desk's lock and `lock` takes the desk's first.

    Attributes:
        lock: guards the rest; ledger: of all discussions; gaps: the person's; calls: under way, by id.
    """

    def __init__(self, store: CacheStore) -> None:
        self._store = store
        self._desks: dict[str, Desk] = {}
        self.lock = threading.RLock()
        self.ledger = Ledger()
        self.gaps = GapStats()
        self.calls: dict[str, Call] = {}

    def desk(self, discussion_id: str) -> Desk:
        """The desk of a discussion; the first time it is read from disk."""
        with self.lock:
            desk = self._desks.get(discussion_id)
            if desk is None:
                cache = self._store.load(discussion_id)
                self.ledger = merge((self.ledger, cache.ledger))
                for gap_s in cache.gaps_s:
                    self.gaps = observe(self.gaps, gap_s)
                desk = self._desks[discussion_id] = Desk(cache, self._replayed(discussion_id))
            return desk

    def opened(self) -> tuple[tuple[str, Desk], ...]:
        """The desks in use, by their discussion's id."""
        with self.lock:
            return tuple(self._desks.items())

    def peek(self, discussion_id: str) -> DiscussionCache:
        """What is known of a discussion's cache, without reading its log."""
        with self.lock:
            desk = self._desks.get(discussion_id)
            return self._store.load(discussion_id) if desk is None else desk.cache

    def keep(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Nothing is lost where it cannot be kept but what a next start would know."""
        try:
            self._store.save(discussion_id, cache)
        except SlopError as error:
            log.warning("cache state of %s was not kept: %s", discussion_id, error)

    def _replayed(self, discussion_id: str) -> Replayed:
        try:
            return replay(self._store.records(discussion_id))
        except SlopError as error:
            log.warning("the view of %s starts anew: %s", discussion_id, error)
            return Replayed()
