"""The signals worker: reads the inbox, shows notices on the desktop, keeps the channels connected."""

from __future__ import annotations

import html
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from core.kernel.child_process import desktop_environment, find_program, start_program
from core.kernel.disk import reported
from core.kernel.frame import flat, one_line
from core.kernel.language import tr
from core.kernel.paths import inbox_dir
from core.kernel.queue import queued
from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import ChannelStatus
from core.signals.inbox import Inbox
from core.signals.signals_messages import (
    ChannelChanged,
    DesktopTried,
    PutInboxAway,
    ReadInbox,
    SayInChannel,
    SetChannels,
    ShowNotification,
    SignalEffect,
    SignalEvent,
    TellInboxAgain,
)
from core.signals.signals_step import channel_words

# Notices of the desktop, by the program that each system has for them. Text is handed over as text, never
# as a script.

SHOW_S = 5.0
TITLE_CHARS, TEXT_CHARS = 80, 240
_SCRIPT = (
    "on run argv\n"
    "display notification (item 2 of argv) with title (item 1 of argv)\n"
    "end run"
)  # fmt: skip


def show(title: str, text: str) -> str:
    """Show a notice. Returns why it could not be shown, empty where it was. At most `SHOW_S` seconds."""
    order = notice_command(one_line(flat(title), TITLE_CHARS), one_line(flat(text), TEXT_CHARS))
    if order is None:
        return no_desktop()
    program, arguments = order
    try:
        process = start_program(program, arguments, environment=desktop_environment(os.environ))
        try:
            code = process.wait(SHOW_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return tr("{name} did not end within {SHOW_S:g} seconds", name=program.name, SHOW_S=SHOW_S)
    except OSError as error:
        return tr(
            "The program {name} cannot be started: {reason}",
            name=program.name,
            reason=error.strerror or error,
        )
    return tr("{name} ended with exit code {code}", name=program.name, code=code) if code else ""


def notice_command(title: str, text: str) -> tuple[Path, tuple[str, ...]] | None:
    """Program and arguments that show a notice here, None where there is none."""
    if sys.platform == "darwin":
        return Path("/usr/bin/osascript"), ("-e", _SCRIPT, title, text)
    program = find_program("notify-send") if sys.platform != "win32" else None
    if program is None:
        return None
    body = html.escape(text, quote=False)  # servers read the body as markup
    return program, ("--app-name=Manual Slop", "--", title, body)


def no_desktop() -> str:
    """Reason why no notice of the desktop can be shown here, with the remedy; empty where one can."""
    if sys.platform == "win32":
        return tr("Desktop notices do not work on Windows")
    if notice_command("", "") is None:
        return tr("The command notify-send is missing: install libnotify")
    return ""


if TYPE_CHECKING:
    from core.signals.channels import Channels

NOT_OURS = tr("Only the program that owns the data folder connects; a read-only data folder has no owner")

Emit = Callable[[SignalEvent], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class SignalHandler:
    """Carries out the signals worker's effects.

    Args:
        home: the person's data; clock: UTC; emit: the controller's inbox.
        is_owner: whether this program owns the home now. Who does not leaves all this to the one that does.
    """

    def __init__(
        self, home: Path, clock: Callable[[], datetime], emit: Emit, is_owner: Callable[[], bool]
    ) -> None:
        self._home, self._emit, self._is_owner = home, emit, is_owner
        self._inbox = Inbox(home, clock)
        self._lock = threading.Lock()
        self._is_closed = False
        self._channels: Channels | None = None

    def close(self) -> None:
        """The program ends: leave the channels. Thread-safe."""
        with self._lock:
            self._is_closed, channels = True, self._channels
        if channels is not None:
            channels.close()

    def _connected(self) -> Channels | None:
        """The channels, loaded with asyncio and TLS when there is one to join; None once they are left."""
        with self._lock:
            if self._channels is None and not self._is_closed:
                from core.signals.channels import Channels

                self._channels = Channels(self._emit)
            return self._channels

    def _leave(self, channels: tuple[ChannelSettings, ...]) -> None:
        """Be in no channel; say of each that is wanted why."""
        if self._channels is not None:
            self._channels.set(())
        for one in channels:
            self._emit(ChannelChanged(ChannelStatus(name=one.name, problem=NOT_OURS)))

    def handle(self, effect: SignalEffect) -> None:
        """Carry out one effect. Raises StorageError: the inbox cannot be opened."""
        if not self._is_owner():
            if isinstance(effect, SetChannels):
                self._leave(effect.channels)
            return
        match effect:
            case ReadInbox():
                with reported("open", inbox_dir(self._home)):
                    read = self._inbox.read(begins_anew=effect.begins_anew, most=effect.most)
                self._emit(read)
            case PutInboxAway():
                with reported(tr("move a file of"), inbox_dir(self._home)):
                    self._inbox.put_away(effect.claims)
            case TellInboxAgain():
                self._inbox.tell_again(effect.claims)
            case ShowNotification():
                self._emit(DesktopTried(show(effect.title, effect.text)))
            case SetChannels():
                if (effect.channels or self._channels is not None) and (channels := self._connected()):
                    channels.set(effect.channels)
            case SayInChannel():
                if channels := self._connected():
                    channels.say(effect.name, channel_words(effect.kind, effect.reply))
            case _:
                assert_never(effect)


def supersedes(newer: SignalEffect, older: SignalEffect) -> bool:
    """True if one look at the inbox, the newest wish for channels, or the newest notice of many does for both."""
    if isinstance(older, ReadInbox) and older.begins_anew:
        return isinstance(newer, ReadInbox) and newer.begins_anew
    return type(newer) is type(older) and not isinstance(newer, SayInChannel | PutInboxAway | TellInboxAgain)


WORK = queued("signals", SignalEffect, supersedes)
