"""The dialogs of the Knowledge panel: a yes before an item goes, and the file that notes belong to."""

from __future__ import annotations

from core.caching.rewrites import withdrawal_text
from core.forgetting.report import DELETE_SAYS, FORGET_SAYS
from core.knowledge.messages import AttachNotes, DeleteKnowledgeItem
from panels.base.desk import Desk
from panels.base.view import Dialog
from panels.knowledge.drafts import ask, item_key, shown_text
from panels.knowledge.graduation import draft_dialog
from panels.knowledge.history import history_dialog
from panels.knowledge.view import KnowledgeView

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
    with ui.dialog("delete item", "Delete this item?", width=440) as closed:
        text = shown_text(item)
        with ui.surface("words", "inset"):
            shown = text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + "…"
            ui.text("text", shown, wraps=True)
        ui.text("what", f"It is taken out of {item.file}. {DELETE_SAYS}", tone="muted", wraps=True)
        ui.text("forget", FORGET_SAYS, tone="muted", wraps=True)
        if price := withdrawal_text(desk.state):
            ui.text("price", price, tone="warn", wraps=True)
        with ui.row("buttons"):
            ui.push()
            if ui.button("cancel", "Cancel"):
                desk.view.dialog = None
            if ui.button("delete", "Delete item", kind="danger"):
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
    picked = desk.ui.file_dialog("attach notes", "Attach notes to a file", start=start)
    if picked is None:
        return
    desk.view.dialog = None
    if picked and note is not None:
        ask(desk, note, AttachNotes(note.file_id, picked[0]))
