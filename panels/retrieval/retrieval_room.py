"""Room of retrieval in the window, and the view of its panel."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

import msgspec

from core.kernel.language import tr
from core.kernel.values.retrieval import AskedPlaces
from core.retrieval.retrieval_messages import UpdateIndex
from panels.base.desk import Action, Desk, HubPanel, Room
from panels.base.view import Dialog
from panels.base.window_fields import Kept, one_of

# View of the Retrieval panel: the part in front, the words that are looked for, what narrows them, what is
# unfolded.

TABS = ("search", "index", "recall")


class RetrievalView(msgspec.Struct):
    """The panel's own state.

    Args:
        query: the words in the box; has_keyboard: the box had it in the frame before; command_id: of the last question, empty before one.
        corpus, folder, tag, after, before: what narrows the search, each empty for all; are_filters_open: they are shown.
        flaw: why what was typed is not taken, with the field that it is about.
        unfolded: hits whose further passages are shown, by corpus, scope and path.
        looked_with: the places that were last looked at; checked_at: the run after which index files were last checked.
    """

    kept: ClassVar[tuple[Kept, ...]] = (Kept(key="retrieval_tab", name="tab", read=one_of(*TABS)),)

    tab: str = "search"
    query: str = ""
    has_keyboard: bool = False
    command_id: str = ""
    corpus: str = ""
    folder: str = ""
    tag: str = ""
    after: str = ""
    before: str = ""
    are_filters_open: bool = False
    flaw: tuple[str, str] = ("", "")
    unfolded: set[tuple[str, str, str]] = msgspec.field(default_factory=set)
    looked_with: AskedPlaces | None = None
    checked_at: datetime | None = None


# Room of retrieval in the window.

# Actions on the search index from the menus.


def _can_update(desk: Desk) -> bool:
    return desk.state.retrieval.asked is not None and desk.state.retrieval.progress is None


ACTIONS: tuple[Action, ...] = (
    Action(id="update_index", menu=tr("Tools"), group=2, label=tr("Update search index"), run=lambda d: d.send(UpdateIndex()), icon="compass",
           is_enabled=_can_update),
)  # fmt: skip


def _panel(desk: Desk) -> None:
    from panels.retrieval.retrieval_panel import retrieval_panel

    retrieval_panel(desk)


def _dialog(desk: Desk, _dialog: Dialog) -> None:
    from panels.retrieval.index import notes_dialog

    notes_dialog(desk)


ROOM = Room(
    actions=ACTIONS,
    view=RetrievalView,
    panels=(
        HubPanel(
            id="retrieval",
            words=tr("RAG embeddings index notes recall"),
            title=tr("Search"),
            guide="search",
            about=tr(
                "Search notes, knowledge, past discussions and project files. Turn search and recall on here."
            ),
            draw=_panel,
        ),
    ),
    dialogs={"notes_folder": _dialog},
)
