"""Threads that are kept for the next work: a round of a turn starts three, and each start holds up whoever asks for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from queue import Empty, SimpleQueue

_Work = tuple[str, Callable[[], None], threading.Event]

KEPT_S = 10.0
"""Time for which a thread waits for its next work."""


class KeptThreads:
    """Runs each work at once, on a thread that nothing else runs on; one that is free is taken before another is made.

    Thread-safe. The threads end with the program, whatever they are at.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[SimpleQueue[_Work]] = []

    def run(self, name: str, work: Callable[[], None]) -> threading.Event:
        """Begin a work. Returns an event that is set when it is over.

        Args:
            name: of the thread while it works; work: what it raises ends the thread, as in any other.
        """
        over = threading.Event()
        with self._lock:
            inbox = self._free.pop() if self._free else None
        if inbox is not None:
            inbox.put((name, work, over))
            return over
        inbox = SimpleQueue()
        inbox.put((name, work, over))
        threading.Thread(target=self._serve, args=(inbox,), name=name, daemon=True).start()
        return over

    def _serve(self, inbox: SimpleQueue[_Work]) -> None:
        while (given := self._next(inbox)) is not None:
            name, work, over = given
            threading.current_thread().name = name
            try:
                Context().run(work)
            finally:
                over.set()
            del given, work, over  # they may hold much, and the next may never come
            with self._lock:
                self._free.append(inbox)

    def _next(self, inbox: SimpleQueue[_Work]) -> _Work | None:
        try:
            return inbox.get(timeout=KEPT_S)
        except Empty:
            with self._lock:
                if inbox in self._free:
                    self._free.remove(inbox)
                    return None
        return inbox.get()  # it was given meanwhile
