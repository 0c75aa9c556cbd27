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


def test_the_search_finds_what_is_archived_from_both_tabs() -> None:
    state = ks.some()
    (file, *_) = [one for one in state.knowledge.categories if len(one.items) > 1]
    kept, other = file.items[:2]
    archived = replace(state, knowledge=replace(state.knowledge, categories=(), archived=(kept, other)))
    words = next(word for word in kept.text.split() if word.isalpha() and word not in other.text)

    screen = open_panel(archived, tab="items")
    screen.ui.type("Words or “a phrase”", words)
    assert screen.ui.shows("Nothing matches.")
    screen.ui.click("1 item in the archive")
    assert screen.ui.shows("1 of 2 items")
    screen.ui.type("Words or “a phrase”", "no such word at all")
    assert screen.ui.shows("Nothing matches.")
