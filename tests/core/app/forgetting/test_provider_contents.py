"""Contents that Gemini stores go with what is forgotten, over the real SDK against a server that stores as the vendor does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.app.forgetting.forgetting_run import ForgetRequest, forget
from core.app.forgetting.leftovers import ForgetServices
from core.kernel import paths
from core.kernel.values.knowledge import Category, ForgetReceipt, ForgetTarget, NewItem
from core.knowledge.edits import add_item
from core.knowledge.file_writer import withdrawal_count
from core.knowledge.knowledge_reader import read_categories
from core.talk.caching.caching_messages import DropWithdrawn
from tests.core.talk.caching.contents_kit import ID, World
from tests.vendors.billing.clock import Clock
from tests.vendors.gemini_server import GeminiServer, error_reply
from tests.vendors.loopback import Answer


@pytest.fixture
def world(isolated_home: Path) -> Iterator[World]:
    clock = Clock()
    with GeminiServer(clock=clock) as server:
        world = World(isolated_home, server, clock)
        yield world
        world.clients.close()


def forgotten(world: World, target: ForgetTarget) -> ForgetReceipt:
    providers = tuple((one, "gemini") for one in target.discussion_ids)
    services = ForgetServices(world.handler.forget_all)
    at = world.now() + timedelta(seconds=60)
    return forget(ForgetRequest(world.home, target, at, "seed", providers, services))


def test_a_forgotten_conversation_leaves_nothing_stored_at_the_provider(world: World) -> None:
    world.turn()
    other = world.store("somebody else's")
    assert len(world.left) == 2
    receipt = forgotten(world, ForgetTarget((ID,)))

    assert world.left == [other]
    assert receipt.problems == ()
    assert not paths.discussion_dir(world.home, ID).exists()


def test_a_provider_that_does_not_delete_is_named_in_the_receipt(world: World) -> None:
    world.turn()
    world.server.is_faultable = lambda captured: captured.method == "DELETE"  # type: ignore[method-assign]
    world.server.faults.append(Answer(error_reply(503, "UNAVAILABLE", "Overloaded.")))
    receipt = forgotten(world, ForgetTarget((ID,)))

    (problem,) = receipt.problems
    assert problem.place == "provider"
    assert "did not delete everything" in problem.problem


def test_an_item_that_is_forgotten_takes_the_contents_along_that_other_conversations_stored(
    world: World,
) -> None:
    add_item(world.home, NewItem(Category.FACTS, "The gate opens at three."))
    (item,) = [one for file in read_categories(world.home) for one in file.items]
    before = withdrawal_count(world.home)
    world.turn(digest="The gate opens at three.", withdrawals=before)
    assert len(world.left) == 1
    forgotten(world, ForgetTarget((), item.category, item.text, item.file))
    world.handler.handle(DropWithdrawn(withdrawal_count(world.home), True, {ID: "gemini"}))

    assert world.left == []
