"""The controller's loop: one owner of state, snapshots, merged deltas, an end that loses nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from core.app.app_messages import DismissNotice, Effect, Event, HomeOpened
from core.app.controller import AppController
from core.kernel.values.discussion import DiscussionSummary, OpenDiscussion
from core.kernel.values.messages import TextPart
from core.kernel.values.provider import StopKind, Stopped
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.state import AppState
from core.kernel.values.usage import Usage
from core.services.settings.settings_messages import LoadSettings, SettingsSettled, TellSettled
from core.signals.signals_messages import InboxRead, ReadInbox
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    CreateDiscussion,
    CreateOnDisk,
    DiscussionCreated,
    ExportDiscussion,
    LoadSummaries,
    RecordsAppended,
    SummariesLoaded,
)
from core.talk.turn.turn_messages import CallEnded, CallProvider, ReplyArrived, SendPrompt
from tests.core.app.playbook import settings_loaded
from tests.patience import PATIENCE_S

WAIT_S = PATIENCE_S


class FakeOutside:
    """A disk that always works, and a provider that answers when told."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self.logged: list[AppendRecords] = []
        self.emit: Callable[[Event], None] = lambda _event: None
        self.calls: list[CallProvider] = []
        self.is_stopped = False

    def start(self, emit: Callable[[Event], None]) -> None:
        self.emit = emit
        emit(HomeOpened("/home/x"))

    def begin(self, effect: Effect) -> None:
        self.effects.append(effect)
        match effect:
            case LoadSettings():
                self.emit(settings_loaded())
            case TellSettled():
                self.emit(SettingsSettled(effect.number))
            case LoadSummaries():
                self.emit(SummariesLoaded((), is_complete=True))
            case CreateOnDisk():
                summary = DiscussionSummary(effect.meta, effect.meta.created_at)
                self.emit(DiscussionCreated(summary, OpenDiscussion(effect.meta.id)))
            case AppendRecords():
                self.logged.append(effect)
                self.emit(RecordsAppended(effect.discussion_id, effect.records, effect.token))
            case CallProvider():
                self.calls.append(effect)
            case _:
                pass

    def stack_inputs(self, spec: StackSpec) -> StackInputs:
        return spec.inputs

    def stop_calls(self) -> None:
        for call in self.calls:
            parts = (TextPart("half"),)
            self.emit(CallEnded(call.call_id, Stopped(StopKind.CANCELLED), parts, Usage()))

    def stop(self) -> None:
        self.is_stopped = True


def started(outside: FakeOutside, clock: Callable[[], datetime] | None = None) -> AppController:
    controller = AppController(outside, clock=clock or (lambda: datetime.now(UTC)))
    controller.start()
    assert (
        controller.wait_for(lambda s: bool(s.config.providers) and not s.program.is_loading, WAIT_S)
        is not None
    )
    return controller


def with_prompt(controller: AppController, outside: FakeOutside) -> AppState:
    """A discussion with a prompt whose call is under way."""
    controller.send(CreateDiscussion("Sky"))
    state = controller.wait_for(lambda s: bool(s.discussions.selected_id), WAIT_S)
    assert state is not None
    controller.send(SendPrompt(state.discussions.selected_id, "hello"))
    state = controller.wait_for(lambda _: bool(outside.calls), WAIT_S)
    assert state is not None
    return state


def test_a_command_becomes_a_snapshot_that_waiters_see() -> None:
    outside = FakeOutside()
    controller = started(outside)

    before = controller.snapshot()
    controller.send(CreateDiscussion("Sky"))
    after = controller.wait_for(lambda s: bool(s.discussions.summaries), WAIT_S)

    assert after is not None
    assert [row.meta.name for row in after.discussions.summaries.values()] == ["Sky"]
    assert before.discussions.summaries == {}
    controller.stop()


def test_waiting_for_what_never_comes_ends_in_time() -> None:
    controller = started(FakeOutside())
    assert controller.wait_for(lambda _: False, 0.01) is None
    controller.stop()


def test_waiting_ends_when_the_controller_does() -> None:
    controller = started(FakeOutside())
    found: list[AppState | None] = []
    waiter = threading.Thread(target=lambda: found.append(controller.wait_for(lambda _: False, WAIT_S)))
    waiter.start()
    controller.stop()
    waiter.join(WAIT_S)
    assert found == [None]


def test_a_flood_of_messages_stops_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.app.controller.TICK_S", 0.01)
    outside = FakeOutside()
    controller = AppController(outside)
    ticked = threading.Event()
    begin = outside.begin

    def begun(effect: Effect) -> None:
        if isinstance(effect, ReadInbox):
            ticked.set()
        begin(effect)

    outside.begin = begun  # type: ignore[method-assign]
    controller.listen(lambda: None if ticked.is_set() else controller.send(DismissNotice("none")))
    controller.start()
    controller.emit(InboxRead(is_unready=True))

    assert ticked.wait(WAIT_S), "a file that is still written is looked at again with each tick"
    controller.stop()


def test_a_thousand_deltas_arrive_in_order_and_in_few_snapshots() -> None:
    outside = FakeOutside()
    controller = started(outside)
    with_prompt(controller, outside)
    before = controller.revision
    (call,) = outside.calls

    for number in range(1000):
        controller.emit(ReplyArrived(call.call_id, f"{number} "))
    chosen = call.spec.discussion_id
    state = controller.wait_for(lambda s: s.turns.calls[chosen].text.endswith("999 "), WAIT_S)

    assert state is not None
    assert state.turns.calls[chosen].text == "".join(f"{number} " for number in range(1000))
    assert controller.revision - before < 1000
    controller.stop()


