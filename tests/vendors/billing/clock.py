"""Time for the emulators: it stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime

START_S = datetime(2026, 11, 20, 9, tzinfo=UTC).timestamp()


class Clock:
    """Seconds since the epoch, read by calling it.

    Engines take any `Callable[[], float]`, so `time.time` fits too.
    """

    def __init__(self, now_s: float = START_S) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> None:
        """Let time pass. Negative: the clock jumps back."""
        self.now_s += seconds


def moment(seconds: float) -> datetime:
    """Seconds since the epoch as a date and time in UTC."""
    return datetime.fromtimestamp(seconds, UTC)
