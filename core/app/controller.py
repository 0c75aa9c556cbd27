"""`AppController`: takes commands and events in turn, steps, publishes a snapshot, begins the effects."""

from __future__ import annotations

import logging
import secrets
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from queue import Empty, SimpleQueue
from typing import Protocol

from msgspec.structs import replace

from core.app.app_messages import Command, Effect, Event, Input, Quit
from core.app.dispatch import after_failed_step, step, unbegun
from core.app.lifecycle import is_calm
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.values.cache import DiscussionCacheState
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.state import AppState
from core.kernel.values.updates import Tick
from core.talk.context.context_spec import stack_spec
from core.talk.turn.turn_messages import ReplyArrived

TICK_S, CALM_TICK_S = 1.0, 6.0
"""Time between two ticks, and between two while nothing is under way: each wakes the machine, and the window."""
SWITCH_S = 0.001
"""Longest that a thread computes while another waits to: a turn's work goes from thread to thread."""

log = logging.getLogger(__name__)


class Outside(Protocol):
    """Carries out effects. `core.app.outside` is the real one; tests have their own."""

    def begin(self, effect: Effect) -> None:
        """Begin an effect; returns at once."""
        ...

    def start(self, emit: Callable[[Event], None]) -> None:
        """Open the home and report it through `emit`. Raises LockedError or StorageError."""
        ...

    def stack_inputs(self, spec: StackSpec) -> StackInputs:
        """Inputs of the discussion's next request: curated files and knowledge read as they are now."""
        ...

    def stop_calls(self) -> None:
        """Cancel the calls that run and wait until each has reported how it ended."""
        ...

    def stop(self) -> None:
        """Write what is pending and end the workers. Idempotent."""
        ...


def wall_clock() -> datetime:
    """Now, UTC."""
    return datetime.now(UTC)


LONGEST_OFFSET_S = 100 * 365 * 86_400.0
"""Most by which a clock of tests is put forward."""


def make_clock(*, is_test: bool) -> Callable[[], datetime]:
    """The clock of a program: the wall's, or for tests one that can be put forward."""
    return OffsetClock() if is_test else wall_clock


class OffsetClock:
    """The wall clock and what it was put forward by. Thread-safe, call it for the time."""

    def __init__(self, base: Callable[[], datetime] = wall_clock) -> None:
        self._base = base
        self._offset_s = 0.0
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        """Now, UTC."""
        return self._base() + timedelta(seconds=self._offset_s)

    def advance(self, seconds: float) -> datetime | None:
        """Put the clock forward.

        Args:
            seconds: finite, 0 or more.

        Returns:
            The time after, or None where it would be over 100 years ahead: then nothing changed.
        """
        with self._lock:
            if self._offset_s + seconds > LONGEST_OFFSET_S:
                return None
            self._offset_s += seconds
        return self()


