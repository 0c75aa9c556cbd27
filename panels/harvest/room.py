"""Room of the harvest in the window."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.base.room import HubPanel, Room
from panels.base.view import Dialog
from panels.harvest.actions import ACTIONS
from panels.harvest.view import HarvestView


def _panel(desk: Desk) -> None:
    from panels.harvest.harvest_panel import harvest_panel

    harvest_panel(desk)


def _dialog(desk: Desk, dialog: Dialog) -> None:
    from panels.harvest.dialogs import harvest_dialog

    harvest_dialog(desk, dialog)


def _begin(desk: Desk) -> None:
    """Ctrl+Enter belongs to the words that are being typed in the preview, before it sends a message."""
    own = desk.view.of(HarvestView)
    own.begin_frame()
    if own.had_keyboard and desk.view.dialog is None and desk.ui.shortcut("Ctrl+Enter"):
        from panels.harvest.item import keep_words  # loaded with the panel

        keep_words(desk, own.had_keyboard)


def _escape(desk: Desk) -> bool:
    own = desk.view.of(HarvestView)
    return bool(own.had_keyboard) and own.edits.pop(own.had_keyboard, None) is not None


ROOM = Room(
    ACTIONS,
    HarvestView,
    panels=(HubPanel("harvest", "Harvest", "Harvest", "wheat-awn", 5, _panel),),
    dialogs=dict.fromkeys(
        (
            "harvest_give_up",
            "harvest_discard",
            "harvest_folder",
            "harvest_files",
            "harvest_cancel_batches",
        ),
        _dialog,
    ),
    begin=_begin,
    escape=_escape,
)
