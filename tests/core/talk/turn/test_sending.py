"""A turn, from the person's words to the reply on disk."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import CompactDiscussion
from core.app.app_messages import Command, Quit
from core.kernel.errors import FailureKind
from core.kernel.values.discussion import CallPhase
from core.kernel.values.messages import AttachmentPart, Message, Role, Status, TextPart
from core.kernel.values.provider import Failure, StopKind, Stopped
from core.kernel.values.records import MarkRecord, MessageRecord, RequestRecord, UsageRecord
from core.kernel.values.state import Level
from core.kernel.values.updates import Tick, outcome_of, with_open
from core.kernel.values.usage import Usage
from core.services.settings.settings_messages import ChangeSetting, SettingsLoaded, SettingsSettled
from core.talk.context.context_messages import CreatePreset
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    AttachmentStored,
    AttachText,
    ChangeDiscussion,
    EditMessage,
    ReplyToken,
    SetDraft,
    StoreAttachment,
    WriteDraft,
    WriteFailed,
    WriteMeta,
)
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CallRetrying,
    CancelCall,
    CancelReply,
    RegenerateReply,
    ReplyArrived,
    RequestBuilt,
    RetrySend,
    SendPrompt,
    SendRequest,
)
from tests.core.app.playbook import Playbook, of, settings_loaded

DROPPED = Failure(FailureKind.STREAM_DROPPED, "The stream was dropped", "Retry.")


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def texts(book: Playbook, discussion_id: str) -> list[str]:
    return [message.text for message in book.state.discussions.open[discussion_id].messages]


def test_words_go_to_disk_before_the_provider_is_called(book: Playbook) -> None:
    chosen = book.discussion()

    effects = book.play(SendPrompt(chosen, "hello"))

    (write,) = of(effects, AppendRecords)
    assert isinstance(write.records[0], MessageRecord)
    assert write.records[0].parts == (TextPart("hello"),)
    assert not of(effects, CallProvider)
    assert book.state.turns.calls[chosen].phase is CallPhase.SAVING
    assert texts(book, chosen) == []

    (call,) = of(book.append(write), CallProvider)
    assert call.spec.inputs.user_text == "hello"
    assert texts(book, chosen) == ["hello"]
    assert book.state.turns.calls[chosen].phase is CallPhase.WAITING


def test_the_draft_is_emptied_only_when_its_words_are_on_disk(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(SetDraft(chosen, "hello"))

    (write,) = of(book.play(SendPrompt(chosen, "hello")), AppendRecords)
    assert book.state.discussions.open[chosen].draft.text == "hello"

    effects = book.append(write)
    assert book.state.discussions.open[chosen].draft.text == ""
    assert of(effects, WriteDraft)[0].draft.text == ""


def test_words_typed_while_the_prompt_is_saved_stay_in_the_composer(book: Playbook) -> None:
    chosen = book.discussion()
    (write,) = of(book.play(SendPrompt(chosen, "hello")), AppendRecords)
    book.play(SetDraft(chosen, "and another thing"))

    book.append(write)

    assert book.state.discussions.open[chosen].draft.text == "and another thing"


def test_a_prompt_that_cannot_be_written_stays_in_the_composer_and_is_not_sent(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(SetDraft(chosen, "hello"))
    (write,) = of(book.play(SendPrompt(chosen, "hello")), AppendRecords)

    effects = book.play(
        WriteFailed(chosen, write.token, "The disk is full", "Free some space.", write.records)
    )

    assert not of(effects, CallProvider)
    assert book.state.discussions.open[chosen].draft.text == "hello"
    assert chosen not in book.state.turns.calls
    assert book.state.program.notices[-1].text == "The disk is full"


def test_a_reply_is_shown_as_done_only_when_it_is_on_disk(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    book.play(ReplyArrived(call.call_id, "Good "))
    book.play(ReplyArrived(call.call_id, "day"))
    assert book.state.turns.calls[chosen].text == "Good day"

    ended = CallEnded(
        call.call_id, Stopped(StopKind.COMPLETED), (TextPart("Good day"),), Usage(output_tokens=2)
    )
    (write,) = of(book.play(ended), AppendRecords)
    assert book.state.turns.calls[chosen].phase is CallPhase.STORING
    assert write.token == ReplyToken(call.call_id)
    assert [type(record) for record in write.records] == [MessageRecord, UsageRecord]

    book.append(write)
    assert chosen not in book.state.turns.calls
    last = book.state.discussions.open[chosen].messages[-1]
    assert (last.text, last.status, last.usage) == ("Good day", Status.COMPLETE, Usage(output_tokens=2))


def test_a_paid_reply_that_cannot_be_written_is_written_again_until_it_is(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    ended = CallEnded(
        call.call_id, Stopped(StopKind.COMPLETED), (TextPart("Good day"),), Usage(output_tokens=2)
    )
    (write,) = of(book.play(ended), AppendRecords)

    book.play(WriteFailed(chosen, write.token, "The disk is full", "", write.records))
    assert of(book.later(1).play(Tick()), AppendRecords) == ()
    (again,) = of(book.later(5).play(Tick()), AppendRecords)
    assert again.records == write.records
    assert any(notice.id == "disk" for notice in book.state.program.notices)

    book.append(again)
    assert texts(book, chosen) == ["hello", "Good day"]
    assert not book.state.discussions.pending
    assert not any(notice.id == "disk" for notice in book.state.program.notices)


@pytest.mark.parametrize("jump_s", [-86_400.0, 86_400.0 * 365])
def test_a_clock_that_jumps_does_not_put_off_the_writing_of_a_paid_reply(
    book: Playbook, jump_s: float
) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    ended = CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (TextPart("Good day"),), Usage())
    (write,) = of(book.play(ended), AppendRecords)
    book.play(WriteFailed(chosen, write.token, "The disk is full", "", write.records))

    (again,) = of(book.later(jump_s).play(Tick()), AppendRecords)

    assert again.records == write.records
    assert of(book.later(1).play(Tick()), AppendRecords) == ()


def test_quitting_asks_once_while_a_paid_reply_is_not_on_disk(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    (write,) = of(
        book.play(CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (TextPart("Good day"),), Usage())),
        AppendRecords,
    )
    book.play(WriteFailed(chosen, write.token, "The disk is full", "", write.records))

    assert book.play(Quit()) == ()
    assert not book.state.program.is_closing
    assert "quit again and lose the reply" in book.state.program.notices[-1].detail
    book.append(write)
    assert not any(notice.id == "quit" for notice in book.state.program.notices)

    book.play(WriteFailed(chosen, write.token, "The disk is full", "", write.records))
    book.play(Quit())
    book.play(Quit())
    assert book.state.program.is_closing


def test_a_failed_send_is_retried_with_nothing_retyped(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    failure = Failure(FailureKind.NO_NETWORK, "No connection", "Check the network.")
    (write,) = of(book.play(CallFailed(call.call_id, failure, (), Usage())), AppendRecords)
    book.append(write)
    assert book.state.discussions.open[chosen].failure == failure
    assert book.state.program.notices[-1].action == RetrySend(chosen)

    (again,) = of(book.play(RetrySend(chosen)), CallProvider)

    assert again.spec.inputs.user_text == "hello"
    assert again.user_message_id == call.user_message_id
    assert book.state.discussions.open[chosen].failure is None
    assert not any(notice.id == f"call/{chosen}" for notice in book.state.program.notices)


def test_what_arrived_before_a_drop_is_kept_and_marked(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    (write,) = of(book.play(CallFailed(call.call_id, DROPPED, (TextPart("Good d"),), Usage())), AppendRecords)
    book.append(write)

    last = book.state.discussions.open[chosen].messages[-1]
    assert (last.text, last.status) == ("Good d", Status.PARTIAL)
    assert book.state.discussions.open[chosen].failed_message_id == call.user_message_id


def test_stop_keeps_what_arrived_as_interrupted(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    book.play(ReplyArrived(call.call_id, "Good"))

    assert of(book.play(CancelReply(chosen)), CancelCall) == (CancelCall(call.call_id),)
    stopped = CallEnded(call.call_id, Stopped(StopKind.CANCELLED), (TextPart("Good"),), Usage())
    (write,) = of(book.play(stopped), AppendRecords)
    book.append(write)

    assert book.state.discussions.open[chosen].messages[-1].status is Status.INTERRUPTED
    assert chosen not in book.state.turns.calls


def test_stop_while_the_prompt_is_saved_makes_no_call(book: Playbook) -> None:
    chosen = book.discussion()
    (write,) = of(book.play(SendPrompt(chosen, "hello")), AppendRecords)
    book.play(CancelReply(chosen))

    effects = book.append(write)

    assert not of(effects, CallProvider)
    assert chosen not in book.state.turns.calls
    assert of(book.play(RetrySend(chosen)), CallProvider)


def test_a_reply_cut_off_at_the_limit_says_so_in_place(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    ended = CallEnded(call.call_id, Stopped(StopKind.TRUNCATED, "max_tokens"), (TextPart("Good"),), Usage())
    (write,) = of(book.play(ended), AppendRecords)

    marks = [record for record in write.records if isinstance(record, MarkRecord)]
    assert "cut off" in marks[0].text
    assert "max_tokens" in marks[0].text


def test_an_empty_reply_is_a_failure_that_can_be_retried(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    (write,) = of(book.play(CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (), Usage())), AppendRecords)
    book.append(write)

    assert book.state.discussions.open[chosen].failure is not None
    book.play(RetrySend(chosen))
    assert book.state.turns.calls[chosen].user_message_id == call.user_message_id


def test_one_discussion_has_one_call_at_a_time_and_others_go_on(book: Playbook) -> None:
    first, second = book.discussion("a"), book.discussion("b")
    book.ask(first, "hello")

    assert book.play(SendPrompt(first, "again")) == ()
    assert book.ask(second, "hello").spec.discussion_id == second


def test_nothing_to_say_sends_nothing(book: Playbook) -> None:
    assert book.play(SendPrompt(book.discussion(), "  \n ")) == ()


def test_an_attachment_alone_can_be_sent(book: Playbook) -> None:
    chosen = book.discussion()
    part = AttachmentPart("ab" * 32, "text/plain", "notes.txt", 10)
    book.play(AttachmentStored(chosen, part))

    call = book.ask(chosen, "")

    assert call.spec.inputs.attachments == (part,)
    assert book.state.discussions.open[chosen].draft.attachments == ()


@pytest.mark.parametrize("is_busy_before", [False, True])
def test_words_stay_in_the_draft_while_the_model_takes_no_file_beside_them(
    book: Playbook, *, is_busy_before: bool
) -> None:
    chosen = book.discussion()
    if is_busy_before:
        book.ask(chosen, "hello")
    book.play(AttachmentStored(chosen, AttachmentPart("ab" * 32, "image/png", "shot.png", 10)))
    logged = len(book.state.discussions.open[chosen].entries)

    assert book.play(SendPrompt(chosen, "look", command_id="c1")) == ()

    outcome = outcome_of(book.state, "c1")
    assert outcome is not None
    assert "does not take pictures: remove 'shot.png'" in outcome.problem
    opened = book.state.discussions.open[chosen]
    assert (len(opened.entries), len(opened.draft.attachments)) == (logged, 1)


def test_the_first_prompt_names_the_discussion(book: Playbook) -> None:
    chosen = book.discussion()
    (write,) = of(book.play(SendPrompt(chosen, "Why is the sky blue?\nPlease explain.")), AppendRecords)

    effects = book.append(write)

    assert book.state.discussions.summaries[chosen].meta.name == "Why is the sky blue? Please explain."
    assert of(effects, WriteMeta)[0].meta.name.startswith("Why is the sky")


def test_a_given_name_is_kept(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.ask(chosen, "Why is it blue?")
    assert book.state.discussions.summaries[chosen].meta.name == "Sky"


def test_turns_tokens_and_cost_add_up_in_the_list(book: Playbook) -> None:
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "first", Usage(input_tokens=10, output_tokens=2, cost_usd=0.5))
    book.answer(book.ask(chosen, "two"), "second", Usage(input_tokens=20, output_tokens=3, cost_usd=0.25))

    row = book.state.discussions.summaries[chosen]
    assert (row.turns, row.usage.input_tokens, row.usage.cost_usd) == (2, 30, 0.75)
    assert row.preview == "second"


def test_a_retry_by_the_program_is_shown_with_its_reason(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    book.play(CallRetrying(call.call_id, 1, 4.0, "Overloaded"))

    live = book.state.turns.calls[chosen]
    assert (live.phase, live.retry_reason) == (CallPhase.RETRYING, "Overloaded")
    assert live.retry_at is not None
    assert (live.retry_at - book.at).total_seconds() == 4.0


def test_an_unexplained_prefix_change_is_said(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)

    effects = book.play(RequestBuilt(call.call_id, record, "Layer 6 changed at byte 12"))

    assert of(effects, AppendRecords)[0].records == (record,)
    assert book.state.program.notices[-1].level is Level.WARNING
    assert "byte 12" in book.state.program.notices[-1].text


def test_events_of_a_call_that_is_over_change_nothing(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    book.answer(call, "Good day")
    before = book.state

    for event in (
        ReplyArrived(call.call_id, "late"),
        CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (TextPart("late"),), Usage()),
        CallFailed(call.call_id, DROPPED, (), Usage()),
    ):
        assert book.play(event) == ()
    assert replace(book.state, now=before.now) == before


def test_roles_of_the_view_are_counted_for_the_metadata_layer(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "one"), "first")

    call = book.ask(chosen, "two")

    assert call.spec.inputs.metadata.name == "Sky"
    assert call.spec.inputs.metadata.roles == ("assistant", "user")
    assert call.spec.inputs.metadata.turn_count == 1


def test_lone_surrogates_and_crlf_are_cleaned_where_they_enter(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "a\r\nb\ud800c\0")
    assert call.spec.inputs.user_text == "a\nb\ufffdc"


def test_the_user_message_is_found_by_role(book: Playbook) -> None:
    chosen = book.discussion()
    book.ask(chosen, "hello")
    message = book.state.discussions.open[chosen].entries[-1]
    assert isinstance(message, Message)
    assert message.role is Role.USER


def test_text_that_no_file_and_no_window_can_hold_is_cleaned_where_it_enters(book: Playbook) -> None:
    """Half an emoji from a model's stream, a NUL in a paste: shown and kept as U+FFFD, or not at all."""
    bad, good = "a\ud800b\0c\r\nd", "a\ufffdbc\nd"
    chosen = book.discussion(bad)
    assert book.state.discussions.summaries[chosen].meta.name == "a\ufffdbc d"
    book.play(SetDraft(chosen, bad))
    assert book.state.discussions.open[chosen].draft.text == good
    (store,) = of(book.play(AttachText(chosen, bad)), StoreAttachment)
    assert store.text == good

    call = book.ask(chosen, bad)
    book.answer(call, bad)
    assert texts(book, chosen) == [good, good]
    (write,) = of(
        book.play(EditMessage(chosen, book.state.discussions.open[chosen].messages[0].id, f"x{bad}")),
        AppendRecords,
    )
    book.append(write)
    assert texts(book, chosen)[0] == f"x{good}"
    book.play(CreatePreset(bad))
    assert "a\ufffdbc d" in book.state.config.project.presets
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"name": f"{bad}!"}))
    assert book.state.discussions.summaries[chosen].meta.name == "a\ufffdbc d!"


