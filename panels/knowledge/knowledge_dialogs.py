"""Dialogs of the Knowledge panel: a yes before items go, one or many, and the file that notes belong to."""

from __future__ import annotations

import math

from core.app.app_messages import Command, DismissNotice
from core.app.forgetting.forgetting_places import DELETE_SAYS, FORGET_SAYS
from core.kernel.language import tr
from core.kernel.values.knowledge import DraftKind, Item, RemovalQuestion
from core.knowledge.harvest.harvest_messages import (
    NOTICE,
    ApplyHarvest,
    ApplyMerge,
    GraduatePlaybook,
    LeaveRemoval,
    UndoHarvest,
)
from core.knowledge.knowledge_messages import AttachNotes, DeleteKnowledgeItem
from core.knowledge.merges import becomes, draft_name, draft_text
from core.talk.caching.rewrites import withdrawal_text
from panels.base.desk import Desk, answers
from panels.base.gauge import LEVEL_ICONS
from panels.base.ui import ButtonKind, Option
from panels.base.view import Dialog
from panels.knowledge.history import history_dialog
from panels.knowledge.knowledge_room import KnowledgeView, ask, item_key, shown_text

# The dialogs of the Knowledge panel: a yes before an item goes, and the file that notes belong to.

# The dialog that makes a draft of a playbook: its text, where it goes, and what makes it count.

WIDTH_PX, TEXT_PX = 620, 300
KINDS = (
    Option(value=DraftKind.PROMPT.value, label=tr("A prompt")),
    Option(value=DraftKind.TOOL.value, label=tr("A tool")),
)


def ask_draft(desk: Desk, item: Item) -> None:
    """Open the dialog."""
    desk.view.dialog = Dialog(kind="graduate_playbook", command=GraduatePlaybook(item=item))


def draft_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog. Sends GraduatePlaybook."""
    ui, asked = desk.ui, dialog.command
    if not isinstance(asked, GraduatePlaybook):
        desk.view.dialog = None
        return
    with ui.dialog("graduate playbook", tr("Make a draft of this playbook"), width=WIDTH_PX) as closed:
        kind = DraftKind(ui.tabs("kind", KINDS, asked.kind.value) or asked.kind.value)
        if kind is not asked.kind:
            dialog.command = asked = GraduatePlaybook(item=asked.item, kind=kind)
        name = draft_name(asked.item, kind, ())
        ui.selectable_text("text", draft_text(asked.item, kind, name), mono=True, height=TEXT_PX)
        where = tr(
            "The program writes the draft to {name} in the knowledge folder. Nothing reads or runs it until you rename it to {becomes}.",
            name=name,
            becomes=becomes(name),
        )
        ui.text("where", where, tone="muted", style="small", wraps=True)
        answer = answers(ui, tr("Cancel"), tr("Write draft"))
    if answer or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
    if answer == "yes":
        desk.send(asked)


SHOWN_CHARS = 400


def knowledge_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog that is open, one of the Knowledge panel's."""
    if dialog.kind == "delete_item":
        _delete_item(desk, dialog)
    elif dialog.kind == "item_history":
        history_dialog(desk, dialog)
    elif dialog.kind == "graduate_playbook":
        draft_dialog(desk, dialog)
    else:
        _attach_notes(desk, dialog)


def _delete_item(desk: Desk, dialog: Dialog) -> None:
    """Ask before an item is deleted. Sends DeleteKnowledgeItem."""
    ui, command = desk.ui, dialog.command
    if not isinstance(command, DeleteKnowledgeItem):
        desk.view.dialog = None
        return
    item = command.item
    with ui.dialog("delete item", tr("Delete this item?"), width=440) as closed:
        text = shown_text(item)
        with ui.surface("words", "inset"):
            shown = text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"
            ui.text("text", shown, wraps=True)
        ui.text(
            "what",
            tr(
                "The program removes this item from {file}. {DELETE_SAYS}",
                file=item.file,
                DELETE_SAYS=DELETE_SAYS,
            ),
            tone="muted",
            wraps=True,
        )
        ui.text("forget", FORGET_SAYS, tone="muted", wraps=True)
        if price := withdrawal_text(desk.state):
            ui.text("price", price, tone="warn", wraps=True)
        with ui.row("buttons"):
            ui.push()
            if ui.button("cancel", tr("Cancel")):
                desk.view.dialog = None
            if ui.button("delete", tr("Delete item"), kind="danger"):
                desk.view.dialog = None
                desk.view.of(KnowledgeView).edits.pop(item_key(item), None)
                ask(desk, item, command)
    if closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _attach_notes(desk: Desk, dialog: Dialog) -> None:
    """Choose the file that orphaned notes are about. Sends AttachNotes."""
    note = next((n for n in desk.state.knowledge.notes if n.file_id == dialog.subject), None)
    folder = dialog.text.replace("\\", "/").rpartition("/")[0]
    start = desk.state.config.project.root or folder
    picked = desk.ui.file_dialog(
        "attach notes", tr("Choose the file that these notes belong to"), start=start
    )
    if picked is None:
        return
    desk.view.dialog = None
    if picked and note is not None:
        ask(desk, note, AttachNotes(file_id=note.file_id, path=picked[0]))


def refusal(desk: Desk) -> None:
    """Say why a harvest or a merge did not begin, where it was asked for, and offer what the notice offers. Sends that, DismissNotice."""
    ui, harvest = desk.ui, desk.state.harvest
    notice = next((one for one in desk.state.program.notices if one.id == NOTICE), None)
    if notice is None or notice.text == harvest.problem:
        return
    icon, tone = LEVEL_ICONS[notice.level]
    with ui.surface("refusal", "card", padding=(12, 6)), ui.group("lines", gap=4):
        with ui.row("what"):
            ui.icon("icon", icon, tone=tone)
            ui.text("text", notice.text, style="small_strong", wraps=True, width=0)
            if ui.button("dismiss", "", icon="xmark", kind="ghost", is_small=True, tip=tr("Dismiss")):
                desk.send(DismissNotice(notice.id))
        if notice.detail:
            ui.text("detail", notice.detail, tone="muted", style="small", wraps=True)
        if not isinstance(notice.action, Command) or harvest.is_busy:
            return
        if ui.button("action", notice.action_label, is_small=True):
            desk.send(notice.action)
            desk.send(DismissNotice(notice.id))


# The question before much is taken out of a category at once: the list, and a yes or a no.

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
            if ui.button("leave", tr("Keep"), tip=tr("Nothing changes")):
                desk.send(LeaveRemoval())
            is_free = not desk.state.harvest.is_busy
            tip = tr("{what}, {items:,} items", what=what, items=len(question.items))
            kind: ButtonKind = "primary" if question.is_merge else "danger"
            if ui.button("go on", tr("Continue"), kind=kind, is_enabled=is_free, tip=tip):
                desk.send(command)


def _agreed(question: RemovalQuestion) -> tuple[UndoHarvest | ApplyHarvest | ApplyMerge, str]:
    """The command that a yes gives, and what it does with the items."""
    if question.is_merge:
        return ApplyMerge(is_agreed=True), tr("Merged")
    if question.is_undo:
        return UndoHarvest(apply_id=question.apply_id, is_agreed=True), tr("Removed")
    return ApplyHarvest(is_agreed=True, after=question.after), tr("Struck through")
