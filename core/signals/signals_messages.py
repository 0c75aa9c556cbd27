"""Messages of signals: what came in from outside, what a person is told, and whether that is held back."""

from __future__ import annotations

from datetime import datetime

import msgspec

from core.kernel.values.settings import ChannelSettings
from core.kernel.values.signals import SIGNALS_KEPT, ChannelStatus, NotificationKind


class PostSignal(msgspec.Struct, frozen=True):
    """Hand a signal in, as a program beside this one does. Data, never an order: it can approve and change nothing.

    Args:
        text: cleaned and bounded by the step; sender: who says so, empty for nobody.
        discussion_id: the one that it is for, empty for whichever is autonomous.
    """

    text: str
    sender: str = ""
    discussion_id: str = ""
    command_id: str = ""


class PutSignalsAway(msgspec.Struct, frozen=True):
    """Let no turn take the signals that wait; empty `signal_id`: all of them. They stay in the list."""

    signal_id: str = ""


class SetQuiet(msgspec.Struct, frozen=True):
    """Hold notifications back, or give those that were held together."""

    is_quiet: bool


# signals worker: one thread
class ReadInbox(msgspec.Struct, frozen=True):
    """Read the files of the inbox and move them to `waiting`; answered by `InboxRead`.

    Args:
        begins_anew: nothing that waits is known any more, so that all of it is told of again.
        most: files that there is room for; the others stay where they are.
    """

    begins_anew: bool = False
    most: int = SIGNALS_KEPT


class PutInboxAway(msgspec.Struct, frozen=True):
    """Move files that waited to `taken`: what they say is in a log, or a person put it away. By their claims."""

    claims: tuple[str, ...]


class TellInboxAgain(msgspec.Struct, frozen=True):
    """Tell of files that wait once more when there is room: what they say was let go. By their claims."""

    claims: tuple[str, ...]


class ShowNotification(msgspec.Struct, frozen=True):
    """Show a notice on the person's desktop. Plain text, one line each."""

    title: str
    text: str


class SetChannels(msgspec.Struct, frozen=True):
    """Be connected to these channels and no others; answered by `ChannelChanged` as they come and go."""

    channels: tuple[ChannelSettings, ...]


class SayInChannel(msgspec.Struct, frozen=True):
    """Say the fixed words of a notification in a channel. `reply`: of the model, where the person lets that out."""

    name: str
    kind: NotificationKind
    reply: str = ""


class ChannelChanged(msgspec.Struct, frozen=True):
    """A channel was connected, or is not: `problem` says why."""

    status: ChannelStatus


class ChannelSaid(msgspec.Struct, frozen=True):
    """A line of an allowed sender in a channel. `dropped`: lines of theirs that were let go before it, of a flood."""

    name: str
    sender: str
    text: str
    dropped: int = 0


class DesktopTried(msgspec.Struct, frozen=True):
    """The desktop was asked to show a notice. `problem`: why it does not, empty where it did."""

    problem: str = ""


class InboxFile(msgspec.Struct, frozen=True):
    """A file that was read out of the inbox.

    Args:
        text: its beginning, bounded; claim: its name among those that wait; came_at: when it was put there, None: unknown.
    """

    name: str
    text: str
    claim: str = ""
    came_at: datetime | None = None


class InboxRead(msgspec.Struct, frozen=True):
    """The inbox was read.

    Args:
        odd: a sentence for each entry that stays; is_unready: a file is still being written, or waits for room.
    """

    files: tuple[InboxFile, ...] = ()
    odd: tuple[str, ...] = ()
    is_unready: bool = False


SignalCommand = PostSignal | PutSignalsAway | SetQuiet
"""Commands that a front end may give this room."""

SignalEvent = InboxRead | ChannelChanged | ChannelSaid | DesktopTried
"""Events of this room."""

SignalEffect = ReadInbox | PutInboxAway | TellInboxAgain | ShowNotification | SetChannels | SayInChannel
"""The signals worker's."""
