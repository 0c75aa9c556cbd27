"""The Harvest panel: what lies there, what a model proposes to keep of it, what was written, and the way back."""

from __future__ import annotations

from core.harvest.messages import CancelHarvest, LookForHarvest
from panels.base.desk import Desk
from panels.base.ui import Option
from panels.harvest import facts
from panels.harvest.applies import applied_section
from panels.harvest.conversations import conversations_section
from panels.harvest.ledger import ledger_section
from panels.harvest.preview import preview_section
from panels.harvest.view import HarvestView
from panels.knowledge.removals import removal_question


def harvest_panel(desk: Desk) -> None:
    """Draw the panel. O(visible) for any number of conversations, items and entries.

    Sends LookForHarvest, PreviewHarvest, TickHarvestItems, EditHarvestItem, MoveHarvestItem, DiscardPreview,
    ApplyHarvest, BatchHarvest, CancelBatches, LeaveBatch, CancelHarvest, UndoHarvest, ChangeSetting, SelectDiscussion.
    """
    own = desk.view.of(HarvestView)
    _look(desk)
    _tabs(desk)
    _progress(desk)
    _problem(desk)
    removal_question(desk)
    with desk.ui.surface(("part", own.tab), "clear", height=0, padding=(0, 0)):
        match own.tab:
            case "conversations":
                conversations_section(desk)
            case "preview":
                preview_section(desk)
            case "applied":
                applied_section(desk)
            case "ledger":
                ledger_section(desk)


def _look(desk: Desk) -> None:
    """Look once on first sight and after something was forgotten, and once more after each change of a setting that the look depends on."""
    state, own = desk.state, desk.view.of(HarvestView)
    now = state.config.settings.knowledge
    if own.has_looked and state.harvest.looked_at is None:  # what was seen then was forgotten since
        own.looked_with = None
    own.has_looked = state.harvest.looked_at is not None
    if not state.program.home or state.program.is_loading or state.harvest.is_busy or own.looked_with == now:
        return
    is_first, own.looked_with = own.looked_with is None, now
    if not is_first or state.harvest.looked_at is None:
        desk.send(LookForHarvest())


def _tabs(desk: Desk) -> None:
    preview, own = desk.state.harvest.preview, desk.view.of(HarvestView)
    proposed = f"Preview ({len(preview.items):,})" if preview is not None and preview.items else "Preview"
    tabs = (
        Option("conversations", "Conversations", icon="comments"),
        Option("preview", proposed, icon="list-check"),
        Option("applied", "Applied", icon="clock-rotate-left"),
        Option("ledger", "Ledger", icon="database"),
    )
    match desk.ui.tabs("parts", tabs, own.tab):
        case "conversations" | "preview" | "applied" | "ledger" as clicked:
            own.tab = clicked
        case _:
            pass


def _progress(desk: Desk) -> None:
    ui, harvest = desk.ui, desk.state.harvest
    if not harvest.is_busy:
        return
    with ui.surface("progress", "card", padding=(12, 8)), ui.group("lines", gap=6):
        with ui.row("what"):
            ui.icon("icon", "wheat-awn", tone="warn")
            ui.text("phase", facts.PHASE_WORDS.get(harvest.phase, ""), style="strong", width=0)
            label = "Stopping…" if harvest.is_cancelling else "Cancel"
            tip = "Stops after what is being written; what was read is kept"
            if ui.button("cancel", label, is_small=True, is_enabled=not harvest.is_cancelling, tip=tip):
                desk.send(CancelHarvest())
        if harvest.total:
            ui.progress("bar", harvest.done / harvest.total, tone="warn")
        if line := facts.progress_line(harvest):
            ui.text("line", line, tone="muted", style="small", width=0, tip=harvest.doing)


def _problem(desk: Desk) -> None:
    ui = desk.ui
    problem, remedy = desk.state.harvest.problem, desk.state.harvest.remedy
    if not problem:
        return
    with ui.surface("problem", "card", padding=(12, 6)), ui.group("lines", gap=2):
        with ui.row("what"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", problem, style="small_strong", wraps=True, width=0)
            tip = "Look at the conversations, the ledger and the applies anew"
            is_free = not desk.state.harvest.is_busy
            if ui.button(
                "again", "", icon="arrows-rotate", kind="ghost", is_small=True, is_enabled=is_free, tip=tip
            ):
                desk.send(LookForHarvest())
        if remedy:
            ui.text("remedy", remedy, tone="muted", style="small", wraps=True)
