"""A send past a spend limit: the step refuses it, whatever front end it came from, until the person says yes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.errors import FailureKind
from core.kernel.values.messages import AttachmentPart, TextPart
from core.kernel.values.provider import Failure, StopKind, Stopped
from core.kernel.values.records import MessageRecord
from core.kernel.values.settings import AiSettings, CachingSettings, Settings
from core.kernel.values.stack import ContextReport
from core.kernel.values.state import OUTCOMES_KEPT, CommandOutcome
from core.kernel.values.updates import outcome_of, with_open
from core.kernel.values.usage import LimitScope, ReachedLimit, Usage
from core.services.settings.settings_messages import ChangeSetting, SettingsSettled
from core.talk.discussion.discussion_messages import (
    AddToQueue,
    AppendRecords,
    AttachmentStored,
    QueueWritten,
    SetDraft,
    WriteFailed,
)
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    ContinueReply,
    LeaveUnsent,
    PaidCommand,
    RegenerateReply,
    ResendMessage,
    RetrySend,
    SendPrompt,
    SendQueued,
)
from tests.core.app.playbook import Playbook, of, settings_loaded

SPENT = Usage(input_tokens=10, cost_usd=0.6)
LIMITS = Settings(ai=AiSettings(spend_limit_usd=0.5))


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def at_limit(book: Playbook) -> str:
    """A discussion that has cost $0.60 of $0.50, and whose last message can be retried."""
    chosen = book.discussion()
    book.answer(book.ask(chosen, "one"), "1", SPENT)
    call = book.ask(chosen, "two")
    dropped = Failure(FailureKind.STREAM_DROPPED, "The stream was dropped")
    (write,) = of(book.play(CallFailed(call.call_id, dropped, (), Usage())), AppendRecords)
    book.append(write)
    book.play(settings_loaded(settings=LIMITS))
    return chosen


def paid(book: Playbook, chosen: str) -> tuple[PaidCommand, ...]:
    first = book.state.discussions.open[chosen].messages[0].id
    again = RegenerateReply(chosen), RegenerateReply(chosen, first), ResendMessage(chosen, first, "x")
    return SendPrompt(chosen, "three"), RetrySend(chosen), *again


@pytest.mark.parametrize("which", range(5))
def test_past_a_limit_nothing_is_written_or_called_and_the_words_stay(book: Playbook, which: int) -> None:
    chosen = at_limit(book)
    book.play(SetDraft(chosen, "three"))
    book.play(AttachmentStored(chosen, AttachmentPart("ab" * 32, "a.txt", "text/plain", 3)))
    before = book.state.discussions.open[chosen]

    assert book.play(paid(book, chosen)[which]) == ()

    after = book.state.discussions.open[chosen]
    assert chosen not in book.state.turns.calls
    assert (after.draft, after.entries) == (before.draft, before.entries)
    assert after.refusal is not None
    assert after.refusal.reached == (ReachedLimit(LimitScope.DISCUSSION, 0.5, 0.6),)
    assert after.refusal.sentence == "You have reached the limit of $0.50 for this discussion: $0.60 spent."


@pytest.mark.parametrize("which", [3, 4])
def test_with_the_persons_yes_a_version_is_made_and_the_refusal_forgotten(book: Playbook, which: int) -> None:
    chosen = at_limit(book)
    book.play(paid(book, chosen)[which])
    refusal = book.state.discussions.open[chosen].refusal
    assert refusal is not None
    assert isinstance(refusal.confirmed, RegenerateReply | ResendMessage)

    (write,) = of(book.play(refusal.confirmed), AppendRecords)

    assert isinstance(write.records[0], MessageRecord)
    assert book.state.turns.calls[chosen].over_limit
    assert book.state.discussions.open[chosen].refusal is None


@pytest.mark.parametrize("which", range(3))
def test_with_the_persons_yes_it_is_sent_and_the_refusal_forgotten(book: Playbook, which: int) -> None:
    chosen = at_limit(book)
    book.play(paid(book, chosen)[which])
    refusal = book.state.discussions.open[chosen].refusal
    assert refusal is not None
    assert refusal.confirmed == replace(paid(book, chosen)[which], over_limit=True)

    effects = book.play(refusal.confirmed)

    assert chosen in book.state.turns.calls
    for write in of(effects, AppendRecords):
        effects = book.append(write)
    assert of(effects, CallProvider)
    assert book.state.discussions.open[chosen].refusal is None


RAISED = Settings(ai=AiSettings(spend_limit_usd=5.0))


@pytest.mark.parametrize("which", range(1, 5))
def test_what_waits_for_a_limit_goes_on_when_that_is_raised(book: Playbook, which: int) -> None:
    chosen = at_limit(book)
    asked = replace(paid(book, chosen)[which], awaits_limit=True)
    assert book.play(asked) == ()
    assert book.state.discussions.open[chosen].awaits_limit == asked
    assert book.state.discussions.open[chosen].refusal is None, "nobody is asked again"

    still = Settings(ai=AiSettings(spend_limit_usd=0.55))
    assert not of(book.play(settings_loaded(settings=still)), CallProvider)
    assert book.state.discussions.open[chosen].awaits_limit == asked
    effects = book.play(settings_loaded(settings=RAISED))

    assert len(of(effects, CallProvider) + of(effects, AppendRecords)) == 1
    assert book.state.discussions.open[chosen].awaits_limit is None
    other = Settings(ai=AiSettings(spend_limit_usd=6.0))
    again = book.play(settings_loaded(settings=other))
    assert not of(again, CallProvider)
    assert not of(again, AppendRecords)


@pytest.mark.parametrize("which", range(5))
def test_a_limit_that_was_raised_a_moment_ago_holds_in_what_is_asked_next(book: Playbook, which: int) -> None:
    chosen = at_limit(book)
    book.settles = False
    book.play(ChangeSetting("ai_settings.spend_limit_usd", 5.0))

    assert book.play(paid(book, chosen)[which]) == ()
    assert book.state.discussions.open[chosen].refusal is None, "nobody is asked by the limit that was"
    book.play(settings_loaded(settings=RAISED))
    effects = book.play(SettingsSettled(book.state.config.asked))

    assert len(of(effects, AppendRecords) + of(effects, CallProvider)) == 1
    assert book.play(SettingsSettled(book.state.config.asked)) == (), "it goes once"


def test_a_change_that_raises_no_limit_refuses_what_waited_for_it_and_says_so(book: Playbook) -> None:
    chosen = at_limit(book)
    book.settles = False
    book.play(ChangeSetting("ai_settings.spend_limit_usd", 0.55))
    book.play(SendPrompt(chosen, "three", command_id="c"))
    assert outcome_of(book.state, "c") is None

    book.play(settings_loaded(settings=Settings(ai=AiSettings(spend_limit_usd=0.55))))
    book.play(SettingsSettled(book.state.config.asked))

    outcome = outcome_of(book.state, "c")
    assert outcome is not None
    assert outcome.refusal is not None
    assert outcome.refusal.reached == (ReachedLimit(LimitScope.DISCUSSION, 0.55, 0.6),)
    assert chosen not in book.state.turns.calls


def test_the_rest_of_a_reply_waits_for_a_limit_too(book: Playbook) -> None:
    chosen = at_limit(book)
    (sent,) = of(book.play(RetrySend(chosen, over_limit=True)), CallProvider)
    (end,) = of(
        book.play(CallEnded(sent.call_id, Stopped(StopKind.TRUNCATED), (TextPart("half"),), Usage())),
        AppendRecords,
    )
    book.append(end)
    book.play(ContinueReply(chosen, awaits_limit=True))

    (write,) = of(book.play(settings_loaded(settings=RAISED)), AppendRecords)

    assert isinstance(write.records[0], MessageRecord)


@pytest.mark.parametrize("which", range(1, 5))
def test_what_was_left_does_not_go_when_the_limit_is_raised(book: Playbook, which: int) -> None:
    chosen = at_limit(book)
    book.play(replace(paid(book, chosen)[which], awaits_limit=True))
    book.play(LeaveUnsent(chosen))

    effects = book.play(settings_loaded(settings=RAISED))

    assert not of(effects, CallProvider)
    assert not of(effects, AppendRecords)


def test_words_that_wait_for_a_limit_stand_in_the_queue(book: Playbook) -> None:
    chosen = at_limit(book)
    book.play(SetDraft(chosen, "three"))
    (kept,) = of(book.play(SendPrompt(chosen, "three", awaits_limit=True, command_id="w1")), AddToQueue)
    assert not of(book.play(QueueWritten(chosen, (kept.prompt,), kept.prompt, "w1")), AppendRecords)
    opened = book.state.discussions.open[chosen]
    assert (opened.draft.text, opened.is_held_at_limit) == ("", True)
    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert outcome.is_done

    (write,) = of(book.play(settings_loaded(settings=RAISED)), AppendRecords)

    assert isinstance(write.records[0], MessageRecord)
    assert write.records[0].parts == (TextPart("three"),)


def test_a_queue_can_be_let_wait_for_the_limit(book: Playbook) -> None:
    chosen = at_limit(book)
    (kept,) = of(book.play(SendPrompt(chosen, "three", awaits_limit=True)), AddToQueue)
    book.play(QueueWritten(chosen, (kept.prompt,), kept.prompt, ""))
    held = book.state.discussions.open[chosen]
    book.state = with_open(book.state, replace(held, queue_hold="It was stopped.", is_held_at_limit=False))
    assert not of(book.play(SendQueued(chosen, awaits_limit=True)), AppendRecords)

    assert of(book.play(settings_loaded(settings=RAISED)), AppendRecords)


def test_the_days_limit_stands_against_a_new_discussion_too(book: Playbook) -> None:
    at_limit(book)
    book.state = replace(
        book.state,
        config=replace(book.state.config, settings=Settings(caching=CachingSettings(day_limit_usd=0.5))),
        spending=replace(book.state.spending, spent_today_usd=0.6),
    )
    fresh = book.discussion()

    assert book.play(SendPrompt(fresh, "hello")) == ()

    refusal = book.state.discussions.open[fresh].refusal
    assert refusal is not None
    assert [limit.scope for limit in refusal.reached] == [LimitScope.DAY]


def test_a_second_refusal_is_another_one(book: Playbook) -> None:
    """So that a window that has asked about the first asks again."""
    chosen = at_limit(book)
    book.play(RetrySend(chosen))
    first = book.state.discussions.open[chosen].refusal
    book.play(RetrySend(chosen))

    assert book.state.discussions.open[chosen].refusal is not first


def test_who_waits_for_the_command_is_told_there_and_the_window_is_not_asked(book: Playbook) -> None:
    chosen = at_limit(book)

    book.play(SendPrompt(chosen, "three", command_id="w1"))

    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert outcome.refusal is not None
    assert (outcome.is_done, outcome.problem) == (False, outcome.refusal.sentence)
    assert outcome.refusal.confirmed == SendPrompt(chosen, "three", over_limit=True)
    assert book.state.discussions.open[chosen].refusal is None


def test_who_waits_is_told_the_message_once_it_is_on_disk(book: Playbook) -> None:
    chosen = book.discussion()
    (write,) = of(book.play(SendPrompt(chosen, "hello", command_id="w1")), AppendRecords)
    assert outcome_of(book.state, "w1") is None

    book.append(write)

    assert outcome_of(book.state, "w1") == CommandOutcome(
        "w1", book.state.discussions.open[chosen].messages[-1].id
    )


def test_who_waits_is_told_that_the_words_could_not_be_written(book: Playbook) -> None:
    chosen = book.discussion()
    (write,) = of(book.play(SendPrompt(chosen, "hello", command_id="w1")), AppendRecords)

    book.play(WriteFailed(chosen, write.token, "The disk is full", "Free some space.", write.records))

    assert outcome_of(book.state, "w1") == CommandOutcome("w1", "", "The disk is full", "Free some space.")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (SendPrompt("nobody", "x", command_id="w1"), "not open"),
        (RetrySend("nobody", command_id="w1"), "No send has failed"),
        (RegenerateReply("nobody", command_id="w1"), "no message"),
    ],
)
def test_who_waits_for_what_cannot_be_done_is_told_why(
    book: Playbook, command: PaidCommand, why: str
) -> None:
    assert book.play(command) == ()

    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert why in outcome.problem


def test_a_second_send_while_a_reply_is_under_way_is_told_so(book: Playbook) -> None:
    chosen = book.discussion()
    book.ask(chosen, "hello")

    assert book.play(SendPrompt(chosen, "again", command_id="w1")) == ()

    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert "under way" in outcome.problem


def priced(book: Playbook, settings: Settings, count: int) -> list[str]:
    """Discussions whose assembled requests are expected to cost $0.26 each."""
    report = ContextReport((), (), 0, 1_000, None, 0.26, None, output_usd_per_token=0.0)
    names = [book.discussion() for _ in range(count)]
    book.play(settings_loaded(settings=settings))
    book.state = replace(
        book.state,
        context=replace(book.state.context, reports=dict.fromkeys(names, report)),
        spending=replace(book.state.spending, spent_today_usd=0.0),
    )
    return names


def test_of_eight_sends_at_once_as_many_are_made_as_in_a_row() -> None:
    """A limit of $1.00: three calls of $0.26 leave room to begin a fourth, four do not leave any for a fifth."""
    limits = Settings(caching=CachingSettings(day_limit_usd=1.0))
    at_once, in_a_row = Playbook().ready(), Playbook().ready()

    names = priced(at_once, limits, 8)
    writes = [of(at_once.play(SendPrompt(name, "hello")), AppendRecords) for name in names]
    for name in priced(in_a_row, limits, 8):
        if effects := in_a_row.play(SendPrompt(name, "hello")):
            (write,) = of(effects, AppendRecords)
            (call,) = of(in_a_row.append(write), CallProvider)
            in_a_row.answer(call, "1", Usage(input_tokens=10, cost_usd=0.26))

    assert [len(one) for one in writes] == [1, 1, 1, 1, 0, 0, 0, 0]
    refusal = at_once.state.discussions.open[names[4]].refusal
    assert refusal is not None
    (limit,) = refusal.reached
    assert limit.spent_usd == 0.0
    assert limit.reserved_usd == pytest.approx(1.04, abs=0.01)
    assert in_a_row.state.spending.spent_today_usd == pytest.approx(1.04)


def test_what_a_call_reserves_gives_way_to_what_it_cost_and_is_never_counted_twice() -> None:
    book = Playbook().ready()
    (chosen,) = priced(book, Settings(caching=CachingSettings(day_limit_usd=9.0)), 1)
    call = book.ask(chosen, "hello")
    assert book.state.turns.calls[chosen].reserved_usd == pytest.approx(0.26, abs=0.01)

    ended = CallEnded(call.call_id, Stopped(StopKind.COMPLETED), (TextPart("1"),), Usage(cost_usd=0.5))
    (write,) = of(book.play(ended), AppendRecords)
    assert (book.state.turns.calls[chosen].reserved_usd, book.state.spending.spent_today_usd) == (0.5, 0.0)

    book.append(write)
    assert (dict(book.state.turns.calls), book.state.spending.spent_today_usd) == ({}, 0.5)


def test_a_call_that_failed_before_it_cost_anything_reserves_no_more() -> None:
    book = Playbook().ready()
    (chosen,) = priced(book, Settings(), 1)
    call = book.ask(chosen, "hello")

    book.play(CallFailed(call.call_id, Failure(FailureKind.NO_NETWORK, "No network"), (), Usage()))

    assert book.state.turns.calls[chosen].reserved_usd == 0.0


def test_of_outcomes_only_the_last_are_kept(book: Playbook) -> None:
    for number in range(OUTCOMES_KEPT + 5):
        book.play(RetrySend("nobody", command_id=f"w{number}"))

    assert len(book.state.program.outcomes) == OUTCOMES_KEPT
    assert outcome_of(book.state, "w4") is None
    assert outcome_of(book.state, "w5") is not None
