"""Claude Code as it is installed from npm with our server: as a client of `manual-slop mcp`, and as the provider of a turn."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.kernel.values.knowledge import Category
from core.knowledge.mcp_server.proposal_worker import load_proposals
from tests.patience import PATIENCE_S
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said

ROOT = Path(__file__).parents[2]
CONFIG = """
[ai_settings]
provider = "claude_code"
model = "claude-opus-5-5"

[providers.claude_code]
kind = "claude_code"
base_url = "{url}"

[retrieval]
enabled = true
corpora = ["notes"]
roots = ["notes"]
"""


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    assert shutil.which("claude"), "Claude Code is not on PATH; `make optional` installs it"
    with AnthropicServer() as server:
        config = tmp_path / "config.toml"
        config.write_text(CONFIG.format(url=server.url), encoding="utf-8")
        for name, value in (
            ("MANUAL_SLOP_CONFIG", str(config)),
            ("ANTHROPIC_API_KEY", KEY),
            ("HOME", str(tmp_path)),
        ):
            monkeypatch.setenv(name, value)
        notes = tmp_path / "project" / "notes"
        notes.mkdir(parents=True)
        (notes / "tides.md").write_text("# Tides\n\nHigh tide is at nine.\n", encoding="utf-8")
        monkeypatch.chdir(tmp_path / "project")
        yield server


def call(name: str, **arguments: Any) -> Said:
    return Said(({"type": "tool_use", "name": name, "input": arguments},), "tool_use")


def results(vendor: AnthropicServer) -> str:
    """Everything that was sent, results of tools among it."""
    return json.dumps(vendor.bodies)


def test_the_real_cli_reads_and_proposes_knowledge(tmp_path: Path, vendor: AnthropicServer) -> None:
    home = tmp_path / "home"
    (home / "knowledge").mkdir(parents=True)
    (home / "knowledge" / "facts.md").write_text("# Facts\n\n- Low tide is at three.\n", encoding="utf-8")
    arguments = ["-P", "-m", "core.front.cli", "mcp", "--home", str(home)]
    server = {"command": sys.executable, "args": arguments, "alwaysLoad": True}
    server["env"] = {"PYTHONPATH": str(ROOT)}
    vendor.replies += [
        call("mcp__slop__search_knowledge", query="tide"),
        call("mcp__slop__propose_item", category="facts", text="High tide is at nine."),
        Said(({"type": "text", "text": "Done."},)),
    ]
    ended = subprocess.run(
        ["claude", "-p", "When?", "--model", "claude-opus-5-5", "--strict-mcp-config", "--tools", "",
         "--allowedTools", "mcp__slop__search_knowledge,mcp__slop__propose_item",
         "--mcp-config", json.dumps({"mcpServers": {"slop": server}})],
        env={**os.environ, "ANTHROPIC_BASE_URL": vendor.url, "MCP_CONNECT_TIMEOUT_MS": "60000"},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )  # fmt: skip

    assert ended.stdout == b"Done.\n"
    assert "Low tide is at three." in results(vendor)
    assert "the person sees it now" in results(vendor)
    (waiting,) = load_proposals(home)
    assert (waiting.category, waiting.text) == (Category.FACTS, "High tide is at nine.")
    assert "claude" in waiting.source.lower()


def test_as_provider_it_reads_our_notes_and_has_no_other_tool(
    tmp_path: Path, vendor: AnthropicServer
) -> None:
    vendor.replies += [
        call("mcp__notes__read_note", path="tides.md"),
        Said(({"type": "text", "text": "At nine."},)),
    ]
    program = [sys.executable, "-P", "-m", "core.front.cli", "send", "When is high tide?", "--tools"]
    ended = subprocess.run(
        [*program, "--home", str(tmp_path / "home")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert ended.stdout == b"At nine.\n", ended.stderr
    assert b"search_notes and read_note alone" in ended.stderr
    offered = {tool["name"] for body in vendor.bodies for tool in body.get("tools", ())}
    assert offered == {"mcp__notes__read_note", "mcp__notes__search_notes"}
    assert "High tide is at nine." in results(vendor)
