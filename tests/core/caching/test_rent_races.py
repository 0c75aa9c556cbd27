"""Rent where things happen at once: a prefix ends, is deleted or is looked for while a call that uses it is under way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.caching.messages import ReadCaches, ReleaseCache
from tests.core.caching.contents_kit import ID, World
from tests.vendors.billing.clock import Clock
from tests.vendors.gemini_server import GeminiServer


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
        world.handler.handle(ReleaseCache(ID, "gemini"))

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
    world.handler.handle(ReleaseCache(ID, "gemini"))
    trash.rename(folder)
    world.later(9000)
    world.handler.handle(ReadCaches((ID,)))
    world.rent_agrees()
