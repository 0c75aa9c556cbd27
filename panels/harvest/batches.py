"""Batches at the provider in the Harvest panel: what waits there, since when, and what stood against it."""

from __future__ import annotations

from core.base import figures as fmt
from core.harvest.messages import BatchHarvest, CancelBatches, LeaveBatch
from panels.base.desk import Desk
from panels.base.view import Dialog
from panels.harvest import facts

SHOWN_PROBLEMS = 3


def batches_section(desk: Desk) -> None:
    """Draw a line for all open batches with the way to collect them, and why the last look failed.

    Sends BatchHarvest, LeaveBatch.
    """
    ui, harvest = desk.ui, desk.state.harvest
    if harvest.look.batches:
        with ui.row("batches"):
            ui.icon("icon", "clock", tone="accent")
            words = facts.batches_line(harvest.look.batches, desk.state.now)
            ui.text("text", words, style="small", wraps=True, width=0)
            is_free = not harvest.is_busy and not desk.state.program.is_home_read_only
            tip = "Ask the provider for results; what came is previewed without further cost"
            if ui.button("collect", "Collect", is_small=True, is_enabled=is_free, tip=tip):
                desk.send(BatchHarvest(submits=False))
            tip = "Stop them at the provider; answers that are there by now are kept and billed"
            if ui.button("stop", "Cancel…", kind="ghost", is_small=True, is_enabled=is_free, tip=tip):
                desk.view.dialog = Dialog("harvest_cancel_batches", command=CancelBatches())
    if harvest.is_past_limit and harvest.batch is not None:
        _past_limit(desk)
    problems = harvest.batched.problems if harvest.batched is not None else ()
    for index, problem in enumerate(problems[:SHOWN_PROBLEMS]):
        ui.text(("batch problem", index), problem, tone="warn", style="small", wraps=True)
    if (more := len(problems) - SHOWN_PROBLEMS) > 0:
        ui.text("more batch problems", f"and {fmt.count(more, 'more problem')}", tone="warn", style="small")


def _past_limit(desk: Desk) -> None:
    """Ask about a batch that would go past the day's limit. Sends BatchHarvest, LeaveBatch."""
    ui, harvest = desk.ui, desk.state.harvest
    assert isinstance(harvest.batch, BatchHarvest)
    with ui.row("past limit"):
        ui.icon("icon", "triangle-exclamation", tone="warn")
        ui.text("text", "It waits for your yes.", tone="warn", style="small", wraps=True, width=0)
        is_free = not harvest.is_busy and not desk.state.program.is_home_read_only
        if ui.button("agree", "Submit all the same", is_small=True, is_enabled=is_free, tip=harvest.problem):
            desk.send(harvest.batch)
        if ui.button("leave", "Leave it", kind="ghost", is_small=True):
            desk.send(LeaveBatch())


def cancel_dialog(desk: Desk, dialog: Dialog) -> None:
    """Ask before batches are stopped. Sends CancelBatches."""
    ui, command = desk.ui, dialog.command
    waiting = desk.state.harvest.look.batches
    if not isinstance(command, CancelBatches) or not waiting:
        desk.view.dialog = None
        return
    several = fmt.count(len(waiting), "batch", "batches")
    with ui.dialog("cancel batches", f"Cancel {several}?", width=460) as closed:
        text = facts.batches_line(waiting, desk.state.now)
        ui.text("what", text, wraps=True)
        ui.text("means", "Answers that are there by now are kept, and billed. The rest is not read: the conversations stay, "
                "and what was sent is deleted at the provider.", tone="muted", wraps=True)  # fmt: skip
        with ui.row("buttons"):
            ui.push()
            if ui.button("keep", "Let them go on"):
                desk.view.dialog = None
            if ui.button("stop", f"Cancel {several}", kind="danger"):
                desk.view.dialog = None
                desk.send(command)
    if closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
