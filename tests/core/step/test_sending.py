"""A turn, from the person's words to the reply on disk."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.errors import FailureKind
from core.values import commands as c
from core.values import effects as f
from core.values import events as e
from core.values.discussion import CallPhase
from core.values.messages import AttachmentPart, Message, Role, Status, TextPart
from core.values.provider import Failure, StopKind, Stopped
from core.values.records import DeleteRecord, MarkRecord, MessageRecord, UsageRecord
from core.values.state import Level
from core.values.usage import Usage
from tests.core.step.playbook import Playbook, of

DROPPED = Failure(FailureKind.STREAM_DROPPED, "The stream was dropped", "Retry.")


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def texts(book: Playbook, discussion_id: str) -> list[str]:
    return [message.text for message in book.state.open[discussion_id].messages]


def test_words_go_to_disk_before_the_provider_is_called(book: Playbook) -> None:
    chosen = book.discussion()

    effects = book.play(c.SendPrompt(chosen, "hello"))

    (write,) = of(effects, f.AppendRecords)
    assert isinstance(write.records[0], MessageRecord)
    assert write.records[0].parts == (TextPart("hello"),)
    assert not of(effects, f.CallProvider)
    assert book.state.calls[chosen].phase is CallPhase.SAVING
    assert texts(book, chosen) == []

    (call,) = of(book.append(write), f.CallProvider)
    assert call.spec.inputs.user_text == "hello"
    assert texts(book, chosen) == ["hello"]
    assert book.state.calls[chosen].phase is CallPhase.WAITING


def test_the_draft_is_emptied_only_when_its_words_are_on_disk(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(c.SetDraft(chosen, "hello"))

    (write,) = of(book.play(c.SendPrompt(chosen, "hello")), f.AppendRecords)
    assert book.state.open[chosen].draft.text == "hello"

    effects = book.append(write)
    assert book.state.open[chosen].draft.text == ""
    assert of(effects, f.WriteDraft)[0].draft.text == ""


def test_words_typed_while_the_prompt_is_saved_stay_in_the_composer(book: Playbook) -> None:
    chosen = book.discussion()
    (write,) = of(book.play(c.SendPrompt(chosen, "hello")), f.AppendRecords)
    book.play(c.SetDraft(chosen, "and another thing"))

    book.append(write)

    assert book.state.open[chosen].draft.text == "and another thing"


def test_a_prompt_that_cannot_be_written_stays_in_the_composer_and_is_not_sent(book: Playbook) -> None:
    chosen = book.discussion()
    book.play(c.SetDraft(chosen, "hello"))
    (write,) = of(book.play(c.SendPrompt(chosen, "hello")), f.AppendRecords)

    effects = book.play(
        e.WriteFailed(chosen, write.token, "The disk is full", "Free some space.", write.records)
    )

    assert not of(effects, f.CallProvider)
    assert book.state.open[chosen].draft.text == "hello"
    assert chosen not in book.state.calls
    assert book.state.notices[-1].text == "The disk is full"


def test_a_reply_is_shown_as_done_only_when_it_is_on_disk(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    book.play(e.ReplyArrived(call.call_id, "Good "))
    book.play(e.ReplyArrived(call.call_id, "day"))
    assert book.state.calls[chosen].text == "Good day"

    ended = e.CallEnded(
        call.call_id, Stopped(StopKind.COMPLETED), (TextPart("Good day"),), Usage(output_tokens=2)
    )
    (write,) = of(book.play(ended), f.AppendRecords)
    assert book.state.calls[chosen].phase is CallPhase.STORING
    assert write.drops_reply_journal
    assert [type(record) for record in write.records] == [MessageRecord, UsageRecord]

    book.append(write)
    assert chosen not in book.state.calls
    last = book.state.open[chosen].messages[-1]
    assert (last.text, last.status, last.usage) == ("Good day", Status.COMPLETE, Usage(output_tokens=2))


def test_a_paid_reply_that_cannot_be_written_is_written_again_until_it_is(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    ended = e.CallEnded(
        call.call_id, Stopped(StopKind.COMPLETED), (TextPart("Good day"),), Usage(output_tokens=2)
    )
    (write,) = of(book.play(ended), f.AppendRecords)

    book.play(e.WriteFailed(chosen, write.token, "The disk is full", "", write.records))
    assert of(book.later(1).play(e.Tick()), f.AppendRecords) == ()
    (again,) = of(book.later(5).play(e.Tick()), f.AppendRecords)
    assert again.records == write.records
    assert any(notice.id == "disk" for notice in book.state.notices)

    book.append(again)
    assert texts(book, chosen) == ["hello", "Good day"]
    assert not book.state.pending
    assert not any(notice.id == "disk" for notice in book.state.notices)


@pytest.mark.parametrize("jump_s", [-86_400.0, 86_400.0 * 365])
def test_a_clock_that_jumps_does_not_put_off_the_writing_of_a_paid_reply(
    book: Playbook, jump_s: float
) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    ended = e.CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (TextPart("Good day"),), Usage())
    (write,) = of(book.play(ended), f.AppendRecords)
    book.play(e.WriteFailed(chosen, write.token, "The disk is full", "", write.records))

    (again,) = of(book.later(jump_s).play(e.Tick()), f.AppendRecords)

    assert again.records == write.records
    assert of(book.later(1).play(e.Tick()), f.AppendRecords) == ()


def test_quitting_asks_once_while_a_paid_reply_is_not_on_disk(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    (write,) = of(
        book.play(e.CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (TextPart("Good day"),), Usage())),
        f.AppendRecords,
    )
    book.play(e.WriteFailed(chosen, write.token, "The disk is full", "", write.records))

    assert book.play(c.Quit()) == ()
    assert not book.state.is_closing
    assert "quit again and lose it" in book.state.notices[-1].detail
    book.append(write)
    assert not any(notice.id == "quit" for notice in book.state.notices)

    book.play(e.WriteFailed(chosen, write.token, "The disk is full", "", write.records))
    book.play(c.Quit())
    book.play(c.Quit())
    assert book.state.is_closing


def test_a_failed_send_is_retried_with_nothing_retyped(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    failure = Failure(FailureKind.NO_NETWORK, "No connection", "Check the network.")
    (write,) = of(book.play(e.CallFailed(call.call_id, failure, (), Usage())), f.AppendRecords)
    book.append(write)
    assert book.state.open[chosen].failure == failure
    assert book.state.notices[-1].action == c.RetrySend(chosen)

    (again,) = of(book.play(c.RetrySend(chosen)), f.CallProvider)

    assert again.spec.inputs.user_text == "hello"
    assert again.user_message_id == call.user_message_id
    assert book.state.open[chosen].failure is None
    assert not any(notice.id == f"call/{chosen}" for notice in book.state.notices)


def test_what_arrived_before_a_drop_is_kept_and_marked(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    (write,) = of(
        book.play(e.CallFailed(call.call_id, DROPPED, (TextPart("Good d"),), Usage())), f.AppendRecords
    )
    book.append(write)

    last = book.state.open[chosen].messages[-1]
    assert (last.text, last.status) == ("Good d", Status.PARTIAL)
    assert book.state.open[chosen].failed_message_id == call.user_message_id


def test_retry_after_a_drop_puts_the_partial_reply_aside_first(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    (write,) = of(
        book.play(e.CallFailed(call.call_id, DROPPED, (TextPart("Good d"),), Usage())), f.AppendRecords
    )
    book.append(write)

    (aside,) = of(book.play(c.RetrySend(chosen)), f.AppendRecords)
    assert [type(record) for record in aside.records] == [DeleteRecord]
    (again,) = of(book.append(aside), f.CallProvider)

    assert again.spec.inputs.user_text == "hello"
    assert [turn.text for turn in again.spec.inputs.turns] == []


def test_stop_keeps_what_arrived_as_interrupted(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    book.play(e.ReplyArrived(call.call_id, "Good"))

    assert of(book.play(c.CancelReply(chosen)), f.CancelCall) == (f.CancelCall(call.call_id),)
    stopped = e.CallEnded(call.call_id, Stopped(StopKind.CANCELLED), (TextPart("Good"),), Usage())
    (write,) = of(book.play(stopped), f.AppendRecords)
    book.append(write)

    assert book.state.open[chosen].messages[-1].status is Status.INTERRUPTED
    assert chosen not in book.state.calls


def test_stop_while_the_prompt_is_saved_makes_no_call(book: Playbook) -> None:
    chosen = book.discussion()
    (write,) = of(book.play(c.SendPrompt(chosen, "hello")), f.AppendRecords)
    book.play(c.CancelReply(chosen))

    effects = book.append(write)

    assert not of(effects, f.CallProvider)
    assert chosen not in book.state.calls
    assert of(book.play(c.RetrySend(chosen)), f.CallProvider)


def test_a_reply_cut_off_at_the_limit_says_so_in_place(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    ended = e.CallEnded(call.call_id, Stopped(StopKind.TRUNCATED, "max_tokens"), (TextPart("Good"),), Usage())
    (write,) = of(book.play(ended), f.AppendRecords)

    marks = [record for record in write.records if isinstance(record, MarkRecord)]
    assert "cut off" in marks[0].text
    assert "max_tokens" in marks[0].text


def test_an_empty_reply_is_a_failure_that_can_be_retried(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    (write,) = of(
        book.play(e.CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (), Usage())), f.AppendRecords
    )
    book.append(write)

    assert book.state.open[chosen].failure is not None
    assert of(book.play(c.RetrySend(chosen)), f.CallProvider)


def test_regenerate_puts_the_old_reply_aside_and_asks_again(book: Playbook) -> None:
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "first")
    book.answer(book.ask(chosen, "two"), "second")

    (aside,) = of(book.play(c.RegenerateReply(chosen)), f.AppendRecords)
    (again,) = of(book.append(aside), f.CallProvider)

    assert again.spec.inputs.user_text == "two"
    assert [turn.text for turn in again.spec.inputs.turns] == ["one", "first"]
    assert texts(book, chosen) == ["one", "first", "two"]


def test_one_discussion_has_one_call_at_a_time_and_others_go_on(book: Playbook) -> None:
    first, second = book.discussion("a"), book.discussion("b")
    book.ask(first, "hello")

    assert book.play(c.SendPrompt(first, "again")) == ()
    assert book.ask(second, "hello").spec.discussion_id == second


def test_nothing_to_say_sends_nothing(book: Playbook) -> None:
    assert book.play(c.SendPrompt(book.discussion(), "  \n ")) == ()


def test_an_attachment_alone_can_be_sent(book: Playbook) -> None:
    chosen = book.discussion()
    part = AttachmentPart("ab" * 32, "image/png", "shot.png", 10)
    book.play(e.AttachmentStored(chosen, part))

    call = book.ask(chosen, "")

    assert call.spec.inputs.attachments == (part,)
    assert book.state.open[chosen].draft.attachments == ()


def test_the_first_prompt_names_the_discussion(book: Playbook) -> None:
    chosen = book.discussion()
    (write,) = of(book.play(c.SendPrompt(chosen, "Why is the sky blue?\nPlease explain.")), f.AppendRecords)

    effects = book.append(write)

    assert book.state.summaries[chosen].meta.name == "Why is the sky blue? Please explain."
    assert of(effects, f.WriteMeta)[0].meta.name.startswith("Why is the sky")


def test_a_given_name_is_kept(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.ask(chosen, "Why is it blue?")
    assert book.state.summaries[chosen].meta.name == "Sky"


def test_turns_tokens_and_cost_add_up_in_the_list(book: Playbook) -> None:
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "first", Usage(input_tokens=10, output_tokens=2, cost_usd=0.5))
    book.answer(book.ask(chosen, "two"), "second", Usage(input_tokens=20, output_tokens=3, cost_usd=0.25))

    row = book.state.summaries[chosen]
    assert (row.turns, row.usage.input_tokens, row.usage.cost_usd) == (2, 30, 0.75)
    assert row.preview == "second"


def test_a_retry_by_the_program_is_shown_with_its_reason(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")

    book.play(e.CallRetrying(call.call_id, 1, 4.0, "Overloaded"))

    live = book.state.calls[chosen]
    assert (live.phase, live.retry_reason) == (CallPhase.RETRYING, "Overloaded")
    assert live.retry_at is not None
    assert (live.retry_at - book.at).total_seconds() == 4.0


def test_an_unexplained_prefix_change_is_said(book: Playbook) -> None:
    from core.values.records import RequestRecord

    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)

    effects = book.play(e.RequestBuilt(call.call_id, record, "Layer 6 changed at byte 12"))

    assert of(effects, f.AppendRecords)[0].records == (record,)
    assert book.state.notices[-1].level is Level.WARNING
    assert "byte 12" in book.state.notices[-1].text


def test_events_of_a_call_that_is_over_change_nothing(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    book.answer(call, "Good day")
    before = book.state

    for event in (
        e.ReplyArrived(call.call_id, "late"),
        e.CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (TextPart("late"),), Usage()),
        e.CallFailed(call.call_id, DROPPED, (), Usage()),
    ):
        assert book.play(event) == ()
    assert replace(book.state, now=before.now) == before


def test_roles_of_the_view_are_counted_for_the_metadata_layer(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "one"), "first")

    call = book.ask(chosen, "two")

    assert call.spec.inputs.facts.name == "Sky"
    assert call.spec.inputs.facts.roles == ("assistant", "user")
    assert call.spec.inputs.facts.turn_count == 1


def test_lone_surrogates_and_crlf_are_cleaned_where_they_enter(book: Playbook) -> None:
    chosen = book.discussion()
    call = book.ask(chosen, "a\r\nb\ud800c\0")
    assert call.spec.inputs.user_text == "a\nb\ufffdc"


def test_the_user_message_is_found_by_role(book: Playbook) -> None:
    chosen = book.discussion()
    book.ask(chosen, "hello")
    message = book.state.open[chosen].entries[-1]
    assert isinstance(message, Message)
    assert message.role is Role.USER


def test_text_that_no_file_and_no_window_can_hold_is_cleaned_where_it_enters(book: Playbook) -> None:
    """Half an emoji from a model's stream, a NUL in a paste: shown and kept as U+FFFD, or not at all."""
    bad, good = "a\ud800b\0c\r\nd", "a\ufffdbc\nd"
    chosen = book.discussion(bad)
    assert book.state.summaries[chosen].meta.name == "a\ufffdbc d"
    book.play(c.SetDraft(chosen, bad))
    assert book.state.open[chosen].draft.text == good
    (store,) = of(book.play(c.AttachText(chosen, bad)), f.StoreAttachment)
    assert store.text == good

    call = book.ask(chosen, bad)
    book.answer(call, bad)
    assert texts(book, chosen) == [good, good]
    (write,) = of(
        book.play(c.EditMessage(chosen, book.state.open[chosen].messages[0].id, f"x{bad}")), f.AppendRecords
    )
    book.append(write)
    assert texts(book, chosen)[0] == f"x{good}"
    book.play(c.CreatePreset(bad))
    assert "a\ufffdbc d" in book.state.project.presets
    book.play(c.RenameDiscussion(chosen, f"{bad}!"))
    assert book.state.summaries[chosen].meta.name == "a\ufffdbc d!"
