"""The composer as a person meets it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import CachePlan
from core.kernel.values.discussion import Draft
from core.kernel.values.messages import AttachmentPart
from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import Appearance
from core.kernel.values.state import CommandOutcome
from core.kernel.values.updates import conclude
from core.talk.discussion.discussion_messages import (
    AttachFile,
    AttachPicture,
    AttachText,
    ChangeDiscussion,
    Detach,
    SetDraft,
)
from core.talk.turn.turn_messages import CancelReply, SendPrompt
from tests.panels import states
from tests.panels.screen import Screen
from tests.state_fields import with_fields

EDITOR = "Write a message"


def _empty() -> Screen:
    return Screen(states.with_opened(states.working(), draft=Draft()))


def _draft(screen: Screen, text: str) -> None:
    """The controller took the draft over."""
    screen.show(states.with_opened(screen.state, draft=Draft(text)))


def _end(screen: Screen, problem: str = "") -> None:
    """The controller tells how the send ended."""
    outcome = CommandOutcome(screen.only(SendPrompt).command_id, problem=problem)
    screen.show(conclude(screen.state, outcome))


def test_every_change_reaches_the_draft() -> None:
    screen = _empty()

    screen.ui.type(EDITOR, "a")
    screen.ui.type(EDITOR, "ab")

    assert screen.asked == [SetDraft("d1", "a"), SetDraft("d1", "ab")]


def test_a_draft_from_before_a_crash_stands_in_the_composer() -> None:
    assert Screen(states.working()).ui.find(EDITOR).value == "Compare the lazy fork with the eager one."


def test_words_typed_while_the_log_is_read_stand_behind_the_draft_that_comes_with_it() -> None:
    read = states.with_opened(states.working(), draft=Draft("from before"))
    screen = Screen(with_fields(read, open={}))
    assert screen.ui.shows("Reading the discussion…")
    screen.ui.type(EDITOR, "first keys")
    assert screen.asked == []

    screen.show(read)

    assert screen.asked == [SetDraft("d1", "from before\nfirst keys")]
    assert screen.ui.find(EDITOR).value == "from before\nfirst keys"
    _draft(screen, "from before\nfirst keys")
    assert screen.ui.find(EDITOR).value == "from before\nfirst keys"


def test_snapshots_that_lag_behind_do_not_take_letters_back() -> None:
    screen = _empty()
    screen.ui.type(EDITOR, "a")
    screen.ui.type(EDITOR, "ab")

    _draft(screen, "a")

    assert screen.ui.find(EDITOR).value == "ab"


def test_the_composer_is_empty_once_the_words_are_sent_and_takes_the_next_ones() -> None:
    screen = _empty()
    screen.ui.type(EDITOR, "hello")
    _draft(screen, "hello")
    screen.ui.press("Ctrl+Enter")
    assert screen.ui.find(EDITOR).value == ""
    screen.ui.type(EDITOR, "next")

    _draft(screen, "")
    assert screen.ui.find(EDITOR).value == "next"
    _draft(screen, "next")

    assert screen.ui.find(EDITOR).value == "next"
    assert screen.asked[-2:] == [SendPrompt("d1", "hello", may_queue=True), SetDraft("d1", "next")]


def test_words_that_could_not_be_written_come_back_before_what_was_typed_since() -> None:
    screen = _empty()
    screen.ui.type(EDITOR, "hello")
    _draft(screen, "hello")
    screen.ui.press("Ctrl+Enter")
    screen.ui.type(EDITOR, "next")

    _end(screen, "The disk is full")

    assert screen.ui.find(EDITOR).value == "hello\nnext"
    assert screen.asked[-1] == SetDraft("d1", "hello\nnext")


def test_a_send_that_could_not_be_written_leaves_the_words_where_they_are() -> None:
    screen = _empty()
    screen.ui.type(EDITOR, "hello")
    _draft(screen, "hello")
    screen.ui.click("Send")

    _end(screen, "The disk is full")

    assert screen.ui.find(EDITOR).value == "hello"
    assert screen.ui.find("Send", kind="button").is_enabled


def test_what_is_said_of_something_else_takes_no_words_back_and_frees_no_second_send() -> None:
    """A notice about another matter is no answer to the send."""
    screen = _empty()
    screen.ui.type(EDITOR, "hello")
    _draft(screen, "hello")
    screen.ui.press("Ctrl+Enter")
    screen.ui.type(EDITOR, "next")

    screen.show(replace(screen.state, program=replace(screen.state.program, notices=states.notices())))

    assert screen.ui.find(EDITOR).value == "next"
    assert not screen.ui.find("Send", kind="button").is_enabled
    _end(screen)
    assert screen.ui.find(EDITOR).value == "next"
    assert screen.ui.find("Send", kind="button").is_enabled


def test_while_something_else_is_typed_send_keeps_its_shortcut_in_view_and_does_not_hear_it() -> None:
    screen = _empty()
    _draft(screen, "hello")
    before = screen.ui.find("Send", kind="button").props
    screen.ui.focus_on("Search discussions")
    now = screen.ui.find("Send", kind="button").props

    assert (before["shortcut"], before["is_heard"]) == ("Ctrl+Enter", True)
    assert (now["shortcut"], now["is_heard"]) == ("Ctrl+Enter", False)
    with pytest.raises(AssertionError):
        screen.ui.press("Ctrl+Enter")


def test_enter_sends_when_the_settings_say_so() -> None:
    screen = _empty()
    screen.show(
        replace(
            screen.state,
            config=replace(
                screen.state.config,
                settings=replace(screen.state.config.settings, appearance=Appearance(send_key="enter")),
            ),
        )
    )
    screen.ui.type(EDITOR, "hello")

    screen.ui.press("Enter")

    assert screen.asked[-1] == SendPrompt("d1", "hello", may_queue=True)


def test_up_and_down_walk_through_earlier_prompts_while_the_composer_is_empty() -> None:
    screen = _empty()
    screen.ui.focus_on(EDITOR)
    shown = []
    for key in ("Up", "Up", "Down", "Down"):
        screen.ui.press(key)
        shown.append(screen.ui.find(EDITOR).value)

    assert shown == ["second prompt", "first prompt", "second prompt", ""]
    assert screen.asked[-1] == SetDraft("d1", "")


def test_up_moves_the_cursor_and_nothing_else_once_something_is_written() -> None:
    screen = Screen(states.working())
    screen.ui.focus_on(EDITOR)

    with pytest.raises(AssertionError, match="Nothing answers Up"):
        screen.ui.press("Up")

    assert screen.asked == []


def test_up_in_another_field_leaves_the_composer_alone() -> None:
    screen = _empty()
    screen.ui.focus_on("Search discussions")

    with pytest.raises(AssertionError, match="Nothing answers Up"):
        screen.ui.press("Up")


def test_a_long_paste_becomes_an_attachment() -> None:
    screen = _empty()

    screen.ui.paste(EDITOR, "x" * 20_001)

    assert screen.asked == [AttachText("d1", "x" * 20_001)]
    assert screen.ui.find(EDITOR).value == ""


def test_a_long_paste_says_why_it_is_a_file_has_a_name_of_its_own_and_becomes_text_with_one_press() -> None:
    screen = _empty()
    for letter in "xy":
        screen.ui.paste(EDITOR, letter * 20_001)
    assert screen.asked == [
        AttachText("d1", "x" * 20_001), AttachText("d1", "y" * 20_001, "pasted 2.txt")
    ]  # fmt: skip
    screen.sent.clear()
    parts = tuple(
        AttachmentPart(sha * 32, "text/plain", name, 20_001)
        for sha, name in (("ab", "pasted.txt"), ("cd", "pasted 2.txt"))
    )
    screen.show(states.with_opened(screen.state, draft=Draft("", parts)))
    assert screen.ui.shows("A paste of more than 20,000 characters becomes a file")

    screen.ui.click("Insert the text of pasted 2.txt into the message")

    assert screen.asked == [SetDraft("d1", "y" * 20_001), Detach("d1", "cd" * 32, "pasted 2.txt")]
    assert screen.ui.find(EDITOR).value == "y" * 20_001


def test_a_pasted_picture_becomes_an_attachment_with_a_look_and_its_tokens() -> None:
    screen = _empty()
    screen.ui.paste_picture(EDITOR, b"one")
    screen.ui.paste_picture(EDITOR, b"two")
    assert screen.asked == [AttachPicture("d1", b"one"), AttachPicture("d1", b"two", "pasted 2.png")]
    screen.sent.clear()
    part = AttachmentPart("ab" * 32, "image/png", "pasted.png", 24_000, side_px=60)
    screen.show(states.with_opened(screen.state, draft=Draft("", (part,))))

    files = [node.props["file"] for node in screen.ui.nodes("image")]
    assert any(file.endswith(f"/attachments/{part.file_name}") for file in files)
    assert screen.ui.shows("≈1.5k tok")
    screen.ui.click("Remove pasted.png")
    assert screen.asked == [Detach("d1", "ab" * 32, "pasted.png")]


def test_a_short_paste_is_text() -> None:
    screen = _empty()

    screen.ui.paste(EDITOR, "x" * 20_000)

    assert screen.asked == [SetDraft("d1", "x" * 20_000)]


def test_attachments_of_the_draft_are_shown_and_can_be_taken_out() -> None:
    part = AttachmentPart("ab" * 32, "text/plain", "pasted.txt", 24_000)
    screen = Screen(states.with_opened(states.working(), draft=Draft("", (part,))))

    screen.ui.click("Remove pasted.txt")

    assert screen.asked == [Detach("d1", "ab" * 32, "pasted.txt")]


def test_files_are_attached_through_the_file_chooser() -> None:
    screen = Screen(states.working())
    screen.ui.click("Attach file…")

    screen.ui.pick("Attach file", "/tmp/a.png", "/tmp/b.txt")

    assert screen.asked == [AttachFile("d1", "/tmp/a.png"), AttachFile("d1", "/tmp/b.txt")]
    assert not screen.ui.has("Attach file", kind="file_dialog")


def test_a_file_chooser_that_was_closed_attaches_nothing() -> None:
    screen = Screen(states.working())
    screen.ui.click("Attach file…")

    screen.ui.pick("Attach file")

    assert screen.asked == []


def test_the_preset_is_chosen_beside_the_message() -> None:
    screen = Screen(states.working())
    screen.ui.click("coding-strict", within="Send")
    screen.ui.click("docs only", within="Edit presets")

    assert screen.asked == [ChangeDiscussion(discussion_id="d1", changes={"preset": "docs only"})]


def test_the_gauge_shows_tokens_against_the_window_and_the_price() -> None:
    screen = Screen(states.working())

    assert screen.ui.has("≈12.4k / 200k · est. $0.031")


def test_the_price_is_what_the_request_will_cost_with_its_cache() -> None:
    plan = CachePlan(read_tokens=12_000, cost_usd=0.004, cost_without_usd=0.031)
    state = states.working(plans={"d1": plan})

    assert Screen(state).ui.has("≈12.4k / 200k · est. $0.004")


def test_an_unknown_price_is_said_to_be_unknown() -> None:
    report = replace(states.report(), cost_usd=None)
    screen = Screen(with_fields(states.working(), reports={"d1": report}))

    assert screen.ui.has("≈12.4k / 200k · price unknown")


def test_a_context_that_does_not_fit_is_said_before_sending() -> None:
    screen = Screen(with_fields(states.working(), reports={"d1": states.report(fits=False)}))

    assert screen.ui.shows("docs/ takes 190k of 200k tokens; leave out docs/index.md (120k)")
    (gauge,) = [n for n in screen.ui.nodes("text") if n.value and n.value.startswith("≈12.4k / 8.2k ·")]
    assert gauge.props["tone"] == "error"


def test_stop_stands_where_send_was_while_a_reply_is_on_its_way() -> None:
    screen = Screen(states.streaming())
    assert not screen.ui.has("Send", kind="button")

    screen.ui.click("Stop", within="≈12.4k / 200k · est")

    assert screen.asked == [CancelReply("d1")]


def test_in_another_field_the_chord_of_sending_sends_nothing() -> None:
    screen = Screen(states.working())
    screen.ui.focus_on("Search discussions")
    with pytest.raises(AssertionError, match="Nothing answers"):
        screen.ui.press("Ctrl+Enter")
    assert screen.asked == []

    screen.ui.focus_on(EDITOR)
    screen.ui.press("Ctrl+Enter")
    assert isinstance(screen.asked[-1], SendPrompt)


SCAN = AttachmentPart("cd" * 32, "application/pdf", "scan.pdf", 90_000, 3)
PDF = AttachmentPart("ef" * 32, "application/pdf", "tides.pdf", 90_000, 12, "aa" * 32, 4_000)
PHOTO = AttachmentPart("bc" * 32, "image/png", "photo.png", 90_000)


def _attached(*parts: AttachmentPart, provider: str = "anthropic", model: str = "claude-opus-4.8") -> Screen:
    """Files in the draft of a discussion with a model; one of Anthropic sees pages, another sees nothing."""
    sees = ModelProfile("anthropic", "claude-opus-4.8", "Opus", context_tokens=1_000_000, takes_images=True)
    state = states.with_opened(states.working(), draft=Draft("", parts))
    summary = state.discussions.summaries["d1"]
    meta = replace(summary.meta, provider=provider, model=model)
    state = with_fields(
        state,
        profiles=(sees, ModelProfile("embedded", "small", "Small")),
        models={"anthropic": (sees,), "embedded": (ModelProfile("embedded", "small", "Small"),)},
        summaries={**state.discussions.summaries, "d1": replace(summary, meta=meta)},
    )
    return Screen(state)


def test_what_the_model_cannot_take_is_said_at_the_attachment_before_anything_is_sent() -> None:
    screen = _attached(SCAN, PHOTO, PDF, provider="embedded", model="small")

    assert screen.ui.shows("Small reads only PDF text, and 'scan.pdf' has none")
    assert screen.ui.shows("Small does not take pictures: remove 'photo.png'")
    assert any("12 pages" in tip and "sent as text" in tip for tip in screen.ui.tips())


def test_a_model_that_sees_pages_gets_the_pdf_itself() -> None:
    screen = _attached(SCAN, PHOTO, PDF)

    assert not screen.ui.shows("does not take")
    assert not screen.ui.shows("reads only PDF text")
    assert any("12 pages" in tip and "sent as a PDF" in tip for tip in screen.ui.tips())


def _is_estimate_above(width_px: float) -> bool:
    screen = Screen(states.streaming(), width_px=width_px)
    return any("estimate" in node.path for node in screen.ui.nodes("text"))


def test_what_a_send_costs_stands_beside_stop_and_queue_where_they_leave_room() -> None:
    assert _is_estimate_above(1500)
    assert not _is_estimate_above(1600)


@pytest.mark.usefixtures("german")
def test_longer_labels_of_another_language_leave_less_room_for_what_a_send_costs() -> None:
    assert _is_estimate_above(1600)
    assert not _is_estimate_above(1800)
