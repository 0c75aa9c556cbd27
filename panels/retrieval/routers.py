"""Routers of the notes in the Retrieval panel: each is read there, opened in an editor, or put into the preset."""

from __future__ import annotations

from core.values.curation import FileItem
from core.values.retrieval import NavigationReport, Router
from panels.base import selection
from panels.base.desk import Desk
from panels.base.file_button import file_button
from panels.context.preset_edits import add_items, project_path
from panels.retrieval.view import RetrievalView


def router_rows(desk: Desk, report: NavigationReport) -> None:
    """Draw a row for each folder of notes, with its router below it where it is unfolded. Sends ChangePreset, CreatePreset."""
    for router in report.routers:
        _row(desk, router)


def _row(desk: Desk, router: Router) -> None:
    ui, own = desk.ui, desk.view.of(RetrievalView)
    inside = project_path(router.path, desk.state.config.project.root)
    key = ("router", router.path, "")
    is_open = key in own.unfolded
    with ui.row(("router", router.path), gap=4):
        ui.text("path", inside, style="small", width=0, wraps=True)
        tip = f"Hide {inside}" if is_open else f"Read {inside}: what a model sees first"
        if ui.button(
            "read", "", icon="chevron-up" if is_open else "book-open", kind="ghost", is_small=True, tip=tip
        ):
            own.unfolded.symmetric_difference_update({key})
        _add_button(desk, inside)
        file_button(ui, router.path)
    if is_open:
        with ui.surface(("text", router.path), "card", padding=(12, 8)):
            ui.markdown("text", router.text)


def _add_button(desk: Desk, path: str) -> None:
    preset = selection.active_preset(desk.state)
    is_in = preset is not None and any(item.path == path for item in preset.items)
    where = f"“{preset.name}”" if preset is not None else "a new preset"
    tip = "It is in the preset already" if is_in else f"Add {path} to {where}, for a model without tools"
    if desk.ui.button("add", "", icon="file-circle-plus", kind="ghost", is_small=True, tip=tip,
                      is_enabled=not is_in and desk.summary is not None):  # fmt: skip
        add_items(desk, preset, (FileItem(path),))
