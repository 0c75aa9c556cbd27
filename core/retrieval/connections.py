"""Connections to one SQLite file: one thread's at a time, and no more than threads ever asked at once."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Connections:
    """Lends connections, and keeps what comes back for the next who asks: threads come and go. Thread-safe.

    Args:
        open_another: gives a new connection, which any thread may use.
    """

    def __init__(self, open_another: Callable[[], sqlite3.Connection]) -> None:
        self._open_another = open_another
        self._lock = threading.Lock()
        self._own = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._free: list[sqlite3.Connection] = []

    @contextmanager
    def lent(self) -> Iterator[sqlite3.Connection]:
        """A connection that no other thread uses meanwhile: the one that this thread has already, a free one, or another.

        Raises what `open_another` does.
        """
        own: sqlite3.Connection | None = getattr(self._own, "db", None)
        if own is not None:
            yield own
            return
        db = self._free_one() or self._another()
        self._own.db = db
        try:
            yield db
        finally:
            self._own.db = None
            with self._lock:
                if db in self._opened:  # it was not closed meanwhile
                    self._free.append(db)

    def close(self) -> None:
        """Close them all, also those that are lent: who uses one then fails with an error of SQLite."""
        with self._lock:
            opened, self._opened, self._free = self._opened, [], []
            self._own = threading.local()
        for db in opened:
            db.close()

    def _free_one(self) -> sqlite3.Connection | None:
        with self._lock:
            return self._free.pop() if self._free else None

    def _another(self) -> sqlite3.Connection:
        db = self._open_another()
        with self._lock:
            self._opened.append(db)
        return db