def test_the_end_keeps_the_part_of_a_reply_that_was_arriving() -> None:
    outside = FakeOutside()
    controller = started(outside)
    with_prompt(controller, outside)

    controller.stop()

    texts = [r.parts[0] for write in outside.logged for r in write.records if hasattr(r, "parts")]
    assert TextPart("half") in texts
    assert outside.is_stopped


def test_stopping_twice_is_harmless() -> None:
    outside = FakeOutside()
    controller = started(outside)
    controller.stop()
    controller.stop()
    assert outside.is_stopped


def test_a_clock_that_jumps_breaks_nothing() -> None:
    times = iter([timedelta(0), timedelta(days=400), timedelta(days=-400)] * 1000)
    start = datetime(2026, 11, 20, tzinfo=UTC)
    outside = FakeOutside()
    controller = started(outside, lambda: start + next(times))
    state = with_prompt(controller, outside)
    assert state.discussions.open[state.discussions.selected_id].messages[0].text == "hello"
    controller.stop()


class Explosive(FakeOutside):
    """Cannot begin effects of some types."""

    def __init__(self, *kinds: type[Effect]) -> None:
        super().__init__()
        self.kinds = kinds

    def begin(self, effect: Effect) -> None:
        if isinstance(effect, self.kinds):
            raise ZeroDivisionError("the outside broke")
        super().begin(effect)


def goes_on(controller: AppController) -> bool:
    """Whether the loop still takes commands."""
    controller.send(CreateDiscussion("Later"))
    named = controller.wait_for(
        lambda s: any(row.meta.name == "Later" for row in s.discussions.summaries.values()), WAIT_S
    )
    return named is not None


def test_an_event_that_the_step_fails_on_is_said_and_the_call_that_it_was_of_ends_with_what_came() -> None:
    outside = FakeOutside()
    controller = started(outside)
    state = with_prompt(controller, outside)
    chosen = state.discussions.selected_id
    (call,) = outside.calls
    controller.emit(ReplyArrived(call.call_id, "Half of"))
    controller.wait_for(lambda s: s.turns.calls[chosen].text == "Half of", WAIT_S)

    controller.emit(CallEnded(call.call_id, Stopped(StopKind.COMPLETED), 5, {"input_tokens": "x"}))  # type: ignore[arg-type]
    after = controller.wait_for(lambda s: chosen not in s.turns.calls, WAIT_S)

    assert after is not None
    assert [m.text for m in after.discussions.open[chosen].messages] == ["hello", "Half of"]
    assert any("failed on CallEnded" in notice.text for notice in after.program.notices)
    assert goes_on(controller)
    controller.stop()


def test_deltas_that_are_no_text_do_not_end_the_loop() -> None:
    outside = FakeOutside()
    controller = started(outside)
    with_prompt(controller, outside)
    (call,) = outside.calls

    for junk in (5, None, {"a": 1}, "fine"):
        controller.emit(ReplyArrived(call.call_id, junk))  # type: ignore[arg-type]

    assert goes_on(controller)
    controller.stop()


def test_a_call_that_the_outside_cannot_begin_fails_in_its_discussion() -> None:
    controller = started(Explosive(CallProvider))
    controller.send(CreateDiscussion("Sky"))
    state = controller.wait_for(lambda s: bool(s.discussions.selected_id), WAIT_S)
    assert state is not None
    chosen = state.discussions.selected_id
    controller.send(SendPrompt(chosen, "hello"))

    after = controller.wait_for(lambda s: bool(s.discussions.open[chosen].failed_message_id), WAIT_S)

    assert after is not None
    failure = after.discussions.open[chosen].failure
    assert failure is not None
    assert "could not start CallProvider" in failure.what
    assert goes_on(controller)
    controller.stop()


def test_words_that_the_outside_cannot_begin_to_write_are_given_back() -> None:
    controller = started(Explosive(AppendRecords))
    controller.send(CreateDiscussion("Sky"))
    state = controller.wait_for(lambda s: bool(s.discussions.selected_id), WAIT_S)
    assert state is not None
    chosen = state.discussions.selected_id
    controller.send(SendPrompt(chosen, "hello", command_id="it"))

    after = controller.wait_for(lambda s: bool(s.program.outcomes) and chosen not in s.turns.calls, WAIT_S)

    assert after is not None
    assert [(one.command_id, one.is_done) for one in after.program.outcomes] == [("it", False)]
    assert goes_on(controller)
    controller.stop()


def test_a_command_that_cannot_be_begun_is_told_to_who_waits_for_it() -> None:
    controller = started(Explosive(ExportDiscussion))
    controller.send(ExportDiscussion("nothing", "markdown", "/x", command_id="it"))

    after = controller.wait_for(lambda s: bool(s.program.outcomes), WAIT_S)

    assert after is not None
    assert "could not start ExportDiscussion" in after.program.outcomes[0].problem
    controller.stop()


def test_a_listener_that_fails_keeps_nobody_else_from_hearing() -> None:
    heard = []

    def fail() -> None:
        raise ZeroDivisionError

    controller = AppController(FakeOutside())
    controller.listen(fail)
    controller.listen(lambda: heard.append(1))
    controller.start()

    assert goes_on(controller)
    assert heard
    controller.stop()


def test_an_outside_that_cannot_be_stopped_lets_the_program_end() -> None:
    class Stuck(FakeOutside):
        def stop_calls(self) -> None:
            raise ZeroDivisionError

    outside = Stuck()
    controller = started(outside)
    controller.stop()
    assert outside.is_stopped
