"""The command palette: every action and every discussion, found by a few letters."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from core.talk.discussion.discussion_messages import SelectDiscussion
from panels.base.desk import Action, Desk, DrawDialog, run_action
from panels.base.ui import Surface
from panels.base.view import Dialog
from panels.shell.rooms import ROOMS
from panels.shell.shell_actions import MENUS

SHOWN = 12
ROW_PX = 34.0


class PaletteHit(msgspec.Struct, frozen=True):
    """A line of the palette: an action or a discussion."""

    label: str
    icon: str
    detail: str = ""
    action_id: str = ""
    discussion_id: str = ""


def palette(desk: Desk, dialog: Dialog) -> None:
    """Draw the palette. Enter does what is marked; Up and Down move the mark."""
    ui, view = desk.ui, desk.view
    chosen: PaletteHit | None = None
    with ui.dialog("palette", "Command palette", width=560) as closed:
        typed = ui.text_input("query", dialog.text, hint="Type a command or the name of a discussion",
                              icon="magnifying-glass", is_focused=True)  # fmt: skip
        if typed is not None:
            dialog.text, dialog.at = typed, 0
        hits = _hits(desk, dialog.text)
        dialog.at = _moved(desk, dialog.at, len(hits))
        if not hits:
            ui.text("none", "Nothing is called that.", tone="muted")
        for index, hit in enumerate(hits):
            kind: Surface = "card_selected" if index == dialog.at else "clear"
            with (
                ui.clickable(
                    (hit.action_id, hit.discussion_id), kind, height=ROW_PX, padding=(10, 5)
                ) as clicks,
                ui.row("line", height=ROW_PX - 10),
            ):
                ui.icon("icon", hit.icon)
                ui.text("label", hit.label, width=0)
                ui.text("detail", hit.detail, tone="faint", style="small")
            if clicks.clicked:
                chosen = hit
        if hits and ui.shortcut("Enter", while_typing=True):
            chosen = hits[dialog.at]
    if chosen is not None:
        view.dialog = None
        _do(desk, chosen)
    elif closed.clicked or ui.shortcut("Escape"):
        view.dialog = None


def _moved(desk: Desk, at: int, count: int) -> int:
    step = int(desk.ui.shortcut("Down", while_typing=True)) - int(desk.ui.shortcut("Up", while_typing=True))
    return (at + step) % count if count else 0


def _do(desk: Desk, hit: PaletteHit) -> None:
    if hit.action_id:
        run_action(hit.action_id, desk)
    else:
        desk.view.page = "chat"
        desk.send(SelectDiscussion(hit.discussion_id))


def _hits(desk: Desk, query: str) -> tuple[PaletteHit, ...]:
    can_do = tuple(a for a in desk.actions.values() if a.id != "palette" and a.is_enabled(desk))
    labels = "\n".join(a.shown_label(desk) for a in can_do)
    parts = (desk.state.discussions.summaries, query, labels)
    return desk.view.memo.get("palette", parts, lambda: _search(desk, can_do, query))


def _search(desk: Desk, can_do: tuple[Action, ...], query: str) -> tuple[PaletteHit, ...]:
    actions = [
        PaletteHit(label=a.shown_label(desk), icon=a.icon, detail=a.shown_chord(desk.state), action_id=a.id)
        for a in can_do
    ]
    if not query.strip():
        return tuple(actions[:SHOWN])
    discussions = (
        PaletteHit(label=s.meta.name, icon="comments", detail="discussion", discussion_id=s.meta.id)
        for s in desk.state.discussions.summaries.values()
    )
    return best([*actions, *discussions], query)


def best(hits: Iterable[PaletteHit], query: str) -> tuple[PaletteHit, ...]:
    """The hits whose label has the letters of `query` in order, best first, a screenful at most."""
    ranked = ((rank(hit.label, query), index, hit) for index, hit in enumerate(hits))
    found = sorted((r, index, hit.label, hit) for r, index, hit in ranked if r is not None)
    return tuple(hit for *_, hit in found[:SHOWN])


def rank(label: str, query: str) -> int | None:
    """Distance of a label from a query, smaller is nearer; None where its letters are not there in order."""
    text, wanted = label.casefold(), "".join(query.casefold().split())
    at = text.find(query.casefold().strip())
    if at >= 0:
        return at if at == 0 or not text[at - 1].isalnum() else 20 + at
    position, gaps = -1, 0
    for letter in wanted:
        found = text.find(letter, position + 1)
        if found < 0:
            return None
        gaps += found - position - 1
        position = found
    return 100 + gaps


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
