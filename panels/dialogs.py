"""The dialogs over the window: palette, shortcuts, file choosers, names of presets."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.values import commands as c
from panels.actions import ACTIONS, MENUS, Desk, send_chord
from panels.caching_guard import lose_cache_dialog, spend_limit_dialog
from panels.palette import palette
from panels.preset_edit import add_paths, free_name
from panels.view import Dialog

_NO_NAME = re.compile(r'[\x00-\x1f/\\:*?"<>|]+')


MORE_CHORDS = (
    ("Earlier prompts, while the composer is empty", "Up, Down"),
    ("Next and previous match", "F3, Shift+F3"),
    ("Close what is open, then stop the reply", "Escape"),
)


def dialogs(desk: Desk) -> None:
    """Draw the open dialog, if any."""
    dialog = desk.view.dialog
    if dialog is None:
        return
    draw = DIALOGS.get(dialog.kind)
    if draw is None:
        desk.view.dialog = None
        return
    draw(desk, dialog)


def _close(desk: Desk) -> None:
    desk.view.dialog = None


def _shortcuts(desk: Desk, _dialog: Dialog) -> None:
    ui = desk.ui
    with (
        ui.dialog("shortcuts", "Keyboard shortcuts", width=560, height=560) as closed,
        ui.surface("list", "clear", height=0, padding=(0, 0), scrolls=True),
    ):
        for menu in MENUS:
            ui.text(("menu", menu), menu, style="small_strong", tone="muted")
            for action in ACTIONS:
                if action.menu == menu and action.chord:
                    _chord(
                        desk, action.label, send_chord(desk.state) if action.id == "send" else action.chord
                    )
        ui.text("more title", "Elsewhere", style="small_strong", tone="muted")
        for label, chord in MORE_CHORDS:
            _chord(desk, label, chord)
    if closed.clicked or ui.shortcut("Escape"):
        _close(desk)


def _chord(desk: Desk, label: str, chord: str) -> None:
    with desk.ui.row(("chord", label)):
        desk.ui.text("label", label)
        desk.ui.push()
        desk.ui.badge("chord", chord)


def _open_project(desk: Desk, _dialog: Dialog) -> None:
    picked = desk.ui.file_dialog(
        "open project", "Open project folder", start=desk.state.project.root, picks="folder"
    )
    if picked is not None:
        _close(desk)
        if picked:
            desk.send(c.OpenProject(picked[0]))


def _attach(desk: Desk, dialog: Dialog) -> None:
    picked = desk.ui.file_dialog("attach", "Attach file", start=desk.state.project.root)
    if picked is not None:
        _close(desk)
        for path in picked:
            desk.send(c.AttachFile(dialog.subject, path))


def _add_files(desk: Desk, dialog: Dialog) -> None:
    picked = desk.ui.file_dialog("add files", "Add files to the preset", start=desk.state.project.root)
    if picked is not None:
        _close(desk)
        add_paths(desk, desk.state.project.presets.get(dialog.subject), picked)


def _export(form: str, ending: str) -> Callable[[Desk, Dialog], None]:
    def draw(desk: Desk, dialog: Dialog) -> None:
        summary = desk.state.summaries.get(dialog.subject)
        if summary is None:
            _close(desk)
            return
        name = " ".join(_NO_NAME.sub(" ", summary.meta.name).split())[:80].strip(" .") or "discussion"
        picked = desk.ui.file_dialog(f"export {form}", f"Export {summary.meta.name}", picks="save",
                                     start=desk.state.project.root, name=name + ending)  # fmt: skip
        if picked is not None:
            _close(desk)
            if picked:
                desk.send(c.ExportDiscussion(dialog.subject, form, picked[0]))

    return draw


def _new_preset(desk: Desk, dialog: Dialog) -> None:
    name = _name_form(desk, dialog, "New preset", "Create")
    if name:
        desk.send(c.CreatePreset(name))
        _use_preset(desk, name)


def _duplicate_preset(desk: Desk, dialog: Dialog) -> None:
    name = _name_form(desk, dialog, f"Duplicate {dialog.subject}", "Duplicate")
    if name:
        desk.send(c.CreatePreset(name, copy_of=dialog.subject))
        _use_preset(desk, name)


def _rename_preset(desk: Desk, dialog: Dialog) -> None:
    name = _name_form(desk, dialog, f"Rename {dialog.subject}", "Rename")
    if name and name != dialog.subject:
        desk.send(c.RenamePreset(dialog.subject, name))


def _use_preset(desk: Desk, name: str) -> None:
    if desk.summary is not None:
        desk.send(c.SetDiscussionPreset(desk.summary.meta.id, name))


def _name_form(desk: Desk, dialog: Dialog, title: str, verb: str) -> str:
    """Draw a dialog that asks for a preset's name. Returns the name once it was confirmed, and closes."""
    ui, presets = desk.ui, desk.state.project.presets
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
                desk.send(c.DeletePreset(dialog.subject))
                _close(desk)
    if closed.clicked or ui.shortcut("Escape"):
        _close(desk)


def _of_harvest(desk: Desk, dialog: Dialog) -> None:
    from panels.harvest_dialogs import harvest_dialog  # loaded with its panel, not for the first frame

    harvest_dialog(desk, dialog)


def _of_knowledge(desk: Desk, dialog: Dialog) -> None:
    from panels.knowledge_dialogs import knowledge_dialog  # loaded with its panel, not for the first frame

    knowledge_dialog(desk, dialog)


DIALOGS: dict[str, Callable[[Desk, Dialog], None]] = {
    "palette": palette,
    "shortcuts": _shortcuts,
    "open_project": _open_project,
    "attach": _attach,
    "add_files": _add_files,
    "export_markdown": _export("markdown", ".md"),
    "export_json": _export("json", ".json"),
    "new_preset": _new_preset,
    "duplicate_preset": _duplicate_preset,
    "rename_preset": _rename_preset,
    "delete_preset": _delete_preset,
    "lose_cache": lose_cache_dialog,
    "spend_limit": spend_limit_dialog,
    "harvest_give_up": _of_harvest,
    "harvest_discard": _of_harvest,
    "harvest_folder": _of_harvest,
    "harvest_files": _of_harvest,
    "delete_item": _of_knowledge,
    "attach_notes": _of_knowledge,
}
