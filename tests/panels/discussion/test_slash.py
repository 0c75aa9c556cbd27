"""Slash commands in the composer: completed by keys and clicks, done instead of sent; two slashes send one."""

from __future__ import annotations

import pytest

from core.agent.agent_messages import CompactDiscussion
from core.app.app_messages import Quit
from core.kernel.values.discussion import Draft, SlashInput, slash_input
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import PriceModels
from core.talk.discussion.discussion_messages import ChangeDiscussion, CreateDiscussion, SetDraft
from core.talk.turn.turn_messages import RetrySend, SendPrompt
from panels.discussion.completions import COMMANDS
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.panels.screen import Screen


def typing(text: str, state: AppState | None = None) -> Screen:
    """The window with these words in the composer, which has the keyboard."""
    screen = Screen(states.with_opened(state or states.working(), draft=Draft()))
    screen.ui.type("Write a message", text)
    screen.sent.clear()
    return screen


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("/", SlashInput("")),
        ("/com", SlashInput("com")),
        ("/Model  Claude Opus ", SlashInput("model", "Claude Opus")),
        ("/model ", SlashInput("model", "")),
        ("//model", None),
        ("/etc/hosts is odd", None),
        ("/new\nand more", None),
        ("and /new", None),
        ("", None),
    ],
)
def test_a_command_is_one_line_that_begins_with_one_slash_and_a_word(
    text: str, typed: SlashInput | None
) -> None:
    assert slash_input(text) == typed


def test_a_slash_lists_what_can_be_done() -> None:
    screen = typing("/")

    assert all(screen.ui.shows(f"/{command.name}") for command in COMMANDS)
    assert screen.ui.find("Run", kind="button").is_enabled


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("/new", CreateDiscussion(keeps_empty=True)),
        ("/quit", Quit()),
        ("/q", Quit()),
        ("/comp", CompactDiscussion("d1")),
        ("/model", PriceModels()),
        (
            "/model haiku",
            ChangeDiscussion(
                discussion_id="d1", changes={"provider": "anthropic", "model": "claude-haiku-4.8"}
            ),
        ),
        ("/effort", ChangeDiscussion(discussion_id="d1", changes={"effort": "low"})),
        ("/effort h", ChangeDiscussion(discussion_id="d1", changes={"effort": "high"})),
    ],
)
def test_enter_does_the_command_and_empties_the_composer(text: str, sent: object) -> None:
    screen = typing(text)

    screen.ui.press("Enter")

    assert screen.asked == [sent, SetDraft("d1", "")]
    assert screen.view.of(DiscussionView).composer("d1").text == ""


def test_retry_sends_again_what_failed_and_says_where_nothing_did() -> None:
    screen = typing("/retry", states.failed())
    screen.ui.press("Enter")
    assert screen.asked[0] == RetrySend("d1")

    screen = typing("/retry")
    screen.ui.press("Enter")
    assert screen.asked == []
    assert screen.ui.shows("There is no failed message to send again.")


def test_tab_completes_and_an_argument_is_asked_for_before_anything_is_done() -> None:
    screen = typing("/mo")
    screen.ui.press("Tab")
    assert screen.ui.find("Write a message", kind="editor").value == "/model "
    assert screen.ui.shows("/model Claude Opus 4.8")

    screen.ui.press("Down")
    screen.ui.press("Down")
    screen.ui.press("Enter")

    assert (
        ChangeDiscussion(discussion_id="d1", changes={"provider": "anthropic", "model": "claude-haiku-4.8"})
        in screen.asked
    )


def test_a_way_to_go_on_is_taken_by_a_click() -> None:
    screen = typing("/")

    screen.ui.click("/compact")

    assert screen.asked == [CompactDiscussion("d1"), SetDraft("d1", "")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("/nope", "There is no command /nope. To send a slash, type two."),
        ("/model nobody", "There is no model named 'nobody'."),
        ("/effort mighty", "'mighty' is not an effort level of this model: auto, low, medium, high."),
        ("/quit now", "/quit takes no words. To send a slash, type two."),
    ],
)
def test_what_cannot_be_done_is_said_and_stays(text: str, problem: str) -> None:
    screen = typing(text)

    screen.ui.click("Run")

    assert screen.asked == []
    assert screen.ui.shows(problem)
    assert screen.ui.find("Write a message", kind="editor").value == text


@pytest.mark.parametrize(
    ("text", "sent"), [("//model it", "/model it"), ("/etc/hosts is odd", "/etc/hosts is odd")]
)
def test_two_slashes_send_one_and_a_path_is_a_message(text: str, sent: str) -> None:
    screen = typing(text)

    screen.ui.click("Send")

    assert screen.asked[-1] == SendPrompt("d1", sent, may_queue=True)
    assert screen.ui.find("Write a message", kind="editor").value == ""
