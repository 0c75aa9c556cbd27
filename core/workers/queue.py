"""A worker with one thread that carries out effects in the order in which they came."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable

from core.errors import SlopError
from core.values.effects import Effect
from core.values.events import Event, OperationFailed, WorkerReported

Emit = Callable[[Event], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

log = logging.getLogger(__name__)


class QueueWorker:
    """Runs `handle` for each effect on a thread of its own, first in, first out.

    Args:
        name: shown in the status bar and in the thread's name.
        handle: carries out one effect and emits what came of it; may raise SlopError, which becomes a notice.
        emit: the controller's inbox.
        supersedes: whether an effect that arrives makes one that still waits needless (a later draft, a later
            search); the one that waits is dropped. None: never.
    """

    def __init__(
        self,
        name: str,
        handle: Callable[[Effect], None],
        emit: Emit,
        supersedes: Callable[[Effect, Effect], bool] | None = None,
    ) -> None:
        self.name = name
        self._handle = handle
        self._emit = emit
        self._supersedes = supersedes
        self._waiting: deque[Effect] = deque()
        self._ready = threading.Condition()
        self._is_stopping = False
        self._thread: threading.Thread | None = None

    def submit(self, effect: Effect) -> None:
        """Queue an effect; the thread starts with the first one. After `stop` effects are refused silently."""
        with self._ready:
            if self._is_stopping:
                return
            if self._supersedes is not None:
                newer = self._supersedes
                self._waiting = deque(old for old in self._waiting if not newer(effect, old))
            self._waiting.append(effect)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"worker-{self.name}", daemon=True)
                self._thread.start()
            self._ready.notify()

    def stop(self, timeout_s: float) -> bool:
        """Carry out what waits, then end the thread. Returns whether it ended within `timeout_s` seconds."""
        with self._ready:
            self._is_stopping = True
            self._ready.notify()
            thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_s)
        return not thread.is_alive()

    def _run(self) -> None:
        while (effect := self._next()) is not None:
            try:
                self._handle(effect)
            except SlopError as error:
                self._emit(
                    OperationFailed(
                        self.name,
                        error.what,
                        ". ".join(filter(None, (error.remedy.removesuffix("."), error.where))),
                    )
                )
            except Exception as error:  # the edge of the worker: the next effect must still be carried out
                log.exception("worker %s failed on %s", self.name, type(effect).__name__)
                self._emit(WorkerReported(self.name, "failed", f"{type(error).__name__}: {error}"))
                self._emit(
                    OperationFailed(self.name, f"The {self.name} worker failed: {error}", "See the log file.")
                )

    def _next(self) -> Effect | None:
        with self._ready:
            while not self._waiting:
                if self._is_stopping:
                    return None
                self._ready.wait()
            return self._waiting.popleft()
