"""The question before much is taken out of a category at once: the list, and a yes or a no."""

from __future__ import annotations

import math

from core.kernel.values.knowledge import RemovalQuestion
from core.knowledge.harvest.harvest_messages import ApplyHarvest, ApplyMerge, LeaveRemoval, UndoHarvest
from panels.base.desk import Desk
from panels.base.ui import ButtonKind

QUESTION_PX, MOST_WHOLE = 120.0, 4
"""Height of a long list, and the items of one that is shown to its end."""


def removal_question(desk: Desk) -> None:
    """Draw the question, where there is one. Sends UndoHarvest, ApplyHarvest, ApplyMerge, LeaveRemoval."""
    ui, question = desk.ui, desk.state.harvest.question
    if question is None:
        return
    command, what = _agreed(question)
    with ui.surface("question", "card", padding=(12, 8)), ui.group("lines", gap=6):
        with ui.row("what"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", f"{question.sentence}.", style="small_strong", wraps=True, width=0)
        listed = "\n".join(f"{item.file}: {' '.join(item.text.split())}" for item in question.items)
        height = math.inf if len(question.items) <= MOST_WHOLE else QUESTION_PX
        ui.selectable_text("items", listed, height=height)
        with ui.row("buttons"):
            ui.push()
            if ui.button("leave", "Leave them", tip="Nothing is done"):
                desk.send(LeaveRemoval())
            is_free = not desk.state.harvest.is_busy
            tip = f"{what}, {len(question.items):,} items"
            kind: ButtonKind = "primary" if question.is_merge else "danger"
            if ui.button("go on", "Go on", kind=kind, is_enabled=is_free, tip=tip):
                desk.send(command)


def _agreed(question: RemovalQuestion) -> tuple[UndoHarvest | ApplyHarvest | ApplyMerge, str]:
    """The command that a yes gives, and what it does with the items."""
    if question.is_merge:
        return ApplyMerge(is_agreed=True), "Merged"
    if question.is_undo:
        return UndoHarvest(apply_id=question.apply_id, is_agreed=True), "Taken out"
    return ApplyHarvest(is_agreed=True), "Struck through"
