"""The dialog that opens a project's folder."""

from __future__ import annotations

from core.settings.messages import OpenProject
from panels.base.desk import Desk


def open_project_dialog(desk: Desk) -> None:
    """Draw the chooser of a folder. Sends OpenProject."""
    picked = desk.ui.file_dialog(
        "open project", "Open project folder", start=desk.state.config.project.root, picks="folder"
    )
    if picked is not None:
        desk.view.dialog = None
        if picked:
            desk.send(OpenProject(picked[0]))
