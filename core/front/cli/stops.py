"""Signals that end a command: raised as KeyboardInterrupt, but not in the middle of what must stay whole."""

from __future__ import annotations

import re
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from string import Formatter
from types import FrameType
from typing import Self, TextIO

from core.kernel.errors import FailureKind
from core.kernel.language import Translated, english, tr

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
    (tr("The Caching panel lists each discussion."), ""),
    (
        tr(
            'To install the built-in model, run pip install "manual-slop[embedded]" (in a checkout: make run). Or choose another provider'
        ),
        tr(
            'To install the built-in model, run pip install "manual-slop[embedded]" (in a checkout: make run). Or choose another provider with --provider'
        ),
    ),
    (
        tr(
            'Give the price in your models.toml, or update the prices; or send with "over_limit": true and the approval token'
        ),
        tr(
            "Give the price in your models.toml, or run `manual-slop models --update-prices`; or send with --over-limit"
        ),
    ),
    (
        tr("Attach a copy without the keys. Or add the file to “Readable places” in Settings, Permissions"),
        tr(
            "Attach a copy without the keys. Or add the file to `shown` under [tools.folders] in the settings"
        ),
    ),
    (
        tr('Raise the limit in Usage, or send the message with "over_limit": true and the approval token'),
        tr("Raise the limit in the settings, or send the message with --over-limit"),
    ),
    (
        tr("This model gets no tools: its provider does not pass them on. Choose another model for them."),
        tr(
            "This model gets no tools: its provider does not pass them on. Choose another model with --model."
        ),
    ),
    (
        tr("Check whether the reply is complete; press Continue to get the rest, or Retry to ask again"),
        tr(
            "Check whether the reply is complete; send another message for the rest, or ask again with --retry"
        ),
    ),
    (
        tr("The program kept the received part; press Continue to get the rest, or Retry to ask again"),
        tr(
            "The program kept the received part; send another message for the rest, or ask again with --retry"
        ),
    ),
    (
        tr(
            "If the file holds no API keys or passwords: add the file to “Readable places” in Settings, Permissions"
        ),
        tr(
            "If the file holds no API keys or passwords: add the file to `shown` under [tools.folders] in the settings"
        ),
    ),
    (
        tr("Give the model's price in your models.toml (0 if free), or update the prices"),
        tr("Give the price in your models.toml (0 if free), or run `manual-slop models --update-prices`"),
    ),
    (
        tr("Add credit or raise the limit at the provider, or choose another provider"),
        tr("Add credit, raise the limit at the provider, or choose another provider with --provider"),
    ),
    (
        tr("Choose another model, or pin the conversation so that no harvest reads it"),
        tr("Choose a model with --model, or pin the conversation against harvests"),
    ),
    (
        tr("Choose another model, or refresh the list of models on the settings page"),
        tr("Choose another model with --model, or refresh the list with `manual-slop models --refresh`"),
    ),
    (
        tr('Stop the reply, wait for its end, or send the message with "queue": true'),
        tr("Stop the reply, wait for its end, or send the message with --queue"),
    ),
    (
        tr("Check the account's notices at the provider, or choose another provider"),
        tr("Check the account's notices at the provider, or choose another provider with --provider"),
    ),
    (
        tr("{who} does not take pictures: remove {name!r}, or choose another model."),
        tr("{who} does not take pictures: remove {name}, or choose another model with --model."),
    ),
    (
        tr("{who} reads only PDF text, and {name!r} has none: choose another model."),
        tr("{who} reads only PDF text, and {name} has none: choose another model with --model."),
    ),
    (
        tr("Enter the base_url on the settings page (http://localhost:11434/v1)"),
        tr(
            "Set the base_url (http://localhost:11434/v1) in the settings file, which `manual-slop doctor` names"
        ),
    ),
    (
        tr("Send the message again past the limit, or raise the limit in Usage."),
        tr("Send the message again with --over-limit, or raise the limit in the settings."),
    ),
    (
        tr("The program kept the received part; retry, or choose another model"),
        tr(
            "The program kept the received part; ask again with --retry, or choose another model with --model"
        ),
    ),
    (
        tr("Check the key in the settings, or make a new key at the provider"),
        tr("Check the key with `manual-slop key`, or make a new key at the provider"),
    ),
    (
        tr("Press Continue to get the rest, or raise the limit of the reply"),
        tr("Send another message for the rest, or raise the limit with --max-output"),
    ),
    (
        tr("Enter a key in Settings, Providers and keys, then press Retry."),
        tr("Store a key with `manual-slop key`, then send the message again with --retry."),
    ),
    (
        tr("Choose another name, or allow the program to replace the file"),
        tr("Choose another name, or overwrite the file with --replace"),
    ),
    (
        tr("Send the message in a new discussion, or choose another model"),
        tr("Send the message in a new discussion, or choose another model with --model"),
    ),
    (
        tr("Send the message again past the limit. {UNPRICED_REMEDY}."),
        tr("Send the message again with --over-limit. {UNPRICED_REMEDY}."),
    ),
    (
        tr("Set OPENAI_API_KEY, or store a key on the settings page"),
        tr("Set OPENAI_API_KEY, or store a key with `manual-slop key`"),
    ),
    (
        tr("Choose another model, or add the provider in Settings."),
        tr("Choose another model with --model, or add the provider to the settings file."),
    ),
    (
        tr("Press Continue to get the rest, or Retry to ask again"),
        tr("Send another message for the rest, or ask again with --retry"),
    ),
    (
        tr("Install the missing part, or choose another provider"),
        tr("Install the missing part, or choose another provider with --provider"),
    ),
    (
        tr("Set {variable}, or store a key on the settings page"),
        tr("Set {variable}, or store a key with `manual-slop key`"),
    ),
    (
        tr("Write in another language, or choose another model"),
        tr("Write in another language, or choose another model with --model"),
    ),
    (tr("Enter a key in Settings, Providers and keys."), tr("Store a key with `manual-slop key`.")),
    (
        tr("Send without tools, or choose another model"),
        tr("Send the message again with --retry --no-tools, or choose another model with --model"),
    ),
    (
        tr("Retry in a minute, or choose another model"),
        tr("Ask again with --retry in a minute, or choose another model with --model"),
    ),
    (
        tr("Choose another model, or no temperature."),
        tr("Choose another model with --model, or no temperature."),
    ),
    (
        tr("Use other words, or choose another model"),
        tr("Use other words, or choose another model with --model"),
    ),
    (
        tr("Compact again, or choose another model."),
        tr("Compact again, or choose another model with --model."),
    ),
    (tr("Harvest again, or choose another model"), tr("Harvest again, or choose another model with --model")),
    (
        tr("Send again, or choose another provider"),
        tr("Send again, or choose another provider with --provider"),
    ),
    (
        tr("Press Retry, or choose another model"),
        tr("Send the message again with --retry, or choose another model with --model"),
    ),
    (tr("Choose another model, or no top-p."), tr("Choose another model with --model, or no top-p.")),
    (tr("Store a key on the settings page"), tr("Store a key with `manual-slop key`")),
    (tr("Wait a little, then press Retry"), tr("Wait a little, then send the message again with --retry")),
    (tr("Press Continue to get the rest"), tr("Send another message for the rest")),
    (tr("Raise the limit in Usage"), tr("Raise the limit in the settings")),
    (tr("Press Retry"), tr("Send the message again with --retry")),
)
"""Sentences of the window, each with the terminal's, the longest first: a shorter one may be a part of it."""


