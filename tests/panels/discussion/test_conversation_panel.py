"""The conversation as a person meets it."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.app.app_messages import SaveWindow
from core.kernel import figures as fmt
from core.kernel.errors import FailureKind
from core.kernel.values.discussion import CallPhase, Draft, OpenDiscussion
from core.kernel.values.messages import AttachmentPart, Message, Role, Status, TextPart
from core.kernel.values.stack import LayerId, SegmentReport
from core.kernel.values.state import AppState, ProgramState
from core.kernel.values.usage import Usage
from core.talk.discussion.discussion_messages import (
    BranchDiscussion,
    ChangeDiscussion,
    CreateDiscussion,
    DeleteMessage,
    EditMessage,
    RestoreMessage,
)
from core.talk.turn.turn_messages import CancelReply, ContinueReply, RegenerateReply, RetrySend
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.panels.screen import Screen
from tests.panels.views import view_of
from tests.state_fields import with_fields

FIRST = "Should the cache slot keep"


def _at_top() -> Screen:
    return Screen(states.working(), view_of(DiscussionView(scroll={"d1": 0})))


def test_a_first_run_says_how_to_begin_with_the_embedded_model() -> None:
    screen = Screen(states.first_run())

    assert screen.ui.shows("SmolLM2 135M is a small model inside this program: no key, no network")
    assert screen.ui.has("Write a message")
    assert not any("price unknown" in text for text in screen.ui.texts())


def test_an_empty_discussion_of_a_provider_without_a_key_says_so_and_leads_to_the_settings() -> None:
    fresh = states.summary("n", "New", provider="openai", model="gpt-5.6", turns=0)
    state = with_fields(
        states.working(), summaries={"n": fresh}, selected_id="n", open={"n": OpenDiscussion("n")}
    )
    screen = Screen(state)

    assert screen.ui.shows("OpenAI is not ready: No key for OpenAI.")
    screen.ui.click("Models and keys")

    assert screen.ui.has("OpenAI API key")


def test_a_message_shows_who_when_and_what_it_cost() -> None:
    screen = _at_top()

    assert screen.ui.shows("512 tok · $0.011 · cached 11.9k")
    assert screen.ui.shows("≈64 tok")
    assert any("read from cache: 11.9k" in tip for tip in screen.ui.tips())


def test_the_model_can_be_switched_in_the_middle() -> None:
    screen = Screen(states.working())

    screen.ui.choose("Model; you can change the model during a discussion", "Gemini 4 Pro")

    assert screen.asked == [
        ChangeDiscussion(discussion_id="d1", changes={"provider": "gemini", "model": "gemini-4-pro"})
    ]


def test_models_stand_under_their_provider_and_one_that_is_not_ready_says_so() -> None:
    options = (
        Screen(states.working())
        .ui.find("Model; you can change the model during a discussion")
        .props["options"]
    )

    assert {o.group for o in options} == {"Embedded", "Anthropic", "Gemini", "OpenAI (not ready)"}
    assert options[-1].group == "OpenAI (not ready)"


def test_a_model_that_nobody_lists_any_more_is_still_shown() -> None:
    row = states.summary("d1", "Old", model="claude-2", provider="anthropic")
    screen = Screen(with_fields(states.working(), summaries={"d1": row}))

    assert screen.ui.find("Model; you can change the model during a discussion").value == "claude-2"


def test_effort_is_offered_only_where_the_model_takes_it() -> None:
    screen = Screen(states.working())
    screen.ui.choose("How much the model thinks before it replies", "High effort")
    assert screen.asked == [ChangeDiscussion(discussion_id="d1", changes={"effort": "high"})]

    row = states.summary("d1", "Small", model="smollm2-135m", provider="embedded")
    screen.show(with_fields(states.working(), summaries={"d1": row}))

    assert not screen.ui.has("How much the model thinks before it replies")


def test_a_message_is_copied_as_markdown() -> None:
    screen = _at_top()

    screen.ui.click("Copy as Markdown", within=FIRST)

    assert screen.ui.copied == ["Should the cache slot keep its **TTL** when a discussion is forked?"]
    assert screen.asked == []


def test_a_message_is_edited_in_place_and_only_saving_sends_it() -> None:
    screen = _at_top()
    screen.ui.click("Edit message", within=FIRST)

    screen.ui.type("Message", "Shorter?")
    assert screen.asked == []
    screen.ui.click("Save", within="Cancel")

    assert screen.asked == [EditMessage("d1", "m1", "Shorter?")]
    assert not screen.ui.has("Message", kind="editor")


def test_an_edit_can_be_given_up() -> None:
    screen = _at_top()
    screen.ui.click("Edit message", within=FIRST)
    screen.ui.type("Message", "Shorter?")

    screen.ui.click("Cancel")

    assert screen.asked == []
    assert screen.ui.shows(FIRST)


def test_an_edit_to_nothing_cannot_be_saved() -> None:
    screen = _at_top()
    screen.ui.click("Edit message", within=FIRST)
    screen.ui.type("Message", "  ")

    (save,) = [n for n in screen.ui.nodes("button") if n.label == "Save" and n.path[-2] == "edit buttons"]
    assert not save.is_enabled


def test_branch_starts_from_the_message_it_stands_at() -> None:
    screen = _at_top()

    screen.ui.click("Branch from here", within=FIRST)

    assert screen.asked == [BranchDiscussion("d1", "m1")]


def test_a_message_is_deleted_and_can_be_restored_where_it_stood() -> None:
    screen = Screen(states.working())
    screen.ui.click("More", within="はい。")
    screen.ui.click("Delete message")
    assert screen.asked == [DeleteMessage("d1", "m7")]

    screen.sent.clear()
    screen.ui.click("Restore")

    assert screen.asked == [RestoreMessage("d1", "m5")]


def test_reasoning_is_folded_until_it_is_asked_for() -> None:
    screen = _at_top()
    assert not screen.ui.shows("First the owner of the slot")

    screen.ui.click("Reasoning · 180 tokens", within="Keep the slot")

    assert screen.ui.shows("First the owner of the slot")


def test_marks_stand_where_they_happened() -> None:
    texts = _at_top().ui.texts()
    places = [next(i for i, t in enumerate(texts) if words in t)
              for words in ("Keep the slot", "Switched from Claude Haiku", "And with this trace?")]  # fmt: skip

    assert places == sorted(places)


def test_attachments_show_as_pictures_or_by_name() -> None:
    screen = Screen(states.working())

    (image,) = screen.ui.nodes("image")
    assert image.props["file"] == f"/home/person/.manual_slop/discussions/d1/attachments/{'ef' * 32}.png"
    assert screen.ui.shows(image.props["name"])
    assert screen.ui.shows("pasted.txt")


def test_an_attachment_that_a_foreign_log_names_cannot_lead_out_of_the_home() -> None:
    part = AttachmentPart("../../../etc/passwd", "image/png", "picture.png", 9)
    entries = (replace(states.user("m1", "look"), parts=(part,)),)
    screen = Screen(states.with_opened(states.working(), entries=entries))

    assert not screen.ui.nodes("image")
    assert screen.ui.shows("picture.png")


def test_after_a_failed_send_only_the_failure_offers_to_retry_and_to_go_on() -> None:
    screen = Screen(states.failed())

    screen.ui.click("Continue", within="Anthropic could not be reached")

    assert screen.asked == [ContinueReply("d1")]
    retries = [node for node in screen.ui.nodes("button") if node.label == "Retry" and "cut off" in node.path]
    assert retries == []


def test_after_a_failed_send_of_which_nothing_came_there_is_nothing_to_go_on_with() -> None:
    entries = (states.user("m6", "hello"),)
    assert not Screen(states.with_opened(states.failed(), entries=entries)).ui.has("Continue")


def test_a_reply_that_was_cut_off_is_marked_and_can_be_continued_or_retried() -> None:
    screen = Screen(states.working())

    assert screen.ui.shows("This reply is incomplete. The program kept the part that arrived.")
    assert screen.ui.shows("The reply was stopped before its end. The program kept the part that arrived.")
    screen.ui.click("Continue")
    screen.ui.click("Retry")

    assert screen.asked == [
        ContinueReply("d1"),
        RegenerateReply("d1"),
    ]


def test_only_the_last_reply_offers_to_go_on() -> None:
    cut = replace(states.reply("m7", "half"), status=Status.PARTIAL)
    entries = (states.user("m1", "q"), cut, states.user("m8", "another"))
    screen = Screen(states.with_opened(states.working(), entries=entries))

    assert screen.ui.shows("This reply is incomplete")
    assert not screen.ui.has("Continue")


def test_a_reply_on_its_way_shows_its_words_and_stops_with_escape() -> None:
    screen = Screen(states.streaming("Lazy forks share"))
    (live,) = [n for n in screen.ui.nodes("markdown") if n.props["is_streaming"]]
    assert live.value == "Lazy forks share"

    screen.ui.press("Escape")

    assert screen.asked == [CancelReply("d1")]


def test_reasoning_shows_while_nothing_else_has_arrived() -> None:
    screen = Screen(states.streaming(""))

    assert screen.ui.shows("Weighing both.")


def test_a_call_that_waits_says_how_long_and_one_that_retries_says_why() -> None:
    screen = Screen(states.streaming("", phase=CallPhase.WAITING))
    assert screen.ui.shows("waiting for the first word · 4.0 s")

    call = replace(
        screen.state.turns.calls["d1"],
        phase=CallPhase.RETRYING,
        retry_reason="rate limit",
        retry_at=states.NOW,
    )
    screen.show(replace(screen.state, turns=replace(screen.state.turns, calls={"d1": call})))

    assert screen.ui.shows("trying again at")
    assert screen.ui.shows("rate limit")


def test_a_reply_that_is_being_stopped_cannot_be_stopped_again() -> None:
    screen = Screen(states.streaming(phase=CallPhase.STOPPING))

    (stop,) = [n for n in screen.ui.nodes("button") if n.label == "Stop"]  # one act, one button
    assert not stop.is_enabled


def test_a_failed_send_says_what_helps_and_one_key_retries_with_nothing_retyped() -> None:
    screen = Screen(states.failed())
    assert screen.ui.shows("Anthropic could not be reached")
    assert screen.ui.shows("Check the network, then retry")
    assert screen.ui.shows("HTTP 503 · request req_01 · the server asks the program to wait 12 s")

    assert screen.ui.shows("F5")
    screen.ui.press("F5")
    screen.ui.click("Retry", within="Anthropic could not be reached")

    assert screen.asked == [RetrySend("d1"), RetrySend("d1")]


def test_a_send_that_failed_for_its_key_leads_to_the_settings() -> None:
    screen = Screen(states.failed(FailureKind.BAD_KEY))

    screen.ui.click("Enter an API key")

    assert screen.ui.has("Anthropic API key")


def test_a_model_that_takes_no_tools_is_asked_again_without_them_by_one_button() -> None:
    screen = Screen(states.failed(FailureKind.NO_TOOLS))

    screen.ui.click("Send without tools", within="Anthropic could not be reached")

    assert screen.asked == [RetrySend("d1", without_tools=True)]
    screen.show(states.failed())
    assert not screen.ui.has("Send without tools")


def test_a_message_without_an_answer_offers_to_ask_for_one() -> None:
    """The program was killed while it waited, or the discussion was branched at a message of the person."""
    waiting = states.with_opened(states.working(), failed_message_id="m6", draft=Draft())
    screen = Screen(waiting)

    screen.ui.click("Ask for a reply", within="This message has no reply yet.")

    assert screen.asked == [RetrySend("d1")]
    screen.show(replace(waiting, turns=replace(waiting.turns, calls=states.streaming().turns.calls)))
    assert not screen.ui.has("Ask for a reply")


def test_on_a_very_narrow_card_what_can_be_done_stands_in_its_menu() -> None:
    screen = Screen(states.working(), width_px=200.0)
    assert not [node for node in screen.ui.nodes("button") if node.props.get("tip") == "Edit message"]

    screen.ui.click("More", within="はい。")
    screen.ui.click("Edit message")

    assert screen.view.of(DiscussionView).editing


def test_a_clock_that_was_set_back_does_not_count_below_zero() -> None:
    waiting = states.streaming("", phase=CallPhase.WAITING)
    screen = Screen(replace(waiting, now=states.NOW - timedelta(days=1)))

    assert screen.ui.shows(f"waiting for the first word · {fmt.span(0.0)}")


def test_a_retry_under_way_hides_the_failure() -> None:
    failed = states.failed()
    screen = Screen(replace(failed, turns=replace(failed.turns, calls=states.streaming().turns.calls)))

    assert not screen.ui.shows("Anthropic could not be reached")


def test_find_counts_matches_and_goes_through_them() -> None:
    screen = Screen(states.working())
    screen.ui.press("Ctrl+F")

    screen.ui.type("Find in discussion", "TRACE")
    assert screen.ui.shows("1 of 2")
    screen.ui.press("F3")
    assert screen.ui.shows("2 of 2")
    screen.ui.press("F3")
    assert screen.ui.shows("1 of 2")
    screen.ui.press("Shift+F3")
    assert screen.ui.shows("2 of 2")

    (marked,) = [
        n
        for n in screen.ui.nodes("surface")
        if n.path[-1] == "card" and n.props["surface"] == "card_selected"
    ]
    assert any("The trace shows" in text for text in marked.texts())


def test_find_says_when_there_is_nothing_and_escape_closes_it() -> None:
    screen = Screen(states.working())
    screen.ui.press("Ctrl+F")
    screen.ui.type("Find in discussion", "zebra")
    assert screen.ui.shows("no match")

    screen.ui.press("Escape")

    assert not screen.ui.has("Find in discussion", kind="text_input")


def test_deleted_messages_are_not_found() -> None:
    screen = Screen(states.working())
    screen.ui.press("Ctrl+F")

    screen.ui.type("Find in discussion", "never mind")

    assert screen.ui.shows("no match")


def test_a_long_conversation_opens_at_its_end_and_offers_the_way_back_to_it() -> None:
    screen = Screen(states.many(300))
    assert screen.ui.shows("Answer 299.")
    assert not screen.ui.has("Jump to end", kind="button")

    screen.ui.scroll("messages", 10)
    assert screen.ui.shows("Question 10?")
    screen.ui.click("Jump to end")

    assert screen.ui.shows("Answer 299.")


def test_a_reply_does_not_pull_a_person_away_from_what_they_read() -> None:
    screen = Screen(states.many(300))
    screen.ui.scroll("messages", 10)

    screen.show(
        replace(
            screen.state,
            turns=replace(
                screen.state.turns,
                calls={"x0": replace(states.streaming().turns.calls["d1"], discussion_id="x0")},
            ),
        )
    )

    assert screen.ui.shows("Question 10?")
    assert screen.ui.has("Jump to the current reply")


def test_where_a_person_read_is_found_again_in_another_window() -> None:
    screen = Screen(states.many(300))
    screen.ui.scroll("messages", 40)

    (saved,) = {command for command in screen.sent if isinstance(command, SaveWindow)}
    again = Screen(with_fields(states.many(300), window_toml=saved.data_toml))

    assert again.ui.shows("Question 40?")


def test_ten_thousand_messages_cost_no_more_than_a_screenful() -> None:
    few, many = Screen(states.many(60)), Screen(states.many(10_000))

    drawn_few, drawn_many = (len(list(screen.ui.root.walk())) for screen in (few, many))

    assert drawn_many < drawn_few * 1.3


def test_repairs_of_a_torn_log_are_said() -> None:
    repaired = tuple(f"Line {n} was torn and was set aside" for n in range(5))
    screen = Screen(states.with_opened(states.working(), repaired=repaired))

    assert screen.ui.shows("Line 0 was torn")
    assert screen.ui.shows("and 2 more repairs")


def test_personas_and_system_prompts_are_chosen_from_the_header() -> None:
    screen = Screen(states.working())
    for menu, choice in (("Persona", "terse reviewer"), ("System prompt", "strict")):
        screen.ui.click("More", within="Auto effort")
        screen.ui.click(menu)
        screen.ui.click(choice)

    assert screen.asked == [
        ChangeDiscussion(discussion_id="d1", changes={"persona": "terse reviewer"}),
        ChangeDiscussion(discussion_id="d1", changes={"system_preset": "strict"}),
    ]


def test_with_nothing_selected_the_window_says_how_to_begin() -> None:
    screen = Screen(AppState(program=ProgramState(home="/h", is_loading=False)))

    screen.ui.click("New discussion", within="Start a discussion")

    assert screen.asked == [CreateDiscussion(keeps_empty=True)]


def test_the_tokens_of_a_message_add_up_over_its_parts() -> None:
    report = states.report()
    parts = (SegmentReport("11/m1", "a", 9, 60), SegmentReport("11/m1/1", "b", 9, 440))
    layers = tuple(replace(la, segments=parts) if la.layer is LayerId.TURNS else la for la in report.layers)
    screen = Screen(
        with_fields(states.working(), reports={"d1": replace(report, layers=layers)}),
        view_of(DiscussionView(scroll={"d1": 0})),
    )

    assert screen.ui.shows("≈500 tok")


def test_nothing_is_said_of_a_price_before_anything_was_paid() -> None:
    row = replace(states.summary("d1", "Fresh", turns=1), usage=Usage())
    screen = Screen(with_fields(states.streaming(), summaries={"d1": row}, reports={}))

    assert not screen.ui.shows("price unknown")


NOTES = AttachmentPart("ab" * 32, "text/plain", "notes.txt", 24)
PHOTO = AttachmentPart("bc" * 32, "image/png", "photo.png", 24)


def test_an_attachment_is_taken_off_when_its_message_is_edited() -> None:
    message = Message("m1", states.NOW, Role.USER, (TextPart("Look."), NOTES, PHOTO))
    screen = Screen(states.with_opened(states.working(), entries=(message,), draft=Draft()))
    screen.ui.click("Edit message")

    screen.ui.click("Remove notes.txt")
    assert not screen.ui.has("Remove notes.txt")
    screen.ui.click("Save", within="Cancel")

    assert screen.asked == [EditMessage("d1", "m1", "Look.", ("ab" * 32 + "/notes.txt",))]


def test_an_attachment_stays_when_the_edit_is_given_up() -> None:
    message = Message("m1", states.NOW, Role.USER, (TextPart("Look."), NOTES))
    screen = Screen(states.with_opened(states.working(), entries=(message,), draft=Draft()))
    screen.ui.click("Edit message")
    screen.ui.click("Remove notes.txt")
    screen.ui.click("Cancel")
    assert screen.asked == []

    screen.ui.click("Edit message")
    assert screen.ui.has("Remove notes.txt")
