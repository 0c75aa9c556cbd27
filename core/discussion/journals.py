"""The reply journals that are open: written by the call's thread, dropped by the disk's when the reply is logged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.base.errors import StorageError
from core.discussion.reply_journal import ReplyHead, ReplyJournal


class Journals:
    """Thread-safe: at most one open journal a discussion. The lock is held for a look, never while a disk is asked."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._open: dict[str, ReplyJournal] = {}

    def journal(self, discussion_id: str, head: Callable[[], ReplyHead]) -> ReplyJournal:
        """The journal of a reply that is asked for. It is among the open ones from its beginning on."""
        return ReplyJournal(self._home, discussion_id, head, opening=self._opening)

    def drop(self, discussion_id: str) -> None:
        """The reply is in the log: remove its journal."""
        journal = self._take(discussion_id)
        if journal is not None:
            with suppress(StorageError):
                journal.finish()

    def release_all(self) -> None:
        """Leave every journal for the next load: the program ends."""
        for discussion_id in tuple(self._open):
            if (journal := self._take(discussion_id)) is not None:
                journal.close()

    def _opening(self, journal: ReplyJournal) -> None:
        """Leave an earlier one on disk for the next load: its reply could not be logged."""
        with self._lock:
            before = self._open.get(journal.discussion_id)
            self._open[journal.discussion_id] = journal
        if before is not None:
            before.close()

    def _take(self, discussion_id: str) -> ReplyJournal | None:
        with self._lock:
            return self._open.pop(discussion_id, None)