def kept_words(chosen: str, kind: str) -> str:
    """Words about a message whose call failed: it is kept, and the command that asks again.

    Args:
        chosen: the discussion; kind: one of `FailureKind`: what refused tools would refuse them again, and a limit the request.
    """
    if kind == FailureKind.SPEND_LIMIT:
        return past_limit_words(chosen)
    if kind == FailureKind.NO_TOOLS:
        return tr(
            "The program keeps your message. Try again: manual-slop send --retry --no-tools --discussion {chosen}",
            chosen=chosen,
        )
    return tr(
        "The program keeps your message. Try again: manual-slop send --retry --discussion {chosen}",
        chosen=chosen,
    )


def past_limit_words(chosen: str) -> str:
    """Command that goes on with a discussion's turn past the limit that ended it."""
    return tr("Go on with `manual-slop send --retry --over-limit --discussion {id}`", id=chosen)


def in_terminal(text: str) -> str:
    """A text whose remedies a person at a terminal can follow. Other text stays as it is."""
    told = _swapped(text.english, in_english=True) if isinstance(text, Translated) else ""
    said = _swapped(str.__str__(text), in_english=False)
    return Translated.of(said, "{text}", {"text": told}) if told else said


def _swapped(text: str, *, in_english: bool) -> str:
    for window, terminal in _patterns(in_english):
        text = window.sub(partial(_put, terminal), text)
    return text


def _put(terminal: str, found: re.Match[str]) -> str:
    return terminal.format(**found.groupdict()) if found.groupdict() else terminal


@cache
def _patterns(in_english: bool) -> list[tuple[re.Pattern[str], str]]:
    """Sentences in the person's language, or in English, each field a group."""
    form = english if in_english else str
    return [(_pattern(form(window), is_dropped=not terminal), form(terminal)) for window, terminal in WORDS]


def _pattern(sentence: str, *, is_dropped: bool) -> re.Pattern[str]:
    parts = Formatter().parse(sentence)
    told = "".join(re.escape(text) + (f"(?P<{name}>.+?)" if name else "") for text, name, _, _ in parts)
    return re.compile(f" ?{told}" if is_dropped else told)
