"""The Retrieval panel: search over what the person has written and said, its index, and what goes with a message."""

from __future__ import annotations

from core.retrieval.messages import CheckNavigation, LookAtSources
from core.settings.searched_places import offered_places
from core.values.retrieval import Corpus
from panels.base.desk import Desk
from panels.base.ui import Option
from panels.retrieval.index import index_section
from panels.retrieval.progress import progress_card
from panels.retrieval.recall import recall_section
from panels.retrieval.search import search_section
from panels.retrieval.sources import off_section
from panels.retrieval.view import RetrievalView

PARTS = (
    Option("search", "Search", icon="magnifying-glass"),
    Option("index", "Index", icon="database"),
    Option("recall", "Recall", icon="paper-plane"),
)


def retrieval_panel(desk: Desk) -> None:
    """Draw the panel.

    Sends SearchMemory, UpdateIndex, PauseIndexing, CancelIndexing, LookAtSources, CheckNavigation, BuildNavigation,
    ChangeProjectSetting, ChangeSetting, KeepOut, ChangePreset, CreatePreset, SelectDiscussion.
    """
    ui, own, retrieval = desk.ui, desk.view.of(RetrievalView), desk.state.retrieval
    _look(desk)
    if retrieval.asked is None:
        with ui.surface("off", "clear", height=0, padding=(0, 0), scrolls=True), ui.group("parts", gap=12):
            off_section(desk)
        return
    own.tab = ui.tabs("parts", PARTS, own.tab) or own.tab
    progress_card(desk)
    if own.tab == "search":
        search_section(desk)
        return
    with (
        ui.surface(("part", own.tab), "clear", height=0, padding=(0, 0), scrolls=True),
        ui.group("parts", gap=16),
    ):
        if own.tab == "index":
            index_section(desk)
        else:
            recall_section(desk)


def _look(desk: Desk) -> None:
    """Look once at what would be read, and again after each change of what is named; check index files after each run,
    where they are seen.
    """
    state, own = desk.state, desk.view.of(RetrievalView)
    if state.program.is_loading or not state.program.home:
        return
    offered = offered_places(state)
    if own.looked_with != offered:
        own.looked_with = offered
        desk.send(LookAtSources())
    retrieval = state.retrieval
    has_notes = retrieval.asked is not None and Corpus.NOTES in retrieval.asked.corpora
    is_new = retrieval.indexed_at is not None and own.checked_at != retrieval.indexed_at
    if has_notes and own.tab == "index" and is_new:
        own.checked_at = retrieval.indexed_at
        desk.send(CheckNavigation())