class AppController:
    """Owns all state. Thread-safe: `send`, `emit`, `snapshot`, `wait_for` may be called from anywhere.

    Args:
        outside: carries out effects.
        clock: gives the time, UTC; it may jump, nothing breaks.
        seed: gives fresh randomness for ids.
    """

    def __init__(
        self,
        outside: Outside,
        *,
        clock: Callable[[], datetime] = wall_clock,
        seed: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        self._outside = outside
        self._clock = clock
        self._seed = seed
        self._state = AppState()
        self._revision = 0
        self._inbox: SimpleQueue[Command | Event | None] = SimpleQueue()
        self._changed = threading.Condition()
        self._listeners: tuple[Callable[[], object], ...] = ()
        self._thread = threading.Thread(target=self._run, name="controller", daemon=True)
        self._is_stopped = False
        self._ticked_at = 0.0

    @property
    def clock(self) -> Callable[[], datetime]:
        """Clock of this program."""
        return self._clock

    def start(self) -> None:
        """Open the home and begin.

        Raises:
            LockedError: another program owns the home; StorageError: it cannot be used.
        """
        sys.setswitchinterval(SWITCH_S)
        self._outside.start(self.emit)
        self._thread.start()

    def send(self, command: Command) -> None:
        """Ask for a change. Returns at once."""
        self._inbox.put(command)

    def emit(self, event: Event) -> None:
        """Report an event. Returns at once."""
        self._inbox.put(event)

    def snapshot(self) -> AppState:
        """The state now. Immutable; reading it needs no lock."""
        return self._state

    @property
    def revision(self) -> int:
        """Grows whenever the state was replaced."""
        return self._revision

    def listen(self, listener: Callable[[], object]) -> None:
        """Call `listener` after each change of the state, on the controller's thread: it must return at once."""
        self._listeners = (*self._listeners, listener)

    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        """Wait until the state satisfies `predicate`.

        Returns:
            The first state seen that does, or None when `timeout_s` seconds passed without one.
        """
        end = time.monotonic() + timeout_s
        with self._changed:
            while not predicate(state := self._state):
                left = end - time.monotonic()
                if left <= 0 or self._is_stopped:
                    return None
                self._changed.wait(min(left, 1.0))
            return state

    def stop(self) -> None:
        """Quit: stop calls, write what is pending, end the workers and the thread. Idempotent."""
        if self._is_stopped or not self._thread.is_alive():
            self._outside.stop()
            self._is_stopped = True
            return
        self.send(Quit())
        self._inbox.put(None)
        self._thread.join()

    def stack_spec(self, discussion_id: str = "") -> StackSpec:
        """Specification by which the stack of a discussion (by default the selected one) is assembled now."""
        state = self._state
        return stack_spec(state, discussion_id or state.discussions.selected_id)

    def stack_inputs(self, user_message: str) -> StackInputs:
        """Inputs of the selected discussion's next request, with `user_message` as layer 12.

        Raises:
            SlopError: no discussion is selected.
        """
        state = self._state
        if state.discussions.selected_id not in state.discussions.summaries:
            raise SlopError(
                tr("No discussion is selected"), remedy=tr("Select or start a discussion, then ask again")
            )
        inputs = self._outside.stack_inputs(stack_spec(state, state.discussions.selected_id))
        return replace(inputs, user_text=user_message)

    @property
    def discussion_caches(self) -> Mapping[str, DiscussionCacheState]:
        """Caches that providers hold, by discussion id."""
        return self._state.caching.caches

    def _run(self) -> None:
        self._ticked_at = time.monotonic()
        while True:
            message = self._next()
            if message is None:
                break
            self._take(merged(self._batch(message)))
            if isinstance(message, Tick):
                self._ticked_at = time.monotonic()  # from here on: slow steps keep no message from its turn
        self._end(self._outside.stop_calls)
        self._end(self._outside.stop)
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def _end(self, stop: Callable[[], None]) -> None:
        """End a part of the outside, and take in what it reports while it ends."""
        try:
            stop()
        except Exception:  # the edge of the outside: the rest must still be ended, and whoever waits let go
            log.exception("the program could not be ended in order")
        self._drain()

    def _next(self) -> Command | Event | None:
        """The next message, or a tick where one is due: however many messages come, time goes on for what waits."""
        due_s = self._ticked_at + (CALM_TICK_S if is_calm(self._state) else TICK_S)
        left_s = due_s - time.monotonic()
        try:
            if left_s > 0:
                return self._inbox.get(timeout=left_s)
        except Empty:
            pass
        return Tick()

    def _batch(self, message: Command | Event) -> list[Command | Event]:
        """The message and all that wait behind it."""
        batch: list[Command | Event] = [message]
        while True:
            try:
                following = self._inbox.get_nowait()
            except Empty:
                return batch
            if following is None:
                self._inbox.put(None)
                return batch
            batch.append(following)

    def _take(self, batch: list[Command | Event]) -> None:
        state = self._state
        effects: list[Effect] = []
        for body in batch:
            state, more = self._stepped(state, Input(at=self._clock(), seed=self._seed(), body=body))
            effects.extend(more)
        self._publish(state)
        for effect in effects:
            self._begin(effect)

    def _stepped(self, state: AppState, given: Input) -> tuple[AppState, tuple[Effect, ...]]:
        """Step, whatever is in the message: one that the step cannot take is left out, and said."""
        try:
            return step(state, given)
        except Exception as error:  # the edge of a message: the next one must still be taken
            log.exception("the step failed on %s", type(given.body).__name__)
            return after_failed_step(state, given, error)

    def _begin(self, effect: Effect) -> None:
        try:
            self._outside.begin(effect)
        except Exception as error:  # the edge of an effect: the others must still be begun
            log.exception("the outside could not begin %s", type(effect).__name__)
            self.emit(unbegun(effect, error))

    def _publish(self, state: AppState) -> None:
        with self._changed:
            self._state = state
            self._revision += 1
            self._changed.notify_all()
        for listener in self._listeners:
            try:
                listener()
            except Exception:  # the edge of a front end: the others must still hear of it
                log.exception("a listener failed")

    def _drain(self) -> None:
        """Take in what the workers reported while they ended, so that the part of a last reply is kept."""
        while not self._inbox.empty():
            message = self._inbox.get()
            if message is not None:
                self._take([message])


def merged(batch: list[Command | Event]) -> list[Command | Event]:
    """The same messages; runs of deltas of one reply become one."""
    found: list[Command | Event] = []
    run: list[ReplyArrived] = []
    for body in batch:
        if run and not (isinstance(body, ReplyArrived) and body.call_id == run[0].call_id):
            found.append(_joined(run))
            run = []
        if isinstance(body, ReplyArrived):
            run.append(body)
        else:
            found.append(body)
    return [*found, _joined(run)] if run else found


def _joined(run: list[ReplyArrived]) -> ReplyArrived:
    text, reasoning = (
        "".join(str(part) for part in parts)
        for parts in zip(*((r.text, r.reasoning) for r in run), strict=True)
    )
    return ReplyArrived(call_id=run[0].call_id, text=text, reasoning=reasoning)
