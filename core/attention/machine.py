"""The state machine of attention: what follows from the end of a turn, from the person, from a signal and from time.

Source: 60-agent.md, "Attention: the default mode network". Pure; time comes in.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from core.base.figures import count
from core.values.attention import NOTES_KEPT, Attention, AttentionState, Autonomy, LoopNote
from core.values.signals import Signal

INTERVAL_S = {
    Attention.ENGAGED: 5,
    Attention.WORKING: 3,
    Attention.FORAGING: 30,
    Attention.RESTING: 300,
}
"""Seconds from the end of a turn to the next one, by state; the others wait for something else."""

LONGEST_S = 3_600
"""Longest interval after errors, which double it."""

_CALMER = {
    Attention.ENGAGED: Attention.FORAGING,
    Attention.WORKING: Attention.FORAGING,
    Attention.FORAGING: Attention.RESTING,
}
_WAITS_FOR_PERSON = frozenset({Attention.STORED})


class TurnEnd(msgspec.Struct, frozen=True):
    """End of a turn.

    Args:
        has_yielded: the model handed over; is_stored: and rests until the person comes.
        used_tools: it called some; has_failed: no reply came; is_interrupted: the person stopped it.
    """

    has_yielded: bool = False
    is_stored: bool = False
    used_tools: bool = False
    has_failed: bool = False
    is_interrupted: bool = False


def started(discussion_id: str, now: datetime) -> Autonomy:
    """Autonomy as a person's act begins it: the person has just been here."""
    begun = Autonomy(discussion_id, Attention.ENGAGED, now, person_at=now)
    return noted(_waiting(begun, now), now, "Autonomy starts.")


def interval_s(autonomy: Autonomy) -> int:
    """Seconds to the next turn in this state; errors double them."""
    doubled: int = INTERVAL_S.get(autonomy.state, INTERVAL_S[Attention.RESTING]) << min(autonomy.errors, 12)
    return min(doubled, max(LONGEST_S, INTERVAL_S.get(autonomy.state, 0)))


def due(autonomy: Autonomy, now: datetime) -> bool:
    """True if the interval is over."""
    return autonomy.next_at is not None and now >= autonomy.next_at


def timed(autonomy: Autonomy, now: datetime) -> Autonomy:
    """Autonomy by a clock that was set back: no wait is longer than its interval."""
    if autonomy.next_at is None or autonomy.next_at - now <= timedelta(seconds=interval_s(autonomy)):
        return autonomy
    return _waiting(autonomy, now)


def wakes(autonomy: Autonomy, now: datetime) -> bool:
    """True if a signal may wake it now: it waits, no error holds it back, and none did within a Resting interval."""
    if autonomy.next_at is None or autonomy.errors or autonomy.state is Attention.DREAMING:
        return False
    if autonomy.signal_at is None or autonomy.signal_at > now:
        return True
    return now - autonomy.signal_at >= timedelta(seconds=INTERVAL_S[Attention.RESTING])


def begun(
    autonomy: Autonomy,
    now: datetime,
    message_id: str,
    why: str,
    signals: tuple[Signal, ...] = (),
    *,
    is_signal: bool,
) -> Autonomy:
    """A turn of its own begins. `why`: what woke it, as `words.cause`; `signals`: that it takes; `is_signal`: one woke it."""
    autonomy = replace(
        autonomy,
        next_at=None,
        message_id=message_id,
        turns=autonomy.turns + 1,
        woken_by=why,
        signal_at=now if is_signal else autonomy.signal_at,
        signals=signals,
        is_interrupted=False,
    )
    return noted(autonomy, now, f"Turn {autonomy.turns} begins, woken by {why}.")


def ended(autonomy: Autonomy, now: datetime, end: TurnEnd, most_turns: int) -> Autonomy:
    """A turn is over: the next state, and when its turn comes. `most_turns`: without the person, >= 1."""
    state = _after(autonomy.state, end)
    autonomy = replace(
        autonomy,
        message_id="",
        errors=autonomy.errors + 1 if end.has_failed else 0,
        used_tools=end.used_tools,
        is_interrupted=False,
    )
    autonomy = _waiting(_in(autonomy, now, state), now)
    autonomy = noted(autonomy, now, _told(autonomy, end))
    if autonomy.turns >= most_turns and not autonomy.stopped and autonomy.next_at is not None:
        return stopped(autonomy, now, f"{count(most_turns, 'turn')} without you: it rests until you write.")
    return autonomy


