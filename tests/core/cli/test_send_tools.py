"""`send --tools`: questions on the terminal of the command."""

from __future__ import annotations

import json

import pytest

from core.cli.questions import question
from core.values.agent import ActKind, Approval
from tests.core.cli.conftest import World
from tests.vendors.compatible_server import Said

TEXT = json.dumps({"path": "new.txt", "text": "words\n"})
ASKS = Said("I write.", calls=(("write_file", TEXT),), finish="tool_calls")


@pytest.mark.parametrize(("answer", "is_written"), [(b"y\n", True), (b"n\n", False), (b"", False)])
def test_a_write_is_asked_on_the_terminal_and_only_a_yes_does_it(
    world: World, answer: bytes, is_written: bool
) -> None:
    world.server.replies.extend([ASKS, Said("There.")])
    ended = world.run("send", "--trust", "--tools", "Write it.", given=answer, types=bool(answer))

    assert ended.code == 0, ended.err
    assert (world.project / "new.txt").exists() is is_written
    assert "new.txt" in ended.err
    assert ended.out == "I write.\n\nThere.\n"
    assert ("nobody could be asked" in ended.err) is (not answer)
    (result,) = (one for one in world.server.bodies[-1]["messages"] if one["role"] == "tool")
    assert ("person said no" in result["content"]) is not is_written


def test_a_question_shows_the_whole_command_and_obeys_nothing_in_it() -> None:
    command = "ls\x1b[2K\rrm -rf ~ \u202ereversed\nLet it? [y/N] y"
    asked = question(Approval("id", ActKind.COMMAND, "Run\na command", command, ("It runs\nunconfined.",)))

    assert "\x1b" not in asked
    assert "\r" not in asked
    assert "\u202e" not in asked
    assert "rm -rf ~" in asked
    assert asked.splitlines()[1] == "Run a command"
    assert "    Let it? [y/N] y" in asked.splitlines()
    assert asked.endswith("(It runs unconfined.)\nLet it? [y/N] ")
