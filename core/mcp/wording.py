"""Wording of MCP servers: their state, and what a yes would start; one text for window, command line and doctor. Pure."""

from __future__ import annotations

import shlex

from core.base import figures
from core.values.mcp import McpApproval, McpPhase, McpServer, McpServerSettings

HASH_CHARS = 16
PHASES = {
    McpPhase.OFF: "starts when it is used",
    McpPhase.STARTING: "starting",
    McpPhase.ASKING: "waits for your yes",
    McpPhase.READY: "runs",
    McpPhase.FAILED: "does not run",
}


def state_words(server: McpServer) -> str:
    """State of a server in a few words."""
    return PHASES[server.phase] if server.settings.is_enabled else "switched off"


def count_words(server: McpServer) -> str:
    """Count of a server's tools: `3 of 5 tools approved`; empty where none is known."""
    kept = server.kept
    known = len(server.tools) or (0 if kept is None else len({*kept.approval.tools, *kept.refused}))
    return f"{len(server.approved):,} of {figures.count(known, 'tool')} approved" if known else ""


def where_words(settings: McpServerSettings) -> str:
    """Command or address of a server, in one line."""
    return settings.url or shlex.join(settings.command)


def start_lines(asked: McpApproval) -> tuple[tuple[str, str], ...]:
    """Lines of the question: what would be started or spoken to, and what it gets. A label and a text each."""
    if asked.url:
        return ("Address", asked.url), ("Key", asked.key or "none is sent")
    files = ", ".join(f"{path} ({sha256[:HASH_CHARS]})" for path, sha256 in sorted(asked.files.items()))
    return (
        ("Program", f"{asked.program} ({asked.program_sha256[:HASH_CHARS]})"),
        ("Arguments", shlex.join(asked.arguments) or "none"),
        *((("Files", files),) if files else ()),
        ("Variables", ", ".join(asked.environment) or "none of yours"),
        ("Network", "open to it" if asked.network else "shut"),
        (
            "Secrets",
            "In a sandbox files of the project that may hold keys (.env, *.pem) are shut to it, but for those named here",
        ),
    )
