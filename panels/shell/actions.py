"""The one table of what a person can do, joined from the rooms: menus, palette, shortcuts and buttons use it."""

from __future__ import annotations

from core.app.messages import Quit
from panels.base.action import run_action
from panels.base.desk import Action, Desk, opens_dialog
from panels.base.room import HubPanel
from panels.shell.panes import shown_panes, toggle_side
from panels.shell.rooms import PANELS, ROOMS

MENUS = ("File", "Edit", "View", "Discussion", "Tools", "Help")


def _toggle_list(desk: Desk) -> None:
    toggle_side(desk.view, "list")


def _toggle_hub(desk: Desk) -> None:
    toggle_side(desk.view, "hub")


def _of_panel(panel: HubPanel) -> Action:
    return Action(
        panel.id, "View", 2, panel.title, lambda d: d.view.show_hub(panel.id), panel.icon, f"Ctrl+{panel.place}",
        is_checked=lambda d: "hub" in shown_panes(d.view) and d.view.panel == panel.id,
    )  # fmt: skip


OWN: tuple[Action, ...] = (
    Action("quit", "File", 3, "Quit", lambda d: d.send(Quit()), "power-off", "Ctrl+Q"),
    Action("list", "View", 1, "Show discussion list", _toggle_list, "list", "Ctrl+B",
           is_done=lambda d: "list" in shown_panes(d.view), undo_label="Hide discussion list"),
    Action("hub", "View", 1, "Show Operations Hub", _toggle_hub, "table-columns", "Ctrl+Shift+H",
           is_done=lambda d: "hub" in shown_panes(d.view), undo_label="Hide Operations Hub"),
    Action("palette", "Tools", 0, "Command palette", opens_dialog("palette"), "terminal", "Ctrl+Shift+P"),
    Action("shortcuts", "Help", 0, "Keyboard shortcuts", opens_dialog("shortcuts"), "keyboard", "F1"),
)  # fmt: skip


def _place(action: Action) -> tuple[int, int]:
    return MENUS.index(action.menu), action.group


ACTIONS: tuple[Action, ...] = tuple(
    sorted((*(a for room in ROOMS for a in room.actions), *map(_of_panel, PANELS), *OWN), key=_place)
)
"""By menu and group; within a group in the order of the rooms."""

BY_ID = {action.id: action for action in ACTIONS}


def run_shortcuts(desk: Desk) -> None:
    """Do what the pressed chords ask for, or have it said why not. Once a frame, before anything is drawn."""
    for action in ACTIONS:
        if action.chord and action.is_bound and desk.ui.shortcut(action.chord):
            why = "" if action.is_enabled(desk) else action.why_not(desk)
            desk.view.said = (desk.state.discussions.selected_id, why) if why else None
            run_action(action.id, desk)
