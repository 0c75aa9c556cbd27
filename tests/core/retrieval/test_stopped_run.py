"""A run of the index that a person stops."""

from __future__ import annotations

from core.retrieval.retrieval_messages import IndexEnded, IndexProgressed
from core.retrieval.retrieval_worker import STOPPED, IndexHandler
from tests.core.retrieval.test_navigation_worker import Room


def test_a_run_that_is_stopped_tells_what_it_left_in_the_index(room: Room) -> None:
    events: list[object] = []

    def emit(event: object) -> None:
        events.append(event)
        if isinstance(event, IndexProgressed) and event.progress.bare:
            handler.cancel()

    handler = IndexHandler(room.shared, emit)
    handler.handle(room.run_effect())

    ended = events[-1]
    assert isinstance(ended, IndexEnded)
    assert ended.problem == STOPPED
    assert ended.report is not None
    assert ended.report.stopped
    assert sum(one.files for one in ended.report.counts) == 1
    assert sum(one.chunks for one in ended.report.counts) > 0
