"""The list of discussions, the trash and search, on one thread, from the derived index."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from core import paths
from core.store import trash
from core.store.catalog import Catalog
from core.values import effects as f
from core.values import events as e
from core.values.discussion import DiscussionSummary
from core.values.effects import Effect
from core.values.state import SearchHits
from core.workers.queue import Emit

SEARCH_LIMIT = 200


class ListingHandler:
    """Carries out the listing worker's effects.

    Args:
        home: the person's data; is_read_only: whether the trash may be emptied; clock: UTC; emit: the inbox.
    """

    def __init__(self, home: Path, clock: Callable[[], datetime], emit: Emit, *, is_read_only: bool) -> None:
        self._home = home
        self._clock = clock
        self._emit = emit
        self._is_read_only = is_read_only
        self._opened: Catalog | None = None

    def handle(self, effect: Effect) -> None:
        """Carry out one effect. Raises StorageError."""
        match effect:
            case f.LoadSummaries():
                self._list(effect.trash_days)
            case f.IndexDiscussion():
                self._catalog.update(effect.discussion_id)
            case f.SearchCatalog():
                self._search(effect.query)
            case _:
                raise AssertionError(effect)

    @property
    def _catalog(self) -> Catalog:
        """The index; opened on this thread, which alone uses it."""
        if self._opened is None:
            self._opened = Catalog(self._home, paths.catalog_file(self._home))
        return self._opened

    def _list(self, trash_days: int) -> None:
        """What the index knew last at once, then what the home says."""
        rows = {row.meta.id: row for row in self._catalog.load_summaries()}
        self._report(rows, is_complete=False)
        for found in self._catalog.refresh():
            rows |= {row.meta.id: row for row in found.summaries}
            for gone in found.removed_ids:
                rows.pop(gone, None)
            if found.done < found.total:
                self._emit(e.WorkerReported("list", "busy", "Reading discussions", found.done / found.total))
                self._emit(e.SummariesLoaded(found.summaries, is_complete=False))
        self._report(rows, is_complete=True)
        self._emit(e.WorkerReported("list", "idle"))
        self._look_into_trash(trash_days)

    def _report(self, rows: dict[str, DiscussionSummary], *, is_complete: bool) -> None:
        self._emit(e.SummariesLoaded(tuple(rows.values()), is_complete))

    def _look_into_trash(self, trash_days: int) -> None:
        if not self._is_read_only:
            trash.expire(self._home, self._clock(), trash_days)
        self._emit(e.TrashListed(tuple(reversed(trash.items(self._home)))))

    def _search(self, query: str) -> None:
        found = self._catalog.search(query, SEARCH_LIMIT)
        self._emit(e.SearchFound(SearchHits(query, found.ids, found.lines, is_complete=True)))


def supersedes(newer: Effect, older: Effect) -> bool:
    """A later search makes an earlier one needless; so does a later look at the same discussion."""
    match newer, older:
        case f.SearchCatalog(), f.SearchCatalog():
            return True
        case f.IndexDiscussion(), f.IndexDiscussion():
            return newer.discussion_id == older.discussion_id
        case _:
            return False
