"""Attention as values: the one autonomous discussion, its state and its clock. Source: 60-agent.md."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

from core.values.signals import Signal


class Attention(StrEnum):
    """State of an autonomous discussion."""

    ENGAGED = "engaged"
    WORKING = "working"
    FORAGING = "foraging"
    RESTING = "resting"
    STORED = "stored"
    """At rest by its own choice: only the person wakes it."""
    DREAMING = "dreaming"
    """A harvest preview runs while nothing else is to do; it applies nothing."""


STOP_NOTICE = "autonomy"
"""Id of the notice that says why it rests until the person acts."""
NOTES_KEPT = 10_000
"""Notes of the loop that are kept; the log has what was said."""


class LoopNote(msgspec.Struct, frozen=True):
    """A line of the loop itself: what woke it, what it went to, why it stopped."""

    at: datetime
    text: str


class Autonomy(msgspec.Struct, frozen=True):
    """Autonomy of the one discussion that has it.

    Args:
        next_at: when the next turn begins, None while one runs or only the person wakes it.
        message_id: words of ours by which the turn that runs was begun, empty while none of ours runs.
        turns: without the person's words since; errors: one after another; used_tools: the last turn did.
        woken_by: what began the turn that runs or ran last; stopped: why it rests until the person acts, empty while it
            goes on; signal_at: when a signal woke it last; person_at: when the person was last heard.
        signals: that the turn which runs or ran last took; is_interrupted: the person stops the turn that runs; has_dreamt: since the person was last heard.
        usd: cost of its own turns, as far as prices are known; notes: newest last, at most `NOTES_KEPT`.
    """

    discussion_id: str
    state: Attention
    entered_at: datetime
    next_at: datetime | None = None
    message_id: str = ""
    turns: int = 0
    errors: int = 0
    used_tools: bool = False
    woken_by: str = ""
    stopped: str = ""
    signal_at: datetime | None = None
    person_at: datetime | None = None
    signals: tuple[Signal, ...] = ()
    is_interrupted: bool = False
    has_dreamt: bool = False
    usd: float = 0.0
    notes: tuple[LoopNote, ...] = ()


class AttentionState(msgspec.Struct, frozen=True):
    """Attention.

    Args:
        autonomy: of the one discussion that has it, None for none; ended: the one that had it last, for its notes.
        active_at: last key or pointer event in the window, UTC; None for a program without one.
        desktop_at: the same of the whole desktop, where it offers that and the person has set it.
    """

    autonomy: Autonomy | None = None
    ended: Autonomy | None = None
    active_at: datetime | None = None
    desktop_at: datetime | None = None
