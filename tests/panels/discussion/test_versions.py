"""Versions of a reply in the window: paged, asked for, edited and resent, with the branch points shown."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.discussion import Draft
from core.kernel.values.state import AppState, CommandOutcome
from core.kernel.values.usage import LimitScope, ReachedLimit, SpendRefusal
from core.talk.discussion.discussion_messages import (
    ChooseVersion,
    EditMessage,
    RestoreMessage,
    SelectDiscussion,
)
from core.talk.turn.turn_messages import CancelReply, RegenerateReply, ResendMessage
from panels.discussion.message_rows import shown_entries
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.panels.screen import Screen
from tests.state_fields import with_fields

FIRST, LAST = "The 2. answer.", "The 2. reason."


def _screen(state: AppState | None = None) -> Screen:
    screen = Screen(state or states.versioned())
    screen.view.of(DiscussionView).scroll_to = 0
    screen.ui.settle()
    screen.sent.clear()
    return screen


def _told(screen: Screen, **outcome: object) -> None:
    """The step has told the outcome of the send that the window waits for."""
    command = screen.only(ResendMessage)
    told = CommandOutcome(command.command_id, **outcome)  # type: ignore[arg-type]
    screen.show(with_fields(screen.state, outcomes=(told,)))


def test_each_reply_says_which_version_it_is_and_pages_to_the_others() -> None:
    screen = _screen()
    assert screen.ui.shows("2/3")
    assert screen.ui.shows("2/2")

    screen.ui.click("Previous version (Alt+PageUp)", within=FIRST)
    screen.ui.click("Next version (Alt+PageDown)", within=FIRST)

    assert screen.asked == [ChooseVersion("d1", "v2", -1), ChooseVersion("d1", "v2", 1)]


def test_past_the_last_version_there_is_no_button() -> None:
    screen = _screen()
    buttons = [n for n in screen.ui.nodes("button") if n.path[-2] == "versions" and n.path[-1] != "side"]

    assert [node.is_enabled for node in buttons] == [True, True, True, False]


def test_a_reply_of_one_version_and_a_message_of_the_person_have_no_pages() -> None:
    screen = Screen(states.working())

    assert [n for n in screen.ui.nodes("button") if "versions" in n.path] == []


def test_a_version_that_was_deleted_can_be_paged_from() -> None:
    state = states.versioned()
    opened = state.discussions.open["d1"]
    gone = replace(opened.entries[-1], is_deleted=True)  # type: ignore[arg-type]
    screen = _screen(states.with_opened(state, entries=(*opened.entries[:-1], gone)))

    screen.ui.click("Restore")
    screen.ui.click("Previous version (Alt+PageUp)", within="Deleted: Reply")

    assert screen.asked == [RestoreMessage("d1", "w2"), ChooseVersion("d1", "w2", -1)]


def test_any_reply_can_be_asked_for_again() -> None:
    screen = _screen()

    screen.ui.click("Regenerate this reply", within=FIRST)
    screen.ui.click("Regenerate this reply", within=LAST)

    assert screen.asked == [RegenerateReply("d1", "v2"), RegenerateReply("d1", "w2")]
    assert screen.ui.tips().count("Regenerate this reply") == 2


def test_where_a_card_is_narrow_its_head_has_room_for_the_model_and_the_menu_asks_again() -> None:
    screen = Screen(states.versioned(), width_px=1000.0)
    assert "Regenerate this reply" not in screen.ui.tips()
    assert "Edit message" in screen.ui.tips()

    screen.ui.click("More", within=LAST)
    screen.ui.click("Regenerate this reply")

    assert screen.asked == [RegenerateReply("d1", "w2")]


def test_while_a_version_is_on_its_way_it_stands_in_place_of_the_other() -> None:
    call = replace(states.streaming().turns.calls["d1"], user_message_id="u2", version_of="w1")
    state = with_fields(states.versioned(), calls={"d1": call})
    screen = _screen(state)

    assert screen.ui.shows("version 3")
    assert not screen.ui.shows(LAST)
    assert screen.ui.shows("And why?")
    first = replace(call, version_of="")
    assert shown_entries(state.discussions.open["d1"], first) == state.discussions.open["d1"].entries


def _edited(screen: Screen) -> None:
    screen.ui.click("Edit message", within="And why?")
    screen.ui.type("Message", "And how?")


def test_an_edit_is_saved_or_saved_and_sent() -> None:
    screen = _screen()
    _edited(screen)
    screen.ui.click("Save and resend")
    screen.ui.click("Save", within="Cancel")

    assert screen.asked == [ResendMessage("d1", "u2", "And how?"), EditMessage("d1", "u2", "And how?")]


def test_the_chord_of_sending_sends_what_is_edited_and_no_draft() -> None:
    state = states.versioned()
    screen = _screen(states.with_opened(state, draft=Draft("half a thought")))
    _edited(screen)
    screen.ui.press("Ctrl+Enter")
    assert screen.asked == [ResendMessage("d1", "u2", "And how?")]

    _told(screen, made_id="x9")
    screen.sent.clear()
    screen.ui.click("Edit message", within=LAST)
    screen.ui.type("Message", "Because.")
    screen.ui.press("Ctrl+Enter")
    (saved,) = screen.asked
    assert isinstance(saved, EditMessage)
    assert saved.text == "Because."


def test_escape_in_an_edit_gives_it_up_and_the_reply_goes_on() -> None:
    screen = Screen(states.streaming())
    screen.ui.click("Edit message", within="You")
    screen.ui.focus_on("Message")
    screen.ui.press("Escape")
    assert not screen.view.of(DiscussionView).editing
    assert screen.asked == []

    screen.ui.press("Escape")
    assert screen.asked == [CancelReply("d1")]


def test_a_reply_that_is_edited_is_nothing_to_send() -> None:
    screen = _screen()
    screen.ui.click("Edit message", within=LAST)

    assert screen.ui.has("Save")
    assert not screen.ui.has("Save and resend")


def test_words_that_are_sent_again_stay_in_the_editor_until_they_are_on_disk() -> None:
    screen = _screen()
    _edited(screen)
    screen.ui.click("Save and resend")
    assert not screen.ui.find("Save and resend").is_enabled

    _told(screen, made_id="x9")

    assert not screen.view.of(DiscussionView).editing


def test_words_that_could_not_be_sent_stay_in_the_editor_with_the_reason() -> None:
    screen = _screen()
    _edited(screen)
    screen.ui.click("Save and resend")

    _told(screen, problem="The disk is full.", remedy="Free some space.")

    assert screen.ui.shows("The disk is full. Free some space.")
    assert screen.ui.find("Message", kind="editor").value == "And how?"
    assert screen.ui.find("Save and resend").is_enabled


def test_at_a_spend_limit_the_window_asks_and_the_words_stay() -> None:
    screen = _screen()
    _edited(screen)
    screen.ui.click("Save and resend")
    confirmed = ResendMessage("d1", "u2", "And how?", over_limit=True)
    refusal = SpendRefusal((ReachedLimit(LimitScope.DISCUSSION, 0.5, 0.6),), confirmed)

    _told(screen, problem=refusal.sentence, refusal=refusal)
    screen.sent.clear()
    screen.ui.click("Send anyway")

    assert screen.asked == [confirmed]
    assert screen.view.of(DiscussionView).editing == {("d1", "u2"): "And how?"}


def _branch(point: str, parent: str = "d1") -> AppState:
    """The discussion with two turns is a branch of a parent, at a message."""
    state = states.versioned()
    rows = {**state.discussions.summaries}
    rows["d1"] = replace(rows["d1"], meta=replace(rows["d1"].meta, parent_id=parent, branch_message_id=point))
    return with_fields(state, summaries=rows)


@pytest.mark.parametrize("point", ["", "u1", "v2", "v3"])
def test_a_branch_shows_where_it_was_branched_and_leads_to_its_parent(point: str) -> None:
    """At its head, below a message, below a reply, also of a version that is not seen."""
    screen = _screen(_branch(point, "d5"))
    texts = screen.ui.texts()
    at = texts.index("Branched here from")
    assert texts.count("Branched here from") == 1

    screen.ui.click("Parser regressions", within="Branched here from")

    assert screen.asked == [SelectDiscussion("d5")]
    question, answer, follow_up = (
        next(i for i, text in enumerate(texts) if words in text)
        for words in ("What is it?", FIRST, "And why?")
    )
    places = {"": at < question, "u1": question < at < answer, "v2": answer < at < follow_up}
    assert places.get(point, answer < at < follow_up)


def test_a_parent_that_is_gone_is_said() -> None:
    assert _screen(_branch("u1", "d99")).ui.shows("a discussion that is not in the list")


def test_a_message_names_the_branches_that_begin_behind_it() -> None:
    state = states.versioned()
    rows = {**state.discussions.summaries}
    for n in range(5):
        name = f"b{n}"
        rows[name] = states.summary(name, f"Branch {n}", parent_id="d1", branch_message_id="v3")
    screen = _screen(with_fields(state, summaries=rows))
    assert screen.ui.shows("Branches from here")
    assert screen.ui.shows("and 2 more of the branches, older")

    screen.ui.click("Branch 3", within="Branches from here")

    assert screen.asked == [SelectDiscussion("b3")]


def test_a_reply_that_is_asked_for_again_is_shown_where_it_arrives() -> None:
    """Whoever had scrolled up pressed the chord and saw nothing happen."""
    screen = Screen(states.working())
    screen.ui.scroll("messages", 0)
    assert screen.ui.shows("Jump to end")
    screen.ui.press("Ctrl+Shift+R")

    assert [one for one in screen.asked if isinstance(one, RegenerateReply)] == [RegenerateReply("d1")]
    assert not screen.ui.shows("Jump to end")


def test_a_reply_that_is_asked_for_again_from_its_card_is_shown_where_it_arrives() -> None:
    screen = Screen(states.working())
    screen.ui.scroll("messages", 0)
    assert screen.ui.shows("Jump to end")
    screen.ui.click("Regenerate this reply", within="The trace shows that the anchor moved")

    assert [one for one in screen.asked if isinstance(one, RegenerateReply)] == [RegenerateReply("d1", "m4")]
    assert not screen.ui.shows("Jump to end")
