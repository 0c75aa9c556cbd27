"""`knowledge why` and `knowledge seen` as people use them, and a memory that only recalls."""

from __future__ import annotations

import json

import pytest

from tests.core.front.cli.conftest import World
from tests.core.knowledge.harvest.harvests import add_discussion
from tests.vendors.compatible_server import Said

ROWS = [
    {"statement": "Tides follow the moon.", "detail": "", "message": "m2", "quote": "The  moon."},
    {"statement": "The moon is far.", "detail": "", "message": "m2", "quote": "never said"},
]


@pytest.fixture
def known(world: World) -> World:
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    world.server.replies.append(Said(json.dumps({"facts": ROWS})))
    ended = world.run("harvest", "--apply")
    assert ended.code == 0, ended.err
    assert "quotes left out, because the conversations do not contain them: 1\n" in ended.out
    return world


def test_why_tells_quote_conversation_and_history(known: World) -> None:
    ended = known.run("knowledge", "why", "facts.md:3")

    assert ended.code == 0
    assert '\n    "The moon."\n' in ended.out
    assert "(in the trash)" in ended.out
    assert "accepted (from " in ended.out
    told = known.run("knowledge", "why", "follow", "--json").json
    assert (told["text"], told["evidence"][0]["turn"]) == ("Tides follow the moon.", "The moon.")
    assert known.run("knowledge", "why", "is far", "--json").json["evidence"][0]["quote"] == ""
    (first, _) = known.run("knowledge", "facts", "--json").json
    fact = known.run("knowledge", "why", first["id"], "--json").json
    assert (fact["fact"], fact["evidence"][0]["quote"]) == (first["id"], "The moon.")


def test_words_that_name_no_item_or_several_are_told(known: World) -> None:
    several, none = known.run("knowledge", "why", "moon"), known.run("knowledge", "why", "sun")
    assert (several.code, none.code) == (2, 2)
    assert "facts.md:3" in several.err
    assert "there is no item 'sun'" in none.err


def test_seen_tells_which_items_a_request_held(known: World) -> None:
    assert known.run("knowledge", "seen").out == "No logged request contained an item.\n"
    known.server.replies.append(Said("Because."))
    assert known.run("send", "Why?").code == 0

    (seen,) = known.run("knowledge", "seen", "--json").json
    assert [item["text"] for item in seen["items"]] == [
        "Tides follow the moon."
    ]  # the other's quote nobody said
    assert "1 item\n  facts: " in known.run("knowledge", "seen").out
    assert known.run("knowledge", "seen", "--discussion", "other", "--json").json == []


def test_a_memory_that_only_recalls_is_not_written(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    with world.config.open("a", encoding="utf-8") as file:
        file.write('[ai_settings.knowledge]\nmode = "recall"\n')

    assert world.run("harvest").code == 0
    ended = world.run("harvest", "--apply")
    assert ended.code == 1
    assert "recall only" in ended.err
    assert world.server.bodies == []
    assert not (world.home / "knowledge" / "facts.md").exists()


def test_an_undo_that_takes_out_much_lists_it_and_asks(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?", "The moon.")
    rows = [{"statement": f"Fact {n}.", "detail": ""} for n in range(5)]
    world.server.replies.append(Said(json.dumps({"facts": rows})))
    assert world.run("harvest", "--apply").code == 0
    facts = world.home / "knowledge" / "facts.md"

    unasked = world.run("harvest", "undo")
    assert (unasked.code, "facts.md: Fact 4." in unasked.err, "--yes" in unasked.err) == (2, True, True)
    no = world.run("harvest", "undo", given=b"n\n", types=True)
    assert (no.code, "5 of 5 facts" in no.err, "nothing was undone" in no.err) == (1, True, True)
    assert world.run("harvest", "undo", given=b"y\n", types=True).code == 1, (
        "it cannot be undone: a key is no yes"
    )
    assert "Fact 4." in facts.read_text()

    assert world.run("harvest", "undo", given=b"undo\n", types=True).code == 0
    assert "Fact 4." not in facts.read_text()


def test_an_item_goes_into_the_archive_and_back_by_its_words(known: World) -> None:
    assert known.run("knowledge", "archive").out == "The archive holds no knowledge item.\n"
    ended = known.run("knowledge", "archive", "is far")
    assert (ended.code, ended.out) == (0, "Archived: The moon is far.\n")
    assert "is far" not in known.run("knowledge", "show").out
    listed = known.run("knowledge", "archive", "--json").json
    assert ([one["text"] for one in listed["archived"]], listed["unused"]) == (["The moon is far."], [])
    assert known.run("knowledge", "archive", "is far").code == 2
    assert known.run("knowledge", "archive", "--take-back", "nobody").code == 2

    assert known.run("knowledge", "archive", "--take-back", "far").out == "Taken back: The moon is far.\n"
    assert "The moon is far." in known.run("knowledge", "show").out
    assert known.run("knowledge", "archive").out == "The archive holds no knowledge item.\n"
