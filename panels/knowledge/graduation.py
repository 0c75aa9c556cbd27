"""The dialog that makes a draft of a playbook: its text, where it goes, and what makes it count."""

from __future__ import annotations

from core.harvest.messages import GraduatePlaybook
from core.knowledge.drafts import becomes, draft_name, draft_text
from core.values.knowledge import Item
from core.values.merges import DraftKind
from panels.base.answers import answers
from panels.base.desk import Desk
from panels.base.ui import Option
from panels.base.view import Dialog

WIDTH_PX, TEXT_PX = 620, 300
KINDS = (Option(DraftKind.PROMPT.value, "A prompt"), Option(DraftKind.TOOL.value, "A tool"))


def ask_draft(desk: Desk, item: Item) -> None:
    """Open the dialog."""
    desk.view.dialog = Dialog("graduate_playbook", command=GraduatePlaybook(item))


def draft_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog. Sends GraduatePlaybook."""
    ui, asked = desk.ui, dialog.command
    if not isinstance(asked, GraduatePlaybook):
        desk.view.dialog = None
        return
    with ui.dialog("graduate playbook", "Make a draft of this playbook", width=WIDTH_PX) as closed:
        kind = DraftKind(ui.tabs("kind", KINDS, asked.kind.value) or asked.kind.value)
        if kind is not asked.kind:
            dialog.command = asked = GraduatePlaybook(asked.item, kind)
        name = draft_name(asked.item, kind, ())
        ui.selectable_text("text", draft_text(asked.item, kind, name), mono=True, height=TEXT_PX)
        where = f"It is written to {name} in the knowledge folder; the playbook stays. Nothing reads or runs it until you "
        ui.text("where", f"{where}rename it to {becomes(name)}.", tone="muted", style="small", wraps=True)
        answer = answers(ui, "Cancel", "Write the draft")
    if answer or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None
    if answer == "yes":
        desk.send(asked)
