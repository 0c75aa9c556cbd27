"""A worker with one thread that carries out effects in the order in which they came."""

from __future__ import annotations

import errno
import logging
import threading
from collections import deque
from collections.abc import Callable
from contextvars import Context
from queue import Empty, SimpleQueue
from typing import Any, Generic, NamedTuple, TypeVar, get_args

from core.kernel.errors import SlopError, StorageError
from core.kernel.language import as_sentences, tr
from core.kernel.values.updates import (
    OperationDone,
    OperationFailed,
    Report,
    WorkerReported,
    WritesCaughtUp,
    command_id_of,
)

E = TypeVar("E")
"""Effects that the worker carries out: its closed union."""

Tell = Callable[[Report], None]
"""Puts a report into the controller's inbox. Thread-safe, returns at once."""

RETRY_S = 5.0
"""Pause before what could not be written is tried again."""

log = logging.getLogger(__name__)


class _Barrier:
    """A place in the queue that somebody waits for."""

    def __init__(self, passed: threading.Event) -> None:
        self.passed = passed


class Work(NamedTuple):
    """A room's row of work: effects that one worker carries out, and how its queue treats them.

    Args:
        queue: the worker's name; effects: their types.
        supersedes, keeps, about: as of `QueueWorker`.
    """

    queue: str
    effects: tuple[type[Any], ...]
    supersedes: Callable[[Any, Any], bool] | None = None
    keeps: Callable[[Any], bool] | None = None
    about: Callable[[Any], str] | None = None


def queued(
    queue: str,
    effects: Any,
    supersedes: Callable[[Any, Any], bool] | None = None,
    keeps: Callable[[Any], bool] | None = None,
    about: Callable[[Any], str] | None = None,
) -> Work:
    """A row of effects (a type or a union of types) that wait for their turn on the worker's thread."""
    kinds = get_args(effects) or (effects,)
    return Work(queue=queue, effects=kinds, supersedes=supersedes, keeps=keeps, about=about)


def at_once(queue: str, effects: Any) -> Work:
    """A row of effects (a type or a union of types) that reach the worker at once, from the controller's thread."""
    return queued(queue, effects)


