"""Last sightings of each discussion on disk by this program: the changes of another program stand out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import Appended
from core.kernel.errors import StorageError
from core.kernel.locks import HeldLock, take_lock


class _Marks(msgspec.Struct, frozen=True):
    log_bytes: int
    meta: tuple[int, int, int]


class Seen:
    """Sizes of logs and marks of metas by discussion. One thread; O(1) for each question.

    Args:
        home: the person's data.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._marks: dict[str, _Marks] = {}

    def look(self, discussion_id: str) -> bool:
        """Remember how it stands now. Whether that differs from what was seen last; True for one never seen."""
        now = _Marks(_log_bytes(self._home, discussion_id), _meta_marks(self._home, discussion_id))
        before = self._marks.get(discussion_id)
        self._marks[discussion_id] = now
        return now != before

    def knows(self, discussion_id: str) -> bool:
        """True if it was seen; one that was not may have come out of the trash."""
        return discussion_id in self._marks

    def wrote_meta(self, discussion_id: str) -> None:
        """This program wrote the meta."""
        if known := self._marks.get(discussion_id):
            self._marks[discussion_id] = replace(known, meta=_meta_marks(self._home, discussion_id))

    def appended(self, discussion_id: str, went: Appended) -> bool:
        """This program appended to the log. Whether another program had appended before, unseen."""
        known = self._marks.get(discussion_id)
        if known is None:
            return False
        self._marks[discussion_id] = replace(known, log_bytes=went.size_bytes)
        return went.offset > known.log_bytes + went.was_torn

    def forget(self, discussion_id: str) -> None:
        """It is not there any more."""
        self._marks.pop(discussion_id, None)


def _log_bytes(home: Path, discussion_id: str) -> int:
    try:
        return paths.log_file(home, discussion_id).stat().st_size
    except OSError:
        return 0


def _meta_marks(home: Path, discussion_id: str) -> tuple[int, int, int]:
    try:
        status = paths.meta_file(home, discussion_id).stat()
    except OSError:
        return 0, 0, 0
    return status.st_size, status.st_mtime_ns, status.st_ino


# Lock of a discussion's tool calls: held while a program has calls without results there, so that no other
# takes them for left behind.

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
