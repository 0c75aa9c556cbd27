"""The Harvest panel: what lies there, what a model proposes to keep of it, what was written, and the way back."""

from __future__ import annotations

from typing import Literal

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.harvest import ArtifactClass
from core.knowledge.harvest.harvest_messages import ApplyHarvest, CancelHarvest, LookForHarvest
from panels.base.desk import Desk, answers
from panels.base.ui import Option
from panels.base.view import Dialog
from panels.harvest import harvest_facts
from panels.harvest.applies import applied_section
from panels.harvest.batches import cancel_dialog, ledger_section
from panels.harvest.conversations import conversations_section
from panels.harvest.harvest_room import HarvestView
from panels.harvest.harvest_settings import change_sources
from panels.harvest.preview import preview_section
from panels.knowledge.knowledge_dialogs import refusal, removal_question


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
    refusal(desk)
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
    """Look once on first sight and after something was forgotten, and once more after each change of a setting that the
    look depends on, and after a discussion came or went: the list says what is true now.
    """
    state, own = desk.state, desk.view.of(HarvestView)
    now = state.config.settings.knowledge
    if own.has_looked and state.harvest.looked_at is None:  # what was seen then was forgotten since
        own.looked_with = None
    own.has_looked = state.harvest.looked_at is not None
    if (
        not state.program.home
        or state.program.is_loading
        or state.harvest.is_busy
        or (own.has_looked_with(now) and own.looked_among == len(state.discussions.summaries))
    ):
        return
    is_first = own.looked_with is None
    own.looked_with, own.looked_among = now, len(state.discussions.summaries)
    if not is_first or state.harvest.looked_at is None:
        desk.send(LookForHarvest())


def _tabs(desk: Desk) -> None:
    preview, own = desk.state.harvest.preview, desk.view.of(HarvestView)
    proposed = (
        tr("Preview ({count:,})", count=len(preview.items))
        if preview is not None and preview.items
        else tr("Preview")
    )
    tabs = (
        Option(value="conversations", label=tr("Conversations"), icon="comments"),
        Option(value="preview", label=proposed, icon="list-check"),
        Option(value="applied", label=tr("Applied"), icon="clock-rotate-left"),
        Option(value="ledger", label=tr("Ledger"), icon="database"),
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
            ui.text("phase", harvest_facts.PHASE_WORDS.get(harvest.phase, ""), style="strong", width=0)
            label = tr("Stopping…") if harvest.is_cancelling else tr("Cancel")
            tip = tr("The harvest stops after the current write; the program keeps the replies so far")
            if ui.button("cancel", label, is_small=True, is_enabled=not harvest.is_cancelling, tip=tip):
                desk.send(CancelHarvest())
        if harvest.total:
            ui.progress("bar", harvest.done / harvest.total, tone="warn")
        if line := harvest_facts.progress_line(harvest):
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
            tip = tr("Reload the conversations, the ledger and the list of applied harvests")
            is_free = not desk.state.harvest.is_busy
            if ui.button(
                "again", "", icon="arrows-rotate", kind="ghost", is_small=True, is_enabled=is_free, tip=tip
            ):
                desk.send(LookForHarvest())
        if remedy:
            ui.text("remedy", remedy, tone="muted", style="small", wraps=True)


# The dialogs of the harvest: what giving up and discarding do, and the choosers of further sources.


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
    days = fmt.count(desk.state.config.settings.trash_days, tr("day"), tr("days"))
    with ui.dialog(
        "give up",
        tr("Move to the trash without harvesting?") if paths else tr("Remove the empty conversations?"),
        width=460,
    ) as closed:
        if paths:
            text = (
                tr("1 conversation goes to the trash. No model reads it, and knowledge keeps nothing of it.")
                if len(paths) == 1
                else tr(
                    "{count:,} conversations go to the trash. No model reads them, and knowledge keeps nothing of them.",
                    count=len(paths),
                )
            )
            ui.text("what", text, wraps=True)
        if pruned:
            ui.text(
                "empty",
                fmt.count(
                    pruned,
                    tr("empty conversation goes to the trash."),
                    tr("empty conversations go to the trash."),
                ),
                wraps=True,
            )
        note = tr(
            "The conversations stay in the trash for {days}; until then, Undo brings them back.", days=days
        )
        ui.text("note", note, tone="muted", wraps=True)
        answer = answers(desk.ui, tr("Keep"), tr("Move to trash") if paths else tr("Remove"), is_danger=True)
    _close(desk, dialog, answer, is_closed=closed.clicked)
    if answer == "yes":
        own.tab = "applied"
        own.tick_anew()


def _discard(desk: Desk, dialog: Dialog) -> None:
    """Say what discarding loses."""
    own = desk.view.of(HarvestView)
    ui = desk.ui
    with ui.dialog("discard", tr("Discard the preview?"), width=440) as closed:
        ui.text("what", tr("You lose your changes and ticks in this preview."), wraps=True)
        note = tr(
            "The conversations stay as they are. The model's replies are kept: another preview of them costs nothing."
        )
        ui.text("note", note, tone="muted", wraps=True)
        answer = answers(desk.ui, tr("Keep"), tr("Discard"), is_danger=True)
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
    _add(desk, tr("Look for conversations in a folder"), "folder")


def _add_files(desk: Desk, _dialog: Dialog) -> None:
    """Choose files to look at."""
    _add(desk, tr("Add conversations from files"), "files")


def _add(desk: Desk, title: str, picks: Literal["files", "folder"]) -> None:
    picked = desk.ui.file_dialog("harvest source", title, start=desk.state.config.project.root, picks=picks)
    if picked is None:
        return
    desk.view.dialog = None
    if picked:
        change_sources(desk, (*desk.state.config.settings.knowledge.harvest_sources, *picked))
