"""Calls that another program has in a discussion, over the composer and in words."""

from __future__ import annotations

from core.base import figures as fmt
from core.values.discussion import OpenDiscussion
from panels.base.desk import Desk


def held_words(opened: OpenDiscussion) -> str:
    """Sentence on who has the calls, and where they are answered."""
    calls = fmt.count(len(opened.held_calls), "tool call")
    return (
        f"Another window or terminal has {calls} here: answer there. Until then nothing is sent from here; once it has "
        "ended, what it did not begin asks here"
    )


def held_strip(desk: Desk, opened: OpenDiscussion) -> None:
    """Draw that calls are answered elsewhere; nothing where none is."""
    if not opened.held_calls:
        return
    with desk.ui.row("held", gap=6):
        desk.ui.icon("icon", "terminal", tone="warn")
        desk.ui.text("text", f"{held_words(opened)}.", tone="warn", style="small", width=0, wraps=True)
