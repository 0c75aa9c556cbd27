"""Our own server as Claude Code is told of it: `search_notes` and `read_note`, and nothing else of ours or its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from core.base.child_process import child_environment
from core.providers.wire import canonical_json
from core.values.stack import ToolSchema

SERVER = "notes"
"""Name of the server in Claude Code: its tools are `mcp__notes__search_notes` and `mcp__notes__read_note` there."""

_SETTINGS = ("MANUAL_SLOP_CONFIG", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
"""Variables that say where settings and indexes are."""


def notes_command(home: Path, root: str) -> tuple[str, ...]:
    """Command line of the server. `root`: of the project, absolute, empty for none."""
    project = ("--project", root) if root else ()
    return (sys.executable, "-P", "-m", "core.cli", "mcp", "--home", str(home), *project, "--only-notes")


def mcp_config(command: tuple[str, ...], environ: Mapping[str, str] | None = None) -> str:
    """JSON for `--mcp-config`. It holds no key: the server's environment is made by allow-list.

    Source: 2.1.197, `alwaysLoad`: the first request waits for the server and holds its tools (seen 2026-11-23).
    """
    found = os.environ if environ is None else environ
    passed = {**child_environment(found), **{name: found[name] for name in _SETTINGS if name in found}}
    program, *arguments = command
    server = {"type": "stdio", "command": program, "args": arguments, "env": passed, "alwaysLoad": True}
    return canonical_json({"mcpServers": {SERVER: server}})


def allowed_tools(tools: Iterable[ToolSchema]) -> str:
    """Names of tools as `--allowedTools` takes them."""
    return ",".join(f"mcp__{SERVER}__{one.name}" for one in tools)
