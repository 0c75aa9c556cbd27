"""Signals that end a command: raised as KeyboardInterrupt, but not in the middle of what must stay whole."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Stops:
    """Lets a polite end (a closed terminal, `kill`) stop a command as Ctrl+C does, from `with` to its end.

    Only the main thread may handle signals: on another one it does nothing, and its owner handles them.
    """

    def __init__(self) -> None:
        self._previous: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._is_held = False
        self._is_pending = False

    def __enter__(self) -> Self:
        for number in (getattr(signal, name) for name in _NAMES if hasattr(signal, name)):
            is_ignored = number == signal.SIGINT and signal.getsignal(number) is signal.SIG_IGN
            if is_ignored:  # a shell does that for a command that it runs in the background
                continue
            try:
                self._previous[number] = signal.signal(number, self._stop)
            except ValueError:
                break
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Let a stop wait until the block has ended. A second one does not wait: the block may hang in a write."""
        self._is_pending = False
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._is_pending:
            raise KeyboardInterrupt

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_held and not self._is_pending:
            self._is_pending = True
            return
        raise KeyboardInterrupt
