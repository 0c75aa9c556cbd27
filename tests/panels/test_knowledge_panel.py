"""The Knowledge panel as a person meets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.values import commands as c
from core.values.harvest import HarvestState
from core.values.knowledge import Category, DigestSwitch, Item, KnowledgeState
from core.values.state import AppState, Level, Notice
from panels.view import WindowView
from tests.panels import knowledge_states as ks
from tests.panels import states
from tests.panels.screen import Screen

TIDE = "Measure the mock tide gauge against the harbour's table"
MOON = "The moon pulls twice a day"
ONLY = {category.value for category in Category}


def _screen(
    state: AppState | None = None, *only: str, tab: str = "items", width_px: float = 1600.0
) -> Screen:
    view = WindowView(hub_tab="knowledge", knowledge_tab=tab)
    if only:
        view.knowledge.closed = ONLY - set(only)
    return Screen(state or ks.some(), view, width_px=width_px)


def _panel(screen: Screen) -> list[str]:
    """The words of the panel alone."""
    (hub,) = [n for n in screen.ui.nodes("surface") if n.path[-2:] == ("hub", "knowledge")]
    return hub.texts()


def _items(screen: Screen) -> list[str]:
    """The words of the items in view, from the top."""
    cards = [n for n in screen.ui.nodes("surface") if n.path[-1] == "card" and "knowledge rows" in n.path]
    words = [n for card in cards for n in card.walk() if n.path[-1] in {"text", "steps"}]
    return [n.value for n in words if n.kind in {"text", "markdown"}]


def _item(state: AppState, text: str) -> Item:
    found = [i for f in state.knowledge.categories for i in f.items if i.text == text]
    found += [i for n in state.knowledge.notes for i in n.items if i.text == text]
    (item,) = found
    return item


def _after(texts: dict[str, str], **changes: object) -> AppState:
    """The state once files have other words."""
    return ks.with_knowledge(ks.known(ks.TEXTS | texts), **changes)


def _failed(state: AppState) -> AppState:
    """The program could not do it and says so."""
    notice = Notice(
        "knowledge", Level.ERROR, "tasks.md has changed: this item is not there any more as it was shown"
    )
    return replace(state, notices=(*state.notices, notice))


# --- where it is


def _from_menu(screen: Screen) -> None:
    screen.ui.click("View")
    screen.ui.click("Knowledge", within="Switch theme")


@pytest.mark.parametrize(
    "act",
    [
        lambda s: s.ui.press("Ctrl+4"),
        lambda s: s.ui.click("Knowledge (Ctrl+4)"),
        lambda s: s.ui.click("Knowledge", within="Caching"),
        _from_menu,
    ],
)
def test_it_is_reached_from_the_rail_the_tabs_the_menu_and_its_chord(act: Callable[[Screen], None]) -> None:
    screen = Screen(ks.some())

    act(screen)

    assert screen.view.hub_tab == "knowledge"
    assert screen.ui.shows("Memory is on")


def test_its_tab_comes_back_with_the_window() -> None:
    screen = _screen()

    screen.ui.click("Digest", within="Items")

    assert WindowView.from_toml(screen.view.to_toml()).knowledge_tab == "digest"
    assert WindowView.from_toml('knowledge_tab = "moon"').knowledge_tab == "items"


# --- the list


def test_every_category_is_a_section_with_its_count_newest_first() -> None:
    screen = _screen(ks.some(), "tasks_open")

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
    assert [text.split("\n")[0][:12] for text in _items(screen)] == [
        "Write the re",
        "Ask Ana whet",
        TIDE[:12],
    ]


def test_a_section_folds_at_a_click_and_all_of_them_at_another() -> None:
    screen = _screen()
    assert TIDE in _items(screen)

    screen.ui.click("Open tasks")
    assert TIDE not in _items(screen)
    screen.ui.click("Open tasks")
    screen.ui.click("Fold all sections")
    assert _items(screen) == []
    screen.ui.click("Unfold all sections")
    assert TIDE in _items(screen)
    assert "Pin the tokenizer's version" in _items(screen)


def test_continued_lines_belong_to_their_item() -> None:
    (text, *_) = _items(_screen(ks.some(), "tasks_open"))

    assert text.endswith("people ask for\nand a sentence on what is not measured")


def test_a_playbook_shows_its_name_and_each_step_on_a_line() -> None:
    screen = _screen(ks.some(), "playbooks")

    assert "Release" in _panel(screen)
    assert _items(screen) == [
        "1. run `make test`\n2. bump the version\n3. tag and push\n4. watch the first hour"
    ]


def test_a_long_item_is_shown_to_its_head_and_whole_when_asked() -> None:
    screen = _screen(ks.odd(), "playbooks")
    assert not any("step, " * 100 in text for text in _panel(screen))

    screen.ui.click("Show all of it")
    assert any("step, " * 100 in text for text in _panel(screen))
    screen.ui.click("Show less")
    assert not any("step, " * 100 in text for text in _panel(screen))


@pytest.mark.parametrize("make", [ks.empty, ks.odd, ks.broken, ks.off_by_deletion, ks.off_by_configuration, states.working,
                                  states.first_run])  # fmt: skip
@pytest.mark.parametrize("tab", ["items", "digest"])
def test_every_state_draws(make: Callable[[], AppState], tab: str) -> None:
    assert any(word.startswith("Memory is") for word in _panel(_screen(make(), tab=tab)))


def test_when_nothing_is_known_it_says_what_it_is_for_and_how_items_get_there() -> None:
    screen = _screen(ks.empty())

    assert "Nothing is known yet" in _panel(screen)
    assert screen.ui.shows("A harvest distils them from old conversations")
    assert screen.ui.shows(ks.FOLDER)
    screen.ui.click("Harvest conversations")
    assert screen.view.hub_tab == "harvest"


# --- the filter


def test_the_filter_wants_all_words_and_counts_what_it_finds() -> None:
    screen = _screen()

    screen.ui.type("Words or “a phrase”", "TIDE table")

    assert _items(screen) == [TIDE]
    assert "1 of 17 items" in _panel(screen)
    assert "1 of 3" in _panel(screen)
    assert "Facts" not in _panel(screen)


def test_a_phrase_in_quotes_is_found_as_it_stands_and_sources_are_searched() -> None:
    screen = _screen()

    screen.ui.type("Words or “a phrase”", '"twice a"')
    assert sorted(_items(screen)) == [MOON]
    screen.ui.type("Words or “a phrase”", "parser-sketches")
    assert "Done tasks" in _panel(screen)
    assert "1 of 17 items" in _panel(screen)


def test_a_path_finds_all_notes_of_its_file() -> None:
    screen = _screen()

    screen.ui.type("Words or “a phrase”", "slots.py")

    assert _items(screen) == ["The lock is reentrant", "`touch` is called twice for a fork"]


def test_what_nothing_matches_is_said() -> None:
    screen = _screen()

    screen.ui.type("Words or “a phrase”", "zeppelin")

    assert "Nothing matches." in _panel(screen)
    assert _items(screen) == []


# --- tasks


def test_a_tick_moves_a_task_and_is_asked_for_once() -> None:
    screen = _screen(ks.some(), "tasks_open")
    task = _item(screen.state, TIDE)

    screen.ui.click(f"Done: {TIDE}")

    assert screen.asked == [c.SetTaskDone(task, True)]
    assert not screen.ui.find(f"Done: {TIDE}", kind="checkbox").is_enabled
    screen.show(_failed(screen.state))
    assert screen.ui.find(f"Done: {TIDE}", kind="checkbox").is_enabled


def test_a_done_task_can_be_opened_again() -> None:
    screen = _screen(ks.some(), "tasks_done")

    screen.ui.click("Open it again: Pin the tokenizer's version")

    assert screen.only(c.SetTaskDone) == c.SetTaskDone(
        _item(screen.state, "Pin the tokenizer's version"), False
    )


# --- edit


def test_an_edit_stays_in_view_until_the_state_shows_it() -> None:
    screen = _screen(ks.some(), "facts")
    fact = _item(screen.state, MOON)

    screen.ui.click("Edit", within=MOON)
    assert screen.ui.is_focused_on("Other words for this item")
    screen.ui.type("Other words for this item", "The moon pulls all day\nand the sun too")
    screen.ui.click("Save")

    assert screen.asked == [c.EditKnowledgeItem(fact, "The moon pulls all day\nand the sun too")]
    assert screen.ui.find("Other words for this item").value == "The moon pulls all day\nand the sun too"
    assert screen.ui.shows("Saving…")
    assert not screen.ui.find("Save").is_enabled

    screen.show(
        _after({"facts.md": ks.TEXTS["facts.md"].replace(MOON, "The moon pulls all day\n  and the sun too")})
    )
    assert not screen.ui.has("Other words for this item")
    assert "The moon pulls all day\nand the sun too" in _items(screen)


def test_ctrl_enter_saves_the_item_and_sends_no_message() -> None:
    screen = _screen(ks.some(), "facts")

    screen.ui.click("Edit", within=MOON)
    screen.ui.type("Other words for this item", "Other words")
    screen.ui.press("Ctrl+Enter")

    assert screen.asked == [c.EditKnowledgeItem(_item(screen.state, MOON), "Other words")]


def test_ctrl_enter_in_the_composer_still_sends_while_a_form_is_open() -> None:
    screen = _screen(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)
    screen.ui.focus_on("Write a message")

    screen.ui.press("Ctrl+Enter")

    assert [type(command) for command in screen.asked] == [c.SendPrompt]


def test_escape_gives_up_the_form_with_the_keyboard_and_nothing_else() -> None:
    screen = _screen(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)

    screen.ui.press("Escape")

    assert not screen.ui.has("Other words for this item")
    assert MOON in _items(screen)
    assert screen.asked == []


def test_an_edit_that_changes_nothing_writes_nothing() -> None:
    screen = _screen(ks.some(), "tasks_open")

    screen.ui.click("Edit", within=TIDE)
    screen.ui.click("Save")

    assert screen.asked == []
    assert TIDE in _items(screen)


def test_an_item_without_words_cannot_be_saved() -> None:
    screen = _screen(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)

    screen.ui.type("Other words for this item", "  \n ")

    assert not screen.ui.find("Save").is_enabled


def test_words_are_kept_when_the_program_could_not_write_them_and_can_be_sent_again() -> None:
    screen = _screen(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)
    screen.ui.type("Other words for this item", "Other words")
    screen.ui.click("Save")

    screen.show(_failed(screen.state))

    assert screen.ui.find("Other words for this item").value == "Other words"
    assert screen.ui.shows("Not saved yet; your words are kept.")
    screen.ui.click("Save")
    assert len(screen.asked) == 2


def test_words_are_kept_when_the_item_is_gone_from_its_file_and_become_a_new_one() -> None:
    screen = _screen(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)
    screen.ui.type("Other words for this item", "My long thought about the moon")
    screen.ui.click("Save")

    screen.show(_after({"facts.md": ks.TEXTS["facts.md"].replace(MOON, "Somebody else's moon")}))

    assert screen.ui.shows("facts.md has changed")
    assert screen.ui.shows("My long thought about the moon")
    assert "Somebody else's moon" in _items(screen)
    screen.ui.click("Write a new fact")
    assert screen.ui.find("One fact").value == "My long thought about the moon"
    screen.ui.click("Add", within="New fact")
    assert screen.asked[-1] == c.AddKnowledgeItem(Category.FACTS, "My long thought about the moon")


def test_words_for_a_vanished_item_can_be_copied_and_discarded() -> None:
    screen = _screen(ks.some(), "files")
    screen.ui.click("Edit", within="Six is a guess")
    screen.ui.type("Other words for this item", "Seven")
    gone = tuple(n for n in screen.state.knowledge.notes if n.file_id != "1:13")

    screen.show(ks.with_knowledge(replace(screen.state.knowledge, notes=gone)))
    screen.ui.click("Copy", within="files/1:13.md has changed")
    assert screen.ui.copied == ["Seven"]
    assert not screen.ui.has("Write a new fact")
    screen.ui.click("Discard")
    assert not screen.ui.shows("has changed")


def test_an_item_that_moved_in_its_file_keeps_its_form() -> None:
    screen = _screen(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)
    screen.ui.type("Other words for this item", "half a th")

    screen.show(
        _after({"facts.md": "# Facts\n\n- One more above\n" + ks.TEXTS["facts.md"].removeprefix("# Facts\n")})
    )

    assert screen.ui.find("Other words for this item").value == "half a th"
    assert not screen.ui.shows("has changed")
    assert screen.ui.shows("One more above")


# --- add and delete


def test_an_item_is_added_in_its_section_and_its_form_closes_when_the_state_shows_it() -> None:
    screen = _screen(ks.some(), "facts")

    screen.ui.click("New fact")
    assert screen.ui.is_focused_on("One fact")
    screen.ui.type("One fact", "The sun pulls too")
    screen.ui.click("Add", within="New fact")

    assert screen.asked == [c.AddKnowledgeItem(Category.FACTS, "The sun pulls too")]
    assert screen.ui.find("One fact").value == "The sun pulls too"
    screen.show(_after({"facts.md": ks.TEXTS["facts.md"] + "- The sun pulls too\n"}))
    assert not screen.ui.has("One fact")
    assert _items(screen)[0] == "The sun pulls too"


def test_another_fact_of_the_same_words_is_not_taken_for_the_one_that_was_added() -> None:
    screen = _screen(ks.some(), "facts")
    screen.ui.click("New fact")
    screen.ui.type("One fact", MOON)
    screen.ui.click("Add", within="New fact")

    screen.show(_after({"facts.md": ks.TEXTS["facts.md"] + "- Something else\n"}))

    assert screen.ui.find("One fact").value == MOON


def test_a_playbook_wants_a_name_and_steps() -> None:
    screen = _screen(ks.some(), "playbooks")
    screen.ui.click("Add to knowledge")
    screen.ui.click("New playbook", within="New question")

    screen.ui.type("Steps that worked", "1. look 2. leap")
    assert not screen.ui.find("Add", kind="button").is_enabled
    screen.ui.type("Name of the playbook", "Leaping")
    screen.ui.press("Ctrl+Enter")

    assert screen.asked == [c.AddKnowledgeItem(Category.PLAYBOOKS, "1. look 2. leap", "Leaping")]
    screen.show(_after({"playbooks.md": "- **Leaping**: 1. look 2. leap\n"}))
    assert not screen.ui.has("Name of the playbook")


def test_the_menu_adds_to_a_folded_section_too() -> None:
    screen = _screen(ks.some(), "tasks_open")

    screen.ui.click("Add to knowledge")
    screen.ui.click("New decision", within="New question")

    assert screen.ui.is_focused_on("One decision")


def test_deleting_asks_first_and_names_the_file() -> None:
    screen = _screen(ks.some(), "facts")

    screen.ui.click("Delete…", within=MOON)
    assert screen.ui.shows("It is taken out of facts.md")
    assert screen.ui.shows(MOON)
    assert screen.asked == []
    screen.ui.click("Delete item")

    assert screen.asked == [c.DeleteKnowledgeItem(_item(screen.state, MOON))]
    assert not screen.ui.find("Delete…", within=MOON).is_enabled


@pytest.mark.parametrize(
    "leave", [lambda s: s.ui.click("Cancel"), lambda s: s.ui.close_dialog(), lambda s: s.ui.press("Escape")]
)
def test_a_deletion_can_be_given_up(leave: Callable[[Screen], None]) -> None:
    screen = _screen(ks.some(), "facts")
    screen.ui.click("Delete…", within=MOON)

    leave(screen)

    assert screen.asked == []
    assert screen.view.dialog is None


def test_a_home_that_cannot_be_written_offers_no_change() -> None:
    screen = _screen(replace(ks.some(), is_home_read_only=True), "tasks_open")

    assert not screen.ui.has("Add to knowledge")
    assert not screen.ui.has("New open task")
    assert not screen.ui.find(f"Done: {TIDE}").is_enabled
    assert not screen.ui.find("Regenerate digest").is_enabled
    assert "This home is read-only: nothing can be saved" in screen.ui.tips()


# --- where an item came from


def test_an_item_leads_to_its_conversation() -> None:
    screen = _screen(ks.some(), "tasks_open")

    screen.ui.click("from Cache TTL policy, 2026-11-20")

    assert screen.asked == [c.SelectDiscussion("d1")]


def test_an_item_leads_into_the_archive() -> None:
    screen = _screen(ks.some(), "playbooks")

    screen.ui.click("Show the conversation Old ideas, in the archive")

    assert screen.asked == [c.SelectDiscussion("d8")]


def test_a_conversation_in_the_trash_is_restored_from_its_item() -> None:
    screen = _screen(ks.some(), "facts")
    assert screen.ui.shows("from Tide gauge, 2026-11-16, in the trash")

    screen.ui.click("Restore", within="from Tide gauge")

    assert screen.asked == [c.UndoDelete(ks.TRASHED.discussion_id)]


def test_a_conversation_that_is_gone_is_named_and_one_by_hand_says_so() -> None:
    screen = _screen(ks.some(), "decisions", "facts")

    assert "from 2026-09-01-gone-for-good, 2026-09-02" in _panel(screen)
    assert not screen.ui.has("from 2026-09-01-gone-for-good, 2026-09-02", kind="button")
    assert "added by hand" in _panel(screen)


def test_before_any_look_sources_are_found_by_the_name_that_a_harvest_would_give() -> None:
    state = replace(ks.some(), harvest=HarvestState())

    screen = _screen(state, "tasks_open")

    screen.ui.click("from Cache TTL policy, 2026-11-20")
    assert screen.asked == [c.SelectDiscussion("d1")]


# --- notes on files


def test_notes_are_grouped_by_file_with_what_became_of_it() -> None:
    screen = _screen(ks.some(), "files")
    words = _panel(screen)

    assert words.index("gone.py") < words.index("Six is a guess") < words.index("lost.py")
    assert "slots.py" not in words[: words.index("lost.py")]
    assert words.count("orphaned") == 2
    screen.ui.scroll("knowledge rows", 11)
    words = _panel(screen)
    assert "moved" in words
    assert "renamed" in words
    assert "was /home/person/work/cachelab/docs/old-name.md" in words


def test_orphaned_notes_are_attached_to_what_is_proposed() -> None:
    screen = _screen(ks.some(), "files")

    screen.ui.click("Attach to came_back.py")

    assert screen.asked == [c.AttachNotes("1:13", "/home/person/work/cachelab/src/cachelab/came_back.py")]
    assert not screen.ui.find("Attach to came_back.py").is_enabled


def test_orphaned_notes_are_attached_to_a_file_that_the_person_chooses() -> None:
    screen = _screen(ks.some(), "files")

    screen.ui.click("Choose a file…")
    screen.ui.pick("Attach notes to a file", "/elsewhere/found.py")

    assert screen.asked == [c.AttachNotes("1:14", "/elsewhere/found.py")]


def test_choosing_no_file_attaches_nothing() -> None:
    screen = _screen(ks.some(), "files")

    screen.ui.click("Choose a file…")
    screen.ui.pick("Attach notes to a file")

    assert screen.asked == []
    assert screen.view.dialog is None


def test_the_path_of_a_file_can_be_copied_and_its_notes_edited() -> None:
    screen = _screen(ks.some(), "files")

    screen.ui.click("Copy the path /home/person/work/cachelab/src/lost.py")
    assert screen.ui.copied == ["/home/person/work/cachelab/src/lost.py"]
    screen.ui.click("Edit", within="Six is a guess")
    screen.ui.type("Other words for this item", "Six is right")
    screen.ui.click("Save")
    assert screen.asked == [c.EditKnowledgeItem(_item(screen.state, "Six is a guess"), "Six is right")]


# --- the digest


def test_the_digest_is_shown_exactly_as_it_is_injected() -> None:
    screen = _screen(tab="digest")

    (text,) = [n.value for n in screen.ui.nodes("selectable_text")]
    assert text == "{knowledge}\n" + screen.state.knowledge.digest + "\n{/knowledge}\n"
    screen.ui.click("Copy the digest")
    assert screen.ui.copied == [text]


def test_gauges_show_how_full_the_digest_and_layer_7_are() -> None:
    screen = _screen(tab="digest")
    used = screen.state.knowledge.digest_bytes

    assert f"{used:,} of 4,096 bytes" in _panel(screen)
    assert f"{used + 940:,} of 8,192 bytes" in _panel(screen)
    bars = [n.props["fraction"] for n in screen.ui.nodes("progress")]
    assert used / 4096 in bars


def test_a_digest_over_its_bound_is_shown_as_too_full() -> None:
    screen = _screen(ks.with_knowledge(ks.known(digest_bytes=5_000)), tab="digest")

    assert screen.ui.nodes("progress")[0].props["tone"] == "error"


def test_turning_off_deletes_the_file_that_is_named() -> None:
    screen = _screen(tab="digest")
    assert f"{ks.FOLDER}/digest.md" in _panel(screen)

    screen.ui.click("Turn off")
    screen.ui.click("Copy path")

    assert screen.asked == [c.DeleteDigest()]
    assert screen.ui.copied == [f"{ks.FOLDER}/digest.md"]


def test_off_by_deletion_says_what_turns_it_on() -> None:
    screen = _screen(ks.off_by_deletion(), tab="digest")

    assert "Memory is off" in _panel(screen)
    assert screen.ui.shows("There is no digest.md")
    assert not screen.ui.find("Turn off").is_enabled
    assert screen.ui.nodes("selectable_text") == []
    screen.ui.click("Regenerate digest")
    assert screen.asked == [c.RegenerateDigest()]


def test_off_by_configuration_shows_what_waits_and_the_switch_turns_it_on() -> None:
    screen = _screen(ks.off_by_configuration(), tab="digest")

    assert screen.ui.shows("ai_settings.knowledge.digest_enabled is off")
    assert [n.value for n in screen.ui.nodes("selectable_text")] == [screen.state.knowledge.digest]
    screen.ui.click("Send it while digest.md is there")
    assert screen.asked == [c.ChangeSetting("ai_settings.knowledge.digest_enabled", True)]


def test_the_configuration_turns_it_off_while_the_file_stays() -> None:
    screen = _screen(tab="digest")

    screen.ui.click("Send it while digest.md is there")

    assert screen.asked == [c.ChangeSetting("ai_settings.knowledge.digest_enabled", False)]


def test_files_that_cannot_be_read_are_named_where_they_belong() -> None:
    screen = _screen(ks.broken(), "decisions")
    words = _panel(screen)

    assert words.count("decisions.md is not UTF-8 text; save it as UTF-8 to have it read") == 1
    assert any(word.startswith("Could not read") for word in words)
    assert words.index("Decisions") < words.index(
        "decisions.md is not UTF-8 text; save it as UTF-8 to have it read"
    )


def test_many_problems_are_counted_and_told_on_hover() -> None:
    problems = tuple(f"Problem {n}" for n in range(9))
    screen = _screen(ks.with_knowledge(ks.known(problems=problems)))

    assert "and 6 more" in _panel(screen)
    assert any("Problem 8" in tip for tip in screen.ui.tips())


# --- scale


def test_of_100_000_items_the_newest_are_listed_and_more_when_asked() -> None:
    screen = _screen(ks.many(), "facts")
    (rows,) = [n for n in screen.ui.nodes("virtual_list") if n.path[-1] == "knowledge rows"]
    assert rows.value == 7 + 100 + 1
    assert _items(screen)[0].startswith("The facts number 44999 ")

    screen.ui.scroll("knowledge rows", 100)
    screen.ui.click("Show 500 more")
    screen.ui.scroll("knowledge rows", 600)
    screen.ui.click("Show all 45,000")
    (rows,) = [n for n in screen.ui.nodes("virtual_list") if n.path[-1] == "knowledge rows"]
    assert rows.value == 45_000 + 7
    screen.ui.scroll("knowledge rows", 44_998)
    assert "The facts number 0 says" in " ".join(_items(screen))


def test_an_unchanged_state_makes_no_list_anew() -> None:
    screen = _screen(ks.many(2_000), "facts")
    memo = screen.view.memo
    before = memo._kept["knowledge rows"][1]

    screen.show(replace(screen.state, now=states.NOW))
    assert memo._kept["knowledge rows"][1] is before
    screen.ui.type("Words or “a phrase”", "number 7")
    assert memo._kept["knowledge rows"][1] is not before


def test_a_digest_read_alone_makes_no_list_anew() -> None:
    screen = _screen(ks.many(2_000), "facts")
    before = screen.view.memo._kept["knowledge rows"][1]

    known: KnowledgeState = replace(screen.state.knowledge, digest="", switch=DigestSwitch.OFF_BY_DELETION)
    screen.show(replace(screen.state, knowledge=known))

    assert screen.view.memo._kept["knowledge rows"][1] is before
    assert screen.ui.shows("Memory is off")
