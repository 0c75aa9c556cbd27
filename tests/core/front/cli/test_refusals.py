"""Refusals: a message that is refused before its first word leaves nothing behind, and with `--json` each is JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.front.cli.grammar import make_parser
from tests.core.front.cli.conftest import Ended, World

LIMIT = ("--set", "ai_settings.caching.day_limit_usd=0")


def _homes_words(world: World) -> list[Path]:
    """Everything that a home keeps of discussions, the trash with it."""
    folders = (world.home / "discussions", world.home / "trash")
    return [path for folder in folders if folder.is_dir() for path in folder.iterdir()]


@pytest.mark.parametrize(
    "refused",
    [
        ("--attach", "gone.txt"),
        ("--attach", "."),
        ("--attach", "/dev/zero"),
        ("--attach", "whole.txt", "--attach", "gone.txt"),
        ("--attach", "odd.bin"),
        ("--temperature", "9"),
        ("--max-output", "-1"),
        LIMIT,
    ],
    ids=" ".join,
)
def test_a_message_that_is_refused_leaves_no_discussion_behind(
    world: World, refused: tuple[str, ...]
) -> None:
    (world.project / "whole.txt").write_text("tides")
    (world.project / "odd.bin").write_bytes(b"\0\xff\xfe\x01" * 9)
    sent = len(world.server.bodies)

    ended = world.run("send", "When?", *refused)

    assert ended.code in {1, 2}, ended
    assert ended.err.startswith("manual-slop: ")
    assert _homes_words(world) == []
    assert len(world.server.bodies) == sent


def test_a_file_that_is_refused_takes_back_those_before_it_and_leaves_a_discussion_as_it_was(
    world: World,
) -> None:
    (world.project / "whole.txt").write_text("tides")
    chosen = world.run("send", "--json", "one").json["discussion"]

    refused = world.run(
        "send", "two", "--discussion", chosen, "--attach", "whole.txt", "--attach", "gone.txt"
    )
    world.run("send", "three", "--discussion", chosen)

    assert refused.code == 1
    assert "two" not in str(world.server.bodies[-1])
    assert "tides" not in str(world.server.bodies[-1])
    assert len(_homes_words(world)) == 1


def _commands() -> list[tuple[str, ...]]:
    """Each command and action of the grammar, with words for what it must be given."""
    given = {
        "id": "nope",
        "name": "x",
        "paths": "nope",
        "what": "nope",
        "item": "nope",
        "text": "x",
        "words": "x",
        "category": "facts",
        "path": "n.md",
        "archive": "backup.tar",
    }
    found = []
    for name, parser in make_parser().commands().items():
        for action, below in (parser.commands() or {"": parser}).items():
            needed = [
                one.dest for one in below._actions if not one.option_strings and one.nargs in {None, "+"}
            ]
            found.append((name, *filter(None, (action,)), *(given[dest] for dest in needed if dest in given)))
    return [one for one in found if one[0] not in {"tour", "help", "completion"}]


@pytest.mark.parametrize("command", _commands(), ids=" ".join)
def test_wrong_usage_of_every_command_is_json_for_who_asked_for_it(
    world: World, command: tuple[str, ...]
) -> None:
    ended = world.run(*command, "--json", "--nonsense")

    error = ended.json["error"]
    assert ended.code == 2
    assert error["code"] == "wrong_usage"
    assert "--nonsense" in error["message"]
    assert "usage: manual-slop" in ended.err


@pytest.mark.parametrize(
    "command",
    [
        ("send", "x"), ("send", "--retry", "--discussion", "last"), ("context",), ("discussions",),
        ("discussions", "show", "last"), ("import", "nope"), ("forget", "nope", "--yes"), ("harvest",),
        ("harvest", "undo"), ("presets",), ("models",), ("knowledge", "why", "nope"), ("secrets",), ("trust", "nope"),
        ("key", "nope"), ("knowledge", "ledger"), ("--set", "nope=1", "doctor"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_command_that_fails_prints_one_json_value_and_says_why(
    world: World, command: tuple[str, ...]
) -> None:
    """A home that is a file: nothing can be read or written there."""
    world.home.write_text("no folder")

    ended = world.run("--json", *command)

    value = json.loads(ended.out)
    if ended.code:
        assert set(value["error"]) == {"code", "message", "remedy", "where"}
        assert value["error"]["message"] in ended.err.replace("\n", " ")


def _error(ended: Ended) -> dict[str, str]:
    found: dict[str, str] = ended.json["error"]
    return found


def test_an_error_as_json_names_its_kind_and_a_remedy_of_the_terminal(world: World) -> None:
    unknown = world.run("discussions", "show", "nope", "--json")
    unset = world.run("--json", "--set", "nope=1", "models")

    assert (unknown.code, _error(unknown)["code"]) == (2, "wrong_usage")
    assert _error(unknown)["message"] == "There is no discussion 'nope'"
    assert _error(unknown)["remedy"] == "Run `manual-slop discussions` for the list"
    assert (unset.code, _error(unset)["code"]) == (2, "wrong_usage")
    assert world.run("discussions", "show", "nope").out == "", "prose stays on standard error"


def test_help_says_where_an_error_stands(world: World) -> None:
    assert '{"error": {"code", "message", "remedy", "where"}}' in world.run("--help").out