def switched_off(book: Playbook) -> SettingsLoaded:
    """Settings as the file has them once caching is off."""
    caching = replace(book.state.config.settings.caching, anthropic_enabled=False)
    return settings_loaded(settings=replace(book.state.config.settings, caching=caching))


def test_a_setting_that_was_asked_for_before_a_send_holds_in_it(book: Playbook) -> None:
    """The file was still being written when the words were on disk: the request was marked all the same."""
    book.settles = False
    chosen, other = book.discussion(), book.discussion()
    (write,) = of(book.play(SendPrompt(other, "before")), AppendRecords)
    book.play(ChangeSetting("ai_settings.caching.anthropic_enabled", False))
    (first,) = of(book.append(write), CallProvider)
    (write,) = of(book.play(SendPrompt(chosen, "after")), AppendRecords)
    waits = (*book.append(write), *book.play(Tick()), *book.play(switched_off(book)))
    (second,) = of(book.play(SettingsSettled(book.state.config.asked)), CallProvider)

    assert first.spec.caching.anthropic_enabled, "what came later is none of its business"
    assert not of(waits, CallProvider)
    assert not second.spec.caching.anthropic_enabled


def test_what_waits_for_a_setting_goes_in_order_each_with_ids_of_its_own_or_is_stopped(
    book: Playbook,
) -> None:
    book.settles = False
    chosen = [book.discussion() for _ in range(3)]
    book.play(ChangeSetting("ai_settings.caching.keepalive", False))
    for number, name in enumerate(chosen):
        (write,) = of(book.later(1).play(SendPrompt(name, f"words {number}")), AppendRecords)
        book.append(write)
    book.play(CancelReply(chosen[1]))
    calls = of(book.play(SettingsSettled(book.state.config.asked)), CallProvider)

    assert [call.spec.discussion_id for call in calls] == [chosen[0], chosen[2]]
    assert len({call.request_id for call in calls}) == 2
    assert chosen[1] not in book.state.turns.calls
    assert book.state.discussions.open[chosen[1]].failed_message_id


