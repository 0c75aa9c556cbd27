"""`send --compare`: one message to several models from a shell."""

from __future__ import annotations

from tests.core.front.cli.conftest import World
from tests.vendors.compatible_server import MODEL, Said


def test_each_reply_is_printed_under_its_model_and_its_price_is_said_before(world: World) -> None:
    world.server.replies.extend((Said("From the first."), Said("From the second.")))
    ended = world.run("send", "Why?", "--compare", f"local/{MODEL}", "--without-memory")
    assert ended.code == 0, ended.err
    head, first, other, second, _ = ended.out.split("\n\n")
    assert (head, other) == (f"## local/{MODEL}", f"## local/{MODEL} without memory")
    assert {first, second} == {"From the first.", "From the second."}
    assert ended.err.startswith(f"manual-slop: local/{MODEL}: price unknown\n")


def test_one_that_fails_is_said_and_the_other_is_printed(world: World) -> None:
    world.server.replies.append(Said("Only one."))
    ended = world.run("send", "Why?", "--compare", f"local/not-there,local/{MODEL}")
    assert ended.code == 1
    assert ended.out == f"## local/{MODEL}\n\nOnly one.\n\n"
    assert "local does not know the model 'not-there'" in ended.err


def test_json_holds_each_reply_and_the_memory_that_went_along(world: World) -> None:
    ended = world.run("send", "--json", "Why?", "--compare", f"local/{MODEL}", "--without-memory")
    assert ended.code == 0, ended.err
    replies = ended.json["replies"]
    assert [(one["model"], one["has_memory"], one["problem"]) for one in replies] == [
        (MODEL, True, ""),
        (MODEL, False, ""),
    ]
    assert all(one["reply"]["text"] for one in replies)


def test_a_model_that_nobody_has_is_refused_before_anything_is_sent(world: World) -> None:
    ended = world.run("send", "Why?", "--compare", "no-such-model,local/two")
    assert ended.code != 0
    assert "No provider has the model 'no-such-model'" in ended.err
    assert not [body for body in world.server.bodies if "messages" in body]


def test_one_model_is_no_comparison(world: World) -> None:
    ended = world.run("send", "Why?", "--compare", "local/one")
    assert ended.code != 0
    assert "You can compare 2 to 4 replies" in ended.err
