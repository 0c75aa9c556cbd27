"""A message's words, and what a right click on them offers."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.talk.discussion.discussion_messages import BranchDiscussion, DeleteMessage, EditMessage, SetDraft
from core.talk.turn.turn_messages import RegenerateReply
from panels.discussion.message_rows import MessageRows
from panels.discussion.tool_rounds import folded_rows
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.panels.screen import Screen

WORDS = "Traceback:\n  in __init__"
REPLY = "A **reply** about it"


@pytest.fixture
def screen() -> Screen:
    entries = (states.user("m1", WORDS), states.reply("m2", REPLY))
    return Screen(
        states.with_opened(
            states.working(), entries=entries, draft=states.working().discussions.open["d1"].draft
        )
    )


def test_a_persons_words_show_as_written_and_a_reply_as_markdown(screen: Screen) -> None:
    shown = {node.value: node.props["is_written"] for node in screen.ui.nodes("markdown")}
    assert shown == {WORDS: True, REPLY: False}


def test_the_menu_copies_what_is_selected_or_the_whole_message(screen: Screen) -> None:
    screen.ui.right_click(REPLY)
    assert not screen.ui.find("Copy", kind="menu_item").is_enabled
    screen.ui.select("**reply**")
    screen.ui.click("Copy")
    screen.ui.right_click(REPLY)
    screen.ui.click("Copy message as Markdown")
    assert screen.ui.copied == ["**reply**", REPLY]


def test_a_quotation_goes_behind_what_stands_in_the_composer(screen: Screen) -> None:
    screen.ui.select("one\n\ntwo")
    screen.ui.right_click(REPLY)
    screen.ui.click("Quote selection")
    text = screen.only(SetDraft).text
    before = screen.state.discussions.open["d1"].draft.text
    assert before
    assert text == f"{before}\n\n> one\n>\n> two\n\n"
    assert screen.ui.find("Write a message", kind="editor").value == text
    assert screen.ui.is_focused_on("Write a message")


def test_without_a_selection_the_message_is_quoted(screen: Screen) -> None:
    screen.ui.right_click(WORDS)
    screen.ui.click("Quote message")
    assert screen.only(SetDraft).text.endswith("> Traceback:\n>   in __init__\n\n")


def test_the_menu_edits_branches_regenerates_and_deletes(screen: Screen) -> None:
    screen.ui.right_click(REPLY)
    screen.ui.click("Branch here")
    screen.ui.right_click(REPLY)
    screen.ui.click("Regenerate", within="Branch here")
    screen.ui.right_click(REPLY)
    screen.ui.click("Delete", within="Branch here")
    screen.ui.right_click(WORDS)
    screen.ui.click("Edit", within="Branch here")
    screen.ui.type("Message", "other")
    screen.ui.click("Save", within="Cancel")
    assert screen.asked == [
        BranchDiscussion("d1", "m2"), RegenerateReply("d1", "m2"), DeleteMessage("d1", "m2"), EditMessage("d1", "m1", "other"),
    ]  # fmt: skip


def test_only_a_reply_is_regenerated(screen: Screen) -> None:
    screen.ui.right_click(WORDS)
    assert not screen.ui.has("Regenerate", kind="menu_item")


def test_words_of_a_reply_on_its_way_can_be_quoted() -> None:
    screen = Screen(states.streaming("Lazy forks share"))
    screen.ui.right_click("Lazy forks share")
    screen.ui.click("Quote message")
    assert screen.only(SetDraft).text.endswith("> Lazy forks share\n\n")


def test_rows_out_of_view_know_their_words(screen: Screen) -> None:
    opened = screen.state.discussions.open["d1"]
    rows = MessageRows(
        opened, folded_rows(opened.entries, (), lambda _: False), None, DiscussionView(), lambda *_: None
    )
    assert [rows.text(index) for index in range(len(rows))] == [WORDS, REPLY]


def test_words_of_the_program_can_be_quoted_but_not_edited() -> None:
    words = replace(states.user("m1", WORDS), asks_rest=True)
    screen = Screen(states.with_opened(states.working(), entries=(words, states.reply("m2", REPLY))))
    screen.ui.right_click(WORDS)

    assert screen.ui.has("Quote message", kind="menu_item")
    assert not screen.ui.has("Edit", kind="menu_item")
