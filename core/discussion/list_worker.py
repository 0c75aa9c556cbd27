"""The list of discussions, the trash and search, on one thread, from the derived index."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import assert_never

from core.base import paths
from core.base.days import midnight
from core.base.errors import StorageError
from core.base.reports import OperationFailed, Report, WorkerReported
from core.discussion import trash
from core.discussion.catalog import Catalog
from core.discussion.catalog_entries import EntryKeys
from core.discussion.messages import (
    DiscussionEvent,
    IndexDiscussion,
    ListEffect,
    LoadSummaries,
    LookForChanges,
    SearchCatalog,
    SearchFound,
    SummariesChanged,
    SummariesLoaded,
    TrashListed,
)
from core.discussion.meta import has_draft
from core.discussion.payments import all_paid_since
from core.spending.messages import SpendingEvent, SpentCounted
from core.values.discussion import DiscussionSummary
from core.values.state import SearchHits

logger = logging.getLogger(__name__)

Emit = Callable[[DiscussionEvent | SpendingEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

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
        self._listed: dict[str, EntryKeys] = {}

    def handle(self, effect: ListEffect) -> None:
        """Carry out one effect. Raises StorageError."""
        match effect:
            case LoadSummaries():
                self._list(effect.trash_days)
            case LookForChanges():
                self._look_for_changes()
            case IndexDiscussion():
                self._catalog.update(effect.discussion_id)
            case SearchCatalog():
                self._search(effect.query)
            case _:
                assert_never(effect)

    @property
    def _catalog(self) -> Catalog:
        """The index; opened on this thread, which alone uses it."""
        if self._opened is None:
            self._opened = Catalog(self._home, paths.catalog_file(self._home))
        return self._opened

    def _list(self, trash_days: int) -> None:
        """List what the index knew last at once, then what the home says."""
        rows = {row.meta.id: row for row in self._catalog.load_summaries()}
        self._report(rows, is_complete=False)
        for found in self._catalog.refresh():
            rows |= {row.meta.id: row for row in found.summaries}
            for gone in found.removed_ids:
                rows.pop(gone, None)
            if found.done < found.total:
                self._emit(WorkerReported("list", "busy", "Reading discussions", found.done / found.total))
                self._emit(SummariesLoaded(found.summaries, is_complete=False))
        self._listed = self._catalog.known()
        self._report(rows, is_complete=True)
        self._emit(WorkerReported("list", "idle"))
        self._count_spent(rows)
        self._look_into_trash(trash_days)

    def _look_for_changes(self) -> None:
        """Report the rows that changed since the last look. The index is shared: who changed one may have indexed it."""
        deque(self._catalog.refresh(), maxlen=0)
        before, self._listed = self._listed, self._catalog.known()
        changed = [key for key, marks in self._listed.items() if before.get(key) != marks]
        if changed:
            self._emit(SummariesChanged(self._catalog.rows(changed)))

    def _count_spent(self, rows: dict[str, DiscussionSummary]) -> None:
        """Add up what was paid since the person's midnight: in logs, also those deleted since, and by harvests."""
        start = midnight(self._clock())
        logs = [paths.log_file(self._home, key) for key, row in rows.items() if row.paid_at >= start]
        paid = all_paid_since(self._home, logs, start)
        self._emit(
            SpentCounted(
                start,
                sum(one.usd for one in paid.values()),
                any(one.is_estimate for one in paid.values()),
                frozenset(paid),
            )
        )

    def _report(self, rows: dict[str, DiscussionSummary], *, is_complete: bool) -> None:
        drafted = frozenset(key for key in rows if has_draft(self._home, key)) if is_complete else frozenset()
        self._emit(SummariesLoaded(tuple(rows.values()), is_complete, drafted))

    def _look_into_trash(self, trash_days: int) -> None:
        try:
            if not self._is_read_only:
                trash.expire(self._home, self._clock(), trash_days)
        except StorageError as error:  # it empties nothing for now, and nobody waits for that
            self._emit(
                OperationFailed("trash", error.what, f"{error.remedy} {error.where}", is_standing=True)
            )
        self._emit(TrashListed(tuple(reversed(trash.items(self._home)))))

    def _search(self, query: str) -> None:
        found = self._catalog.search(query, SEARCH_LIMIT)
        self._emit(
            SearchFound(SearchHits(query, found.ids, found.lines, is_complete=True, messages=found.messages))
        )


def supersedes(newer: ListEffect, older: ListEffect) -> bool:
    """A later search makes an earlier one needless; so does a later look at the same discussion, or at all."""
    if isinstance(newer, IndexDiscussion) and isinstance(older, IndexDiscussion):
        return newer.discussion_id == older.discussion_id
    return isinstance(newer, SearchCatalog | LookForChanges) and type(newer) is type(older)
