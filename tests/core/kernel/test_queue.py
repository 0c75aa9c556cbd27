"""The queue worker: order, superseding, failures that stop nothing, an orderly end."""

from __future__ import annotations

import threading
import weakref
from queue import SimpleQueue

from core.app.app_messages import Effect, Event
from core.kernel.errors import StorageError
from core.kernel.queue import QueueWorker
from core.kernel.values.discussion import Draft
from core.kernel.values.updates import OperationDone, OperationFailed, WorkerReported, WritesCaughtUp
from core.talk.discussion.discussion_messages import IndexDiscussion, SearchDiscussions, WriteDraft
from tests.patience import PATIENCE_S

WAIT_S = PATIENCE_S


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


def test_an_effect_that_somebody_waits_for_is_told_to_have_ended_and_is_never_replaced() -> None:
    gate, started = threading.Event(), threading.Event()
    events: SimpleQueue[Event] = SimpleQueue()

    def handle(effect: SearchDiscussions) -> None:
        started.set()
        gate.wait(WAIT_S)
        if effect.query == "bad":
            raise StorageError("The index is broken")

    worker = QueueWorker("test", handle, events.put, lambda _new, _old: True)
    worker.submit(SearchDiscussions("first"))
    started.wait(WAIT_S)
    worker.submit(SearchDiscussions("good", "w1"))
    worker.submit(SearchDiscussions("bad", "w2"))
    worker.submit(SearchDiscussions("last"))
    gate.set()

    assert worker.stop(WAIT_S)
    assert events.get_nowait() == OperationDone(command_id="w1")
    assert events.get_nowait() == OperationFailed("test", "The index is broken", "", "w2")
    assert events.empty()


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


class Words(str):
    """Text that can be watched."""

    __slots__ = ("__weakref__",)


def test_an_effect_that_was_carried_out_is_let_go_before_the_next_one_comes() -> None:
    """It may hold a reply of 50 MB, and the worker sleeps."""
    gone, words = threading.Event(), Words("many")
    watch = weakref.ref(words, lambda _ref: gone.set())
    done: list[str] = []
    worker = QueueWorker[Effect]("test", lambda _effect: done.append("done"), lambda _event: None)

    worker.submit(SearchDiscussions(words))
    del words

    assert gone.wait(WAIT_S)
    assert watch() is None
    assert done == ["done"]
    worker.stop(WAIT_S)


def test_nothing_is_taken_on_after_the_end() -> None:
    done: list[Effect] = []
    worker = QueueWorker("test", done.append, lambda _event: None)
    assert worker.stop(WAIT_S)
    worker.submit(IndexDiscussion("late"))
    assert done == []


class FullDisk:
    """A handler whose disk is full until it is told otherwise."""

    def __init__(self, number: int | None = 28) -> None:
        self.has_room = threading.Event()
        self.number = number
        self.refused: SimpleQueue[Effect] = SimpleQueue()
        self.written: list[Effect] = []
        self.events: SimpleQueue[Event] = SimpleQueue()
        self.worker = QueueWorker(
            "disk",
            self._handle,
            self.events.put,
            lambda new, old: type(new) is type(old) is WriteDraft,
            lambda effect: isinstance(effect, WriteDraft),
            retry_s=0.01,
        )

    def _handle(self, effect: Effect) -> None:
        if not self.has_room.is_set():
            self.refused.put(effect)
            raise StorageError("The disk is full", errno=self.number)
        self.written.append(effect)


def test_a_draft_that_cannot_be_written_is_said_once_and_written_when_it_can_be() -> None:
    disk, draft = FullDisk(), WriteDraft("d", Draft("half a sen"))
    disk.worker.submit(draft)
    for _ in range(3):
        assert disk.refused.get(timeout=WAIT_S) == draft
    assert isinstance(disk.events.get(timeout=WAIT_S), OperationFailed)

    disk.has_room.set()

    assert disk.events.get(timeout=WAIT_S) == WritesCaughtUp("disk")
    assert disk.written == [draft]
    disk.worker.stop(WAIT_S)


def test_a_later_draft_takes_the_place_of_one_that_waits_for_room() -> None:
    disk, later = FullDisk(), WriteDraft("d", Draft("later"))
    disk.worker.submit(WriteDraft("d", Draft("earlier")))
    disk.refused.get(timeout=WAIT_S)
    disk.worker.submit(later)
    while disk.refused.get(timeout=WAIT_S) is not later:
        pass

    disk.has_room.set()

    assert disk.worker.stop(WAIT_S)
    assert disk.written == [later]


