"""The signals worker: reads the inbox, shows notices on the desktop, keeps the channels connected."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from core.base.disk import reported
from core.base.paths import inbox_dir
from core.signals import desktop
from core.signals.inbox import Inbox
from core.signals.messages import (
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
from core.signals.notices import channel_words
from core.values.settings import ChannelSettings
from core.values.signals import ChannelStatus

if TYPE_CHECKING:
    from core.signals.channels import Channels

NOT_OURS = "Left to the program that owns the home; one that is read-only nobody owns"

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
            self._emit(ChannelChanged(ChannelStatus(one.name, problem=NOT_OURS)))

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
                with reported("move a file of", inbox_dir(self._home)):
                    self._inbox.put_away(effect.claims)
            case TellInboxAgain():
                self._inbox.tell_again(effect.claims)
            case ShowNotification():
                self._emit(DesktopTried(desktop.show(effect.title, effect.text)))
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
