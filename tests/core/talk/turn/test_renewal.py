"""A reply asked for again: a version of it, a message with other words as a version of that, another model, the rest of it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command, Input
from core.app.dispatch import step
from core.kernel.errors import FailureKind
from core.kernel.values.messages import AttachmentPart, Message, Role, Status, TextPart
from core.kernel.values.provider import Failure, StopKind, Stopped
from core.kernel.values.records import ChooseRecord, EditRecord, MessageRecord
from core.kernel.values.settings import CachingSettings, Settings
from core.kernel.values.updates import outcome_of
from core.kernel.values.usage import Usage
from core.kernel.values.window import ViewCut
from core.talk.discussion.cuts import cut_record
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    AttachmentStored,
    ChooseVersion,
    DeleteMessage,
    EditMessage,
    RestoreMessage,
    SetDraft,
)
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CancelReply,
    ContinueReply,
    RegenerateReply,
    ResendMessage,
    RetrySend,
    SendPrompt,
)
from tests.core.app.playbook import Playbook, of, settings_loaded

DROPPED = Failure(FailureKind.STREAM_DROPPED, "The stream was dropped", "Retry.")
PICTURE = AttachmentPart("ab" * 32, "text/plain", "shot.txt", 10)


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def two_turns(book: Playbook) -> str:
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "one"), "first")
    book.answer(book.ask(chosen, "two"), "second")
    return chosen


def messages(book: Playbook, chosen: str) -> tuple[Message, ...]:
    return book.state.discussions.open[chosen].messages


def texts(book: Playbook, chosen: str) -> list[str]:
    return [message.text for message in messages(book, chosen)]


def said(call: CallProvider) -> tuple[list[str], str]:
    return [turn.text for turn in call.spec.inputs.turns], call.spec.inputs.user_text


def dropped(book: Playbook, call: CallProvider, text: str) -> None:
    parts = (TextPart(text),) if text else ()
    (write,) = of(book.play(CallFailed(call.call_id, DROPPED, parts, Usage())), AppendRecords)
    book.append(write)


def test_the_last_reply_stays_until_its_new_version_is_on_disk(book: Playbook) -> None:
    chosen = two_turns(book)

    (call,) = of(book.play(RegenerateReply(chosen)), CallProvider)
    assert said(call) == (["one", "first"], "two")
    assert texts(book, chosen) == ["one", "first", "two", "second"]
    assert call.version_of == messages(book, chosen)[3].id

    book.answer(call, "other")
    assert texts(book, chosen) == ["one", "first", "two", "other"]
    (third,) = of(book.play(RegenerateReply(chosen)), CallProvider)
    assert third.version_of == call.version_of
    assert said(third) == (["one", "first"], "two")


def test_only_the_chosen_version_goes_to_the_model(book: Playbook) -> None:
    chosen = two_turns(book)
    second = messages(book, chosen)[3].id
    (call,) = of(book.play(RegenerateReply(chosen)), CallProvider)
    book.answer(call, "other")

    (write,) = of(book.play(ChooseVersion(chosen, second)), AppendRecords)
    assert [type(record) for record in write.records] == [ChooseRecord]
    book.append(write)

    assert said(book.ask(chosen, "three")) == (["one", "first", "two", "second"], "three")


def test_of_two_presses_at_once_the_second_goes_on_from_the_first(book: Playbook) -> None:
    """Both were drawn from what the disk had come to: they asked for the same neighbour."""
    chosen = two_turns(book)
    for text in ("other", "third"):
        (call,) = of(book.play(RegenerateReply(chosen)), CallProvider)
        book.answer(call, text)
    seen = messages(book, chosen)[3]

    press = ChooseVersion(chosen, seen.id, -1)
    writes = [of(book.play(press), AppendRecords) for _ in range(3)]
    for write in (*writes[0], *writes[1]):
        book.append(write)

    assert not writes[2], "there are but three"
    assert messages(book, chosen)[3].text == "second"
    (back,) = of(book.play(ChooseVersion(chosen, seen.id, 1)), AppendRecords)
    book.append(back)
    assert messages(book, chosen)[3].text == "other"


def test_of_choices_that_are_not_on_disk_yet_the_last_one_is_sent_and_stays(book: Playbook) -> None:
    chosen = two_turns(book)
    second = messages(book, chosen)[3].id
    (call,) = of(book.play(RegenerateReply(chosen)), CallProvider)
    book.answer(call, "other")
    other = messages(book, chosen)[3].id

    asked = (second, other)  # the other is shown while the second is written
    writes = [of(book.play(ChooseVersion(chosen, one)), AppendRecords)[0] for one in asked]
    for write in writes:
        book.append(write)

    assert said(book.ask(chosen, "three")) == (["one", "first", "two", "other"], "three")
    before = messages(book, chosen)
    (again,) = of(book.play(ChooseVersion(chosen, other)), AppendRecords)
    book.append(again)
    assert messages(book, chosen) == before, "a choice of what is chosen changes nothing"


def test_a_reply_that_is_asked_for_again_is_sent_without_what_was_deleted_before(book: Playbook) -> None:
    """The deletion is still on its way to the disk when the reply is asked for."""
    chosen = two_turns(book)
    first = messages(book, chosen)[1].id
    (gone,) = of(book.play(DeleteMessage(chosen, first)), AppendRecords)

    book.state, effects = step(book.state, Input(book.at, "seed", RegenerateReply(chosen)))
    (wait,) = of(effects, AppendRecords)
    assert not of(effects, CallProvider)
    assert wait.records == ()

    book.append(gone)
    (call,) = of(book.append(wait), CallProvider)
    assert said(call) == (["one"], "two")


def test_what_is_asked_of_a_message_last_counts_also_where_the_state_shows_it_already(book: Playbook) -> None:
    chosen = two_turns(book)
    message = messages(book, chosen)[1]
    commands: list[Command] = [DeleteMessage(chosen, message.id), RestoreMessage(chosen, message.id)]
    commands += [EditMessage(chosen, message.id, text) for text in ("changed", message.text)]

    writes = [write for one in commands for write in of(book.play(one), AppendRecords)]
    for write in writes:
        book.append(write)

    now = messages(book, chosen)[1]
    assert (now.text, now.is_deleted) == (message.text, False)


def test_the_list_tells_the_version_that_was_chosen(book: Playbook) -> None:
    chosen = two_turns(book)
    (call,) = of(book.play(RegenerateReply(chosen)), CallProvider)
    book.answer(call, "other")
    assert book.state.discussions.summaries[chosen].preview == "other"

    first = next(iter(book.state.discussions.open[chosen].versions.values())).ids[0]
    book.append(of(book.play(ChooseVersion(chosen, first)), AppendRecords)[0])

    row = book.state.discussions.summaries[chosen]
    assert (row.preview, row.turns) == ("second", 2)
    assert row.usage.input_tokens == 30


def test_a_version_that_there_is_not_is_refused_to_who_waits(book: Playbook) -> None:
    chosen = two_turns(book)
    assert book.play(ChooseVersion(chosen, messages(book, chosen)[3].id, command_id="w1")) == ()
    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert "no such version" in outcome.problem


def test_a_new_version_that_fails_leaves_the_reply_as_it_was(book: Playbook) -> None:
    chosen = two_turns(book)
    (call,) = of(book.play(RegenerateReply(chosen)), CallProvider)
    dropped(book, call, "")

    assert texts(book, chosen) == ["one", "first", "two", "second"]
    (again,) = of(book.play(RetrySend(chosen)), CallProvider)
    assert (said(again)[1], again.version_of) == ("two", call.version_of)


def test_retry_after_a_drop_keeps_the_part_as_the_first_version(book: Playbook) -> None:
    chosen = book.discussion()
    dropped(book, book.ask(chosen, "hello"), "Good d")
    part = messages(book, chosen)[1].id

    (again,) = of(book.play(RetrySend(chosen)), CallProvider)
    assert said(again) == ([], "hello")
    assert again.version_of == part
    book.answer(again, "Good day")

    assert texts(book, chosen) == ["hello", "Good day"]
    assert book.state.discussions.open[chosen].versions[part].ids[0] == part


def test_a_deleted_reply_that_is_asked_for_again_comes_as_its_next_version(book: Playbook) -> None:
    chosen = two_turns(book)
    second = messages(book, chosen)[3].id
    book.append(of(book.play(DeleteMessage(chosen, second)), AppendRecords)[0])

    (call,) = of(book.play(RegenerateReply(chosen)), CallProvider)

    assert call.version_of == second


@pytest.mark.parametrize("at", [0, 1])
def test_an_earlier_reply_is_asked_for_again_as_a_version_of_all_that_followed(
    book: Playbook, at: int
) -> None:
    """Named by itself or by the message that it answers. What followed is paged back to."""
    chosen = two_turns(book)
    one = messages(book, chosen)[0]

    (write,) = of(book.play(RegenerateReply(chosen, messages(book, chosen)[at].id)), AppendRecords)
    (call,) = of(book.append(write), CallProvider)

    assert said(call) == ([], "one")
    assert (call.spec.discussion_id, call.version_of) == (chosen, "")
    assert texts(book, chosen) == ["one"]
    book.answer(call, "other")
    (back,) = of(book.play(ChooseVersion(chosen, one.id)), AppendRecords)
    book.append(back)
    assert texts(book, chosen) == ["one", "first", "two", "second"]


def test_a_message_with_other_words_is_a_version_and_what_followed_the_old_ones_stays(book: Playbook) -> None:
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "first")
    book.play(AttachmentStored(chosen, PICTURE))
    book.answer(book.ask(chosen, "two"), "second")
    two = messages(book, chosen)[2]

    (write,) = of(book.play(ResendMessage(chosen, two.id, "TWO", command_id="w1")), AppendRecords)
    (record,) = write.records
    assert isinstance(record, MessageRecord)
    assert (record.role, record.parts, record.version_of) == (Role.USER, (TextPart("TWO"), PICTURE), two.id)
    assert outcome_of(book.state, "w1") is None, "the words are not on disk yet"
    (call,) = of(book.append(write), CallProvider)
    assert said(call) == (["one", "first"], "TWO")
    book.answer(call, "other")

    assert texts(book, chosen) == ["one", "first", "TWO", "other"]
    versions = book.state.discussions.open[chosen].versions_of(messages(book, chosen)[2])
    assert versions is not None
    assert (versions.number, versions.ids) == (2, (two.id, record.id))
    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert outcome.made_id == record.id
    assert said(book.ask(chosen, "three")) == (["one", "first", "TWO", "other"], "three")


def test_no_other_version_of_a_message_is_chosen_while_its_reply_is_under_way(book: Playbook) -> None:
    """The reply would follow words that it does not answer."""
    chosen = two_turns(book)
    two = messages(book, chosen)[2]
    (write,) = of(book.play(ResendMessage(chosen, two.id, "TWO")), AppendRecords)
    book.append(write)

    assert book.play(ChooseVersion(chosen, two.id, command_id="w1")) == ()

    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert "A reply is under way" in outcome.problem


def test_a_summary_of_words_that_were_put_aside_is_not_told_with_others(book: Playbook) -> None:
    chosen = two_turns(book)
    one, two = messages(book, chosen)[0], messages(book, chosen)[2]
    cut = cut_record(
        ViewCut(id="c1", at=book.at, begins_at=two.id, summary="They said one.", left_messages=2)
    )
    book.append(AppendRecords(chosen, (cut,)))
    (write,) = of(book.play(ResendMessage(chosen, one.id, "ONE")), AppendRecords)
    (call,) = of(book.append(write), CallProvider)
    assert said(call) == ([], "ONE")
    book.answer(call, "other")
    assert said(book.ask(chosen, "on")) == (["ONE", "other"], "on")


def test_a_reply_is_asked_of_another_model_in_one_step(book: Playbook) -> None:
    chosen = two_turns(book)
    before = book.state.discussions.summaries[chosen].meta

    effects = book.play(RegenerateReply(discussion_id=chosen, provider="anthropic", model="claude-y"))

    (call,) = of(effects, CallProvider)
    assert (call.spec.profile.id, before.model) != ("claude-y", "claude-y")
    assert book.state.turns.calls[chosen].model == "claude-y"
    assert call.version_of == messages(book, chosen)[3].id
    assert book.state.discussions.summaries[chosen].meta.model == "claude-y"


def test_where_no_other_model_can_be_asked_the_model_stays(book: Playbook) -> None:
    chosen = two_turns(book)
    before = book.state.discussions.summaries[chosen].meta
    book.play(replace(settings_loaded(settings=Settings(caching=CachingSettings(day_limit_usd=0.5)))))
    book.state = replace(book.state, spending=replace(book.state.spending, spent_today_usd=0.6))

    assert book.play(RegenerateReply(discussion_id=chosen, provider="anthropic", model="claude-y")) == ()

    assert book.state.discussions.summaries[chosen].meta == before
    refusal = book.state.discussions.open[chosen].refusal
    assert refusal is not None
    assert refusal.confirmed == RegenerateReply(
        discussion_id=chosen, provider="anthropic", model="claude-y", over_limit=True
    )


def test_a_message_that_nobody_answered_is_sent_with_other_words_where_it_stands(book: Playbook) -> None:
    chosen = book.discussion()
    dropped(book, book.ask(chosen, "helo"), "")
    book.play(SetDraft(chosen, "later words"))
    message = messages(book, chosen)[0].id

    (write,) = of(book.play(ResendMessage(chosen, message, "hello")), AppendRecords)
    assert [type(record) for record in write.records] == [EditRecord]
    (call,) = of(book.append(write), CallProvider)

    assert said(call) == ([], "hello")
    assert book.state.discussions.open[chosen].draft.text == "later words"


def test_nothing_is_sent_that_is_not_there_or_empty(book: Playbook) -> None:
    chosen = two_turns(book)
    one, first = messages(book, chosen)[:2]
    for asked in (
        ResendMessage(chosen, one.id, "  "),
        ResendMessage(chosen, first.id, "a reply is nobody's words"),
        ResendMessage(chosen, "zz", "x"),
        ResendMessage("nobody", one.id, "x"),
        RegenerateReply(chosen, "zz"),
        ContinueReply(chosen),
        ContinueReply("nobody"),
    ):
        assert book.play(asked) == ()


def cut_off(book: Playbook) -> str:
    chosen = book.discussion()
    call = book.ask(chosen, "hello")
    stopped = CallEnded(call.call_id, Stopped(StopKind.CANCELLED), (TextPart("Good d"),), Usage())
    book.append(of(book.play(stopped), AppendRecords)[0])
    return chosen


def test_a_reply_that_was_cut_off_goes_on_as_a_turn_and_the_draft_stays(book: Playbook) -> None:
    chosen = cut_off(book)
    book.play(SetDraft(chosen, "later words"))
    book.play(AttachmentStored(chosen, PICTURE))

    (write,) = of(book.play(ContinueReply(chosen)), AppendRecords)
    (call,) = of(book.append(write), CallProvider)

    assert said(call) == (["hello", "Good d"], "Go on.")
    draft = book.state.discussions.open[chosen].draft
    assert (draft.text, draft.attachments) == ("later words", (PICTURE,))
    assert "Go on." not in book.state.discussions.prompt_history
    assert messages(book, chosen)[1].status is Status.INTERRUPTED
    asked = messages(book, chosen)[2]
    assert (asked.text, asked.is_of_person, asked.is_autonomous) == ("Go on.", False, False)


def test_other_words_in_place_of_those_that_asked_for_the_rest_are_the_persons(book: Playbook) -> None:
    chosen = cut_off(book)
    (write,) = of(book.play(ContinueReply(chosen)), AppendRecords)
    (call,) = of(book.append(write), CallProvider)
    stopped = CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (TextPart("ay."),), Usage())
    book.append(of(book.play(stopped), AppendRecords)[0])

    (again,) = of(
        book.play(ResendMessage(chosen, messages(book, chosen)[2].id, "Go on in verse.")), AppendRecords
    )
    book.append(again)

    assert [one.is_of_person for one in messages(book, chosen) if one.text == "Go on in verse."] == [True]


def test_a_stream_that_dropped_goes_on_too_and_its_failure_is_over(book: Playbook) -> None:
    chosen = book.discussion()
    dropped(book, book.ask(chosen, "hello"), "Good d")

    (write,) = of(book.play(ContinueReply(chosen)), AppendRecords)
    book.append(write)

    opened = book.state.discussions.open[chosen]
    assert (opened.failure, opened.failed_message_id) == (None, "")


def test_to_go_on_stops_at_a_limit_and_goes_when_that_is_allowed_or_raised(book: Playbook) -> None:
    chosen = cut_off(book)
    book.play(SetDraft(chosen, "later words"))
    prompts = book.state.config.prompts
    limit = Settings(caching=CachingSettings(day_limit_usd=0.5))
    book.play(replace(settings_loaded(settings=limit), prompts=prompts))
    book.state = replace(book.state, spending=replace(book.state.spending, spent_today_usd=0.6))
    before = book.state

    assert book.play(ContinueReply(chosen)) == ()
    opened = book.state.discussions.open[chosen]
    assert opened.refusal is not None
    assert "$0.50 for today" in opened.refusal.sentence
    assert (opened.draft.text, len(opened.messages)) == ("later words", 2)
    allowed = ContinueReply(chosen, over_limit=True)
    assert opened.refusal.confirmed == allowed
    assert of(book.play(allowed), AppendRecords)

    book.state = before
    book.play(replace(settings_loaded(settings=Settings()), prompts=prompts))
    assert of(book.play(ContinueReply(chosen)), AppendRecords)


def test_an_empty_prompt_to_go_on_is_said_and_nothing_is_sent(book: Playbook) -> None:
    chosen = cut_off(book)
    loaded = settings_loaded()
    book.play(replace(loaded, prompts={**loaded.prompts, "continue.md": " \n"}))

    assert book.play(ContinueReply(chosen)) == ()

    assert "continue.md is empty" in book.state.program.notices[-1].text


def test_a_version_that_was_stopped_while_it_came_is_a_version(book: Playbook) -> None:
    chosen = two_turns(book)
    (call,) = of(book.play(RegenerateReply(chosen)), CallProvider)
    book.play(CancelReply(chosen))
    stopped = CallEnded(call.call_id, Stopped(StopKind.CANCELLED), (TextPart("oth"),), Usage())
    book.append(of(book.play(stopped), AppendRecords)[0])

    assert texts(book, chosen)[-1] == "oth"
    assert len(book.state.discussions.open[chosen].versions) == 1
    assert of(book.play(SendPrompt(chosen, "on")), AppendRecords)
