"""The Knowledge panel as a person meets it: where it is, its list, its filter, what leads from it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.kernel.values.knowledge import CategoryFile, DigestSwitch, KnowledgeState
from core.kernel.values.state import AppState
from panels.knowledge.knowledge_room import KnowledgeView
from panels.shell.rooms import to_toml
from tests.panels import states
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.knowledge_screen import MOON, ONLY, TIDE, items_of, open_panel, words_of
from tests.panels.screen import Screen
from tests.panels.views import restored

# --- where it is


def _from_menu(screen: Screen) -> None:
    screen.ui.click("View")
    screen.ui.click("Knowledge", within="Switch theme")


@pytest.mark.parametrize(
    "act",
    [
        lambda s: s.ui.press("Ctrl+3"),
        lambda s: s.ui.click("Knowledge (Ctrl+3)"),
        _from_menu,
    ],
)
def test_it_is_reached_from_the_rail_the_menu_and_its_chord(act: Callable[[Screen], None]) -> None:
    screen = Screen(ks.some())

    act(screen)

    assert screen.view.panel == "knowledge"
    assert screen.ui.shows("Knowledge is on")


def test_its_tab_comes_back_with_the_window() -> None:
    screen = open_panel()

    screen.ui.click("Digest", within="Items")

    assert restored(to_toml(screen.view)).of(KnowledgeView).tab == "digest"
    assert restored('knowledge_tab = "moon"').of(KnowledgeView).tab == "items"


# --- the list


@pytest.mark.parametrize("problem", ["", "questions.md is not UTF-8 text"])
def test_the_file_of_a_section_opens_in_an_editor_and_one_that_is_not_there_cannot(problem: str) -> None:
    broken = CategoryFile("questions.md", problem=problem)
    files = (*(one for one in ks.files() if one.name != "questions.md"), broken)
    screen = open_panel(ks.with_knowledge(ks.known(categories=files)), "facts")

    screen.ui.click("Open facts.md in editor")

    assert screen.ui.files == [f"{ks.FOLDER}/facts.md"]
    assert screen.view.of(KnowledgeView).closed == ONLY - {"facts"}, "the press folds nothing"
    assert screen.ui.has("Open questions.md in editor") is bool(problem)


def test_every_category_is_a_section_with_its_count_newest_first() -> None:
    screen = open_panel(ks.some(), "tasks_open")

    headings = [n.value for n in screen.ui.nodes("text") if n.path[-2:] == ("line", "title")]
    counts = [n.value for n in screen.ui.nodes("text") if n.path[-2:] == ("line", "count")]
    assert headings == [
        "Open tasks",
        "Done tasks",
        "Questions",
        "Decisions",
        "Facts",
        "Playbooks",
        "Notes on files",
    ]
    assert counts == ["3", "1", "1", "2", "3", "1", "6"]
    assert [text.split("\n")[0][:12] for text in items_of(screen)] == [
        "Write the re",
        "Ask Ana whet",
        TIDE[:12],
    ]


def test_a_section_folds_at_a_click_and_all_of_them_at_another() -> None:
    screen = open_panel()
    assert TIDE in items_of(screen)

    screen.ui.click("Open tasks")
    assert TIDE not in items_of(screen)
    screen.ui.click("Open tasks")
    screen.ui.click("Fold all sections")
    assert items_of(screen) == []
    screen.ui.click("Unfold all sections")
    assert TIDE in items_of(screen)
    assert "Pin the tokenizer's version" in items_of(screen)


def test_continued_lines_belong_to_their_item() -> None:
    (text, *_) = items_of(open_panel(ks.some(), "tasks_open"))

    assert text.endswith("people ask for\nand a sentence on what is not measured")


def test_a_playbook_shows_its_name_and_each_step_on_a_line() -> None:
    screen = open_panel(ks.some(), "playbooks")

    assert "Release" in words_of(screen)
    assert items_of(screen) == [
        "1. run `make test`\n2. bump the version\n3. tag and push\n4. watch the first hour"
    ]


def test_a_long_item_is_shown_to_its_head_and_whole_when_asked() -> None:
    screen = open_panel(ks.odd(), "playbooks")
    assert not any("step, " * 100 in text for text in words_of(screen))

    screen.ui.click("Show all")
    assert any("step, " * 100 in text for text in words_of(screen))
    screen.ui.click("Show less")
    assert not any("step, " * 100 in text for text in words_of(screen))


@pytest.mark.parametrize("make", [ks.empty, ks.odd, ks.broken, ks.off_by_deletion, ks.off_by_configuration, states.working,
                                  states.first_run])  # fmt: skip
@pytest.mark.parametrize("tab", ["items", "digest"])
def test_every_state_draws(make: Callable[[], AppState], tab: str) -> None:
    assert any(word.startswith("Knowledge is") for word in words_of(open_panel(make(), tab=tab)))


def test_when_nothing_is_known_it_says_what_it_is_for_and_how_items_get_there() -> None:
    screen = open_panel(ks.empty())

    assert "There is no knowledge yet" in words_of(screen)
    assert screen.ui.shows(
        "Knowledge keeps facts, decisions, questions, tasks, playbooks and notes about files. A harvest takes these items from old conversations. You can also write items here or in the Markdown files in this folder:"
    )
    assert screen.ui.shows(ks.FOLDER)
    screen.ui.click("Harvest conversations")
    assert screen.view.panel == "harvest"


# --- the filter


def test_the_filter_wants_all_words_and_counts_what_it_finds() -> None:
    screen = open_panel()

    screen.ui.type("Words or “a phrase”", "TIDE table")

    assert items_of(screen) == [TIDE]
    assert "1 of 17 items" in words_of(screen)
    assert "1 of 3" in words_of(screen)
    assert "Facts" not in words_of(screen)


def test_a_phrase_in_quotes_is_found_as_it_stands_and_sources_are_searched() -> None:
    screen = open_panel()

    screen.ui.type("Words or “a phrase”", '"twice a"')
    assert sorted(items_of(screen)) == [MOON]
    screen.ui.type("Words or “a phrase”", "parser-sketches")
    assert "Done tasks" in words_of(screen)
    assert "1 of 17 items" in words_of(screen)


def test_a_path_finds_all_notes_of_its_file() -> None:
    screen = open_panel()

    screen.ui.type("Words or “a phrase”", "slots.py")

    assert items_of(screen) == ["The lock is reentrant", "`touch` is called twice for a fork"]


def test_what_nothing_matches_is_said() -> None:
    screen = open_panel()

    screen.ui.type("Words or “a phrase”", "zeppelin")

    assert "Nothing matches." in words_of(screen)
    assert items_of(screen) == []


def test_of_100_000_items_the_newest_are_listed_and_more_when_asked() -> None:
    screen = open_panel(ks.many(), "facts")
    (rows,) = [n for n in screen.ui.nodes("virtual_list") if n.path[-1] == "knowledge rows"]
    assert rows.value == 7 + 100 + 1
    assert items_of(screen)[0].startswith("The facts number 44999 ")

    screen.ui.scroll("knowledge rows", 100)
    screen.ui.click("Show 500 more")
    screen.ui.scroll("knowledge rows", 600)
    screen.ui.click("Show all 45,000")
    (rows,) = [n for n in screen.ui.nodes("virtual_list") if n.path[-1] == "knowledge rows"]
    assert rows.value == 45_000 + 7
    screen.ui.scroll("knowledge rows", 44_998)
    assert "The facts number 0 says" in " ".join(items_of(screen))


def test_an_unchanged_state_makes_no_list_anew() -> None:
    screen = open_panel(ks.many(2_000), "facts")
    memo = screen.view.memo
    before = memo._kept["knowledge rows"][1]

    screen.show(replace(screen.state, now=states.NOW))
    assert memo._kept["knowledge rows"][1] is before
    screen.ui.type("Words or “a phrase”", "number 7")
    assert memo._kept["knowledge rows"][1] is not before


def test_a_digest_read_alone_makes_no_list_anew() -> None:
    screen = open_panel(ks.many(2_000), "facts")
    before = screen.view.memo._kept["knowledge rows"][1]

    known: KnowledgeState = replace(screen.state.knowledge, digest="", switch=DigestSwitch.OFF_BY_DELETION)
    screen.show(replace(screen.state, knowledge=known))

    assert screen.view.memo._kept["knowledge rows"][1] is before
    assert screen.ui.shows("Knowledge is off")
