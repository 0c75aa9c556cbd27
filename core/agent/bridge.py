"""The bridge: where the view begins behind a journal entry, and where behind what is trimmed for size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.values.messages import Message, Role


def turn_starts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Places at which a view may begin: the messages of the person. No call is parted from its result there."""
    return tuple(at for at, message in enumerate(messages) if message.role is Role.USER)


def bridged(messages: Sequence[Message], entry_at: datetime | None) -> int:
    """Place from which messages stay raw: that of the first one after a journal entry, walked back to the person's.

    Args:
        messages: in order; entry_at: of the newest entry of the discussion, None where it has none: all stay.

    Returns:
        0 to the last turn's begin: the last turn always stays.
    """
    starts = turn_starts(messages)
    if entry_at is None or not starts:
        return 0
    first = next((at for at, message in enumerate(messages) if message.at > entry_at), len(messages))
    return max((start for start in starts if start <= first), default=0)


def trimmed(messages: Sequence[Message], sizes: Mapping[str, int], begin: int, room: int) -> int:
    """Place from which messages fit, walked forward to the person's next message; the last turn stays, whatever it takes.

    Args:
        sizes: tokens by message; begin: where the view begins without trimming; room: tokens.
    """
    starts = [start for start in turn_starts(messages) if start > begin]
    total = sum(sizes.get(message.id, 0) for message in messages[begin:])
    at = begin
    for start in starts:
        if total <= room:
            break
        total -= sum(sizes.get(message.id, 0) for message in messages[at:start])
        at = start
    return at


def last_turn(messages: Sequence[Message]) -> int:
    """Place at which the last turn begins; 0 where nobody has written."""
    return max(turn_starts(messages), default=0)
