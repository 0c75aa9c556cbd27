"""Room of retrieval in the window."""

from __future__ import annotations

from core.retrieval.retrieval_messages import UpdateIndex
from panels.base.desk import Action, Desk, HubPanel, Room
from panels.base.view import Dialog
from panels.retrieval.retrieval_view import RetrievalView

# Actions on the search index from the menus.


def _can_update(desk: Desk) -> bool:
    return desk.state.retrieval.asked is not None and desk.state.retrieval.progress is None


ACTIONS: tuple[Action, ...] = (
    Action("update_index", "Tools", 2, "Update search index", lambda d: d.send(UpdateIndex()), "compass",
           is_enabled=_can_update),
)  # fmt: skip


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
