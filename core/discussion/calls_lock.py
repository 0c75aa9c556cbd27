"""Lock of a discussion's tool calls: held while a program has calls without results there, so that no other takes them
for left behind.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.base import paths
from core.base.errors import StorageError
from core.base.locks import HeldLock, take_lock

LOOK_WAIT_S = 0.5
"""Wait for the lock: another program that reads the discussion has it for a moment."""


class CallsLocks:
    """Locks that this program holds, by discussion. Thread-safe; written by the disk worker, let go at the end."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._held: dict[str, HeldLock] = {}
        self._open: dict[str, set[str]] = {}

    def asked(self, discussion_id: str, call_ids: frozenset[str]) -> None:
        """Calls are about to stand in the log, or begin. Where the lock cannot be had they go on without."""
        if not call_ids:
            return
        with self._lock:
            self._open.setdefault(discussion_id, set()).update(call_ids)
            if discussion_id in self._held:
                return
            directory = paths.discussion_dir(self._home, discussion_id)
            with suppress(StorageError):
                lock = take_lock(directory / paths.TOOLS_LOCK_FILE, wait_s=LOOK_WAIT_S)
                if lock is not None:
                    self._held[discussion_id] = lock

    def answered(self, discussion_id: str, call_ids: frozenset[str]) -> None:
        """Results stand in the log: with the last of them the lock goes."""
        with self._lock:
            open_calls = self._open.get(discussion_id)
            if open_calls is None:
                return
            open_calls -= call_ids
            if not open_calls:
                self._release(discussion_id)

    def is_ours(self, discussion_id: str) -> bool:
        """True while this program has calls without results there."""
        with self._lock:
            return discussion_id in self._open

    def release_all(self) -> None:
        """Let go of all: the program ends, or the calls are another start's matter."""
        with self._lock:
            for discussion_id in tuple(self._open):
                self._release(discussion_id)

    def _release(self, discussion_id: str) -> None:
        self._open.pop(discussion_id, None)
        lock = self._held.pop(discussion_id, None)
        if lock is not None:
            lock.release()


@contextmanager
def calls_held(home: Path, discussion_id: str) -> Iterator[bool]:
    """Hold off who would begin calls; False where a live program has some. A home that cannot be written has none."""
    try:
        lock = take_lock(paths.discussion_dir(home, discussion_id) / paths.TOOLS_LOCK_FILE)
    except StorageError:
        yield True
        return
    if lock is None:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
