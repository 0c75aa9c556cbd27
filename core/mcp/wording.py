"""Wording of MCP servers: their state, and what a yes would start; one text for window, command line and doctor. Pure."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterator, Mapping

from core.base import figures
from core.values.mcp import McpApproval, McpPhase, McpServer, McpServerSettings

HASH_CHARS = 16
MOST_NAMED, MOST_FOLDERS = 12, 12
"""Files of code that a question names, and folders behind them."""
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


def _code_lines(asked: McpApproval) -> Iterator[tuple[str, str]]:
    """Lines on code and data: a yes is bound to the one, and the other may change."""
    if asked.files:
        yield "Code, asked about again when it changes", "\n".join(_code_rows(asked.files))
    if asked.unbound:
        folders = ", ".join(asked.unbound)
        yield (
            "Not all code is bound",
            f"There is more than a yes is bound to in {folders}. A change of the rest is not seen",
        )
    if asked.data:
        yield "Data, which it may change", ", ".join(sorted(asked.data))


def _code_rows(files: Mapping[str, str]) -> Iterator[str]:
    """A row each for what is named first, then one a folder, with a hash over its files."""
    packages = [row for row in files.items() if row[0].endswith(os.sep)]
    rows = tuple(row for row in files.items() if row not in packages)
    yield from (f"{path} ({sha256[:HASH_CHARS]})" for path, sha256 in rows[:MOST_NAMED])
    folders: dict[str, list[tuple[str, str]]] = {}
    for path, sha256 in rows[MOST_NAMED:]:
        folders.setdefault(os.path.dirname(path), []).append((path, sha256))
    shown = sorted(folders.items())
    for folder, inside in shown[:MOST_FOLDERS]:
        yield f"{folder}: {figures.count(len(inside), 'more file')} ({_digest(inside)})"
    if rest := [row for _, inside in shown[MOST_FOLDERS:] for row in inside]:
        yield f"{figures.count(len(rest), 'more file')} in {figures.count(len(shown) - MOST_FOLDERS, 'folder')} ({_digest(rest)})"
    yield from (f"packages in {folder} ({sha256[:HASH_CHARS]})" for folder, sha256 in packages)


def _digest(rows: list[tuple[str, str]]) -> str:
    text = "\n".join(f"{path}\0{sha256}" for path, sha256 in sorted(rows))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]


def start_lines(asked: McpApproval) -> tuple[tuple[str, str], ...]:
    """Lines of the question: what would be started or spoken to, and what it gets. A label and a text each."""
    if asked.url:
        return ("Address", asked.url), ("Key", asked.key or "none is sent")
    return (
        ("Program", f"{asked.program} ({asked.program_sha256[:HASH_CHARS]})"),
        ("Arguments", shlex.join(asked.arguments) or "none"),
        *_code_lines(asked),
        ("Variables", ", ".join(asked.environment) or "none of yours"),
        ("Network", "open to it" if asked.network else "shut"),
        (
            "Secrets",
            "In a sandbox files of the project that may hold keys (.env, *.pem) are shut to it, but for those named here",
        ),
    )
