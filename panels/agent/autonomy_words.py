"""The state of the autonomous discussion in words: icon, tone, state and countdown. For the panel and the status bar."""

from __future__ import annotations

from datetime import datetime

from core.base import figures as fmt
from core.values.attention import Attention, Autonomy
from panels.base.ui import Tone

ICONS: dict[Attention, str] = {
    Attention.ENGAGED: "comments",
    Attention.WORKING: "gear",
    Attention.FORAGING: "magnifying-glass",
    Attention.RESTING: "moon",
    Attention.STORED: "box-archive",
    Attention.DREAMING: "wheat-awn",
}
MEANINGS: dict[Attention, str] = {
    Attention.ENGAGED: "You were just here",
    Attention.WORKING: "It uses its tools",
    Attention.FORAGING: "Nothing is under way: it looks for a loose end",
    Attention.RESTING: "Nothing is to do: it looks now and then",
    Attention.STORED: "It rests until you write: nothing else wakes it",
    Attention.DREAMING: "It reads conversations for what stays useful, and applies nothing",
}


def autonomy_words(autonomy: Autonomy, now: datetime | None) -> tuple[str, Tone, str]:
    """Icon, tone and words: `Foraging · 0:21`."""
    name = autonomy.state.value.capitalize()
    if autonomy.stopped:
        return "circle-pause", "warn", "Rests until you write"
    if autonomy.message_id:
        return ICONS[autonomy.state], "accent", f"{name} · a turn runs"
    if autonomy.next_at is None or now is None:
        return ICONS[autonomy.state], "muted", name
    left = fmt.countdown((autonomy.next_at - now).total_seconds())
    return ICONS[autonomy.state], "muted", f"{name} · {left}"