def test_a_change_of_settings_that_fails_lets_the_send_go(book: Playbook) -> None:
    """The worker tells that it has come so far, whatever became of the change."""
    chosen = book.discussion()
    book.play(ChangeSetting("no such key", 1))

    assert book.ask(chosen, "text").spec.discussion_id == chosen


ASKED: tuple[Callable[[str], Command], ...] = (
    lambda chosen: SendPrompt(chosen, "and now", command_id="w1"),
    lambda chosen: RegenerateReply(chosen, command_id="w1"),
    lambda chosen: CompactDiscussion(chosen, command_id="w1"),
)


@pytest.mark.parametrize(
    ("command", "said"),
    list(zip(ASKED, ("You cannot send: another", "You cannot send: another", "Another"), strict=True)),
    ids=("send", "regenerate", "compact"),
)
def test_beside_tool_calls_of_another_program_nothing_is_sent_asked_again_or_cut(
    book: Playbook, command: Callable[[str], Command], said: str
) -> None:
    """Its model would be told that they were interrupted, and two turns would stand mixed in one log."""
    chosen = book.discussion()
    book.answer(book.ask(chosen, "hello"), "Hi.")
    opened = book.state.discussions.open[chosen]
    book.state = with_open(book.state, replace(opened, held_calls=("c1",)))

    effects = book.play(command(chosen))

    assert not effects
    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert outcome.problem.startswith(f"{said} window or terminal has open tool calls")
    assert not book.state.turns.calls
    assert not book.state.agent.compactions


def test_a_request_that_is_held_is_not_sent_its_words_stay_and_retry_asks_again(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "one")
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)

    effects = book.play(
        RequestBuilt(call_id=call.call_id, record=record, unasked="Layer 3 differs at byte 7.")
    )
    assert of(effects, CancelCall)
    assert not of(effects, SendRequest)

    (write,) = of(book.play(CallEnded(call.call_id, Stopped(StopKind.CANCELLED), (), Usage())), AppendRecords)
    book.append(write)
    opened = book.state.discussions.open[chosen]
    assert opened.failure is not None
    assert "Layer 3 differs at byte 7" in opened.failure.what
    book.play(RetrySend(chosen))
    assert book.state.turns.calls[chosen].user_message_id == call.user_message_id
