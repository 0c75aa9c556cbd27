"""Room of retrieval in the window."""

from __future__ import annotations

from panels.base.desk import Desk
from panels.base.room import HubPanel, Room
from panels.base.view import Dialog
from panels.retrieval.actions import ACTIONS
from panels.retrieval.view import RetrievalView


def _panel(desk: Desk) -> None:
    from panels.retrieval.retrieval_panel import retrieval_panel

    retrieval_panel(desk)


def _dialog(desk: Desk, _dialog: Dialog) -> None:
    from panels.retrieval.sources import notes_dialog

    notes_dialog(desk)


ROOM = Room(
    ACTIONS,
    RetrievalView,
    panels=(HubPanel("retrieval", "Retrieval", "Retrieval", "compass", 6, _panel),),
    dialogs={"notes_folder": _dialog},
)
