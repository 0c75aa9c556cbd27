"""The question before something that a person entered goes, which nothing brings back."""

from __future__ import annotations

from core.app.messages import Command
from core.base.text import one_line
from panels.base.answers import answers
from panels.base.desk import Desk
from panels.base.view import Dialog


def ask_removal(desk: Desk, name: str, what: str, command: Command) -> None:
    """Ask before something that a person entered goes.

    Args:
        what: goes with it, or was said in it; command: the removal.
    """
    desk.view.dialog = Dialog("remove", name, what, command=command)


def removal_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the question of `ask_removal`. Sends its command."""
    with desk.ui.dialog("remove", f"Remove {one_line(dialog.subject, 80)}?", width=440) as closed:
        desk.ui.text("what", dialog.text, tone="muted", wraps=True)
        answer = answers(desk.ui, "Keep it", "Remove", is_danger=True)
    if answer or closed.clicked or desk.ui.shortcut("Escape"):
        desk.view.dialog = None
    if answer == "yes" and dialog.command is not None:
        desk.send(dialog.command)
