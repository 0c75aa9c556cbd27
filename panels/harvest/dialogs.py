"""The dialogs of the harvest: what giving up and discarding do, and the choosers of further sources."""

from __future__ import annotations

from typing import Literal

from core.base import figures as fmt
from core.harvest.messages import ApplyHarvest
from core.values.harvest import ArtifactClass
from panels.base.answers import answers
from panels.base.desk import Desk
from panels.base.view import Dialog
from panels.harvest.batches import cancel_dialog
from panels.harvest.settings_tab import change_sources
from panels.harvest.view import HarvestView


def harvest_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog that is open, one of the harvest's."""
    match dialog.kind:
        case "harvest_give_up":
            _give_up(desk, dialog)
        case "harvest_discard":
            _discard(desk, dialog)
        case "harvest_cancel_batches":
            cancel_dialog(desk, dialog)
        case "harvest_folder":
            _add_folder(desk, dialog)
        case _:
            _add_files(desk, dialog)


def _give_up(desk: Desk, dialog: Dialog) -> None:
    """Say what reclaiming without harvesting means; do it only after a yes."""
    own = desk.view.of(HarvestView)
    ui, command = desk.ui, dialog.command
    paths = command.paths if isinstance(command, ApplyHarvest) else ()
    pruned = desk.view.memo.get("harvest pruned", (desk.state.harvest.look,), lambda: _pruned(desk))
    days = fmt.count(desk.state.config.settings.trash_days, "day")
    with ui.dialog(
        "give up", "Give up without harvesting?" if paths else "Remove the empty ones?", width=460
    ) as closed:
        if paths:
            several = fmt.count(len(paths), "conversation goes", "conversations go")
            text = f"{several} to the trash, and nothing of what was said in them is kept in the knowledge. No model reads them."
            ui.text("what", text, wraps=True)
        if pruned:
            ui.text(
                "empty", f"{fmt.count(pruned, 'empty one goes', 'empty ones go')} to the trash.", wraps=True
            )
        note = f"They wait there for {days}; until then Undo brings them back."
        ui.text("note", note, tone="muted", wraps=True)
        answer = answers(desk.ui, "Keep them", "Give up" if paths else "Remove", is_danger=True)
    _close(desk, dialog, answer, is_closed=closed.clicked)
    if answer == "yes":
        own.tab = "applied"
        own.left_out = frozenset()


def _discard(desk: Desk, dialog: Dialog) -> None:
    """Say what discarding loses."""
    own = desk.view.of(HarvestView)
    ui = desk.ui
    with ui.dialog("discard", "Discard the preview?", width=440) as closed:
        ui.text("what", "What you changed, ticked and unticked in it is gone.", wraps=True)
        note = "The conversations stay as they are. What the model said is kept: another preview of them costs nothing."
        ui.text("note", note, tone="muted", wraps=True)
        answer = answers(desk.ui, "Keep it", "Discard", is_danger=True)
    _close(desk, dialog, answer, is_closed=closed.clicked)
    if answer == "yes":
        own.edits.clear()
        own.tab = "conversations"


def _pruned(desk: Desk) -> int:
    return sum(one.kind is ArtifactClass.PRUNE for one in desk.state.harvest.look.artifacts)


def _close(desk: Desk, dialog: Dialog, answer: str, *, is_closed: bool) -> None:
    if not answer and not is_closed and not desk.ui.shortcut("Escape"):
        return
    desk.view.dialog = None
    if answer == "yes" and dialog.command is not None:
        desk.send(dialog.command)


def _add_folder(desk: Desk, _dialog: Dialog) -> None:
    """Choose a folder to look in."""
    _add(desk, "Look for conversations in a folder", "folder")


def _add_files(desk: Desk, _dialog: Dialog) -> None:
    """Choose files to look at."""
    _add(desk, "Add conversations from files", "files")


def _add(desk: Desk, title: str, picks: Literal["files", "folder"]) -> None:
    picked = desk.ui.file_dialog("harvest source", title, start=desk.state.config.project.root, picks=picks)
    if picked is None:
        return
    desk.view.dialog = None
    if picked:
        change_sources(desk, (*desk.state.config.settings.knowledge.harvest_sources, *picked))
