"""The archive tab: an item reads there as it does among the items."""

from __future__ import annotations

from msgspec.structs import replace

from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.knowledge_screen import open_panel


def test_marks_of_emphasis_are_drawn_and_not_shown() -> None:
    """The items' tab drew them; the archive showed the asterisks."""
    state = ks.some()
    items = tuple(item for file in state.knowledge.categories for item in file.items if "**" in item.text)
    assert items
    archived = replace(state, knowledge=replace(state.knowledge, archived=items))
    screen = open_panel(archived, tab="archive")
    assert "Ask Ana whether the **slot** may outlive its fork" in [
        node.value for node in screen.ui.nodes("markdown")
    ]
