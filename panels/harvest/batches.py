"""Batches at the provider in the Harvest panel: what waits there, since when, and what stood against it."""

from __future__ import annotations

from core.base import figures as fmt
from core.harvest.batch_schedule import POLL
from core.harvest.batch_words import batch_line, polling_words
from core.harvest.messages import BatchHarvest, CancelBatches, LeaveBatch
from core.values.batches import BatchReport
from panels.base.desk import Desk
from panels.base.view import Dialog
from panels.harvest.view import SHOWN_PROBLEMS, HarvestView

POLLS = f"Asked by itself every {POLL.seconds // 60} minutes"


def batches_section(desk: Desk) -> None:
    """Draw a line for each open batch, the ways to collect and to stop them, and what became of the last ones.

    Sends BatchHarvest, CancelBatches, LeaveBatch.
    """
    ui, harvest = desk.ui, desk.state.harvest
    _untick_unanswered(desk)
    if harvest.look.batches:
        _open_batches(desk)
    if harvest.is_past_limit and harvest.batch is not None:
        _past_limit(desk)
    told = harvest.batched or BatchReport()
    for one in told.batches:
        if not one.is_open:
            with ui.row(("closed", one.tag)):
                ui.icon("icon", "clock-rotate-left", tone="muted")
                line = batch_line(one, desk.state.now)
                ui.text("text", line, tone="muted", style="small", wraps=True, width=0)
    for index, problem in enumerate(told.problems[:SHOWN_PROBLEMS]):
        ui.text(("batch problem", index), problem, tone="warn", style="small", wraps=True)
    if (more := len(told.problems) - SHOWN_PROBLEMS) > 0:
        ui.text("more batch problems", f"and {fmt.count(more, 'more problem')}", tone="warn", style="small")


def _open_batches(desk: Desk) -> None:
    ui, harvest = desk.ui, desk.state.harvest
    is_free = not harvest.is_busy and not desk.state.program.is_home_read_only
    with ui.row("batches"):
        ui.icon("icon", "clock", tone="accent")
        with ui.group("lines", gap=2):
            for one in harvest.look.batches:
                line = batch_line(one, desk.state.now)
                ui.text(("line", one.tag), line, style="small", wraps=True, tip=polling_words())
    with ui.row("batch buttons"):
        ui.text("polls", POLLS, tone="muted", style="small", width=0, tip=polling_words())
        tip = "Ask the provider for results now; what came is previewed without further cost"
        if ui.button("collect", "Collect", is_small=True, is_enabled=is_free, tip=tip):
            desk.view.of(HarvestView).waits_for_batch = True
            desk.send(BatchHarvest(submits=False, previews=True))
        tip = "Stop them at the provider; answers that are there by now are kept and billed"
        can = is_free and not all(one.is_unwanted for one in harvest.look.batches)
        if ui.button("stop", "Cancel…", kind="ghost", is_small=True, is_enabled=can, tip=tip):
            desk.view.dialog = Dialog("harvest_cancel_batches", command=CancelBatches())


def _untick_unanswered(desk: Desk) -> None:
    """Untick what a batch did not answer: who chose it for its price is not led to the dear way. Show what came."""
    own, harvest = desk.view.of(HarvestView), desk.state.harvest
    if harvest.batched is own.batched_seen:
        return
    own.batched_seen = harvest.batched
    told = harvest.batched or BatchReport()
    own.left_out |= {path for one in told.batches if not one.is_open for path in one.unanswered}
    if own.waits_for_batch and harvest.preview is not None:
        own.tab = "preview"
    own.waits_for_batch = False


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
        for one in waiting:
            ui.text(("what", one.tag), f"{batch_line(one, desk.state.now)}.", wraps=True)
        ui.text("means", "Answers that are there by now are kept, and billed. The rest is not read: the conversations stay, "
                "and what was sent is deleted at the provider.", tone="muted", wraps=True)  # fmt: skip
        with ui.row("buttons"):
            ui.push()
            if ui.button("keep", "Let it go on" if len(waiting) == 1 else "Let them go on"):
                desk.view.dialog = None
            if ui.button("stop", f"Cancel {several}", kind="danger"):
                desk.view.dialog = None
                desk.send(command)
    if closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
