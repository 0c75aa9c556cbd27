"""Calls: what arrives is journaled and reported, however the call ends."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue

import pytest
from msgspec.structs import replace

from core.app.app_messages import Event
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.values.messages import Part, ReasoningPart, TextPart, ToolCallPart
from core.kernel.values.provider import (
    ContentsReport,
    ProviderRequest,
    ReasoningDelta,
    StopKind,
    Stopped,
    StoredContent,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import ToolSchema
from core.kernel.values.usage import Usage
from core.services.providers.protocol import CancelToken
from core.talk.caching.caching_messages import CacheReported
from core.talk.context.assembly import BuiltCall
from core.talk.discussion.reply_journal import ReplyHead, ReplyJournal
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CallRetrying,
    ReplyArrived,
    RequestBuilt,
)
from core.talk.turn.turn_worker import CallWorker
from tests.core.kernel.faults import FullDisk, made
from tests.core.records import ID
from tests.core.talk.turn.fake_services import AT, DONE, EFFECT, WAIT_S, FakeProvider, FakeServices, run


def test_a_reply_is_journaled_reported_and_ends_with_parts_usage_and_cost() -> None:
    usage = UsageUpdate(Usage(input_tokens=50, output_tokens=2))
    services = FakeServices(FakeProvider(TextDelta("Good "), TextDelta("day"), usage, DONE))

    events = run(services)

    assert isinstance(events[0], RequestBuilt)
    assert events[1:3] == [ReplyArrived("call", text="Good "), ReplyArrived("call", text="day")]
    ended = events[-1]
    assert isinstance(ended, CallEnded)
    assert ended.parts == (TextPart("Good day"),)
    assert ended.usage.cost_usd == 0.5
    assert ended.usage.time_to_first_token_s is not None
    assert services.kept.kept == [("Good ", ""), ("day", "")]


@pytest.mark.parametrize("service", ["note_usage", "price", "recounted", "reply_tokens"])
def test_whatever_fails_after_a_reply_its_words_and_what_was_billed_are_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, service: str
) -> None:
    """It was booked at nothing: no log and no limit knew of a paid reply."""
    usage = UsageUpdate(Usage(input_tokens=50, output_tokens=2))
    services = FakeServices(FakeProvider(TextDelta("Good day"), usage, DONE))

    def fails(*_: object) -> None:
        raise RuntimeError("no more")

    monkeypatch.setattr(services, service, fails)
    ended = run(services)[-1]

    assert isinstance(ended, CallEnded | CallFailed)
    assert ended.parts == (TextPart("Good day"),)
    assert (ended.usage.input_tokens, ended.usage.output_tokens) == (50, 2)
    caplog.clear()


def test_a_fault_in_the_search_for_leaked_calls_costs_neither_the_reply_nor_its_usage(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Faulty(FakeServices):
        def build(self, effect: CallProvider) -> BuiltCall:
            built = super().build(effect)
            return replace(built, request=replace(built.request, tools=(ToolSchema("bash", "Run.", "{}"),)))

        def recovered(
            self, request: ProviderRequest, parts: tuple[Part, ...], spec: StackSpec
        ) -> tuple[Part, ...]:
            raise TypeError("unhashable")

    usage = UsageUpdate(Usage(input_tokens=50, output_tokens=2))
    ended = run(Faulty(FakeProvider(TextDelta("Good day"), usage, DONE)))[-1]

    assert isinstance(ended, CallEnded)
    assert (ended.parts, ended.stopped, ended.usage.cost_usd) == ((TextPart("Good day"),), DONE, 0.5)
    assert "leaked" in caplog.text
    caplog.clear()


def test_the_cache_hears_of_the_first_byte_once_and_of_the_end_with_its_usage() -> None:
    usage = UsageUpdate(Usage(input_tokens=50))
    services = FakeServices(FakeProvider(TextDelta("Good "), TextDelta("day"), usage, DONE))
    run(services)
    assert services.steps == ["begun call", "noted 50", "ended call 50"]


def test_what_is_known_of_the_cache_is_written_behind_the_next_request_of_a_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A turn with tools goes on at once: its next plan would wait for the disk. The end of the program is not kept waiting."""
    monkeypatch.setattr("core.talk.turn.turn_worker.KEPT_AFTER_S", 10 * WAIT_S)
    inbox: SimpleQueue[Event] = SimpleQueue()
    services = FakeServices(
        FakeProvider(ToolCallReady(ToolCallPart("c1", "grep", "{}")), Stopped(StopKind.TOOL_CALLS))
    )
    worker = CallWorker(services, inbox.put)
    worker.begin(EFFECT)
    assert isinstance(inbox.get(timeout=WAIT_S), RequestBuilt)
    worker.send("call")
    while not isinstance(inbox.get(timeout=WAIT_S), CacheReported):
        pass
    assert services.steps[-1] == "ended call None, kept later"
    worker.stop(WAIT_S)
    assert services.steps[-1] == "kept d"


