"""The run that keeps the search index: how far it is, how it waits, stops and begins, and what stands in its way."""

from __future__ import annotations

from core.retrieval.messages import CancelIndexing, PauseIndexing, UpdateIndex
from panels.base.desk import Desk
from panels.retrieval import facts


def progress_card(desk: Desk) -> None:
    """Draw the run under way, else what went wrong; nothing where all is well. Sends PauseIndexing, CancelIndexing, UpdateIndex."""
    retrieval = desk.state.retrieval
    if retrieval.progress is not None:
        _running(desk)
    elif retrieval.problem:
        _problem(desk, retrieval.problem, retrieval.remedy)


def _running(desk: Desk) -> None:
    ui, retrieval = desk.ui, desk.state.retrieval
    progress = retrieval.progress
    assert progress is not None
    with ui.surface("run", "card", padding=(12, 8)), ui.group("lines", gap=6):
        said = facts.progress_words(progress, is_paused=retrieval.is_paused)
        ui.text("phase", said, style="small_strong", wraps=True)
        ui.progress("bar", facts.progress_share(progress), tone="accent", height=4)
        if progress.doing:
            doing = facts.doing_words(desk.state, progress)
            ui.text("doing", doing, tone="muted", style="small", width=0, tip=doing)
        with ui.row("acts"):
            label = "Go on" if retrieval.is_paused else "Pause"
            icon = "play" if retrieval.is_paused else "pause"
            if ui.button("pause", label, icon=icon, kind="ghost", is_small=True):
                desk.send(PauseIndexing(not retrieval.is_paused))
            tip = "Stops after the file in work. What is done stays; the next run goes on where it was"
            if ui.button("cancel", "Cancel", icon="stop", kind="ghost", is_small=True, tip=tip):
                desk.send(CancelIndexing())


def _problem(desk: Desk, problem: str, remedy: str) -> None:
    ui = desk.ui
    with ui.surface("problem", "card", padding=(12, 8)), ui.group("lines", gap=4):
        with ui.row("what"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", f"{problem.rstrip('.')}.", style="small_strong", wraps=True, width=0)
            if ui.button("again", "Update now", icon="arrows-rotate", kind="ghost", is_small=True):
                desk.send(UpdateIndex())
        if remedy:
            ui.text("remedy", f"{remedy.rstrip('.')}.", tone="muted", style="small", wraps=True)
