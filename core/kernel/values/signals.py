"""Signals and notifications as values: what reached the program from outside, and what it tells a person."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

SIGNALS_KEPT = 100
MAX_CHANNELS = 10
SIGNAL_CHARS, SENDER_CHARS = 2_000, 200
"""Most characters of a signal's text, and of the name of its sender."""


class SignalSource(StrEnum):
    """Source of a signal."""

    COMMAND = "command"
    FILE = "file"
    INBOX = "inbox"
    API = "api"
    CHANNEL = "channel"


class Signal(msgspec.Struct, frozen=True):
    """Something from outside that may wake an autonomous discussion. Data, never an order.

    Args:
        id: unique; sender: which command, path, file, or nick of a channel; text: cleaned and bounded.
        discussion_id: the one that it belongs to, as a finished command does; empty for whichever is autonomous.
        claim: name of the file that it came from, which waits on disk until a turn has it in its log.
        came_at: when that file was put there, None: unknown, or no file.
        wakes: whether it wakes one at rest; not where a command of ours may have sent it: that waits for the next turn.
    """

    id: str
    source: SignalSource
    sender: str
    text: str
    at: datetime
    discussion_id: str = ""
    claim: str = ""
    wakes: bool = True
    came_at: datetime | None = None


class ChannelStatus(msgspec.Struct, frozen=True):
    """A channel as it stands: `is_connected`, and why not. `dropped`: lines of allowed senders that a flood took."""

    name: str
    is_connected: bool = False
    problem: str = ""
    dropped: int = 0


class NotificationKind(StrEnum):
    """Kind of a notification."""

    TURN_FINISHED = "turn_finished"
    TURN_FAILED = "turn_failed"
    QUESTION = "question"
    APPROVAL = "approval"
    AUTONOMY = "autonomy"


class Notification(msgspec.Struct, frozen=True):
    """Notice that leaves by window, desktop and channels. Fixed words of ours.

    Args:
        channels: those that hear it, by name: the ones that asked, and all that announce; each with the model's last words
            where it asked and the person lets those out, empty else.
    """

    kind: NotificationKind
    title: str
    text: str
    discussion_id: str = ""
    channels: Mapping[str, str] = msgspec.field(default_factory=dict)


class SignalState(msgspec.Struct, frozen=True):
    """Signals.

    Args:
        waiting: that no turn took, oldest first, at most `SIGNALS_KEPT`; dropped: how many were let go for that bound.
        seen: the newest that were taken or put away, newest last, for the window; channels: by name.
        is_quiet: notifications are held; held: those, given together when quiet ends; missed: how many more there were.
        desktop_problem: why the desktop showed the last notice not, empty where it did.
        inbox_odd: a sentence for each entry of the inbox that stays where it is; is_inbox_unready: a file in it is still
            being written, or waits for room.
        let_go: claims of files whose signals were let go, until the disk hears to tell of them again; they are in no count.
    """

    waiting: tuple[Signal, ...] = ()
    dropped: int = 0
    seen: tuple[Signal, ...] = ()
    channels: Mapping[str, ChannelStatus] = msgspec.field(default_factory=dict)
    is_quiet: bool = False
    held: tuple[Notification, ...] = ()
    missed: int = 0
    desktop_problem: str = ""
    inbox_odd: tuple[str, ...] = ()
    is_inbox_unready: bool = False
    let_go: tuple[str, ...] = ()
