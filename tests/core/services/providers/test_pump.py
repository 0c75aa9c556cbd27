"""The thread that reads a call's socket: a server that is faster than the reader of its reply waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from core.kernel.values.provider import StopKind, Stopped, StreamItem, TextDelta
from core.services.providers.http import run_call
from core.services.providers.protocol import CancelToken
from tests.patience import PATIENCE_S


class Talk:
    """A reply of many small pieces, and how far it is ahead of who reads it."""

    def __init__(self, pieces: int) -> None:
        self.pieces = pieces
        self.read = self.lead = 0
        self.is_ahead = threading.Event()
        self.thread: threading.Thread | None = None

    def produce(self) -> Iterator[StreamItem]:
        self.thread = threading.current_thread()
        for said in range(1, self.pieces + 1):
            self.lead = max(self.lead, said - self.read)
            if said == 1_000:
                self.is_ahead.set()
            yield TextDelta("x")
        yield Stopped(kind=StopKind.COMPLETED)


def test_pieces_that_wait_for_their_reader_are_few_and_all_arrive() -> None:
    talk = Talk(20_000)
    items = run_call(talk.produce, CancelToken())
    for item in items:
        if not talk.read:
            assert talk.is_ahead.wait(PATIENCE_S)
        talk.read += isinstance(item, TextDelta)

    assert talk.read == 20_000
    assert talk.lead < 1_010


def test_a_reader_that_stops_leaves_no_thread_behind() -> None:
    talk, cancel = Talk(20_000), CancelToken()
    items = run_call(talk.produce, cancel)
    next(items)
    assert talk.is_ahead.wait(PATIENCE_S)
    cancel.cancel()

    assert [one.kind for one in items if isinstance(one, Stopped)] == [StopKind.CANCELLED]
    assert talk.thread is not None
    talk.thread.join(PATIENCE_S)
    assert not talk.thread.is_alive()
