"""What of the window outlives it."""

from __future__ import annotations

import tomllib

import pytest

from panels.agent.agent_room import AgentView
from panels.base.view import WindowView
from panels.caching.caching_room import CachingView
from panels.context.context_room import ContextPanelView
from panels.discussion.view import SCROLLS_KEPT, DiscussionView
from panels.harvest.harvest_room import HarvestView
from panels.knowledge.knowledge_room import KnowledgeView
from panels.retrieval.retrieval_room import RetrievalView
from panels.settings.settings_room import SettingsView
from panels.shell.rooms import kept, to_toml
from tests.panels.views import restored, view_of

BEFORE = """\
page = "settings"
hub_tab = "context"
settings_section = "files"
list_px = 301
hub_px = 512.5
is_list_shown = true
is_hub_shown = false
list_grouping = "date"
list_project = "*"
is_archive_open = true
is_trash_open = false
context_order = "wire"
caching_tab = "discussions"
usage_span = "30"
usage_by = "model"
knowledge_tab = "digest"
harvest_tab = "ledger"
retrieval_tab = "recall"
agent_tab = "todo"

[scroll]
20261120-140500-abcdef = 7
"""
"""Keys of earlier versions stand as they did; the list's grouping, project and trash, and what is retrieved are new."""


def _changed() -> WindowView:
    return view_of(
        DiscussionView(is_archive_open=True, scroll={"20261120-140500-abcdef": 7}), ContextPanelView(order="wire"),
        CachingView(tab="discussions"), KnowledgeView(tab="digest"), HarvestView(tab="ledger"),
        RetrievalView(tab="recall"),
        AgentView(tab="todo"),
        page="settings", panel="context", settings_section="files", list_px=301, hub_px=512.5, is_hub_shown=False,
    )  # fmt: skip


def test_a_window_is_written_with_the_keys_of_earlier_versions_and_read_back() -> None:
    assert to_toml(_changed()) == BEFORE
    assert kept(restored(BEFORE)) == kept(_changed())
    old = "".join(
        line
        for line in BEFORE.splitlines(keepends=True)
        if not line.startswith(("list_g", "list_pr", "is_t"))
    )
    assert kept(restored(old)) == kept(_changed())


def test_what_persists_comes_back() -> None:
    view = _changed()

    again = restored(to_toml(view))

    assert kept(again) == kept(view)


def test_half_typed_words_and_keys_are_not_written_to_disk() -> None:
    view = view_of(DiscussionView(search_text="secret plan"), SettingsView({"anthropic": "sk-1"}))

    assert set(tomllib.loads(to_toml(view))) == {
        "page", "hub_tab", "settings_section", "list_px", "hub_px", "is_list_shown", "is_hub_shown",
        "is_archive_open", "is_trash_open", "list_grouping", "list_project", "context_order", "caching_tab", "usage_span", "usage_by", "knowledge_tab", "harvest_tab", "retrieval_tab", "agent_tab", "scroll",
    }  # fmt: skip
    assert "secret" not in to_toml(view)
    assert "sk-1" not in to_toml(view)
    assert "sk-1" not in repr(view)
    assert "sk-1" not in repr(view.rooms)


@pytest.mark.parametrize(
    "text",
    ["", "not toml [", 'page = "moon"', "list_px = -5", "hub_px = true", "list_px = nan", "scroll = 3",
     "[scroll]\na = -1\nb = 'x'"],
)  # fmt: skip
def test_a_broken_or_foreign_table_leaves_a_window_that_works(text: str) -> None:
    view = restored(text)

    assert view.page == "chat"
    assert 160 <= view.list_px <= 800
    assert view.hub_px == WindowView().hub_px
    assert view.of(DiscussionView).scroll == {}


def test_the_window_keeps_the_scroll_of_the_newest_discussions_only() -> None:
    view = view_of(DiscussionView(scroll={f"d{n}": n for n in range(SCROLLS_KEPT + 50)}))

    scroll = restored(to_toml(view)).of(DiscussionView).scroll

    assert len(scroll) == SCROLLS_KEPT
    assert f"d{SCROLLS_KEPT + 49}" in scroll
