"""`forget`: asks, forgets, and prints a receipt."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.app.forgetting import leftovers
from core.app.forgetting.forgetting_run import ForgetRequest, forget
from core.kernel.values.knowledge import ForgetTarget
from tests.core.app.forgetting.day import OTHER, WORD, a_day, items, traces
from tests.core.front.cli.conftest import World
from tests.core.knowledge.harvest.harvests import NOW
from tests.core.knowledge.homes import FaultyDisk, KilledError
from tests.vendors.compatible_server import Said


def test_a_conversation_is_forgotten_after_a_yes_with_a_receipt(world: World) -> None:
    world.server.replies.append(Said(f"The {WORD} bell."))
    chosen = str(world.run("send", "--json", f"What is {WORD}?").json["discussion"])

    refused = world.run("forget", chosen)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    for answer in (b"n\n", b"y\n", b"yes\n", b""):
        asked = world.run("forget", chosen, given=answer, types=True)
        assert (asked.code, "Type `forget` to confirm: " in asked.err) == (1, True), answer
    assert traces(world.home) != []

    ended = world.run("forget", chosen, given=b"forget\n", types=True)
    assert (ended.code, "You cannot undo this" in ended.err) == (0, True)
    assert ended.out.startswith("Forgotten: 1 conversation")
    assert "logs and backups that providers keep of your requests" in ended.out
    assert traces(world.home) == []
    assert world.run("discussions", "--json").json == []


@pytest.mark.slow
def test_an_item_is_forgotten_by_its_words_and_conversations_that_hold_it_are_named(world: World) -> None:
    world.home.mkdir(exist_ok=True)
    a_day(world.home)
    ended = world.run("forget", "two keys", "--yes", "--json")

    assert ended.code == 0, ended.err
    assert OTHER not in [item.text for item in items(world.home)]
    assert len(ended.json["holders"]) == 1
    assert list(ended.json["holder_names"]) == ended.json["holders"]
    assert all(ended.json["holder_names"].values())
    assert world.run("forget", "two keys", "--yes").code == 2


def test_any_command_goes_on_with_a_forgetting_that_a_kill_cut_short(world: World) -> None:
    world.home.mkdir(exist_ok=True)
    secret = a_day(world.home)
    cut = ForgetRequest(
        world.home, ForgetTarget((secret,)), NOW + timedelta(seconds=60), "seed", disk=FaultyDisk(40, "kill")
    )
    with pytest.raises(KilledError):
        forget(cut)
    assert leftovers.is_waiting(world.home)

    assert world.run("discussions").code == 0

    assert not leftovers.is_waiting(world.home)
    assert traces(world.home) == []


def test_asking_again_for_what_a_kill_cut_short_goes_on_with_it_and_says_so(world: World) -> None:
    world.home.mkdir(exist_ok=True)
    secret = a_day(world.home)
    cut = ForgetRequest(
        world.home, ForgetTarget((secret,)), NOW + timedelta(seconds=60), "seed", disk=FaultyDisk(40, "kill")
    )
    with pytest.raises(KilledError):
        forget(cut)

    again = world.run("forget", secret, "--yes")

    assert (again.code, traces(world.home)) == (0, [])
    assert "This deletion was cut short before. The program has finished the deletion now." in again.err
    assert again.out.startswith("Forgotten: 1 conversation, 3 items")

    third = world.run("forget", secret, "--yes")
    assert (third.code, "You already forgot this conversation" in third.err, third.out) == (
        0,
        True,
        again.out,
    )
