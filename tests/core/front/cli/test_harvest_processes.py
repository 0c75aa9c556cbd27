"""Several real processes over one home: two harvests, a person's editor, a window's delete, and a kill."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from core.kernel import paths
from core.kernel.values.knowledge import Category, NewItem
from core.knowledge.edits import add_item
from core.knowledge.knowledge_reader import fresh_digest
from core.knowledge.ledger import HarvestLedger
from core.talk.discussion import trash
from tests.core.front.cli.conftest import WAIT_S, World
from tests.core.knowledge.harvest.harvests import OLD, add_discussion, go_on, item_lines, reply
from tests.vendors.compatible_server import Said
from tests.vendors.loopback import Gate, HoldAfter, Rewrite

MOON = "Tides follow the moon."


@contextmanager
def harvesting(world: World, held: int = 0) -> Iterator[Gate]:
    """A harvest in a process of its own, caught while the model gives the held reply (0-based), let go at the end."""
    gate = Gate()
    world.server.faults.extend([Rewrite(lambda part: part)] * held + [HoldAfter(0, gate)])
    child = world.fork("harvest", "--apply")
    try:
        assert gate.reached.wait(WAIT_S)
        yield gate
        gate.open()
        out, err = child.communicate(timeout=WAIT_S)
        assert child.returncode == 0, (out, err)
    finally:
        gate.open()
        child.kill()
        child.wait()


def told(world: World) -> Path:
    return paths.knowledge_dir(world.home)


def said(world: World) -> list[str]:
    return sorted(line[2:].partition(" [from")[0] for line in item_lines(world.home))


def test_of_two_harvests_at_once_one_is_told_who_holds_the_lock_and_the_other_goes_through(
    world: World,
) -> None:
    add_discussion(world.home, "Tides", "Why?")
    world.server.replies.append(Said(reply(MOON)))

    with harvesting(world):
        second = world.fork("harvest", "--apply")
        out, err = second.communicate(timeout=WAIT_S)
        assert second.returncode == 1
        assert b"manual-slop harvest (process " in err
        assert b"harvested" not in out

    assert said(world) == [MOON]
    assert len(world.server.bodies) == 1


def test_two_harvests_that_start_together_write_each_item_once(world: World) -> None:
    for day, name in enumerate(("one", "two", "three")):
        add_discussion(world.home, name, f"{name} question", at=OLD + timedelta(days=day))
    world.server.replies.extend(Said(reply(f"Fact {n}.", MOON)) for n in range(6))

    children = [world.fork("harvest", "--apply") for _ in range(2)]
    ended = [(child.communicate(timeout=WAIT_S), child.returncode) for child in children]

    assert 0 in {code for _, code in ended}, ended
    assert said(world) == ["Fact 0.", "Fact 1.", "Fact 2.", MOON]
    assert len(trash.items(world.home)) == 3
    assert len(world.server.bodies) == 3


@pytest.mark.parametrize("by_rename", [True, False], ids=["saved by rename", "written in place"])
def test_what_a_person_saves_while_the_model_reads_is_there_afterwards(world: World, by_rename: bool) -> None:
    add_discussion(world.home, "Tides", "Why?")
    world.server.replies.append(Said(reply(MOON)))
    told(world).mkdir(parents=True)
    path = told(world) / "facts.md"
    path.write_bytes(b"# Facts\r\n\r\n- Mine.\r\n")

    with harvesting(world):
        edited = b"# My facts\r\n\r\n- Mine, edited.\r\nprose\r\n"
        if by_rename:
            (told(world) / "facts.md~").write_bytes(edited)
            os.replace(told(world) / "facts.md~", path)
        else:
            path.write_bytes(edited)

    assert path.read_bytes().startswith(edited)
    assert path.read_bytes().count(b"\r\n") == path.read_bytes().count(b"\n") == 5
    assert MOON.encode() in path.read_bytes()
    assert (told(world) / "digest.md").read_text("utf-8") == fresh_digest(world.home)


def test_an_item_that_a_window_adds_during_a_harvest_is_there_afterwards(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")
    world.server.replies.append(Said(reply(MOON, tasks_open=[{"statement": "Plot.", "detail": ""}])))

    with harvesting(world):
        add_item(world.home, NewItem(Category.TASKS_OPEN, "By hand."))

    assert said(world) == ["By hand.", "Plot.", MOON]


def test_a_conversation_that_somebody_goes_on_with_while_it_is_read_is_kept(world: World) -> None:
    chosen = add_discussion(world.home, "Tides", "Why?")
    world.server.replies.append(Said(reply(MOON)))
    gate = Gate()
    world.server.faults.append(HoldAfter(0, gate))
    child = world.fork("harvest", "--apply")
    assert gate.reached.wait(WAIT_S)
    go_on(world.home, chosen, "And the sun?")
    gate.open()
    child.communicate(timeout=WAIT_S)

    assert child.returncode == 1
    assert paths.log_file(world.home, chosen).exists()
    assert trash.items(world.home) == ()


def test_a_harvest_that_is_killed_pays_for_no_reply_again_and_doubles_nothing(world: World) -> None:
    """It is killed while the second conversation is read: the first is whole, the second is asked for again."""
    for day, name in enumerate(("one", "two")):
        add_discussion(world.home, name, f"{name} question", at=OLD + timedelta(days=day))
    world.server.replies.extend([Said(reply("Fact 1.")), Said(reply("Fact 2.")), Said(reply("Fact 2."))])
    gate = Gate()
    world.server.faults.extend([Rewrite(lambda part: part), HoldAfter(0, gate)])
    child = world.fork("harvest", "--apply")
    assert gate.reached.wait(WAIT_S)
    child.send_signal(signal.SIGKILL)
    child.communicate(timeout=WAIT_S)
    gate.open()

    again = world.run("harvest", "--apply")

    assert again.code == 0
    assert said(world) == ["Fact 1.", "Fact 2."]
    assert [
        sum(f"{name} question" in str(body) for body in world.server.bodies) for name in ("one", "two")
    ] == [1, 2]
    assert {entry.status.value for entry in HarvestLedger(world.home).entries()} == {"harvested"}
