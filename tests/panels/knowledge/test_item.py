"""Items of the Knowledge panel: ticked, edited, added, deleted, and traced to their conversation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.kernel.values.harvest import HarvestState
from core.kernel.values.knowledge import Category
from core.knowledge.evidence_rows import item_hash
from core.knowledge.knowledge_messages import (
    AddKnowledgeItem,
    DeleteKnowledgeItem,
    EditKnowledgeItem,
    SetTaskDone,
)
from core.knowledge.merges import draft_mark
from core.talk.discussion.discussion_messages import SelectDiscussion, UndoDelete
from core.talk.turn.turn_messages import SendPrompt
from tests.panels.caching import cache_states
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.knowledge_screen import (
    MOON,
    TIDE,
    after,
    failed,
    item_of,
    items_of,
    open_panel,
    words_of,
)
from tests.panels.screen import Screen, plain
from tests.state_fields import with_fields

# --- tasks


def test_a_tick_moves_a_task_and_is_asked_for_once() -> None:
    screen = open_panel(ks.some(), "tasks_open")
    task = item_of(screen.state, TIDE)

    screen.ui.click(f"Mark as done: {TIDE}")

    assert screen.asked == [SetTaskDone(task, True)]
    assert not screen.ui.find(f"Mark as done: {TIDE}", kind="checkbox").is_enabled
    screen.show(failed(screen.state))
    assert screen.ui.find(f"Mark as done: {TIDE}", kind="checkbox").is_enabled


def test_a_done_task_can_be_opened_again() -> None:
    screen = open_panel(ks.some(), "tasks_done")

    screen.ui.click("Reopen: Pin the tokenizer's version")

    assert plain(screen.only(SetTaskDone)) == SetTaskDone(
        item_of(screen.state, "Pin the tokenizer's version"), False
    )


# --- edit


def test_an_edit_stays_in_view_until_the_state_shows_it() -> None:
    screen = open_panel(ks.some(), "facts")
    fact = item_of(screen.state, MOON)

    screen.ui.click("Edit", within=MOON)
    assert screen.ui.is_focused_on("New text for this item")
    screen.ui.type("New text for this item", "The moon pulls all day\nand the sun too")
    screen.ui.click("Save")

    assert screen.asked == [EditKnowledgeItem(fact, "The moon pulls all day\nand the sun too")]
    assert screen.ui.find("New text for this item").value == "The moon pulls all day\nand the sun too"
    assert screen.ui.shows("Saving…")
    assert not screen.ui.find("Save").is_enabled

    screen.show(
        after({"facts.md": ks.TEXTS["facts.md"].replace(MOON, "The moon pulls all day\n  and the sun too")})
    )
    assert not screen.ui.has("New text for this item")
    assert "The moon pulls all day\nand the sun too" in items_of(screen)


def test_ctrl_enter_saves_the_item_and_sends_no_message() -> None:
    screen = open_panel(ks.some(), "facts")

    screen.ui.click("Edit", within=MOON)
    screen.ui.type("New text for this item", "Other words")
    screen.ui.press("Ctrl+Enter")

    assert screen.asked == [EditKnowledgeItem(item_of(screen.state, MOON), "Other words")]


def test_ctrl_enter_in_the_composer_still_sends_while_a_form_is_open() -> None:
    screen = open_panel(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)
    screen.ui.focus_on("Write a message")

    screen.ui.press("Ctrl+Enter")

    assert [type(command) for command in screen.asked] == [SendPrompt]


def test_escape_gives_up_the_form_with_the_keyboard_and_nothing_else() -> None:
    screen = open_panel(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)

    screen.ui.press("Escape")

    assert not screen.ui.has("New text for this item")
    assert MOON in items_of(screen)
    assert screen.asked == []


def test_an_edit_that_changes_nothing_writes_nothing() -> None:
    screen = open_panel(ks.some(), "tasks_open")

    screen.ui.click("Edit", within=TIDE)
    screen.ui.click("Save")

    assert screen.asked == []
    assert TIDE in items_of(screen)


def test_an_item_without_words_cannot_be_saved() -> None:
    screen = open_panel(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)

    screen.ui.type("New text for this item", "  \n ")

    assert not screen.ui.find("Save").is_enabled


def test_words_are_kept_when_the_program_could_not_write_them_and_can_be_sent_again() -> None:
    screen = open_panel(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)
    screen.ui.type("New text for this item", "Other words")
    screen.ui.click("Save")

    screen.show(failed(screen.state))

    assert screen.ui.find("New text for this item").value == "Other words"
    assert screen.ui.shows("Not saved yet; your text stays here.")
    screen.ui.click("Save")
    assert len(screen.asked) == 2


def test_words_are_kept_when_the_item_is_gone_from_its_file_and_become_a_new_one() -> None:
    screen = open_panel(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)
    screen.ui.type("New text for this item", "My long thought about the moon")
    screen.ui.click("Save")

    screen.show(after({"facts.md": ks.TEXTS["facts.md"].replace(MOON, "Somebody else's moon")}))

    assert screen.ui.shows("facts.md has changed")
    assert screen.ui.shows("My long thought about the moon")
    assert "Somebody else's moon" in items_of(screen)
    screen.ui.click("Write a new fact")
    assert screen.ui.find("One fact").value == "My long thought about the moon"
    screen.ui.click("Add", within="New fact")
    assert screen.asked[-1] == AddKnowledgeItem(Category.FACTS, "My long thought about the moon")


def test_words_for_a_vanished_item_can_be_copied_and_discarded() -> None:
    screen = open_panel(ks.some(), "files")
    screen.ui.click("Edit", within="Six is a guess")
    screen.ui.type("New text for this item", "Seven")
    gone = tuple(n for n in screen.state.knowledge.notes if n.file_id != "1:13")

    screen.show(ks.with_knowledge(replace(screen.state.knowledge, notes=gone)))
    screen.ui.click("Copy", within="files/1:13.md has changed")
    assert screen.ui.copied == ["Seven"]
    assert not screen.ui.has("Write a new fact")
    screen.ui.click("Discard")
    assert not screen.ui.shows("has changed")


def test_an_item_that_moved_in_its_file_keeps_its_form() -> None:
    screen = open_panel(ks.some(), "facts")
    screen.ui.click("Edit", within=MOON)
    screen.ui.type("New text for this item", "half a th")

    screen.show(
        after({"facts.md": "# Facts\n\n- One more above\n" + ks.TEXTS["facts.md"].removeprefix("# Facts\n")})
    )

    assert screen.ui.find("New text for this item").value == "half a th"
    assert not screen.ui.shows("has changed")
    assert screen.ui.shows("One more above")


# --- add and delete


def test_an_item_is_added_in_its_section_and_its_form_closes_when_the_state_shows_it() -> None:
    screen = open_panel(ks.some(), "facts")

    screen.ui.click("New fact")
    assert screen.ui.is_focused_on("One fact")
    screen.ui.type("One fact", "The sun pulls too")
    screen.ui.click("Add", within="New fact")

    assert screen.asked == [AddKnowledgeItem(Category.FACTS, "The sun pulls too")]
    assert screen.ui.find("One fact").value == "The sun pulls too"
    screen.show(after({"facts.md": ks.TEXTS["facts.md"] + "- The sun pulls too\n"}))
    assert not screen.ui.has("One fact")
    assert items_of(screen)[0] == "The sun pulls too"


def test_another_fact_of_the_same_words_is_not_taken_for_the_one_that_was_added() -> None:
    screen = open_panel(ks.some(), "facts")
    screen.ui.click("New fact")
    screen.ui.type("One fact", MOON)
    screen.ui.click("Add", within="New fact")

    screen.show(after({"facts.md": ks.TEXTS["facts.md"] + "- Something else\n"}))

    assert screen.ui.find("One fact").value == MOON


def test_a_playbook_wants_a_name_and_steps() -> None:
    screen = open_panel(ks.some(), "playbooks")
    screen.ui.click("Add to knowledge")
    screen.ui.click("New playbook", within="New question")

    screen.ui.type("Steps that worked", "1. look 2. leap")
    assert not screen.ui.find("Add", kind="button").is_enabled
    screen.ui.type("Playbook name", "Leaping")
    screen.ui.press("Ctrl+Enter")

    assert screen.asked == [AddKnowledgeItem(Category.PLAYBOOKS, "1. look 2. leap", "Leaping")]
    screen.show(after({"playbooks.md": "- **Leaping**: 1. look 2. leap\n"}))
    assert not screen.ui.has("Playbook name")


def test_the_menu_adds_to_a_folded_section_too() -> None:
    screen = open_panel(ks.some(), "tasks_open")

    screen.ui.click("Add to knowledge")
    screen.ui.click("New decision", within="New question")

    assert screen.ui.is_focused_on("One decision")


def test_deleting_asks_first_and_names_the_file() -> None:
    screen = open_panel(ks.some(), "facts")

    screen.ui.click("Delete…", within=MOON)
    assert screen.ui.shows("The program removes this item from facts.md")
    assert screen.ui.shows(MOON)
    assert screen.asked == []
    screen.ui.click("Delete item")

    assert screen.asked == [DeleteKnowledgeItem(item_of(screen.state, MOON))]
    assert not screen.ui.find("Delete…", within=MOON).is_enabled


@pytest.mark.parametrize(
    "leave", [lambda s: s.ui.click("Cancel"), lambda s: s.ui.close_dialog(), lambda s: s.ui.press("Escape")]
)
def test_a_deletion_can_be_given_up(leave: Callable[[Screen], None]) -> None:
    screen = open_panel(ks.some(), "facts")
    screen.ui.click("Delete…", within=MOON)

    leave(screen)

    assert screen.asked == []
    assert screen.view.dialog is None


def test_a_home_that_cannot_be_written_offers_no_change() -> None:
    screen = open_panel(with_fields(ks.some(), is_home_read_only=True), "tasks_open")

    assert not screen.ui.has("Add to knowledge")
    assert not screen.ui.has("New open task")
    assert not screen.ui.find(f"Mark as done: {TIDE}").is_enabled
    assert not screen.ui.find("Regenerate digest").is_enabled
    assert "Nothing can be saved: this data folder is read-only" in screen.ui.tips()


def test_what_was_replaced_is_not_edited_and_can_be_deleted() -> None:
    struck = "~~The sun pulls~~ (replaced 2026-11-20: The moon pulls)"
    screen = open_panel(after({"facts.md": f"# Facts\n\n- {struck}\n"}), "facts")

    assert not screen.ui.has("Edit", kind="button")
    assert screen.ui.find("Delete…").is_enabled
    screen.ui.click("Why the model knows this")
    assert screen.ui.shows("Replaced: this item is struck through in its file.")
    assert "The sun pulls" in screen.ui.texts()


def test_a_playbook_leads_to_its_draft() -> None:
    state = ks.some()
    (item,) = [i for f in state.knowledge.categories for i in f.items if i.category is Category.PLAYBOOKS][:1]
    assert not open_panel(state, "playbooks").ui.has("Open draft")

    mark = draft_mark(item_hash(item.category, item.text))
    path = "/home/person/.manual_slop/knowledge/drafts/leap.md.draft"
    known = replace(state.knowledge, drafts={mark: path})
    screen = open_panel(replace(state, knowledge=known), "playbooks")
    screen.ui.click("Open draft")
    assert screen.ui.files == [path]


# --- where an item came from


def test_an_item_leads_to_its_conversation() -> None:
    screen = open_panel(ks.some(), "tasks_open")

    screen.ui.click("from Cache TTL policy, 20 Nov")

    assert screen.asked == [SelectDiscussion("d1")]


def test_an_item_leads_into_the_archive() -> None:
    screen = open_panel(ks.some(), "playbooks")

    screen.ui.click("Show the conversation Old ideas, in the archive")

    assert screen.asked == [SelectDiscussion("d8")]


def test_a_conversation_in_the_trash_is_restored_from_its_item() -> None:
    screen = open_panel(ks.some(), "facts")
    assert screen.ui.shows("from Tide gauge, 16 Nov, in the trash")

    screen.ui.click("Take the conversation Tide gauge out of the trash; this item of knowledge is unchanged")

    assert screen.asked == [UndoDelete(ks.TRASHED.discussion_id)]


def test_a_conversation_that_is_gone_is_named_and_one_by_hand_says_so() -> None:
    screen = open_panel(ks.some(), "decisions", "facts")

    assert "from 2026-09-01-gone-for-good, 2 Sep" in words_of(screen)
    assert not screen.ui.has("from 2026-09-01-gone-for-good, 2 Sep", kind="button")
    assert "added by hand" in words_of(screen)


def test_before_any_look_sources_are_found_by_the_name_that_a_harvest_would_give() -> None:
    state = replace(ks.some(), harvest=HarvestState())

    screen = open_panel(state, "tasks_open")

    screen.ui.click("from Cache TTL policy, 20 Nov")
    assert screen.asked == [SelectDiscussion("d1")]


def test_before_a_deletion_its_price_is_said() -> None:
    for state in (ks.some(), cache_states.with_price_of_deletion(ks.some())):
        screen = open_panel(state, "facts")
        screen.ui.click("Delete…", within=MOON)
        assert screen.ui.shows("the next turn rewrites the cache of 1 warm discussion") is bool(
            state.caching.withdrawals
        )
