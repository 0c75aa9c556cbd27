"""A window on the Knowledge panel, and what a test reads of it."""

from __future__ import annotations

from core.kernel.values.knowledge import Category, Item
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.updates import conclude
from panels.knowledge.knowledge_room import KnowledgeView
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.screen import Screen
from tests.panels.views import view_of

TIDE = "Measure the mock tide gauge against the harbour's table"
MOON = "The moon pulls twice a day"
ONLY = {category.value for category in Category}


def open_panel(
    state: AppState | None = None, *only: str, tab: str = "items", width_px: float = 1600.0
) -> Screen:
    view = view_of(KnowledgeView(tab=tab), panel="knowledge")
    if only:
        view.of(KnowledgeView).closed = ONLY - set(only)
    return Screen(state or ks.some(), view, width_px=width_px)


def words_of(screen: Screen) -> list[str]:
    """The words of the panel alone."""
    (hub,) = [n for n in screen.ui.nodes("surface") if n.path[-2:] == ("hub", "knowledge")]
    return hub.texts()


def items_of(screen: Screen) -> list[str]:
    """The words of the items in view, from the top."""
    cards = [n for n in screen.ui.nodes("surface") if n.path[-1] == "card" and "knowledge rows" in n.path]
    words = [n for card in cards for n in card.walk() if n.path[-1] in {"text", "steps"}]
    return [n.value for n in words if n.kind in {"text", "markdown"}]


def item_of(state: AppState, text: str) -> Item:
    found = [i for f in state.knowledge.categories for i in f.items if i.text == text]
    found += [i for n in state.knowledge.notes for i in n.items if i.text == text]
    (item,) = found
    return item


def after(texts: dict[str, str], **changes: object) -> AppState:
    """The state once files have other words."""
    return ks.with_knowledge(ks.known(ks.TEXTS | texts), **changes)


def failed(state: AppState) -> AppState:
    """The program could not do what was asked for last, and says so."""
    text = "tasks.md has changed: this item is gone or different now"
    for number in range(1, 9):
        state = conclude(state, CommandOutcome(f"window/{number}", problem=text))
    return state
