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
)
