"""`servers`: what is set up is listed, and a yes is a person's on a terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.core.front.cli.conftest import World

SCRIPT = Path(__file__).parents[3] / "vendors" / "mcp_sdk_server.py"


@pytest.fixture
def served(world: World) -> World:
    """With a server of the person's, in a folder that is trusted."""
    arguments = json.dumps(["-P", str(SCRIPT)])
    rows = f"[mcp.servers.calc]\ncommand = {json.dumps(sys.executable)}\nargs = {arguments}\n"
    rows += '[mcp.servers.gone]\ncommand = "no-such-program"\nenvironment = ["GONE_TOKEN"]\n'
    world.config.write_text(world.config.read_text(encoding="utf-8") + rows, encoding="utf-8")
    assert world.run("trust", "--yes").code == 0
    return world


def test_servers_are_listed_with_what_waits_and_what_is_missing(served: World) -> None:
    listed = served.run("servers")
    assert "calc" in listed.out
    assert "waits for your approval" in listed.out
    assert "no-such-program" in listed.out
    told = served.run("servers", "--json").json
    assert (told["calc"]["phase"], told["gone"]["phase"]) == ("asking", "failed")
    assert served.run("servers", "calk").code == 2
    assert "mcp.gone-token" in served.run("key").out
    found = served.run("doctor", "--quick").out
    assert "`manual-slop servers calc --approve`" in found


def test_without_a_terminal_nobody_says_yes(served: World) -> None:
    ended = served.run("servers", "calc", "--approve", given=b"y\ny\n")
    assert ended.code == 2
    assert (
        "no terminal to ask on. Run the command on a terminal, or approve the server in the window"
        in ended.err
    )


@pytest.mark.slow
def test_a_server_is_approved_on_a_terminal_by_two_answers(served: World) -> None:
    refused = served.run("servers", "calc", "--approve", given=b"n\n", types=True)
    assert (refused.code, "calc does not start" in refused.out) == (1, True)
    started = served.run("servers", "calc", "--approve", given=b"y\nn\n", types=True)
    assert (
        started.code,
        f"Code of the server: after a change, you approve the server again:  {SCRIPT}" in started.err,
    ) == (1, True)
    assert not any(one["is_approved"] for one in served.run("servers", "--json").json["calc"]["tools"])
    ended = served.run("servers", "calc", "--approve", given=b"y\n", types=True)
    assert (ended.code, "add (not approved):  Adds two numbers." in ended.err) == (0, True)
    assert '"first":{' in ended.err, "all that a model reads of it"
    told = served.run("servers", "--json").json["calc"]
    assert [one["is_approved"] for one in told["tools"]] == [True] * 4
    assert served.run("servers", "calc", "--forget").code == 0
    assert served.run("servers", "--json").json["calc"]["tools"] == []
