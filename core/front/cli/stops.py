"""Signals that end a command: raised as KeyboardInterrupt, but not in the middle of what must stay whole."""

from __future__ import annotations

import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self, TextIO

from core.kernel.language import tr

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


class Stops:
    """Lets a polite end (a closed terminal, `kill`) stop a command as Ctrl+C does, from `with` to its end.

    Only the main thread may handle signals: on another one it does nothing, and its owner handles them.

    `is_over`: the person stopped the command; nothing that it still prints may wait for a reader.
    """

    def __init__(self) -> None:
        self._previous: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        self._is_held = False
        self._is_pending = False
        self.is_over = False

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
        """Let a stop wait until the block has ended, unless it hangs in a write. A second one waits for nothing."""
        self._is_pending = False
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
        if self._is_pending:
            self.is_over = True
            raise KeyboardInterrupt

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_held and not self._is_pending and not is_full(sys.stdout):
            self._is_pending = True
            return
        self.is_over = True
        raise KeyboardInterrupt


def is_full(stream: TextIO | None) -> bool:
    """True if a write to a pipe would wait for its reader now. Windows cannot tell, and a stream without a file never waits."""
    try:
        return stream is not None and hasattr(select, "poll") and not select.select([], [stream], [], 0)[1]
    except (OSError, TypeError, ValueError):
        return False


# Remedies in a terminal's words: what the window says of its own pages and buttons, as a command line does
# it.

WORDS = (
    (" " + tr("The Caching panel lists each discussion."), ""),
    (tr("The Caching panel lists each discussion."), ""),
    (
        tr("Enter a key in Settings, Providers and keys, then press Retry"),
        tr("Store a key with `manual-slop key`, then send the message again with --retry"),
    ),
    (tr("Enter a key in Settings, Providers and keys"), tr("Store a key with `manual-slop key`")),
    (tr("Store a key on the settings page"), tr("Store a key with `manual-slop key`")),
    (tr("store a key on the settings page"), tr("store a key with `manual-slop key`")),
    (
        tr("Check the key in the settings"),
        tr("Check the key (`manual-slop key` says where the program found the key)"),
    ),
    (
        tr("refresh the list of models on the settings page"),
        tr("refresh the list with `manual-slop models --refresh`"),
    ),
    (
        tr("Enter the base_url on the settings page"),
        tr("Set the provider's base_url in the settings file (`manual-slop doctor` names the file)"),
    ),
    (
        tr("add the file to “Readable places” in Settings, Permissions"),
        tr("add the file to `shown` under [tools.folders] in the settings"),
    ),
    (tr("Send without tools"), tr("Send the message again with --retry --no-tools")),
    (tr("Choose another model"), tr("Choose another model with --model")),
    (tr("choose another model"), tr("choose another model with --model")),
    (tr("choose another provider"), tr("choose another provider with --provider")),
    (tr("Send the message again past the limit"), tr("Send the message again with --over-limit")),
    (
        tr('send the message with "over_limit": true and the approval token'),
        tr("send the message with --over-limit"),
    ),
    (tr('send the message with "queue": true'), tr("send the message with --queue")),
    (tr("or update the prices"), tr("or download newer prices with `manual-slop models --update-prices`")),
    (tr("in Usage"), tr("in the settings")),
    (tr("or allow the program to replace the file"), tr("or overwrite the file with --replace")),
    (
        tr("Press Continue to get the rest, or raise the limit of the reply"),
        tr("Send another message for the rest, or raise the limit with --max-output"),
    ),
    (
        tr("Press Continue to get the rest, or Retry to ask again"),
        tr("Send another message for the rest, or send the message again with --retry"),
    ),
    (
        tr("press Continue to get the rest, or Retry to ask again"),
        tr("send another message for the rest, or send the message again with --retry"),
    ),
    (tr("Press Continue to get the rest"), tr("Send another message for the rest")),
    (tr("press Continue to get the rest"), tr("send another message for the rest")),
    (tr("Press Retry"), tr("Send the message again with --retry")),
    (tr("press Retry"), tr("send the message again with --retry")),
)
"""Phrases of the window, each with the terminal's; a longer one stands before a part of it."""


def in_terminal(text: str) -> str:
    """A sentence with a remedy, as a person at a terminal can follow it. Other text stays as it is."""
    for window, terminal in WORDS:
        text = text.replace(window, terminal)
    return text
