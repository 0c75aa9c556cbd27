"""`knowledge proposals`: listed for everybody, taken on a terminal alone."""

from __future__ import annotations

from core.kernel.values.knowledge import Category, Proposal
from core.knowledge.mcp_server.proposal_worker import add_proposal, load_proposals
from tests.core.front.cli.conftest import World

ONE = Proposal("p1", Category.FACTS, "High tide is at nine.", source="Claude Code", at="2026-11-23T12:00:00Z")
TWO = Proposal("p2", Category.FACTS, "Low tide is at three.", source="Cursor", at="2026-11-23T12:01:00Z")


def test_proposals_are_listed_and_one_is_known_after_a_yes_on_the_terminal(world: World) -> None:
    assert "No other program has a proposal." in world.run("knowledge", "proposals").out
    for one in (ONE, TWO):
        add_proposal(world.home, one)
    listed = world.run("knowledge", "proposals")
    assert ("High tide is at nine." in listed.out, "by Cursor" in listed.out) == (True, True)
    assert [row["id"] for row in world.run("knowledge", "proposals", "--json").json] == ["p1", "p2"]

    refused = world.run("knowledge", "proposals", "--accept", "p1", given=b"n\n", types=True)
    assert (refused.code, len(load_proposals(world.home))) == (1, 2)
    taken = world.run("knowledge", "proposals", "--accept", "p1", given=b"y\n", types=True)
    assert (taken.code, [one.id for one in load_proposals(world.home)]) == (0, ["p2"])
    assert "High tide is at nine.  [Claude Code, 2026-11-23]" in world.run("knowledge", "show").out

    assert world.run("knowledge", "proposals", "--refuse", "p2").code == 0
    assert load_proposals(world.home) == ()
    assert "Low tide" not in world.run("knowledge", "show").out


def test_without_a_terminal_nothing_proposed_is_known(world: World) -> None:
    add_proposal(world.home, ONE)

    ended = world.run("knowledge", "proposals", "--accept", "p1", given=b"y\n")

    assert (ended.code, "no terminal to ask on" in ended.err) == (2, True)
    assert world.run("knowledge", "proposals", "--accept", "x", types=True).code == 2
    assert [one.id for one in load_proposals(world.home)] == ["p1"]
