"""The command palette: every action and every discussion by a few letters, and all that holds the words that are typed."""

from __future__ import annotations

from core.talk.discussion.discussion_messages import SearchDiscussions
from panels.base.desk import Desk, DrawDialog
from panels.base.ui import Surface
from panels.base.view import Dialog
from panels.discussion.view import DiscussionView
from panels.shell.finds import LEAST_CHARS, PaletteHit, hits
from panels.shell.rooms import ROOMS
from panels.shell.shell_actions import MENUS

ROW_PX = 34.0
HINT = "Type a command, a name, or words to find"


def palette(desk: Desk, dialog: Dialog) -> None:
    """Draw the palette. Enter does what is marked; Up and Down move the mark."""
    ui, view = desk.ui, desk.view
    chosen: PaletteHit | None = None
    with ui.dialog("palette", "Command palette", width=560) as closed:
        typed = ui.text_input("query", dialog.text, hint=HINT,
                              icon="magnifying-glass", is_focused=True)  # fmt: skip
        if typed is not None:
            dialog.text, dialog.at = typed, 0
            _look(desk, typed)
        found = hits(desk, dialog.text)
        dialog.at = _moved(desk, dialog.at, len(found))
        if not found:
            ui.text(
                "none", "Nothing is called that, and nothing holds these words.", tone="muted", wraps=True
            )
        for index, hit in enumerate(found):
            kind: Surface = "card_selected" if index == dialog.at else "clear"
            with (
                ui.clickable(hit.key, kind, height=ROW_PX, padding=(10, 5)) as clicks,
                ui.row("line", height=ROW_PX - 10),
            ):
                ui.icon("icon", hit.icon)
                ui.text("label", hit.label, width=0)
                ui.text("detail", hit.detail, tone="faint", style="small")
            if clicks.clicked:
                chosen = hit
        if found and ui.shortcut("Enter", while_typing=True):
            chosen = found[dialog.at]
    if chosen is None and not closed.clicked and not ui.shortcut("Escape"):
        return
    view.dialog = None
    if chosen is not None:
        chosen.run(desk)
    if dialog.text:
        _look(desk, view.of(DiscussionView).search_text)


def _moved(desk: Desk, at: int, count: int) -> int:
    step = int(desk.ui.shortcut("Down", while_typing=True)) - int(desk.ui.shortcut("Up", while_typing=True))
    return (at + step) % count if count else 0


def _look(desk: Desk, query: str) -> None:
    """Have messages looked through for what is typed; for that of the list's search again once the palette is closed."""
    wanted = query.strip() if len(query.strip()) >= LEAST_CHARS else ""
    if wanted != desk.state.discussions.search.query:
        desk.send(SearchDiscussions(wanted))


# The dialogs over the window, by kind: the rooms', the palette, the list of shortcuts.

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
