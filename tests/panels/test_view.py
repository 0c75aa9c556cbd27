"""What the window alone knows, and what of it persists."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panels.view import SCROLLS_KEPT, Typing, WindowView


def test_what_persists_comes_back() -> None:
    view = WindowView(page="settings", hub_tab="context", list_px=301, hub_px=512.5, is_hub_shown=False,
                      is_archive_open=True, context_order="wire", scroll={"20261120-140500-abcdef": 7})  # fmt: skip

    again = WindowView.from_toml(view.to_toml())

    assert again.kept() == view.kept()


def test_half_typed_words_and_keys_are_not_written_to_disk() -> None:
    view = WindowView(search_text="secret plan", key_texts={"anthropic": "sk-1"})

    assert set(tomllib.loads(view.to_toml())) == {
        "page", "hub_tab", "settings_section", "list_px", "hub_px", "is_list_shown", "is_hub_shown",
        "is_archive_open", "context_order", "caching_tab", "knowledge_tab", "harvest_tab", "scroll",
    }  # fmt: skip
    assert "secret" not in view.to_toml()
    assert "sk-1" not in view.to_toml()
    assert "sk-1" not in repr(view)


@pytest.mark.parametrize(
    "text",
    ["", "not toml [", 'page = "moon"', "list_px = -5", "hub_px = true", "list_px = nan", "scroll = 3",
     "[scroll]\na = -1\nb = 'x'"],
)  # fmt: skip
def test_a_broken_or_foreign_table_leaves_a_window_that_works(text: str) -> None:
    view = WindowView.from_toml(text)

    assert view.page == "chat"
    assert 160 <= view.list_px <= 800
    assert view.hub_px == WindowView().hub_px
    assert view.scroll == {}


def test_the_window_keeps_the_scroll_of_the_newest_discussions_only() -> None:
    view = WindowView(scroll={f"d{n}": n for n in range(SCROLLS_KEPT + 50)})

    kept = WindowView.from_toml(view.to_toml()).scroll

    assert len(kept) == SCROLLS_KEPT
    assert f"d{SCROLLS_KEPT + 49}" in kept


def test_typing_is_not_overwritten_by_its_own_echo() -> None:
    """Snapshots lag behind the keys: an older text must not come back into the editor."""
    typing = Typing()
    for text in ("a", "ab", "abc"):
        typing.typed(text)

    for echo in ("a", "ab"):
        typing.sync(echo)

    assert (typing.text, typing.revision) == ("abc", 0)


def test_a_text_that_the_program_changed_replaces_what_was_typed() -> None:
    typing = Typing()
    typing.sync("")
    typing.typed("sent words")
    typing.sync("sent words")

    typing.sync("")

    assert (typing.text, typing.revision) == ("", 1)


def test_typing_that_lost_an_echo_still_takes_the_next_change() -> None:
    typing = Typing()
    typing.typed("a")
    typing.typed("ab")
    typing.sync("ab")

    typing.sync("from outside")

    assert typing.text == "from outside"


@given(st.lists(st.text(max_size=3), max_size=12), st.data())
def test_whatever_snapshots_are_missed_the_editor_ends_with_the_last_typed_text(
    texts: list[str], data: st.DataObject
) -> None:
    typing = Typing()
    typing.sync("")
    for text in texts:
        typing.typed(text)
    seen = [text for text in texts if data.draw(st.booleans())]

    for text in [*seen, *texts[-1:]]:
        typing.sync(text)

    assert typing.text == (texts[-1] if texts else "")
