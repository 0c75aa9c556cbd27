"""A command that runs: its output, bounded, and its end."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from core.agent.delegation import CappedOutput
from core.agent.tool import ShellOutcome
from core.kernel import figures
from core.kernel.child_process import descendants, end_below, kill_with_below
from core.kernel.command_start import BoundWatch

MOST_OUTPUT_BYTES = 100_000_000
_LINGER_S = 1.0
"""Output of what is out of reach, a service that got hold of the pipe, is read so long after the end."""
_LOOK_S, _COUNT_S, _SHOW_S = 0.05, 0.25, 0.2
_PIECE = 1 << 16


class Running:
    """A command that runs, with its thread-safe output and its end."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        *,
        is_own_space: bool,
        grace_s: float,
        watch: BoundWatch,
    ) -> None:
        self._process = process
        self.watch = watch
        self._is_own_space = is_own_space
        self._grace_s = grace_s
        self._counted_at = time.monotonic()
        self._lock = threading.Lock()
        self._output = CappedOutput()
        self._fresh = CappedOutput()
        self._ended_by, self.is_asked = "", False
        self._ender: threading.Thread | None = None
        self.exit_code: int | None = None
        self.notes: tuple[str, ...] = ()
        self.gone = threading.Event()

    def end(self, why: str, *, is_asked: bool = True, is_at_once: bool = False) -> None:
        """End it and all that it started, without waiting. Idempotent; the first reason stays.

        Args:
            is_asked: the person or the model wants it ended; else its time is over, or it went over a bound.
            is_at_once: it gets no time to clean up. What takes the machine would use that time to take more.
        """
        with self._lock:
            if self._ended_by or self.exit_code is not None:
                return
            self._ended_by, self.is_asked = why, is_asked
            grace_s = 0.0 if is_at_once else self._grace_s
            ender = threading.Thread(target=self._end, args=(grace_s,), name="command end", daemon=True)
            with suppress(RuntimeError):  # no thread is left: that may be the very reason why it is ended
                ender.start()
                self._ender = ender
        if self._ender is None:
            self._end(0.0)

    def _end(self, grace_s: float) -> None:
        if not grace_s and sys.platform == "linux":
            kill_with_below(self._process)
        elif self._is_own_space:
            # The last process of a namespace takes all others with it; the sandbox's own are not asked but ended.
            end_below(self._process.pid, grace_s, is_first_kept=True)
            kill_with_below(self._process)  # it may have been about to make the first of them
        elif self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self._grace_s + 2.0)
            end_below(self._process.pid, 0.0)
            self._process.kill()

    def follow(self, deadline: float | None, show: Callable[[str], None]) -> None:
        """Read to the end. `deadline`: of the monotonic clock; `show`: takes the tail now and then."""
        stdout = self._process.stdout
        assert stdout is not None
        os.set_blocking(stdout.fileno(), False)
        shown, is_fresh = time.monotonic(), False
        over_at: float | None = None
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while True:
                is_over = self._process.poll() is not None
                data = self._read(stdout.fileno()) if selector.select(0 if is_over else _LOOK_S) else None
                now = time.monotonic()
                over_at = over_at or (now if is_over else None)
                if data == b"" or (data is None and is_over) or (over_at and now - over_at > _LINGER_S):
                    break
                is_fresh = is_fresh or bool(data)  # what came just before a silence is shown in it
                if is_fresh and now - shown >= _SHOW_S:
                    shown, is_fresh = now, False
                    show(self.tail())
                self._watch(deadline)
        self._conclude(deadline)

    def _watch(self, deadline: float | None) -> None:
        """End it where it goes over a bound."""
        now = time.monotonic()
        if deadline is not None and now >= deadline:
            self.end("its time was over", is_asked=False)
        if self._output.total_bytes > MOST_OUTPUT_BYTES:
            self.end(f"it wrote more than {figures.size(MOST_OUTPUT_BYTES)}", is_asked=False)
        if now - self._counted_at >= _COUNT_S:
            self._counted_at = now
            if exceeded := self.watch.exceeded(descendants(self._process.pid)):
                self.end(exceeded, is_asked=False, is_at_once=True)

    def _conclude(self, deadline: float | None) -> None:
        """Wait for the process itself: it may have closed its output and gone on."""
        while self._process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_S)
            self._watch(deadline)
        if self._ender is not None:
            self._ender.join()
        for stream in (self._process.stdout, self._process.stdin):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self.exit_code = self._process.returncode
        self.gone.set()

    def _read(self, descriptor: int) -> bytes | None:
        try:
            data = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return None
        with self._lock:
            self._output.add(data)
            self._fresh.add(data)
        return data

    def close(self, notes: tuple[str, ...]) -> None:
        """It is gone. `notes`: what the person should know, a sentence each."""
        self.notes = tuple(filter(None, (self.watch.note(self.exit_code), *notes)))

    def end_notes(self) -> str:
        """Sentences on why it was ended, and on all else that the person should know; empty where it ended by itself."""
        why = (f"It was ended: {self._ended_by}.",) if self._ended_by else ()
        return " ".join((*why, *self.notes))

    def tail(self) -> str:
        """End of the output so far."""
        with self._lock:
            return self._output.live()

    def outcome(self, *, only_new: bool = False) -> ShellOutcome:
        """As it stands. `only_new`: output since the last such question."""
        with self._lock:
            output = self._fresh if only_new else self._output
            found = ShellOutcome(
                output=output.text(),
                exit_code=self.exit_code,
                ended_by=self._ended_by,
                notes=self.notes,
                left_bytes=output.left_bytes,
            )
            if only_new:
                self._fresh = CappedOutput()
            return found