class QueueWorker(Generic[E]):
    """Runs `handle` for each effect on a thread of its own, first in, first out.

    Args:
        name: shown in the status bar and in the thread's name.
        handle: carries out one effect and emits what came of it; may raise SlopError, which becomes a notice.
        emit: the controller's inbox.
        supersedes: whether an effect that arrives makes one that still waits needless (a later draft, a later
            search); the one that waits is dropped, unless somebody waits for it. None: never.
        keeps: which effects are tried again until they are done (a draft on a full disk): every `retry_s` seconds
            while nothing else is to do, and once more at the end. None: none.
    """

    def __init__(
        self,
        name: str,
        handle: Callable[[E], None],
        emit: Tell,
        supersedes: Callable[[E, E], bool] | None = None,
        keeps: Callable[[E], bool] | None = None,
        retry_s: float = RETRY_S,
        about: Callable[[E], str] | None = None,
    ) -> None:
        self.name = name
        self._handle = handle
        self._emit = emit
        self._supersedes = supersedes
        self._keeps = keeps
        self._retry_s = retry_s
        self._about = about
        self._waiting: deque[E | _Barrier] = deque()
        self._is_busy = False
        self._owed: list[E] = []
        self._again: list[E] = []
        self._told: dict[str, tuple[type[Any], threading.Event]] = {}
        """Notices of failures, each with its kind of effect and the barrier behind what waited when it failed."""
        self._ready = threading.Condition()
        self._is_stopping = self._has_failed = self._has_tried_last = self._is_dropped = False
        self._thread: threading.Thread | None = None

    @classmethod
    def of(cls, work: Work, handle: Callable[[E], None], emit: Tell) -> QueueWorker[E]:
        """The worker of a row of work."""
        return cls(work.queue, handle, emit, work.supersedes, work.keeps, about=work.about)

    def submit(self, effect: E) -> None:
        """Queue an effect; the thread starts with the first one. After `stop` effects are refused silently."""
        with self._ready:
            if self._is_stopping:
                return
            if self._supersedes is not None:
                newer = self._supersedes
                self._waiting = deque(
                    old
                    for old in self._waiting
                    if isinstance(old, _Barrier) or command_id_of(old) or not newer(effect, old)
                )
                self._owed = [old for old in self._owed if not newer(effect, old)]
                self._again = [old for old in self._again if not newer(effect, old)]
            self._waiting.append(effect)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=f"worker-{self.name}", daemon=True)
                self._thread.start()
            self._ready.notify()

    @property
    def has_waiting(self) -> bool:
        """True if another effect waits behind the running one, or nobody needs the running one's result any more."""
        with self._ready:
            return bool(self._waiting) or self._is_stopping

    def barrier(self) -> threading.Event:
        """An event that is set once everything queued until now has been carried out, or has failed."""
        passed = threading.Event()
        with self._ready:
            if self._waiting or self._is_busy:
                self._waiting.append(_Barrier(passed))
            else:
                passed.set()
        return passed

    def stop(self, timeout_s: float, *, drops: bool = False) -> bool:
        """Carry out what waits, then end the thread. Returns whether it ended within `timeout_s` seconds.

        Args:
            drops: forget what waits, and what comes of the effect under way: nobody asks for it any more.
        """
        with self._ready:
            self._is_stopping = True
            if drops:
                for passed in (one.passed for one in self._waiting if isinstance(one, _Barrier)):
                    passed.set()
                self._waiting.clear()
                self._is_dropped = True
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
                self._caught_up(effect)
                if command_id := command_id_of(effect):
                    self._emit(OperationDone(command_id=command_id))
            except SlopError as error:
                self._failed(effect, error)
            except Exception as error:  # the edge of the worker: the next effect must still be carried out
                if self._is_dropped:
                    return  # what it stood on was closed under it
                log.exception("worker %s failed on %s", self.name, type(effect).__name__)
                self._emit(
                    WorkerReported(name=self.name, status="failed", detail=f"{type(error).__name__}: {error}")
                )
                text = tr("A part of the program ({name}) failed: {error}", name=self.name, error=error)
                self._emit(
                    OperationFailed(
                        subject=self.name,
                        text=text,
                        detail=tr("See the log file."),
                        command_id=command_id_of(effect),
                    )
                )
            del effect  # it may hold tens of megabytes, and the next one may be hours away

    def _failed(self, effect: E, error: SlopError) -> None:
        """Report a failure, once for work that is tried again, and remember that report."""
        is_told = self._forget(effect)
        is_gone = isinstance(error, StorageError) and error.errno == errno.ENOENT
        if self._keeps is not None and self._keeps(effect) and not is_gone:
            with self._ready:
                self._owed.append(effect)
                self._has_failed = True
        if not is_told:
            detail = as_sentences(error.remedy, error.where)
            about, subject = self._subject(effect)
            self._told[subject] = type(effect), self.barrier()
            told = OperationFailed(
                subject=subject,
                text=error.what,
                detail=detail,
                command_id=command_id_of(effect),
                discussion_id=about,
            )
            self._emit(told)

    def _subject(self, effect: E) -> tuple[str, str]:
        """The discussion that an effect is about, empty for none, and the name of its notice."""
        about = self._about(effect) if self._about is not None else ""
        return about, f"{self.name}/{about}" if about else self.name

    def _caught_up(self, effect: E) -> None:
        """Say when the last of what had failed is done, or needless by a later one.

        The notice of what is not tried again goes when the same is asked for anew and done. What waited already when it
        failed does not count: the person has not read the notice by then.
        """
        if self._keeps is None or not self._keeps(effect):
            _, subject = self._subject(effect)
            told = self._told.get(subject)
            if told is not None and told[0] is type(effect) and told[1].is_set():
                del self._told[subject]
                self._emit(WritesCaughtUp(subject))
            return
        self._forget(effect)
        with self._ready:
            is_done = self._has_failed and not (self._owed or self._again)
            self._has_failed = self._has_failed and not is_done
        if is_done:
            self._emit(WritesCaughtUp(self.name))

    def _forget(self, effect: E) -> bool:
        """Forget an effect that failed before; False where it had not."""
        found = [old for old in self._again if old is effect]
        self._again = [old for old in self._again if old is not effect]
        return bool(found)

    def _next(self) -> E | None:
        with self._ready:
            self._is_busy = False
            while True:
                while not self._waiting:
                    if self._is_stopping:
                        if not self._owed or self._has_tried_last:
                            return None
                        self._has_tried_last = True
                        self._try_owed()
                    elif not self._ready.wait(self._retry_s if self._owed else None):
                        self._try_owed()
                effect = self._waiting.popleft()
                if isinstance(effect, _Barrier):
                    effect.passed.set()
                else:
                    self._is_busy = True
                    return effect

    def _try_owed(self) -> None:
        self._again = self._owed
        self._waiting.extend(self._owed)
        self._owed = []


# Threads that are kept for the next work: a round of a turn starts three, and each start holds up whoever
# asks for it.

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


# Something made at its first use, once, whichever thread comes first: an SDK's client.

T = TypeVar("T")


class Lazy(Generic[T]):
    """Holds a value that `make` builds when it is first asked for. A failure is not kept: the next call tries again."""

    def __init__(self, make: Callable[[], T], release: Callable[[T], None]) -> None:
        self._make = make
        self._release = release
        self._lock = threading.Lock()
        self._value: T | None = None

    def get(self) -> T:
        """The value, made now if need be. Raises whatever `make` raises."""
        with self._lock:
            if self._value is None:
                self._value = self._make()
            return self._value

    def close(self) -> None:
        """Release the value if it was made. Idempotent; a later `get` makes a new one."""
        with self._lock:
            value, self._value = self._value, None
        if value is not None:
            self._release(value)
