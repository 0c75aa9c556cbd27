"""Rent where things happen at once: a prefix ends, is deleted or is looked for while a call that uses it is under way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from core.kernel.values.records import UsageRecord
from core.kernel.values.usage import Usage, UsageKind
from core.talk.caching.caching_messages import (
    AdoptContents,
    CacheReported,
    DeleteCache,
    ReadCaches,
    RentPaid,
)
from core.talk.discussion import log
from tests.core.app.playbook import Playbook
from tests.core.talk.caching.contents_kit import EFFORTS, FLASH, ID, World
from tests.patience import PATIENCE_S
from tests.vendors.billing.clock import Clock, moment
from tests.vendors.billing.prices import Prices
from tests.vendors.gemini_server import KEY, GeminiServer
from tests.vendors.loopback import Captured, Reply, StreamReply


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    clock = Clock()
    with GeminiServer(clock=clock) as server:
        world = World(tmp_path / "home", server, clock)
        yield world
        world.clients.close()


def test_one_that_is_deleted_while_a_call_uses_it_is_booked_to_its_end_and_named_no_more(
    world: World,
) -> None:
    world.turn()
    world.later(60)

    def meanwhile() -> None:
        world.later(30)
        world.handler.handle(DeleteCache(ID, "gemini"))

    world.turn("And now?", meanwhile=meanwhile)
    world.later(5)
    state = world.keeper.known(ID)
    assert state is not None
    assert state.tokens_cached == 0
    world.later(9000)
    world.tend()
    world.rent_agrees()


def test_one_that_ends_while_a_call_uses_it_is_booked_once(world: World) -> None:
    _, report, _ = world.turn()
    assert report is not None
    assert report.stored is not None
    left_s = world.expires_s(report.stored.name) - world.clock()
    world.later(left_s - 100)

    def meanwhile() -> None:
        world.later(130)
        world.handler.handle(ReadCaches((ID,)))

    world.turn("And now?", meanwhile=meanwhile)
    world.tend()
    world.later(9000)
    world.tend()
    world.rent_agrees()


def test_one_that_ended_while_its_discussion_was_in_the_trash_is_booked_once(world: World) -> None:
    """What the trash holds of its cache is from before."""
    world.turn()
    world.later(60)
    folder, trash = world.home / "discussions" / ID, world.home / "trashed"
    folder.rename(trash)
    world.handler.handle(DeleteCache(ID, "gemini"))
    (paid,) = world.told(RentPaid)
    world.rent_agrees()
    trash.rename(folder)
    world.events.clear()
    world.later(9000)
    world.handler.handle(ReadCaches((ID,)))
    assert [one.record_id for one in world.told(RentPaid)] == [paid.record_id], (
        "its log has a place for it now"
    )
    world.rent_agrees()


def test_rent_that_the_end_cut_off_is_told_by_the_next_start_until_the_log_has_it(world: World) -> None:
    """The prefix was deleted, and the record of its rent was not written any more."""
    world.turn()
    world.later(240)
    world.handler.release_held()
    (cut,) = world.told(RentPaid)
    assert not cut.is_estimate
    world.later(9999)

    world.start()
    world.events.clear()
    world.handler.handle(ReadCaches((ID,)))
    (told,) = world.told(RentPaid)
    assert (told.record_id, told.cost_usd, told.at) == (cut.record_id, cut.cost_usd, cut.at)
    world.rent_agrees()
    world.handler.handle(ReadCaches((ID,)))
    assert len(world.told(RentPaid)) == 1, "it is being written"

    record = UsageRecord(told.record_id, world.now(), UsageKind.RENT.value, Usage(cost_usd=told.cost_usd))
    log.append(world.home, ID, (record,))
    world.start()
    world.events.clear()
    world.handler.handle(ReadCaches((ID,)))
    assert not world.told(RentPaid)


def test_rent_that_the_disk_refused_is_told_again_after_a_while(world: World) -> None:
    world.turn()
    world.later(240)
    world.handler.handle(DeleteCache(ID, "gemini"))
    (first,) = world.told(RentPaid)
    world.keeper.rent_unwritten(first.record_id)
    world.tend()
    assert len(world.told(RentPaid)) == 1
    world.later(31)
    world.tend()
    again = world.told(RentPaid)[1:]
    assert [one.record_id for one in again] == [first.record_id]
    world.keeper.rent_written(ID, first.record_id)
    world.later(31)
    world.tend()
    assert len(world.told(RentPaid)) == 2


def silent_deletions(world: World) -> None:
    """The vendor deletes, and its answer comes too late for the end of the program."""
    answer = world.server.answer

    def answered(captured: Captured) -> Reply | StreamReply:
        reply = answer(captured)
        if captured.method == "DELETE":
            gate.wait(PATIENCE_S)
        return reply

    gate = threading.Event()
    world.server.answer = answered  # type: ignore[method-assign]


@pytest.mark.parametrize("away_s", [60, 9999])
def test_a_deletion_that_the_end_asked_for_and_heard_no_more_of_ends_the_rent_as_an_estimate(
    world: World, monkeypatch: pytest.MonkeyPatch, away_s: int
) -> None:
    world.turn()
    world.later(240)
    silent_deletions(world)
    monkeypatch.setattr("core.services.providers.clients.RELEASE_S", 0.1)
    world.handler.release_held()
    assert not world.told(RentPaid)
    world.later(away_s)

    world.start()
    world.handler.handle(ReadCaches((ID,)))
    world.handler.handle(AdoptContents("gemini", EFFORTS))
    assert [one.is_estimate for one in world.told(RentPaid)] == [True]
    world.rent_agrees()


def test_one_that_stands_although_its_deletion_was_asked_for_goes_on_to_be_paid(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.turn()
    world.later(240)
    world.keeper.ending(world.clients.stored_names)
    world.start()
    world.later(60)
    world.handler.handle(AdoptContents("gemini", EFFORTS))
    world.later(9999)
    world.handler.handle(ReadCaches((ID,)))
    assert [one.is_estimate for one in world.told(RentPaid)] == [False]
    world.rent_agrees()


def test_a_deletion_whose_answer_was_lost_is_asked_for_again_and_booked(world: World) -> None:
    world.turn()
    world.later(240)
    answer, left = world.server.answer, [1]

    def hung_up(captured: Captured) -> Reply | StreamReply:
        reply = answer(captured)
        if captured.method == "DELETE" and left:
            left.pop()
            raise ConnectionAbortedError
        return reply

    world.server.answer = hung_up  # type: ignore[method-assign]
    world.handler.release_held()
    assert [one.is_estimate for one in world.told(RentPaid)] == [False]
    world.rent_agrees()


def go_on(world: World) -> None:
    world.turn()
    world.tend()


def restart(world: World) -> None:
    world.start()
    world.handler.handle(ReadCaches((ID,)))
    world.handler.handle(AdoptContents("gemini", EFFORTS))


FINDS: Mapping[str, Callable[[World], None]] = {
    "the next turn": go_on,
    "its own deletion": lambda world: world.handler.handle(DeleteCache(ID, "gemini")),
    "an invalidation": lambda world: world.handler.handle(DeleteCache(ID, "gemini", forgets=True)),
    "the end": lambda world: world.handler.release_held(),
    "the next start": restart,
}


@pytest.mark.parametrize("find", FINDS)
@pytest.mark.parametrize(("found_after_s", "is_booked"), [(120, False), (960, False), (960, True)])
def test_rent_of_what_somebody_else_deleted_is_marked_as_soon_as_that_is_found(
    world: World, find: str, found_after_s: int, *, is_booked: bool
) -> None:
    """Nobody says when it ended: what was booked of it is at most what it can have cost."""
    world.turn()
    (name,) = world.left
    begun_s = world.clock()
    world.later(120)
    world.server.cache.stored.delete(name, owner=KEY)
    world.later(found_after_s)
    if is_booked:
        world.handler.handle(ReadCaches((ID,)))
        assert not any(one.is_estimate for one in world.told(RentPaid)), "it stands, by all that is known"
    FINDS[find](world)
    rents = world.told(RentPaid)
    assert rents[-1].is_estimate
    (hours,) = list(world.server.cache.stored.token_hours(world.clock()).values())[:1]
    billed = float(Prices().storage(FLASH, hours, world.clock()))
    known_s = moment(world.clock()) - moment(begun_s)
    most = billed * known_s / timedelta(seconds=120)
    paid = {one.record_id: one.cost_usd or 0.0 for one in rents}
    assert billed < sum(paid.values()) <= most * 1.01


def test_a_report_that_was_overtaken_lets_nothing_stand_again_that_has_ended(world: World) -> None:
    """A call's own thread reports it: here after the prefix was deleted."""
    world.turn()
    late = world.ended
    assert late is not None
    world.handler.handle(DeleteCache(ID, "gemini"))
    book = Playbook()
    book.play(*world.told(CacheReported))
    book.play(CacheReported(ID, late.state, late.totals, order=late.order))
    cache = book.state.caching.caches[ID]
    assert (cache.tokens_cached, late.state is not None and late.state.tokens_cached > 0) == (0, True)
