"""A clock that tests can put forward: days of use simulated in minutes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from core.app.controller import wall_clock

LONGEST_S = 100 * 365 * 86_400.0


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
            if self._offset_s + seconds > LONGEST_S:
                return None
            self._offset_s += seconds
        return self()
