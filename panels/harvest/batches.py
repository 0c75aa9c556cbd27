"""Batches at the provider in the Harvest panel: what waits there, since when, and what stood against it."""

from __future__ import annotations

from core.base import figures as fmt
from core.harvest.messages import BatchHarvest
from panels.base.desk import Desk
from panels.harvest import facts

SHOWN_PROBLEMS = 3


def batches_section(desk: Desk) -> None:
    """Draw a line for all open batches with the way to collect them, and why the last look failed. Sends BatchHarvest."""
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
    problems = harvest.batched.problems if harvest.batched is not None else ()
    for index, problem in enumerate(problems[:SHOWN_PROBLEMS]):
        ui.text(("batch problem", index), problem, tone="warn", style="small", wraps=True)
    if (more := len(problems) - SHOWN_PROBLEMS) > 0:
        ui.text("more batch problems", f"and {fmt.count(more, 'more problem')}", tone="warn", style="small")
