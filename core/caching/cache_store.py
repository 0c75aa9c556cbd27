"""Stores of a discussion's cache: its `cache.json`, and its log for the view."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from core.base import paths
from core.caching.cache_file import load_cache, save_cache
from core.caching.learned_file import Learned, load_learned, save_learned
from core.caching.ledger import merge
from core.discussion import log as store_log
from core.discussion.payments import is_booked
from core.values.cache import DiscussionCache
from core.values.records import ViewRecord

log = logging.getLogger(__name__)


class CacheStore(Protocol):
    """Store of the caches. `HomeCacheStore` is the real one."""

    def load(self, discussion_id: str) -> DiscussionCache:
        """Load what was kept; nothing where there is none or it cannot be read."""
        ...

    def mark(self, discussion_id: str) -> object:
        """Mark of what is kept, another one once anybody has kept something else."""
        ...

    def save(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Keep it. Raises StorageError."""
        ...

    def load_learned(self) -> Learned:
        """Load what was learned over all discussions; nothing where there is none or it cannot be read."""
        ...

    def save_learned(self, learned: Learned) -> None:
        """Keep it. Raises StorageError."""
        ...

    def views(self, discussion_id: str) -> tuple[ViewRecord, ...]:
        """The view records of the discussion's log, in order. Raises StorageError."""
        ...

    def is_booked(self, discussion_id: str, record_id: str) -> bool:
        """True if the log holds the record of a payment. Raises StorageError."""
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

    def mark(self, discussion_id: str) -> tuple[int, int, int] | None:
        """Time, size and inode of `cache.json`, None where there is none."""
        try:
            status = (paths.discussion_dir(self._home, discussion_id) / paths.CACHE_FILE).stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def save(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Replace `cache.json`; a discussion that is gone gets no folder anew. Raises StorageError."""
        if paths.discussion_dir(self._home, discussion_id).is_dir():
            save_cache(self._home, discussion_id, cache)

    def load_learned(self) -> Learned:
        """Never fails: what cannot be read is learned anew, and that is logged."""
        learned = load_learned(self._home)
        if learned.problem:
            log.warning("%s", learned.problem)
        return learned

    def save_learned(self, learned: Learned) -> None:
        """Replace `caching.json`; what another program learned of models meanwhile stays. Raises StorageError."""
        there = load_learned(self._home)
        both = merge((there.ledger, learned.ledger))
        answered = there.answered | learned.answered
        save_learned(self._home, replace(learned, extensions=both.extensions, answered=answered))

    def views(self, discussion_id: str) -> tuple[ViewRecord, ...]:
        """The view records of the log, in order. Raises StorageError."""
        return store_log.read_views(self._home, discussion_id)

    def is_booked(self, discussion_id: str, record_id: str) -> bool:
        """True if the log holds the record of a payment. O(bytes). Raises StorageError."""
        return is_booked(self._home, discussion_id, record_id)
