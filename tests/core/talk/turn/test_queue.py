"""The queue: what is sent while a reply streams waits, goes on after a whole reply, and is held by anything else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.app.app_messages import Effect, Quit
from core.kernel.errors import FailureKind
from core.kernel.values.discussion import Draft, OpenDiscussion, QueuedPrompt
from core.kernel.values.messages import AttachmentPart, TextPart
from core.kernel.values.provider import Failure, StopKind, Stopped
from core.kernel.values.records import MessageRecord, RequestRecord
from core.kernel.values.settings import CachingSettings, Settings
from core.kernel.values.state import CommandOutcome
from core.kernel.values.updates import outcome_of
from core.kernel.values.usage import Usage
from core.talk.discussion.discussion_messages import (
    AddToQueue,
    AppendRecords,
    AttachmentStored,
    DeleteMessage,
    DiscussionChangedOutside,
    DiscussionLoaded,
    PromptGone,
    PromptToken,
    QueueWritten,
    RemoveFromQueue,
    SelectDiscussion,
    SetDraft,
    SummariesLoaded,
    WriteDraft,
    WriteFailed,
)
from core.talk.discussion.discussion_store import LEFT_BEHIND
from core.talk.turn.prompt_queue import failed_prompt_id
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CancelCall,
    CancelReply,
    RequestBuilt,
    RetrySend,
    SendPrompt,
    SendQueued,
    TakeBackQueued,
)
from tests.core.app.playbook import Playbook, of, settings_loaded

FILE = AttachmentPart("ab" * 32, "text/plain", "a.txt", 3)
LIMIT = Settings(caching=CachingSettings(day_limit_usd=0.5))


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def queue(book: Playbook, chosen: str, text: str, command_id: str = "") -> tuple[Effect, ...]:
    """Send while a reply is under way, on a disk that works; what follows once it is kept."""
    (add,) = of(book.play(SendPrompt(chosen, text, command_id=command_id, may_queue=True)), AddToQueue)
    return kept(book, add)


def kept(book: Playbook, add: AddToQueue) -> tuple[Effect, ...]:
    queue = (*opened(book, add.discussion_id).queue, add.prompt)
    return book.play(QueueWritten(add.discussion_id, queue, add.prompt, add.command_id))


def opened(book: Playbook, chosen: str) -> OpenDiscussion:
    return book.state.discussions.open[chosen]


def queued(book: Playbook, chosen: str) -> list[str]:
    return [prompt.text for prompt in opened(book, chosen).queue]


def end(book: Playbook, call: CallProvider, kind: StopKind = StopKind.COMPLETED) -> tuple[Effect, ...]:
    """A reply ends and is on disk; what follows then."""
    ended = CallEnded(call.call_id, Stopped(kind), (TextPart("said"),), Usage(input_tokens=1))
    (write,) = of(book.play(ended), AppendRecords)
    return book.append(write)


def fail(book: Playbook, call: CallProvider) -> tuple[Effect, ...]:
    failure = Failure(FailureKind.NO_NETWORK, "The server cannot be reached", "Look at the network.")
    (write,) = of(book.play(CallFailed(call.call_id, failure, (), Usage())), AppendRecords)
    return book.append(write)


def asked(book: Playbook, effects: tuple[Effect, ...]) -> CallProvider:
    """The call that the next prompt of the queue gets on a disk that works."""
    (write,) = of(effects, AppendRecords)
    (call,) = of(book.append(write), CallProvider)
    return call


def waiting(book: Playbook, *texts: str) -> tuple[str, CallProvider]:
    """A discussion with a reply under way and prompts that wait for its end."""
    chosen = book.discussion()
    call = book.ask(chosen, "first")
    for text in texts:
        queue(book, chosen, text)
    return chosen, call


def said(book: Playbook, chosen: str) -> list[str]:
    return [message.text for message in opened(book, chosen).messages]


def test_a_message_that_waited_is_told_as_queued_though_it_went_since(book: Playbook) -> None:
    chosen, call = waiting(book)
    queue(book, chosen, "second", command_id="c")
    asked(book, end(book, call))

    outcome = outcome_of(book.state, "c")

    assert outcome is not None
    assert outcome.is_queued


def test_a_message_that_goes_as_soon_as_it_is_in_the_queue_does_not_wait(book: Playbook) -> None:
    chosen, call = waiting(book)
    (add,) = of(book.play(SendPrompt(chosen, "second", command_id="c", may_queue=True)), AddToQueue)
    end(book, call)
    kept(book, add)

    outcome = outcome_of(book.state, "c")

    assert outcome is not None
    assert not outcome.is_queued


def test_what_is_sent_while_a_reply_streams_goes_in_order_after_it_under_its_own_id(book: Playbook) -> None:
    chosen, call = waiting(book, "second", "third")
    ids = [prompt.id for prompt in opened(book, chosen).queue]

    call = asked(book, end(book, call))
    assert queued(book, chosen) == ["third"]
    call = asked(book, end(book, call))

    assert said(book, chosen) == ["first", "said", "second", "said", "third"]
    assert [m.id for m in opened(book, chosen).messages][2::2] == ids
    assert not of(end(book, call), AppendRecords)


def test_a_prompt_leaves_the_composer_once_it_is_on_disk_and_who_waits_is_told_its_id(book: Playbook) -> None:
    chosen, _ = waiting(book)
    book.play(SetDraft(chosen, "second"))
    book.play(AttachmentStored(chosen, FILE))
    (add,) = of(book.play(SendPrompt(chosen, "second", command_id="w1", may_queue=True)), AddToQueue)
    assert opened(book, chosen).draft == Draft("second", (FILE,))
    assert outcome_of(book.state, "w1") is None

    effects = kept(book, add)

    assert opened(book, chosen).draft == Draft()
    assert of(effects, WriteDraft) == (WriteDraft(chosen, Draft()),)
    assert opened(book, chosen).queue[0].attachments == (FILE,)
    assert outcome_of(book.state, "w1") == CommandOutcome("w1", made_id=add.prompt.id, is_queued=True)


def test_what_was_typed_since_stays_in_the_composer_when_a_prompt_of_the_queue_goes(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    book.play(SetDraft(chosen, "second"))
    book.play(AttachmentStored(chosen, FILE))

    asked(book, end(book, call))

    assert opened(book, chosen).draft == Draft("second", (FILE,))


def test_without_the_wish_to_queue_a_second_send_is_refused_as_ever(book: Playbook) -> None:
    chosen, _ = waiting(book)

    assert book.play(SendPrompt(chosen, "second", command_id="w1")) == ()

    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert "under way" in outcome.problem


def test_what_reaches_the_disk_after_the_reply_has_ended_goes_at_once(book: Playbook) -> None:
    chosen, call = waiting(book)
    (add,) = of(book.play(SendPrompt(chosen, "second", may_queue=True)), AddToQueue)
    end(book, call)

    asked(book, kept(book, add))

    assert said(book, chosen)[-1] == "second"


def test_what_reaches_the_disk_after_a_failure_waits_for_the_person(book: Playbook) -> None:
    chosen, call = waiting(book)
    (add,) = of(book.play(SendPrompt(chosen, "second", may_queue=True)), AddToQueue)
    fail(book, call)

    assert not of(kept(book, add), AppendRecords)
    assert queued(book, chosen) == ["second"]
    assert opened(book, chosen).queue_hold


@pytest.mark.parametrize("kind", [StopKind.CANCELLED, StopKind.TRUNCATED, StopKind.REFUSED])
def test_a_reply_that_did_not_come_whole_holds_the_queue_and_says_why(book: Playbook, kind: StopKind) -> None:
    chosen, call = waiting(book, "second")

    assert not of(end(book, call, kind), AppendRecords)

    assert queued(book, chosen) == ["second"]
    assert {
        StopKind.CANCELLED: "stopped",
        StopKind.TRUNCATED: "cut off",
        StopKind.REFUSED: "declined",
    }[kind] in opened(book, chosen).queue_hold


def test_a_failure_holds_the_queue_and_a_retry_alone_does_not_let_it_go(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    assert not of(fail(book, call), AppendRecords)
    assert "The server cannot be reached" in opened(book, chosen).queue_hold

    (again,) = of(book.play(RetrySend(chosen)), CallProvider)
    assert not of(end(book, again), AppendRecords)
    assert queued(book, chosen) == ["second"]

    call = asked(book, book.play(SendQueued(chosen)))
    assert (queued(book, chosen), opened(book, chosen).queue_hold) == ([], "")
    assert said(book, chosen)[-1] == "second"


def test_a_yes_asks_again_for_what_failed_and_the_queue_follows_its_reply(book: Playbook) -> None:
    chosen, call = waiting(book, "second", "third")
    fail(book, asked(book, end(book, call)))
    assert said(book, chosen) == ["first", "said", "second"]

    (again,) = of(book.play(SendQueued(chosen, command_id="w1")), CallProvider)

    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert outcome.is_done
    assert queued(book, chosen) == ["third"]
    asked(book, end(book, again))
    assert said(book, chosen) == ["first", "said", "second", "said", "third"]


def test_where_what_failed_is_deleted_a_yes_sends_what_waits(book: Playbook) -> None:
    chosen, call = waiting(book, "second", "third")
    fail(book, asked(book, end(book, call)))
    (write,) = of(book.play(DeleteMessage(chosen, failed_prompt_id(opened(book, chosen)))), AppendRecords)
    book.append(write)

    asked(book, book.play(SendQueued(chosen)))

    assert said(book, chosen) == ["first", "said", "third"]


def test_a_message_that_another_program_may_have_under_way_is_not_asked_for_again(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    book.play(CancelReply(chosen))
    book.play(CallEnded(call.call_id, Stopped(StopKind.CANCELLED), (), Usage()))
    assert failed_prompt_id(opened(book, chosen)) == ""


def test_a_stop_while_the_prompt_is_still_being_written_holds_what_waits_behind_it(book: Playbook) -> None:
    chosen, call = waiting(book, "second", "third")
    (write,) = of(end(book, call), AppendRecords)
    book.play(CancelReply(chosen))

    assert not of(book.append(write), CallProvider)

    assert queued(book, chosen) == ["third"]
    assert "stopped" in opened(book, chosen).queue_hold


def test_the_days_limit_holds_the_queue_and_a_yes_sends_past_it(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    book.play(settings_loaded(settings=LIMIT))
    book.state = replace(book.state, spending=replace(book.state.spending, spent_today_usd=0.6))

    assert not of(end(book, call), AppendRecords)
    assert "$0.50 for today" in opened(book, chosen).queue_hold
    assert opened(book, chosen).refusal is None, "nobody is asked before they want it sent"

    assert book.play(SendQueued(chosen)) == ()
    refusal = opened(book, chosen).refusal
    assert refusal is not None
    assert refusal.confirmed == SendQueued(chosen, over_limit=True)
    assert queued(book, chosen) == ["second"]
    call = asked(book, book.play(refusal.confirmed))
    assert book.state.turns.calls[chosen].over_limit


def spent(book: Playbook, usd: float) -> None:
    book.state = replace(book.state, spending=replace(book.state.spending, spent_today_usd=usd))


@pytest.mark.parametrize("raised", [5.0, None])
def test_a_queue_that_a_limit_held_goes_on_when_the_limit_is_raised_or_taken_away(
    book: Playbook, raised: float | None
) -> None:
    first, call = waiting(book, "second", "third")
    other, other_call = waiting(book, "fourth")
    book.play(settings_loaded(settings=LIMIT))
    spent(book, 0.6)
    end(book, call)
    end(book, other_call)
    assert (queued(book, first), queued(book, other)) == (["second", "third"], ["fourth"])
    still = Settings(caching=CachingSettings(day_limit_usd=0.55))
    assert not of(book.play(settings_loaded(settings=still)), AppendRecords)
    assert "for today" in opened(book, first).queue_hold

    allowed = Settings(caching=CachingSettings(day_limit_usd=raised))
    writes = of(book.play(settings_loaded(settings=allowed)), AppendRecords)

    assert {write.records[0].parts[0].text for write in writes} == {"second", "fourth"}  # type: ignore[union-attr]
    assert len({call.id for call in book.state.turns.calls.values()}) == 2
    assert opened(book, first).queue_hold == ""
    (write,) = [write for write in writes if write.discussion_id == first]
    (call,) = of(book.append(write), CallProvider)
    asked(book, end(book, call))
    assert said(book, first)[-1] == "third"


def test_a_raised_limit_sends_nothing_that_something_else_holds(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    book.play(settings_loaded(settings=LIMIT))
    fail(book, call)

    assert not of(book.play(settings_loaded(settings=Settings())), AppendRecords)

    assert queued(book, chosen) == ["second"]


def test_what_waits_behind_a_send_that_a_limit_stopped_goes_on_once_that_is_sent(book: Playbook) -> None:
    chosen, call = waiting(book, "second", "third")
    book.play(settings_loaded(settings=LIMIT))
    spent(book, 0.4)
    call = asked(book, end(book, call))
    spent(book, 0.6)
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)
    book.play(RequestBuilt(call.call_id, record, usd=0.3))
    end(book, call, StopKind.CANCELLED)
    failure = opened(book, chosen).failure
    assert failure is not None
    assert failure.kind is FailureKind.SPEND_LIMIT

    assert not of(book.play(settings_loaded(settings=Settings())), AppendRecords), (
        "the first of them comes first"
    )
    (call,) = of(book.play(RetrySend(chosen)), CallProvider)
    asked(book, end(book, call))
    assert said(book, chosen)[-1] == "third"


def test_a_limit_that_is_met_when_the_cost_is_known_holds_what_waits_behind(book: Playbook) -> None:
    chosen, call = waiting(book, "second", "third")
    book.play(settings_loaded(settings=LIMIT))
    book.state = replace(book.state, spending=replace(book.state.spending, spent_today_usd=0.4))
    call = asked(book, end(book, call))
    book.state = replace(book.state, spending=replace(book.state.spending, spent_today_usd=0.6))
    record = RequestRecord("r", book.at, call.user_message_id, "embedded", "m", "auto", (), (), 0)
    assert of(book.play(RequestBuilt(call.call_id, record, usd=0.3)), CancelCall)

    assert not of(end(book, call, StopKind.CANCELLED), CallProvider)

    assert queued(book, chosen) == ["third"]
    assert "for today" in opened(book, chosen).queue_hold


def test_a_prompt_that_is_taken_back_stands_before_the_words_in_the_composer(book: Playbook) -> None:
    chosen, call = waiting(book)
    book.play(AttachmentStored(chosen, FILE))
    queue(book, chosen, "second")
    queue(book, chosen, "third")
    book.play(SetDraft(chosen, "fourth"))
    prompt = opened(book, chosen).queue[0]

    effects = book.play(TakeBackQueued(chosen, prompt.id))

    draft = Draft("second\nfourth", (FILE,))
    assert opened(book, chosen).draft == draft
    assert effects[:2] == (RemoveFromQueue(chosen, prompt.id, draft), WriteDraft(chosen, draft))
    assert queued(book, chosen) == ["third"]
    asked(book, end(book, call))
    assert said(book, chosen)[-1] == "third"


def test_a_prompt_that_is_being_sent_can_not_be_taken_back(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    prompt = opened(book, chosen).queue[0]
    end(book, call)

    assert book.play(TakeBackQueued(chosen, prompt.id, command_id="w1")) == ()

    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert not outcome.is_done
    assert opened(book, chosen).draft == Draft()


def test_a_queue_that_is_found_at_the_start_waits_for_the_person(book: Playbook) -> None:
    chosen = book.discussion()
    left = OpenDiscussion(chosen, queue=(QueuedPrompt("q1", book.at, "left"),), queue_hold=LEFT_BEHIND)

    effects = book.play(DiscussionLoaded(left))
    effects += book.play(SummariesLoaded((), True)) + book.play(SelectDiscussion(chosen))
    assert not of(effects, AppendRecords)

    call = book.ask(chosen, "new")
    assert not of(end(book, call), AppendRecords), "a send of its own lets nothing else go"
    asked(book, book.play(SendQueued(chosen)))
    assert said(book, chosen) == ["new", "said", "left"]


def test_a_prompt_that_another_program_has_sent_is_not_sent_again_and_the_rest_goes_on(
    book: Playbook,
) -> None:
    chosen, call = waiting(book, "second", "third")
    third = opened(book, chosen).queue[1]
    (write,) = of(end(book, call), AppendRecords)
    assert isinstance(write.token, PromptToken)
    other = MessageRecord(write.queued_id, book.at, write.records[0].role, (TextPart("second"),))  # type: ignore[union-attr]

    effects = book.play(PromptGone(chosen, write.token.call_id, (third,)))

    assert not of(effects, CallProvider)
    (following,) = of(effects, AppendRecords)
    assert following.queued_id == third.id
    assert other.id != third.id


def test_what_another_program_writes_leaves_a_hold_as_it_is(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    fail(book, call)
    before = opened(book, chosen)
    summary = book.state.discussions.summaries[chosen]

    book.play(DiscussionChangedOutside(summary, replace(before, queue_hold=LEFT_BEHIND)))

    assert opened(book, chosen).queue_hold == before.queue_hold


def test_a_prompt_that_can_not_be_written_stays_in_the_queue_and_is_held(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    (write,) = of(end(book, call), AppendRecords)

    book.play(WriteFailed(chosen, write.token, "The disk is full", "Free some space.", write.records))

    assert queued(book, chosen) == ["second"]
    assert "The disk is full" in opened(book, chosen).queue_hold
    assert chosen not in book.state.turns.calls


def test_a_queue_goes_on_in_its_own_discussion_only_and_not_while_the_program_ends(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    _other, other_call = waiting(book)
    assert not of(end(book, other_call), AppendRecords)
    assert queued(book, chosen) == ["second"]

    book.play(Quit())
    assert not of(end(book, call), AppendRecords)


def test_a_yes_while_a_reply_is_under_way_lets_the_queue_go_after_it(book: Playbook) -> None:
    chosen, call = waiting(book, "second")
    fail(book, call)
    (again,) = of(book.play(RetrySend(chosen)), CallProvider)

    assert book.play(SendQueued(chosen, command_id="w1")) == ()

    outcome = outcome_of(book.state, "w1")
    assert outcome is not None
    assert outcome.is_done
    asked(book, end(book, again))
    assert said(book, chosen)[-1] == "second"
