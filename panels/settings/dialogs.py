"""The dialogs of the project: the chooser of its folder, and the question whether what it asks for may count."""

from __future__ import annotations

from core.base.text import one_line
from core.settings.asked_values import question_id
from core.settings.messages import OpenProject, TrustProject
from core.settings.wording import asked_lines, trust_reason, trust_title
from core.values.settings import Project
from panels.base.answers import answers
from panels.base.desk import Desk
from panels.base.view import Dialog

QUESTION_WIDTH_PX, QUESTION_HEIGHT_PX, BUTTONS_PX = 640, 560, 44
"""Size of the question; it is as high as its words where the folder asks for nothing."""
ASKS_NOTHING = "The folder itself sets nothing. What its files come to ask for later is shown to you first."
TOOLS_THEN = "A model that you give tools may read this folder then. Before it changes a file or runs a command, it asks you."


def open_project_dialog(desk: Desk) -> None:
    """Draw the chooser of a folder. Sends OpenProject."""
    picked = desk.ui.file_dialog(
        "open project", "Open project folder", start=desk.state.config.project.root, picks="folder"
    )
    if picked is not None:
        desk.view.dialog = None
        if picked:
            desk.send(OpenProject(picked[0]))


def trust_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw all that the project asks for beside what was shown before. Sends TrustProject for what stood there.

    `dialog.subject` is the id of the question that was on the screen in the frame before: a press that meets a changed
    one is no yes to it.
    """
    ui, project = desk.ui, desk.state.config.project
    if project.is_trusted and not project.asked:
        desk.view.dialog = None
        return
    question = desk.view.memo.get("question of trust", (project.asked,), lambda: question_id(project.asked))
    is_same = dialog.text == project.root and dialog.subject == question
    if dialog.text == project.root and not is_same:
        dialog.at = 1
    title = trust_title(project) or f"Do you trust {one_line(project.name, 80)}?"
    has_list = bool(project.asked or project.held_back)
    height = QUESTION_HEIGHT_PX if has_list else None
    with ui.dialog("trust", title, width=QUESTION_WIDTH_PX, height=height) as closed:
        ui.text("root", project.root, style="mono_small", tone="muted", tip=project.root)
        ui.text("tools", TOOLS_THEN, tone="muted", wraps=True)
        ui.text("why", _reason(project), tone="muted", wraps=True)
        if dialog.at:
            changed = "It has changed while it was shown: this is what it asks for now."
            ui.text("changed", changed, tone="warn", wraps=True)
        if has_list:
            with ui.surface("asked", "inset", height=-BUTTONS_PX, padding=(12, 8), scrolls=True):
                _asked(desk, project)
        answer = answers(ui, "Not now", "Trust what is shown" if project.asked else "Trust this folder")
    dialog.subject, dialog.text = question, project.root
    if answer == "yes" and is_same:
        desk.send(TrustProject(is_trusted=True, shown=question))
    if (answer == "yes" and is_same) or answer == "no" or closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _reason(project: Project) -> str:
    return trust_reason(project) if project.asked else ASKS_NOTHING


def _asked(desk: Desk, project: Project) -> None:
    ui = desk.ui
    lines = desk.view.memo.get("lines of trust", (project.asked,), lambda: asked_lines(project.asked))
    for index, line in enumerate(lines):
        ui.text(("asked", index), f"•  {line.words}", wraps=True)
        if line.text:
            with ui.surface(("text", index), "card", padding=(12, 8)):
                ui.text("text", line.text, style="mono_small", wraps=True)
    if project.held_back:
        ui.text("held title", "Whatever you answer, this never counts", style="strong")
        for index, sentence in enumerate(project.held_back):
            ui.text(("held", index), f"•  {sentence}", style="small", wraps=True)
