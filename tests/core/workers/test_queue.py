"""The queue worker: order, superseding, failures that stop nothing, an orderly end."""

from __future__ import annotations

import threading
from queue import SimpleQueue

from core.errors import StorageError
from core.values.discussion import Draft
from core.values.effects import Effect, IndexDiscussion, WriteDraft
from core.values.events import Event, OperationFailed, WorkerReported
from core.workers.queue import QueueWorker

WAIT_S = 10.0


def test_effects_are_carried_out_in_order_and_all_of_them_before_the_end() -> None:
    done: list[Effect] = []
    worker = QueueWorker("test", done.append, lambda _event: None)
    effects = [IndexDiscussion(str(number)) for number in range(200)]

    for effect in effects:
        worker.submit(effect)

    assert worker.stop(WAIT_S)
    assert done == effects


def test_a_later_effect_replaces_one_that_still_waits() -> None:
    gate, started = threading.Event(), threading.Event()
    done: list[Effect] = []

    def handle(effect: Effect) -> None:
        started.set()
        gate.wait(WAIT_S)
        done.append(effect)

    worker = QueueWorker("test", handle, lambda _event: None, lambda new, old: type(new) is type(old))
    worker.submit(IndexDiscussion("first"))
    started.wait(WAIT_S)
    for text in "abc":
        worker.submit(WriteDraft("d", Draft(text)))
    gate.set()

    assert worker.stop(WAIT_S)
    assert done == [IndexDiscussion("first"), WriteDraft("d", Draft("c"))]


def test_a_failure_is_said_with_its_remedy_and_the_next_effect_is_carried_out() -> None:
    events: SimpleQueue[Event] = SimpleQueue()
    done: list[Effect] = []

    def handle(effect: Effect) -> None:
        if effect == IndexDiscussion("bad"):
            raise StorageError("The disk is full", remedy="Free some space", where="/home/x")
        done.append(effect)

    worker = QueueWorker("test", handle, events.put)
    worker.submit(IndexDiscussion("bad"))
    worker.submit(IndexDiscussion("good"))

    assert worker.stop(WAIT_S)
    assert events.get_nowait() == OperationFailed("test", "The disk is full", "Free some space. /home/x")
    assert done == [IndexDiscussion("good")]


def test_a_bug_in_a_handler_is_reported_and_does_not_end_the_worker() -> None:
    events: SimpleQueue[Event] = SimpleQueue()
    done: list[Effect] = []

    def handle(effect: Effect) -> None:
        if effect == IndexDiscussion("bad"):
            raise ZeroDivisionError("oops")
        done.append(effect)

    worker = QueueWorker("test", handle, events.put)
    worker.submit(IndexDiscussion("bad"))
    worker.submit(IndexDiscussion("good"))

    assert worker.stop(WAIT_S)
    reported = events.get_nowait()
    assert isinstance(reported, WorkerReported)
    assert reported.status == "failed"
    assert "oops" in reported.detail
    assert done == [IndexDiscussion("good")]


def test_nothing_is_taken_on_after_the_end() -> None:
    done: list[Effect] = []
    worker = QueueWorker("test", done.append, lambda _event: None)
    assert worker.stop(WAIT_S)
    worker.submit(IndexDiscussion("late"))
    assert done == []
