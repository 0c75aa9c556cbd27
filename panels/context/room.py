"""Room of the context in the window."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.base.room import HubPanel, Room
from panels.base.view import Dialog
from panels.context.actions import ACTIONS
from panels.context.presets_panel import presets_panel
from panels.context.view import ContextPanelView


def _context(desk: Desk) -> None:
    from panels.context.context_panel import context_panel

    context_panel(desk)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.context.dialogs import context_dialog

    context_dialog(desk, dialog)


ROOM = Room(
    ACTIONS,
    ContextPanelView,
    panels=(
        HubPanel("presets", "Context Presets", "Presets", "layer-group", 1, presets_panel),
        HubPanel("context", "Context", "Context", "chart-bar", 2, _context),
    ),
    dialogs=dict.fromkeys(
        ("add_files", "new_preset", "duplicate_preset", "rename_preset", "delete_preset"), _dialog
    ),
)