def interrupted(autonomy: Autonomy, now: datetime) -> Autonomy:
    """The person presses Esc while nothing runs: to rest."""
    autonomy = replace(_in(autonomy, now, Attention.RESTING), is_interrupted=False)
    return noted(_waiting(autonomy, now), now, "You interrupted: resting.")


def person_came(autonomy: Autonomy, now: datetime) -> Autonomy:
    """The person spoke: from any state to Engaged, all counts begin anew."""
    was = autonomy.state
    autonomy = replace(
        _in(autonomy, now, Attention.ENGAGED),
        turns=0,
        errors=0,
        stopped="",
        person_at=now,
        has_dreamt=False,
        signals=(),
    )
    autonomy = _waiting(autonomy, now)
    return noted(autonomy, now, f"You wrote: from {was} to engaged.")


def stopped(autonomy: Autonomy, now: datetime, why: str) -> Autonomy:
    """It rests until the person acts. `why`: a sentence."""
    autonomy = replace(_in(autonomy, now, Attention.RESTING), next_at=None, stopped=why)
    return noted(autonomy, now, why)


def noted(autonomy: Autonomy, now: datetime, text: str) -> Autonomy:
    """Add a note of the loop."""
    return replace(autonomy, notes=(*autonomy.notes, LoopNote(now, text))[-NOTES_KEPT:])


def without_notes(attention: AttentionState, discussion_ids: Collection[str]) -> AttentionState:
    """Attention without its notes, which tell what a dream found in other conversations, and without the loop that ended
    in a discussion that is gone.
    """
    own, ended = attention.autonomy, attention.ended
    return replace(
        attention,
        autonomy=own and replace(own, notes=()),
        ended=None if ended is None or ended.discussion_id in discussion_ids else replace(ended, notes=()),
    )


def dreaming(autonomy: Autonomy, now: datetime) -> Autonomy:
    """Nothing is to do: it dreams, until `dreamt`."""
    autonomy = replace(_in(autonomy, now, Attention.DREAMING), next_at=None, has_dreamt=True)
    return noted(autonomy, now, "It dreams: a preview of the harvest, which applies nothing.")


def dreamt(autonomy: Autonomy, now: datetime, finding: str) -> Autonomy:
    """A dream is over: back to rest, and the turn that it put off is due: an interval counts from the end of a turn, and
    what a provider holds does not live for two. `finding`: what it would keep and why, or that it is nothing.
    """
    if autonomy.state is Attention.DREAMING:
        autonomy = replace(_in(autonomy, now, Attention.RESTING), next_at=now)
    return noted(autonomy, now, finding)


def _after(state: Attention, end: TurnEnd) -> Attention:
    if end.is_interrupted:
        return Attention.RESTING
    if end.has_failed:
        return state
    if end.has_yielded:
        return Attention.STORED if end.is_stored else Attention.RESTING
    if end.used_tools:
        return Attention.WORKING
    return _CALMER.get(state, Attention.RESTING)


def _in(autonomy: Autonomy, now: datetime, state: Attention) -> Autonomy:
    return autonomy if autonomy.state is state else replace(autonomy, state=state, entered_at=now)


def _waiting(autonomy: Autonomy, now: datetime) -> Autonomy:
    """The next turn after this state's interval, none where only the person wakes it."""
    if autonomy.state in _WAITS_FOR_PERSON or autonomy.stopped:
        return replace(autonomy, next_at=None)
    return replace(autonomy, next_at=now + timedelta(seconds=interval_s(autonomy)))


def _told(autonomy: Autonomy, end: TurnEnd) -> str:
    if end.is_interrupted:
        why = "You stopped the turn"
    elif end.has_failed:
        why = f"The turn failed, {count(autonomy.errors, 'time')} in a row"
    elif end.has_yielded:
        why = "The model handed over"
    else:
        why = "The turn used tools" if end.used_tools else "The turn ended in words"
    return f"{why}: {autonomy.state}."
