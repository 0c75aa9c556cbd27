"""Strips over the composer while nothing goes out: a compaction, or calls that another program has."""

from __future__ import annotations

from core.base import figures as fmt
from core.values.discussion import OpenDiscussion
from core.values.updates import outcome_of
from core.values.window import CompactionPhase
from panels.base.desk import Desk
from panels.discussion.view import ComposerView

PHASES = {
    CompactionPhase.WAITING: "when the turn that runs has ended",
    CompactionPhase.PLANNING: "looking at what is old",
    CompactionPhase.RESERVING: "asking the model for a summary of what leaves",
    CompactionPhase.SUMMARISING: "asking the model for a summary of what leaves",
    CompactionPhase.STORING: "writing it down",
}


def compaction_strip(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Draw the compaction under way, or why the one that was asked for made no room; nothing otherwise."""
    ui, one = desk.ui, desk.state.agent.compactions.get(opened.id)
    if one is not None:
        with ui.row("compaction", gap=6):
            ui.icon("icon", "scissors", tone="accent")
            words = f"Making room in the model's view: {PHASES[one.phase]}"
            ui.text("text", words, tone="muted", style="small", width=0, wraps=True)
        return
    outcome = outcome_of(desk.state, composer.compaction_id) if composer.compaction_id else None
    if outcome is None or outcome.is_done:
        return
    with ui.row("compaction", gap=6):
        ui.icon("icon", "circle-info", tone="warn")
        ui.text("text", outcome.said, tone="warn", style="small", width=0, wraps=True)


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
