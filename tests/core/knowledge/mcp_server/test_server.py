"""The server as a client starts it: the SDK's own client over stdio, beside a window that runs on the same home."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from core.knowledge.categories import parse_file
from core.knowledge.mcp_server.mcp_server import MAX_LINE_BYTES
from core.knowledge.mcp_server.proposal_messages import AcceptProposal
from core.knowledge.mcp_server.proposal_worker import load_proposals
from tests.core.app.programs import Programs, until
from tests.core.knowledge.harvest.harvests import add_discussion
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[4]
JUNK: tuple[Any, ...] = (
    "junk", 5, None, {"jsonrpc": "2.0"}, {"id": 2}, [],
    {"jsonrpc": "2.0", "id": "j1", "method": "resources/read", "params": {"uri": "file:///etc/passwd"}},
    {"jsonrpc": "2.0", "id": "j2", "method": "tools/call", "params": {"name": 5, "arguments": "all"}},
)  # fmt: skip
"""Lines that come before the client's own: no messages, wrong ones, and methods that are none of ours."""

BETWEEN = '(cat "$0"; cat) | "$@" | tee "$OUT"'
"""A shell between client and server: puts a file before what the client says, and keeps all that the server answers."""


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Programs]:
    made = Programs(tmp_path)
    (made.home / "knowledge").mkdir(parents=True)
    (made.home / "knowledge" / "facts.md").write_text("# Facts\n\n- Low tide is at three.\n")
    yield made
    made.stop()


def command(programs: Programs, *arguments: str) -> list[str]:
    places = ("--home", str(programs.home), "--project", str(programs.project))
    return [sys.executable, "-P", "-m", "core.front.cli", "mcp", *places, *arguments]


def told(result: CallToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, TextContent)
    return part.text


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}


def test_a_client_reads_and_proposes_while_the_window_shows_it_and_bad_calls_end_nothing(
    programs: Programs, tmp_path: Path
) -> None:
    """Nothing but the protocol reaches standard output, whatever came before."""
    junk, out = tmp_path / "junk", tmp_path / "out"
    lines = b"\n".join(json.dumps(one).encode() for one in JUNK)
    junk.write_bytes(lines + b"\n\xff\xfe\n" + b"[" * 100_000 + b"\n")
    secret = add_discussion(programs.home, "Salaries", "Who earns what?", "Nobody.", folder="/srv/other")
    window = programs.start(watches=True)

    async def speak() -> tuple[list[str], dict[str, str]]:
        arguments = ["-c", BETWEEN, str(junk), *command(programs, "--discussions", "--json")]
        given = {**environment(), "OUT": str(out)}
        server = StdioServerParameters(command="sh", args=arguments, env=given, cwd=str(ROOT))
        said: dict[str, str] = {}
        async with Client(stdio_client(server)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            with pytest.raises(MCPError, match="longer than"):
                await client.call_tool("search_knowledge", {"query": "x" * 3 * MAX_LINE_BYTES})
            for name, arguments_ in (
                ("read_discussion", {"id": secret}),
                ("read_knowledge", {"ids": ["/etc/passwd"]}),
                ("search_knowledge", {"query": ["low"]}),
                ("search_knowledge", {"query": "low"}),
                ("propose_item", {"category": "facts", "text": "High tide is at nine."}),
            ):
                said[f"{name} {arguments_}"] = told(await client.call_tool(name, arguments_))
            shown = await asyncio.to_thread(until, window, lambda state: bool(state.proposals.waiting))
            (waiting,) = shown.proposals.waiting
            window.send(AcceptProposal(waiting.id))
            await asyncio.to_thread(
                until,
                window,
                lambda state: not state.proposals.waiting and "High tide" in str(state.knowledge.categories),
            )
            said["after"] = told(await client.call_tool("search_knowledge", {"query": "high"}))
        return names, said

    names, said = asyncio.run(asyncio.wait_for(speak(), PATIENCE_S))

    assert set(names) > {"search_knowledge", "read_knowledge", "propose_item", "search_discussions"}
    answers = list(said.values())
    assert answers[0].startswith("There is no discussion")
    assert "paths are not taken" in answers[1]
    assert "do not fit" in answers[2]
    assert "Low tide is at three." in answers[3]
    assert answers[4].startswith("Proposed")
    assert "High tide is at nine." in said["after"]
    file = parse_file("facts.md", (programs.home / "knowledge" / "facts.md").read_bytes())
    assert [item.text for item in file.items] == ["Low tide is at three.", "High tide is at nine."]
    assert file.items[1].provenance is not None
    protocol = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert all(one["jsonrpc"] == "2.0" for one in protocol)
    by_id = {one.get("id"): one for one in protocol}
    assert "error" in by_id["j1"]
    assert "error" in by_id["j2"]


def test_what_was_asked_before_the_input_ends_is_answered(programs: Programs) -> None:
    """A proposal was kept whose client was told that the connection had closed."""
    hello: dict[str, object] = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "pipe", "version": "1"},
    }
    item = {"category": "facts", "text": "High tide is at nine."}
    calls: tuple[tuple[str, dict[str, object]], ...] = (
        ("initialize", hello),
        ("tools/call", {"name": "search_knowledge", "arguments": {"query": "low"}}),
        ("tools/call", {"name": "propose_item", "arguments": item}),
        ("tools/list", {}),
    )
    rows = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        for number, (method, given) in enumerate(calls)
    ]
    rows.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})

    ended = subprocess.run(
        command(programs),
        input="".join(f"{json.dumps(row)}\n" for row in rows).encode(),
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )

    answers = {one["id"]: one for one in map(json.loads, ended.stdout.splitlines())}
    assert sorted(answers) == [0, 1, 2, 3]
    assert all("result" in one for one in answers.values())
    assert "Proposed" in str(answers[2])
    assert [one.text for one in load_proposals(programs.home)] == ["High tide is at nine."]


def test_a_valid_request_that_the_reader_of_the_sdk_drops_is_answered(programs: Programs) -> None:
    """Half a character as an escape, an id with a point, a batch; what is no request is refused by its id."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "pipe", "version": "1"},
    }
    find = {"name": "search_knowledge", "arguments": {"query": "low"}}
    rows: list[object] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {**find, "arguments": {"query": "low \ud83d"}}},
        {"jsonrpc": "2.0", "id": 3.0, "method": "tools/call", "params": find},
        [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": find} for number in (4, 5)],
        {"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": ["search_knowledge"]},
        {"id": "seven", "method": "tools/list"},
        {"method": "notifications/odd", "params": 7},
    ]  # fmt: skip

    ended = subprocess.run(
        command(programs),
        input="".join(f"{json.dumps(row)}\n" for row in rows).encode() + b"what is no JSON\n",
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        timeout=PATIENCE_S,
        check=True,
    )

    answers = {one.get("id"): one for one in map(json.loads, ended.stdout.splitlines())}
    assert set(answers) == {1, 2, 3, 4, 5, 6, "seven", None}
    assert all("Low tide is at three." in str(answers[number]) for number in (2, 3, 4, 5))
    assert all("none of the protocol" in answers[one]["error"]["message"] for one in (6, "seven"))
    assert "no JSON" in answers[None]["error"]["message"]