def test_of_calls_that_follow_at_once_the_last_writes_what_is_known_of_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each would write the same again, in the way of the rounds that are under way then."""
    monkeypatch.setattr("core.talk.turn.turn_worker.KEPT_AFTER_S", 10 * WAIT_S)
    inbox: SimpleQueue[Event] = SimpleQueue()
    services = FakeServices(
        FakeProvider(ToolCallReady(ToolCallPart("c1", "grep", "{}")), Stopped(StopKind.TOOL_CALLS))
    )
    worker = CallWorker(services, inbox.put)
    for name in ("one", "two", "three"):
        worker.begin(replace(EFFECT, call_id=name))
        assert isinstance(inbox.get(timeout=WAIT_S), RequestBuilt)
        worker.send(name)
        while not isinstance(inbox.get(timeout=WAIT_S), CacheReported):
            pass
    worker.stop(WAIT_S)

    assert services.steps.count("kept d") == 1


def test_a_call_that_failed_before_its_first_byte_wrote_nothing() -> None:
    services = FakeServices(FakeProvider(ProviderError(FailureKind.BAD_REQUEST, "No")))
    run(services)
    assert services.steps == ["ended call None"]


def test_reasoning_tool_calls_and_text_keep_their_order_and_the_vendors_block() -> None:
    call = ToolCallPart("c1", "read_file", "{}")
    services = FakeServices(
        FakeProvider(
            ReasoningDelta("let "),
            ReasoningDelta("me", '{"signature":"x"}'),
            TextDelta("Look"),
            ToolCallReady(call),
            DONE,
        )
    )

    ended = run(services)[-1]

    assert isinstance(ended, CallEnded)
    assert ended.parts == (ReasoningPart("let me", '{"signature":"x"}'), TextPart("Look"), call)
    assert services.kept.kept == [
        ("", "let "),
        ('{"signature":"x"}', "me"),
        ("Look", ""),
        ("read_file", "{}"),
    ]


def test_what_arrived_before_a_failure_comes_with_it() -> None:
    error = ProviderError(FailureKind.STREAM_DROPPED, "Dropped", remedy="Retry", where="http://127.0.0.1:1")
    failed = run(FakeServices(FakeProvider(TextDelta("Good"), error)))[-1]

    assert isinstance(failed, CallFailed)
    assert failed.parts == (TextPart("Good"),)
    assert (failed.failure.kind, failed.failure.remedy) == (FailureKind.STREAM_DROPPED, "Retry")


def test_cancel_ends_a_call_that_waits_and_keeps_its_part() -> None:
    def wait(cancel: CancelToken) -> None:
        assert cancel.wait(WAIT_S)

    ended = run(FakeServices(FakeProvider(TextDelta("Good"), wait)), stops_after=ReplyArrived)[-1]

    assert isinstance(ended, CallEnded)
    assert (ended.stopped.kind, ended.parts) == (StopKind.CANCELLED, (TextPart("Good"),))


def test_stop_cancels_every_call_and_waits_for_its_report() -> None:
    inbox: SimpleQueue[Event] = SimpleQueue()
    entered = threading.Event()

    def wait(cancel: CancelToken) -> None:
        entered.set()
        assert cancel.wait(WAIT_S)

    worker = CallWorker(FakeServices(FakeProvider(wait)), inbox.put)
    worker.begin(EFFECT)
    assert isinstance(inbox.get(timeout=WAIT_S), RequestBuilt)
    assert not entered.is_set(), "nothing goes out before the step lets it go"
    worker.send("call")
    assert entered.wait(WAIT_S)
    worker.stop(WAIT_S)

    assert [type(inbox.get_nowait()) for _ in range(inbox.qsize())] == [CallEnded]


def test_a_call_that_is_not_let_go_ends_when_it_is_stopped_and_calls_nobody() -> None:
    inbox: SimpleQueue[Event] = SimpleQueue()
    asked: list[CancelToken] = []
    worker = CallWorker(FakeServices(FakeProvider(asked.append, DONE)), inbox.put)
    worker.begin(EFFECT)
    assert isinstance(inbox.get(timeout=WAIT_S), RequestBuilt)

    worker.cancel("call")

    ended = inbox.get(timeout=WAIT_S)
    assert isinstance(ended, CallEnded)
    assert (ended.stopped.kind, ended.parts, ended.usage) == (StopKind.CANCELLED, (), Usage())
    assert asked == []
    worker.stop(WAIT_S)


def test_a_call_that_cannot_be_noted_is_not_made(tmp_path: Path) -> None:
    """It would be paid for, and after a kill nobody would know."""
    made(tmp_path)
    asked: list[CancelToken] = []
    journal = ReplyJournal(tmp_path, ID, lambda: ReplyHead("reply", AT, "p", "m"), disk=FullDisk(0))
    failed = run(FakeServices(FakeProvider(asked.append, DONE), journal))[-1]
    assert isinstance(failed, CallFailed)
    assert "the disk is full" in failed.failure.what.lower()
    assert (failed.usage, asked) == (Usage(), [])


def test_a_call_is_noted_before_it_goes_out_and_so_is_every_attempt() -> None:
    lost = ProviderError(FailureKind.TIMED_OUT, "Silence", retry_after_s=0.0, is_lost=True)
    busy = ProviderError(FailureKind.OVERLOADED, "Overloaded", retry_after_s=0.0)
    services = FakeServices(FakeProvider(lost))
    tries: list[list[str]] = []

    def ask(cancel: CancelToken) -> None:
        del cancel
        tries.append(list(services.kept.notes))
        services.fake.items = (ask, busy) if len(tries) == 1 else (ask, UsageUpdate(Usage(50)), DONE)

    services.fake.items = (ask, lost)
    run(services)

    assert tries[0] == ["begun"]
    assert services.kept.notes == [
        "begun",
        "not out, 1 lost",
        "out, 1 lost",
        "not out, 1 lost",
        "out, 1 lost",
        "50 said",
    ]


def test_a_call_that_was_stopped_before_it_had_left_costs_nothing() -> None:
    services = FakeServices(FakeProvider(Stopped(StopKind.CANCELLED, is_sent=False)))
    services.expected = Usage(input_tokens=100)
    unsent = run(services)[-1]
    services.fake.items = (Stopped(StopKind.CANCELLED),)
    sent = run(services)[-1]

    assert isinstance(unsent, CallEnded)
    assert isinstance(sent, CallEnded)
    assert unsent.usage == Usage()
    assert (sent.usage.cost_usd, sent.usage.is_estimate) == (1.0, True)


def test_a_full_disk_does_not_stop_a_paid_stream(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made(tmp_path)
    head = ReplyHead("reply", AT, "p", "m")
    journal = ReplyJournal(tmp_path, ID, lambda: head, disk=FullDisk(400))
    services = FakeServices(FakeProvider(TextDelta("Good " * 90), TextDelta("day"), DONE), journal)
    ended = run(services)[-1]
    assert isinstance(ended, CallEnded)
    assert ended.parts == (TextPart("Good " * 90 + "day"),)
    assert caplog.text.count("the disk is full") == 1
    journal.close()


def test_a_request_that_does_not_fit_fails_before_it_is_sent() -> None:
    services = FakeServices(FakeProvider(TextDelta("never"), DONE))
    services.refusal = ProviderError(FailureKind.CONTEXT_TOO_LONG, "Too large: 9,000 of 8,192")

    events = run(services)

    assert [type(event) for event in events] == [CallFailed]
    assert services.kept.kept == []


def test_a_stream_that_ends_without_a_word_is_a_failure_that_keeps_its_part() -> None:
    failed = run(FakeServices(FakeProvider(TextDelta("Good"))))[-1]
    assert isinstance(failed, CallFailed)
    assert failed.failure.kind is FailureKind.STREAM_DROPPED
    assert failed.parts == (TextPart("Good"),)


def test_a_retry_is_reported_with_what_failed() -> None:
    busy = ProviderError(FailureKind.OVERLOADED, "Overloaded", retry_after_s=0.0)
    provider = FakeProvider(busy)
    services = FakeServices(provider)
    inbox: SimpleQueue[Event] = SimpleQueue()
    worker = CallWorker(services, inbox.put)
    worker.begin(EFFECT)
    events: list[Event] = []
    while not events or not isinstance(events[-1], CallEnded | CallFailed):
        events.append(inbox.get(timeout=WAIT_S))
        if isinstance(events[-1], RequestBuilt):
            worker.send("call")
        if isinstance(events[-1], CallRetrying):
            provider.items = (TextDelta("Good"), DONE)

    retry = next(event for event in events if isinstance(event, CallRetrying))
    assert (retry.attempt, retry.reason) == (1, "Overloaded")
    assert isinstance(events[-1], CallEnded)


@pytest.mark.parametrize("usage", [None, Usage(output_tokens=1)])
def test_nothing_reported_stays_not_reported(usage: Usage | None) -> None:
    items: tuple[StreamItem, ...] = (TextDelta("x"), *((UsageUpdate(usage),) if usage else ()), DONE)
    ended = run(FakeServices(FakeProvider(*items)))[-1]
    assert isinstance(ended, CallEnded)
    assert ended.usage.input_tokens is None
    assert ended.usage.output_tokens == (usage.output_tokens if usage else None)


def test_a_reply_that_never_ends_is_stopped_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.services.providers.failures.MOST_REPLY_CHARS", 1_000)
    asked: list[int] = []

    def more(_cancel: CancelToken) -> None:
        asked.append(1)
        assert len(asked) < 300, "nothing stops it"

    pieces = [piece for _ in range(400) for piece in (TextDelta("words "), more)]
    events = run(FakeServices(FakeProvider(*pieces, DONE)))

    last = events[-1]
    assert isinstance(last, CallFailed)
    assert "longer than 1,000 characters" in last.failure.what
    assert last.parts == (TextPart("words " * 167),)


def test_the_end_waits_until_what_was_learned_of_a_call_is_written() -> None:
    """A command that ends after one reply nearly always lost it, and left its temporary file behind."""
    inbox: SimpleQueue[Event] = SimpleQueue()
    is_writing, may_end = threading.Event(), threading.Event()

    class Slow(FakeServices):
        def ended(self, call_id: str, *rest: object, is_kept_later: bool) -> None:
            del rest, is_kept_later
            is_writing.set()
            assert may_end.wait(WAIT_S)
            self.steps.append(f"ended {call_id}")

    services = Slow(FakeProvider(DONE))
    worker = CallWorker(services, inbox.put)
    worker.begin(EFFECT)
    assert isinstance(inbox.get(timeout=WAIT_S), RequestBuilt)
    worker.send("call")
    assert isinstance(inbox.get(timeout=WAIT_S), CallEnded)
    assert is_writing.wait(WAIT_S)

    stopping = threading.Thread(target=worker.stop, args=(WAIT_S,))
    stopping.start()
    stopping.join(0.05)
    assert stopping.is_alive()
    may_end.set()
    stopping.join(WAIT_S)

    assert services.steps[-1] == "ended call"


def test_a_length_that_more_of_the_reply_came_after_is_not_its_last_word() -> None:
    """A chunk's count stood for the whole where the last chunks told none."""
    early = UsageUpdate(Usage(input_tokens=50, output_tokens=1))
    words = (TextDelta("one two "), TextDelta("three four"))
    ended = run(FakeServices(FakeProvider(words[0], early, words[1], DONE)))[-1]
    told = run(FakeServices(FakeProvider(*words, early, DONE)))[-1]

    assert isinstance(ended, CallEnded)
    assert isinstance(told, CallEnded)
    assert (ended.usage.output_tokens, ended.usage.is_estimate) == (4, True)
    assert (told.usage.output_tokens, told.usage.is_estimate) == (1, False)


