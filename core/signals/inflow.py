"""Signals that come in: cleaned, bounded, counted, so that one that floods takes the place of its own and of no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from datetime import datetime

from msgspec.structs import replace

from core.base.text import clean, one_line
from core.values.signals import SENDER_CHARS, SIGNAL_CHARS, SIGNALS_KEPT, Signal, SignalSource, SignalState


def make_signal(
    signal_id: str,
    source: SignalSource,
    sender: str,
    text: str,
    at: datetime,
    discussion_id: str = "",
    claim: str = "",
) -> Signal:
    """Make a signal of what came from outside: its sender on one line, its text clean, both bounded."""
    cut = clean(text).strip()
    if len(cut) > SIGNAL_CHARS:
        cut = f"{cut[:SIGNAL_CHARS]}…"
    return Signal(signal_id, source, one_line(clean(sender), SENDER_CHARS), cut, at, discussion_id, claim)


def with_signal(signals: SignalState, signal: Signal) -> SignalState:
    """Add a signal. One that says the same of the same as one that waits takes its place.

    Over `SIGNALS_KEPT` the source with the most of them loses its oldest. One of a file is not lost: the file waits on
    disk until there is room.
    """
    waiting = (*(one for one in signals.waiting if not _is_same(one, signal)), signal)
    gone: list[Signal] = []
    while len(waiting) > SIGNALS_KEPT:
        most = _most(Counter(one.source for one in waiting))
        oldest = next(index for index, one in enumerate(waiting) if one.source is most)
        gone.append(waiting[oldest])
        waiting = (*waiting[:oldest], *waiting[oldest + 1 :])
    claims = tuple(one.claim for one in gone if one.claim)
    return replace(
        signals,
        waiting=waiting,
        dropped=signals.dropped + len(gone) - len(claims),
        let_go=(*signals.let_go, *claims),
    )


def room_of(signals: SignalState, source: SignalSource) -> int:
    """Signals of a source that can be added before it loses one of its own by that."""
    counts = Counter(one.source for one in signals.waiting)
    for room in range(SIGNALS_KEPT):
        counts[source] += 1
        if counts.total() > SIGNALS_KEPT:
            most = _most(counts)
            if most is source:
                return room
            counts[most] -= 1
    return SIGNALS_KEPT


def _most(counts: Counter[SignalSource]) -> SignalSource:
    """The source with the most; of several that anybody can reach, before what the program's own work brings."""
    return max(reversed(SignalSource), key=lambda one: counts[one])


def without_signals(signals: SignalState, ids: Iterable[str]) -> SignalState:
    """Take signals out of those that wait. The window still shows the newest of them."""
    gone = frozenset(ids)
    taken = tuple(one for one in signals.waiting if one.id in gone)
    if not taken:
        return signals
    left = tuple(one for one in signals.waiting if one.id not in gone)
    return replace(signals, waiting=left, seen=(*signals.seen, *taken)[-SIGNALS_KEPT:])


def without_told(signals: SignalState, discussion_ids: Collection[str]) -> SignalState:
    """The signals without those that were told already, and without those that wait for discussions that are gone."""
    left = tuple(one for one in signals.waiting if one.discussion_id not in discussion_ids)
    return replace(signals, waiting=left, seen=())


def with_signals_back(signals: SignalState, back: tuple[Signal, ...]) -> SignalState:
    """Let signals wait again that were taken, before those that came since."""
    if not back:
        return signals
    ids = frozenset(one.id for one in back)
    later, seen = signals.waiting, tuple(one for one in signals.seen if one.id not in ids)
    signals = replace(signals, waiting=(), seen=seen)
    for one in (*back, *later):
        signals = with_signal(signals, one)
    return signals


def without_claims(signals: SignalState) -> SignalState:
    """The signals without those of files: another program has these now."""
    left = tuple(one for one in signals.waiting if not one.claim)
    return signals if len(left) == len(signals.waiting) else replace(signals, waiting=left)


def _is_same(one: Signal, other: Signal) -> bool:
    """True if one says what the other said: a file that is saved ten times is one thing that happened."""
    if one.source is not other.source or one.sender != other.sender:
        return False
    return one.discussion_id == other.discussion_id and one.text == other.text
