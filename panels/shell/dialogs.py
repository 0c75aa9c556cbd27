"""The dialogs over the window, by kind: the rooms', the palette, the list of shortcuts."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.base.room import DrawDialog
from panels.base.view import Dialog
from panels.shell.actions import MENUS
from panels.shell.palette import palette
from panels.shell.rooms import ROOMS

MORE_CHORDS = (
    ("Earlier prompts, while the composer is empty", "Up, Down"),
    ("Complete a slash command, go through the ways, do it", "Tab, Up and Down, Enter"),
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


def _shortcuts(desk: Desk, _dialog: Dialog) -> None:
    ui = desk.ui
    with (
        ui.dialog("shortcuts", "Keyboard shortcuts", width=560, height=560) as closed,
        ui.surface("list", "clear", height=0, padding=(0, 0), scrolls=True),
    ):
        for menu in MENUS:
            ui.text(("menu", menu), menu, style="small_strong", tone="muted")
            for action in desk.actions.values():
                if action.menu == menu and action.chord:
                    _chord(desk, action.shown_label(desk), action.shown_chord(desk.state))
        ui.text("more title", "Elsewhere", style="small_strong", tone="muted")
        for label, chord in MORE_CHORDS:
            _chord(desk, label, chord)
    if closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog = None


def _chord(desk: Desk, label: str, chord: str) -> None:
    with desk.ui.row(("chord", label)):
        desk.ui.text("label", label)
        desk.ui.push()
        desk.ui.badge("chord", chord)


DIALOGS: dict[str, DrawDialog] = {kind: draw for room in ROOMS for kind, draw in room.dialogs.items()}
DIALOGS |= {"palette": palette, "shortcuts": _shortcuts}
