"""The caching worker's end: nothing that nobody waits for keeps the program from ending."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

from core.app.app_messages import Event
from core.kernel.values.cache import DiscussionCacheState
from core.kernel.values.curation import Preset
from core.kernel.values.provider import ProviderRequest
from core.kernel.values.settings import CachingSettings
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import StackInputs
from core.kernel.values.usage import Usage
from core.services.providers.protocol import CancelToken, ReadBlob
from core.talk.caching.caching_messages import CacheReported, DropWithdrawn, Prewarm, SendPing
from core.talk.caching.caching_worker import CacheHandler
from core.talk.caching.pings import Upkept
from tests.patience import PATIENCE_S

WAIT_S = PATIENCE_S
PING = SendPing("d", CachingSettings())
SPEC = StackSpec("20261120-120000-abcdef", StackInputs(provider="slow", model="m"), Preset(""), "/project")


class Slow:
    """A provider whose model takes for ever to start, until the call is cancelled."""

    def __init__(self) -> None:
        self.calls = 0
        self.begun = threading.Event()

    def prewarm(self, _request: ProviderRequest, _read_blob: ReadBlob, cancel: CancelToken) -> Usage | None:
        self.calls += 1
        self.begun.set()
        assert cancel.wait(WAIT_S)
        return None


class Desk:
    """A keeper with one ping due, and clients of which each is the slow one."""

    def __init__(self) -> None:
        self.slow = Slow()

    def get(self, _provider: str) -> Slow:
        return self.slow

    def due_pings(self, _settings: object) -> tuple[Any, ...]:
        return (type("Due", (), {"provider": "slow", "discussion_id": "d", "request": None})(),)

    def pinged(self, _ping: object, _usage: Usage | None, *, has_failed: bool, is_cut: bool) -> Upkept:
        assert not has_failed
        return Upkept()


def _handler(desk: Desk, emit: Callable[[Event], None] = lambda _event: None) -> CacheHandler:
    anything = cast("Any", desk)
    return CacheHandler(
        anything,
        anything,
        emit,
        lambda _spec: cast("ProviderRequest", object()),
        lambda _name, _request: lambda _sha256: b"",
        cast("Any", None),
        lambda _key: True,
    )


def test_a_prewarming_that_runs_ends_with_the_program_and_one_that_waits_never_begins() -> None:
    desk = Desk()
    handler = _handler(desk)
    working = threading.Thread(target=handler.handle, args=(Prewarm(SPEC),))
    working.start()
    assert desk.slow.begun.wait(WAIT_S)

    handler.close()
    working.join(WAIT_S)
    handler.handle(Prewarm(SPEC))

    assert not working.is_alive()
    assert desk.slow.calls == 1


def test_a_ping_that_runs_ends_with_the_program_and_no_other_is_made() -> None:
    desk = Desk()
    handler = _handler(desk)
    working = threading.Thread(target=handler.handle, args=(PING,))
    working.start()
    assert desk.slow.begun.wait(WAIT_S)

    handler.close()
    working.join(WAIT_S)
    handler.handle(PING)

    assert not working.is_alive()
    assert desk.slow.calls == 1


def test_a_call_ends_a_prewarming_and_the_next_one_begins() -> None:
    desk = Desk()
    handler = _handler(desk)
    for number in (1, 2):
        desk.slow.begun.clear()
        working = threading.Thread(target=handler.handle, args=(Prewarm(SPEC),))
        working.start()
        assert desk.slow.begun.wait(WAIT_S)
        handler.cancel()
        working.join(WAIT_S)
        assert desk.slow.calls == number


class Forgetful(Desk):
    """A keeper of two discussions that hold what was withdrawn, and clients that forget."""

    def __init__(self) -> None:
        super().__init__()
        self.forgotten: list[str] = []

    def get(self, _provider: str) -> Any:
        return self

    def forget(self, discussion_id: str) -> None:
        self.forgotten.append(discussion_id)

    def withdrawn(
        self, _withdrawals: int, _others: object, _deleted: object, *, is_on: bool
    ) -> tuple[str, ...]:
        return ("a", "b", "of another provider") if is_on else ()

    def stored_names(self, _discussion_id: str, _provider: str) -> frozenset[str]:
        return frozenset()


def test_saved_prefixes_that_hold_what_was_withdrawn_are_forgotten() -> None:
    desk = Forgetful()
    _handler(desk).handle(DropWithdrawn(2, True, {"a": "embedded", "b": "embedded", "c": "embedded"}))
    assert desk.forgotten == ["a", "b"]


class Rereading(Desk):
    """A keeper that reads a cache anew each time; while it reads the first, another thread asks for it, too."""

    order = 1

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []
        self.handler = _handler(self, self.events.append)
        self.reads = 0
        self.other = threading.Thread(target=self.handler.recall, args=("d",))

    def offered(self, _discussion_id: str) -> None:
        """Nothing is known of its tools."""

    def lost_extensions(self) -> tuple[()]:
        return ()

    def known(self, discussion_id: str) -> DiscussionCacheState:
        self.reads += 1
        known = DiscussionCacheState(
            discussion_id, "p", datetime(2026, 11, 30, tzinfo=UTC), hit_count=self.reads
        )
        if self.reads == 1:
            self.other.start()
            self.other.join(0.1)  # it would tell its own first
        return known


def test_of_two_threads_that_read_a_cache_the_later_is_told_last() -> None:
    desk = Rereading()

    desk.handler.recall("d")
    desk.other.join(WAIT_S)

    told = [event.state for event in desk.events if isinstance(event, CacheReported)]
    assert [state and state.hit_count for state in told] == [1, 2]
