"""Lets coroutines wait for states of the controller: one thread for all of them, asleep while none waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from core.app.app_messages import Command
from core.app.execution import is_persons
from core.front.hooks.fields import RefusedError, for_a_person
from core.kernel.language import tr
from core.kernel.values.state import AppState

LOOK_S = 0.5
PAUSE_S = 0.05


class Front(Protocol):
    """Controller, as far as the Hook API needs it."""

    def send(self, command: Command) -> None: ...  # noqa: D102
    def snapshot(self) -> AppState: ...  # noqa: D102
    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None: ...  # noqa: D102


class ProgramFront:
    """The controller as a program with the ordinary token may ask it: what counts only from a person is refused, whichever
    operation or panel gives the command.
    """

    def __init__(self, front: Front) -> None:
        self._front = front

    def send(self, command: Command) -> None:
        """Ask for a change. Raises RefusedError (403)."""
        if is_persons(self._front.snapshot(), command):
            raise for_a_person()
        self._front.send(command)

    def snapshot(self) -> AppState:
        """The state now."""
        return self._front.snapshot()

    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        """The first state that satisfies `predicate`, None after the timeout."""
        return self._front.wait_for(predicate, timeout_s)


class Watch:
    """Waits on a controller for coroutines of one loop.

    Args:
        front: the controller. `start` and `until` belong to the loop's thread, `close` to any.
    """

    def __init__(self, front: Front) -> None:
        self._front = front
        self._waiters = 0
        self._is_wanted = threading.Event()
        self._is_closing = threading.Event()
        self._changed: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="hooks-watch", daemon=True)

    def start(self) -> None:
        """Begin, on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._thread.start()

    def close(self) -> None:
        """Let everybody who waits go: they are refused."""
        self._is_closing.set()
        self._is_wanted.set()
        self._tell()

    @property
    def is_closing(self) -> bool:
        """True if the program is about to end."""
        return self._is_closing.is_set()

    async def until(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        """Wait until the state satisfies `predicate`.

        Returns:
            A state that does, or None after `timeout_s` seconds without one.

        Raises:
            RefusedError: 503, the program is about to end.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout_s
        self._waiters += 1
        self._is_wanted.set()
        try:
            while True:
                assert self._changed is not None
                changed = self._changed
                if predicate(state := self._front.snapshot()):
                    return state
                if self.is_closing:
                    raise RefusedError(
                        503, "closing", tr("The program is closing"), tr("Start the program again")
                    )
                left = end - loop.time()
                if left <= 0:
                    return None
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), left)
        finally:
            self._waiters -= 1
            if not self._waiters and not self.is_closing:
                self._is_wanted.clear()

    def _run(self) -> None:
        seen: AppState | None = None
        while not self._is_closing.is_set():
            if not self._is_wanted.is_set():
                self._is_wanted.wait()
                seen = None
            last = seen
            state = self._front.wait_for(lambda now: now is not last or self._is_closing.is_set(), LOOK_S)  # noqa: B023
            if state is None:
                self._is_closing.wait(PAUSE_S)
            else:
                seen = state
                self._tell()

    def _tell(self) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        if changed is not None:
            changed.set()