def test_a_turn_that_made_a_stored_prefix_and_got_no_answer_is_booked_as_having_read_it() -> None:
    """It was booked twice: as the content's making, and as fresh input."""
    stored = StoredContent("c", "gemini-3.8-flash", "h", "d", 20_000, AT, AT + timedelta(hours=1))
    made = UsageUpdate(Usage(), ContentsReport(stored=stored, is_new=True))
    dropped = ProviderError(FailureKind.STREAM_DROPPED, "Dropped")
    services = FakeServices(FakeProvider(made, TextDelta("one two"), dropped))
    services.expected = Usage(input_tokens=21_000, cache_read_tokens=0)

    failed = run(services)[-1]

    assert isinstance(failed, CallFailed)
    assert failed.usage.is_estimate
    assert (failed.usage.input_tokens, failed.usage.cache_read_tokens) == (21_000, 20_000)


def test_what_a_turn_read_by_name_is_known_where_the_vendor_does_not_say_it() -> None:
    """The whole input was priced as fresh where the figure of what was read was none."""
    stored = StoredContent("c", "gemini-3.8-flash", "h", "d", 20_000, AT, AT + timedelta(hours=1))
    told = UsageUpdate(Usage(input_tokens=21_000, output_tokens=2), ContentsReport(stored=stored))

    ended = run(FakeServices(FakeProvider(TextDelta("one two"), told, DONE)))[-1]

    assert isinstance(ended, CallEnded)
    assert (ended.usage.input_tokens, ended.usage.cache_read_tokens) == (21_000, 20_000)
