"""The controller's loop: one owner of state, snapshots, merged deltas, an end that loses nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from core.app.controller import AppController
from core.app.messages import Effect, Event, HomeOpened
from core.discussion.messages import (
    AppendRecords,
    CreateDiscussion,
    CreateOnDisk,
    DiscussionCreated,
    LoadSummaries,
    RecordsAppended,
    SummariesLoaded,
)
from core.settings.messages import LoadSettings
from core.turn.messages import CallEnded, CallProvider, ReplyArrived, SendPrompt
from core.values.discussion import DiscussionSummary, OpenDiscussion
from core.values.messages import TextPart
from core.values.provider import StopKind, Stopped
from core.values.spec import StackSpec
from core.values.stack import StackInputs
from core.values.state import AppState
from core.values.usage import Usage
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
