"""Memory in the Usage panel: tokens, what was used, and what was never used, each told once."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.facts import DiscussionMemory, ItemWords, MemoryUse
from core.kernel.values.knowledge import Category, CategoryFile, Item
from core.kernel.values.state import AppState
from core.knowledge.knowledge_messages import ArchiveItem, TakeBackItem
from panels.base.view import WindowView
from tests.panels import states
from tests.panels.screen import Screen


def with_use(use: MemoryUse | None) -> AppState:
    state = states.working()
    return replace(state, evidence=replace(state.evidence, use=use))


def shown(use: MemoryUse | None) -> Screen:
    return Screen(with_use(use), WindowView(panel="usage"))


def test_each_discussion_tells_its_tokens_and_uses() -> None:
    rows = (
        DiscussionMemory(discussion="d1", requests=3, tokens_est=1_200, quoted=2),
        DiscussionMemory(discussion="gone", requests=1, tokens_est=40),
    )
    screen = shown(MemoryUse(discussions=rows))

    assert screen.ui.shows("tokens to 4 requests. Replies used items of your knowledge 2 times.")
    assert screen.ui.shows("3 requests · 2 items used")
    assert screen.ui.shows("a discussion that no longer exists")
    assert not screen.ui.shows("No reply used these")


def test_what_no_reply_used_is_proposed_with_its_words() -> None:
    rows = (DiscussionMemory(discussion="d1", requests=60, tokens_est=9),)
    screen = shown(MemoryUse(discussions=rows, proposed=(ItemWords(category="facts", text="Old news."),)))

    assert screen.ui.shows("No reply used these items in 50 requests.")
    assert screen.ui.shows("Old news.")
    screen.ui.click("Open Knowledge")
    assert screen.view.panel == "knowledge"


def test_an_unused_item_goes_into_the_archive_with_one_click() -> None:
    rows = (DiscussionMemory(discussion="d1", requests=60, tokens_est=9),)
    item = Item(category=Category.FACTS, text="Old news.", file="facts.md", first_line=3, last_line=3)
    state = with_use(MemoryUse(discussions=rows, proposed=(ItemWords(category="facts", text="Old news."),)))
    files = (CategoryFile(name="facts.md", items=(item,)),)
    state = replace(state, knowledge=replace(state.knowledge, categories=files))
    screen = Screen(state, WindowView(panel="usage"))
    screen.ui.click("Archive")

    assert screen.asked == [ArchiveItem(item)]


def test_the_archive_is_a_tab_of_knowledge_with_a_way_back_for_each() -> None:
    item = Item(category=Category.FACTS, text="Old news.", file="facts.md", first_line=3, last_line=3)
    state = states.working()
    state = replace(state, knowledge=replace(state.knowledge, archived=(item,)))
    screen = Screen(state, WindowView(panel="knowledge"))
    screen.ui.click("Archive (1)")

    assert screen.ui.shows("The archive keeps 1 item.")
    screen.ui.click("Take back")
    assert screen.asked == [TakeBackItem(item)]


def test_without_a_reply_nothing_is_said() -> None:
    assert not shown(None).ui.shows("Knowledge added")
    assert not shown(MemoryUse()).ui.shows("Knowledge added")
