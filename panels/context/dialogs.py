"""The dialogs of context presets: their names, their end, and the chooser of files."""

from __future__ import annotations

from core.talk.context.context_messages import CreatePreset, DeletePreset, RenamePreset
from core.talk.context.curated_files import free_name
from panels.base.desk import Desk
from panels.base.view import Dialog
from panels.context.preset_edits import add_paths


def context_dialog(desk: Desk, dialog: Dialog) -> None:
    """Draw the dialog that is open, one of the presets'."""
    match dialog.kind:
        case "new_preset":
            _new_preset(desk, dialog)
        case "duplicate_preset":
            _duplicate_preset(desk, dialog)
        case "rename_preset":
            _rename_preset(desk, dialog)
        case "delete_preset":
            _delete_preset(desk, dialog)
        case _:
            _add_files(desk, dialog)


def _close(desk: Desk) -> None:
    desk.view.dialog = None


def _add_files(desk: Desk, dialog: Dialog) -> None:
    picked = desk.ui.file_dialog("add files", "Add files to the preset", start=desk.state.config.project.root)
    if picked is not None:
        _close(desk)
        add_paths(desk, desk.state.config.project.presets.get(dialog.subject), picked)


def _new_preset(desk: Desk, dialog: Dialog) -> None:
    name = _name_form(desk, dialog, "New preset", "Create")
    if name:
        desk.send(CreatePreset(name=name))


def _duplicate_preset(desk: Desk, dialog: Dialog) -> None:
    name = _name_form(desk, dialog, f"Duplicate {dialog.subject}", "Duplicate")
    if name:
        desk.send(CreatePreset(name=name, copy_of=dialog.subject))


def _rename_preset(desk: Desk, dialog: Dialog) -> None:
    name = _name_form(desk, dialog, f"Rename {dialog.subject}", "Rename")
    if name and name != dialog.subject:
        desk.send(RenamePreset(dialog.subject, name))


def _name_form(desk: Desk, dialog: Dialog, title: str, verb: str) -> str:
    """Draw a dialog that asks for a preset's name. Returns the name once it was confirmed, and closes."""
    ui, presets = desk.ui, desk.state.config.project.presets
    confirmed = False
    with ui.dialog(dialog.kind, title, width=400) as closed:
        typed = ui.text_input("name", dialog.text, hint="Name of the preset", is_focused=True)
        dialog.text = dialog.text if typed is None else typed
        name = dialog.text.strip()
        is_taken = name in presets and name != dialog.subject
        if is_taken:
            text = f"There is a preset called {name!r}; {free_name(presets, name)!r} is free"
            ui.text("taken", text, tone="warn", style="small", wraps=True)
        with ui.row("buttons"):
            ui.push()
            if ui.button("cancel", "Cancel"):
                _close(desk)
            is_enabled = bool(name) and not is_taken
            confirmed = ui.button("confirm", verb, kind="primary", is_enabled=is_enabled)
            confirmed = confirmed or (is_enabled and ui.shortcut("Enter", while_typing=True))
    if confirmed or closed.clicked or ui.shortcut("Escape"):
        _close(desk)
    return name if confirmed else ""


def _delete_preset(desk: Desk, dialog: Dialog) -> None:
    ui = desk.ui
    with ui.dialog("delete preset", f"Delete {dialog.subject}?", width=400) as closed:
        ui.text("what", "The files themselves stay where they are.", wraps=True)
        with ui.row("buttons"):
            ui.push()
            if ui.button("cancel", "Cancel"):
                _close(desk)
            if ui.button("delete", "Delete preset", kind="danger"):
                desk.send(DeletePreset(dialog.subject))
                _close(desk)
    if closed.clicked or ui.shortcut("Escape"):
        _close(desk)
