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
    Action(id="update_index", menu="Tools", group=2, label="Update search index", run=lambda d: d.send(UpdateIndex()), icon="compass",
           is_enabled=_can_update),
)  # fmt: skip


def _panel(desk: Desk) -> None:
    from panels.retrieval.retrieval_panel import retrieval_panel

    retrieval_panel(desk)


def _dialog(desk: Desk, _dialog: Dialog) -> None:
    from panels.retrieval.sources import notes_dialog

    notes_dialog(desk)


ROOM = Room(
    actions=ACTIONS,
    view=RetrievalView,
    panels=(
        HubPanel(
            id="retrieval",
            title="Retrieval",
            label="Retrieval",
            icon="compass",
            place=6,
            guide="search",
            draw=_panel,
        ),
    ),
    dialogs={"notes_folder": _dialog},
)