def test_what_is_owed_is_tried_once_more_at_the_end() -> None:
    disk, draft = FullDisk(), WriteDraft("d", Draft("x"))
    disk.worker = QueueWorker(
        "disk",
        disk._handle,
        disk.events.put,
        None,
        lambda effect: isinstance(effect, WriteDraft),
        retry_s=3600.0,
    )
    disk.worker.submit(draft)
    disk.refused.get(timeout=WAIT_S)
    assert isinstance(disk.events.get(timeout=WAIT_S), OperationFailed)
    disk.has_room.set()

    assert disk.worker.stop(WAIT_S)
    assert disk.written == [draft]


def test_other_effects_and_those_whose_place_is_gone_are_not_tried_again() -> None:
    disk = FullDisk(number=2)
    disk.worker.submit(WriteDraft("gone", Draft("x")))
    disk.refused.get(timeout=WAIT_S)
    disk.worker.submit(IndexDiscussion("other"))
    disk.refused.get(timeout=WAIT_S)
    disk.has_room.set()

    assert disk.worker.stop(WAIT_S)
    assert disk.written == []


def test_a_barrier_is_passed_when_all_before_it_is_done_and_nothing_behind_it_is_waited_for() -> None:
    first, second, started = threading.Event(), threading.Event(), threading.Event()
    done: list[Effect] = []

    def handle(effect: Effect) -> None:
        started.set()
        gate = first if effect == IndexDiscussion("first") else second
        gate.wait(WAIT_S)
        done.append(effect)

    worker = QueueWorker("test", handle, lambda _event: None, lambda new, old: type(new) is type(old))
    assert worker.barrier().is_set(), "nothing was asked for"
    worker.submit(IndexDiscussion("first"))
    started.wait(WAIT_S)
    running = worker.barrier()
    worker.submit(WriteDraft("d", Draft("a")))
    worker.submit(WriteDraft("d", Draft("b")))
    assert not running.is_set()

    first.set()
    assert running.wait(WAIT_S)
    assert done == [IndexDiscussion("first")]
    behind = worker.barrier()
    second.set()
    assert behind.wait(WAIT_S)
    assert worker.stop(WAIT_S)
    assert done[1:] == [WriteDraft("d", Draft("b"))]
    assert worker.barrier().is_set()


def test_the_notice_of_a_failure_goes_when_the_same_is_asked_for_anew_and_done() -> None:
    events: SimpleQueue[Event] = SimpleQueue()

    def handle(effect: Effect) -> None:
        if isinstance(effect, SearchDiscussions) and effect.query == "bad":
            raise StorageError("The index is broken")

    worker = QueueWorker("test", handle, events.put)
    steps: list[Effect] = [
        SearchDiscussions("bad"),
        IndexDiscussion("d"),
        SearchDiscussions("good"),
        SearchDiscussions("more"),
    ]
    for effect in steps:
        worker.submit(effect)
        worker.barrier().wait(WAIT_S)
    worker.stop(WAIT_S)
    told = [events.get() for _ in range(events.qsize())]

    assert [type(one) for one in told] == [OperationFailed, WritesCaughtUp]
    assert told[1] == WritesCaughtUp("test")


def test_what_waited_already_takes_no_notice_away_that_nobody_read() -> None:
    gate, events = threading.Event(), SimpleQueue[Event]()

    def handle(effect: SearchDiscussions) -> None:
        gate.wait(WAIT_S)
        if effect.query == "bad":
            raise StorageError("The index is broken")

    worker = QueueWorker("test", handle, events.put)
    worker.submit(SearchDiscussions("bad"))
    worker.submit(SearchDiscussions("good"))
    gate.set()
    worker.stop(WAIT_S)

    assert [type(events.get()) for _ in range(events.qsize())] == [OperationFailed]


def test_an_effect_is_not_taken_for_an_earlier_one_whose_place_in_memory_it_has() -> None:
    gate, events, places = threading.Event(), SimpleQueue[Event](), list[int]()

    def handle(effect: SearchDiscussions) -> None:
        gate.wait(WAIT_S)
        places.append(id(effect))
        if effect.query == "bad":
            raise StorageError("The index is broken")

    worker = QueueWorker("test", handle, events.put)
    worker.submit(SearchDiscussions("bad"))
    worker.submit(SearchDiscussions("good"))
    gate.set()
    worker.barrier().wait(WAIT_S)
    others = [SearchDiscussions("more")]
    while id(others[-1]) != places[1] and len(others) < 100_000:
        others.append(SearchDiscussions("more"))
    worker.submit(others[-1])
    worker.stop(WAIT_S)

    assert [type(events.get()) for _ in range(events.qsize())] == [OperationFailed, WritesCaughtUp]
