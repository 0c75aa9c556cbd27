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


# Remedies in a terminal's words: what the window says of its own pages and buttons, as a command line does
# it.

WORDS = (
    (" The Caching panel tells each.", ""),
    (
        "Enter one in Settings, Providers, then press Retry",
        "Store one with `manual-slop key`, then send it again with --retry",
    ),
    ("Enter one in Settings, Providers", "Store one with `manual-slop key`"),
    ("tore a key on the settings page", "tore one with `manual-slop key`"),
    ("Check the key on the settings page", "Check the key (`manual-slop key` says where it was found)"),
    (
        "refresh the list of models on the settings page",
        "refresh the list with `manual-slop models --refresh`",
    ),
    (
        "Give its base_url on the settings page",
        "Give its base_url in the settings (`manual-slop doctor` names the file)",
    ),
    ("Send without tools", "Send it again with --retry --no-tools"),
    ("Choose another model for this discussion", "Choose another with --model"),
    ("choose another model", "choose another with --model"),
    ("choose another provider", "choose another with --provider"),
    ("Send it again past the limit", "Send it again with --over-limit"),
    ('send it with "over_limit": true and the token of approvals', "send it with --over-limit"),
    ('send it with "queue": true', "send it with --queue"),
    ("or update the prices", "or take newer ones with `manual-slop models --update-prices`"),
    ("in Usage", "in the settings"),
    ("or say that it may be replaced", "or write over it with --replace"),
    (
        "Press Continue for the rest, or raise the limit of the reply",
        "Send another message for the rest, or raise the limit with --max-output",
    ),
    ("Press Continue for the rest, or Retry", "Send another message for the rest, or it again with --retry"),
    ("press Continue for the rest, or Retry", "send another message for the rest, or it again with --retry"),
    ("Press Continue for the rest", "Send another message for the rest"),
    ("Press Retry", "Send it again with --retry"),
    ("press Retry", "send it again with --retry"),
)
"""Phrases of the window, each with the terminal's; a longer one stands before a part of it."""


def in_terminal(text: str) -> str:
    """A sentence with a remedy, as a person at a terminal can follow it. Other text stays as it is."""
    for window, terminal in WORDS:
        text = text.replace(window, terminal)
    return text
