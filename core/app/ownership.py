"""Ownership of a home: one lock, asked again and again, that tells whether what happens once a home is this program's to do."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from core.app import home as store_home
from core.app.home import Holder, HomeLock
from core.app.messages import OwnerChanged, RaiseRequested
from core.base.errors import StorageError

LOOK_EVERY_S = 0.5


class Ownership:
    """Holder of a home's lock, or not. Everything that must happen once a home asks `is_ours`; nobody else holds an answer. Thread-safe.

    A kernel frees the lock however its holder ends. Its file may be removed beneath a program that runs; who starts then
    owns the home, and the first finds out: it does no more of what happens once, and takes over when the other has ended.

    Args:
        root: of the home; is_wanted: False for a command, which never owns one.
    """

    def __init__(self, root: Path, *, is_wanted: bool) -> None:
        self._root, self._is_wanted = root, is_wanted
        self._mutex = threading.Lock()
        self._lock: HomeLock | None = None
        self._holder: Holder | None = None
        self._is_over = threading.Event()

    def take(self) -> None:
        """Take the home at the start. A home that is read-only nobody owns.

        Raises:
            LockedError: another program owns it; it was asked to come forward. StorageError: it cannot be used.
        """
        if self._is_wanted:
            self._lock = store_home.own(self._root)
            self._is_wanted = self._lock is not None

    def is_ours(self) -> bool:
        """True while this program holds the home, and no other can. Two calls of the system."""
        with self._mutex:
            return self._lock is not None and self._lock.stands()

    def look(self) -> Holder | None:
        """Look whether the home is still ours, or ours again. Returns who else owns it, None for nobody else."""
        with self._mutex:
            if not self._is_wanted or self._is_over.is_set() or not self._root.is_dir():
                return self._holder
            if self._lock is not None and self._lock.stands():
                return None
            try:
                found = store_home.acquire(self._root, 0.0 if self._lock is None else store_home.LOOK_S)
            except StorageError:  # nobody else can have it either
                return self._holder
            if self._lock is not None:
                self._lock.release()
            self._lock = found if isinstance(found, HomeLock) else None
            self._holder = found if isinstance(found, Holder) else None
            return self._holder

    def watch(self, emit: Callable[[OwnerChanged | RaiseRequested], None]) -> None:
        """Look a few times a second from now on, and tell of changes."""
        if self._is_wanted:
            threading.Thread(target=self._watch, args=(emit,), name="home-owner", daemon=True).start()

    def _watch(self, emit: Callable[[OwnerChanged | RaiseRequested], None]) -> None:
        known: Holder | None = None
        while not self._is_over.wait(LOOK_EVERY_S):
            if (now := self.look()) != known:
                known = now
                emit(OwnerChanged("" if now is None else now.words))
            with self._mutex:
                is_asked = self._lock is not None and self._lock.take_raise_request()
            if is_asked:
                emit(RaiseRequested())

    def release(self) -> None:
        """Let go of the home, for good. Idempotent."""
        self._is_over.set()
        with self._mutex:
            lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()
