"""The reply journals that are open: written by the call's thread, dropped by the disk's when the reply is logged."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from core.errors import StorageError
from core.store import reply_journal
from core.store.reply_journal import ReplyHead, ReplyJournal


class OpenJournal:
    """A journal as a call writes it. It stays locked until its reply is in the log."""

    def __init__(self, journal: ReplyJournal) -> None:
        self._journal = journal

    def append(self, text: str, reasoning: str) -> None:
        """Keep more of the reply. Raises StorageError once, then is silent."""
        if text:
            self._journal.add_text(text)
        if reasoning:
            self._journal.add_reasoning(reasoning)


class Journals:
    """Thread-safe: at most one open journal a discussion."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._open: dict[str, ReplyJournal] = {}

    def start(self, discussion_id: str, head: ReplyHead) -> OpenJournal:
        """Begin to journal a reply. Raises LockedError, StorageError."""
        self.release(discussion_id)
        journal = reply_journal.start(self._home, discussion_id, head)
        with self._lock:
            self._open[discussion_id] = journal
        return OpenJournal(journal)

    def drop(self, discussion_id: str) -> None:
        """The reply is in the log: remove its journal."""
        journal = self._take(discussion_id)
        if journal is not None:
            with suppress(StorageError):
                journal.finish()

    def release(self, discussion_id: str) -> None:
        """Leave a journal on disk for the next load: its reply could not be logged."""
        journal = self._take(discussion_id)
        if journal is not None:
            with suppress(StorageError):
                journal.close()

    def release_all(self) -> None:
        """Leave every journal for the next load: the program ends."""
        for discussion_id in tuple(self._open):
            self.release(discussion_id)

    def _take(self, discussion_id: str) -> ReplyJournal | None:
        with self._lock:
            return self._open.pop(discussion_id, None)
