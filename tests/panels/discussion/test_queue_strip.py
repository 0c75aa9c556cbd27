"""The queue as a person meets it: above the composer, with what holds it and the way back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.discussion import Draft, QueuedPrompt
from core.kernel.values.messages import AttachmentPart, Mark
from core.kernel.values.state import CommandOutcome
from core.kernel.values.updates import conclude
from core.talk.turn.turn_messages import (
    CancelReply,
    ContinueReply,
    LeaveUnsent,
    RegenerateReply,
    ResendMessage,
    RetrySend,
    SendPrompt,
    SendQueued,
    TakeBackQueued,
)
from panels.discussion.queue_strip import Awaiting
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.panels.screen import Screen

EDITOR = "Write a message"
FILE = AttachmentPart("ab" * 32, "text/plain", "notes.txt", 24)


def prompts(count: int) -> tuple[QueuedPrompt, ...]:
    return tuple(QueuedPrompt(f"q{n}", states.NOW, f"question {n}\nmore of it") for n in range(count))


def streaming(count: int, hold: str = "") -> Screen:
    return Screen(states.with_opened(states.streaming(), queue=prompts(count), queue_hold=hold))


def test_while_a_reply_streams_what_is_written_joins_the_queue() -> None:
    screen = Screen(states.with_opened(states.streaming(), draft=Draft()))
    screen.ui.type(EDITOR, "next")

    screen.ui.click("Queue")

    sent = screen.only(SendPrompt)
    assert (sent.text, sent.may_queue) == ("next", True)
    assert screen.ui.find(EDITOR).value == ""
    screen.ui.type(EDITOR, "after that")
    screen.show(conclude(screen.state, CommandOutcome(sent.command_id, "q1")))
    assert screen.ui.find(EDITOR).value == "after that"
    screen.ui.press("Ctrl+Enter")
    assert screen.asked[-1] == SendPrompt("d1", "after that", may_queue=True)


def test_the_reply_can_still_be_stopped() -> None:
    screen = streaming(1)

    screen.ui.click("Stop", within="Queue")

    assert screen.asked == [CancelReply("d1")]


def test_what_waits_is_shown_in_order_and_each_can_be_taken_back() -> None:
    screen = streaming(2)

    assert screen.ui.has("2 messages wait until the reply ends")
    assert screen.ui.has("question 0 more of it")
    assert not screen.ui.has("Send now")
    screen.ui.click("Take back", within="question 1 more of it")

    assert screen.asked == [TakeBackQueued("d1", "q1")]


def test_words_that_are_taken_back_stand_in_the_composer() -> None:
    screen = streaming(1)
    screen.ui.type(EDITOR, "typed")

    screen.show(states.with_opened(screen.state, draft=Draft("question 0\ntyped"), queue=()))

    assert screen.ui.find(EDITOR).value == "question 0\ntyped"
    assert not screen.ui.has("Take back")


def test_a_held_queue_says_why_and_goes_on_with_one_click() -> None:
    held = states.with_opened(
        states.working(), queue=prompts(1), queue_hold="You stopped the previous reply."
    )
    screen = Screen(held)

    assert screen.ui.has("1 message waits for you to send it. You stopped the previous reply.")
    screen.ui.click("Send now")

    assert screen.asked == [SendQueued("d1")]


def test_a_queue_behind_a_failure_says_that_the_failed_message_goes_first() -> None:
    entries = (states.user("u1", "What is it?"), Mark("x1", states.NOW, "failed", "It failed", "u1"))
    hold = "The previous message failed."
    held = states.with_opened(
        states.working(), entries=entries, failed_message_id="u1", queue=prompts(1), queue_hold=hold
    )
    screen = Screen(held)

    screen.ui.click("Retry the reply, then send")

    assert screen.asked == [SendQueued("d1")]


def test_a_queue_that_a_limit_holds_says_what_it_waits_for() -> None:
    why = "You have reached the limit of $0.50 for today: $0.60 spent."
    held = states.with_opened(states.working(), queue=prompts(1), queue_hold=why, is_held_at_limit=True)
    assert Screen(held).ui.has(f"1 message waits until you raise the spend limit. {why}")


AWAITING = (
    RetrySend("d1"),
    RegenerateReply("d1"),
    ContinueReply("d1"),
    ResendMessage("d1", "u2", "And how?"),
)


@pytest.mark.parametrize("command", AWAITING)
def test_what_waits_for_a_limit_is_said_and_sent_or_left_with_one_press(command: Awaiting) -> None:
    screen = Screen(states.with_opened(states.working(), awaits_limit=replace(command, awaits_limit=True)))
    assert screen.ui.shows("limit in Usage.")

    screen.ui.click("Send now")
    assert screen.asked == [command], "the step asks once more"
    screen.sent.clear()
    screen.ui.click("Do not send")
    assert screen.asked == [LeaveUnsent("d1")]
    typed = screen.view.of(DiscussionView).editing
    assert typed == ({("d1", "u2"): "And how?"} if isinstance(command, ResendMessage) else {})


def test_a_prompt_that_is_being_sent_waits_no_more() -> None:
    state = states.with_opened(states.streaming(), queue=prompts(1))
    call = replace(state.turns.calls["d1"], user_message_id="q0")
    screen = Screen(replace(state, turns=replace(state.turns, calls={"d1": call})))

    assert not screen.ui.has("Take back")


def test_many_are_counted_and_files_are_named() -> None:
    many = prompts(7)
    many = (replace(many[0], attachments=(FILE,)), *many[1:])
    screen = Screen(states.with_opened(states.streaming(), queue=many))

    assert screen.ui.has("and 3 more of the messages")
    assert screen.ui.texts().count("Take back") == 4
    assert "notes.txt" in screen.ui.tips()
