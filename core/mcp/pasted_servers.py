"""Servers out of the JSON that every README of an MCP server gives, as our settings name them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from core.kernel.codecs import read_json
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.values.mcp import McpServerSettings

_TABLES = ("mcpServers", "servers", "mcp_servers", "context_servers")
"""Keys of the table of servers, as clients spell it. Source: documents of Claude Code, VS Code, Zed (read 2026-11)."""

_UNFIT = re.compile(r"[^A-Za-z0-9-]+")
_LONGEST = 30


_FETCHERS = frozenset({"npx", "bunx", "pnpx", "uvx", "pipx", "dnx"})
_FETCHING_WORDS = {
    "npm": {"exec", "x"},
    "pnpm": {"dlx", "exec"},
    "yarn": {"dlx"},
    "bun": {"x"},
    "uv": {"run", "tool", "x"},
    "deno": {"run"},
}
"""Programs that fetch what they run, some by their first word alone. Source: their documents (read 2026-11)."""


def fetcher_of(command: tuple[str, ...]) -> str:
    """Name of a program that fetches the server that it runs, as `npx -y` does; empty for any other."""
    name = re.split(r"[/\\]", command[0].lower())[-1] if command else ""
    name = re.sub(r"\.(?:cmd|exe|ps1|bat)$", "", name)
    first = next((word for word in command[1:] if not word.startswith("-")), "")
    return name if name in _FETCHERS or first in _FETCHING_WORDS.get(name, ()) else ""


class PastedServers(msgspec.Struct, frozen=True):
    """Servers of a paste, and what of it was left out, in sentences for a person."""

    servers: tuple[McpServerSettings, ...]
    notes: tuple[str, ...] = ()


def is_paste(text: str) -> bool:
    """True if a text is such JSON, and no command or address."""
    return text.lstrip().startswith("{") or bool(re.match(r'\s*"[\w -]+"\s*:\s*\{', text))


def pasted_servers(text: str) -> PastedServers:
    """Servers of `{"mcpServers": {…}}`, of the table inside it, or of one entry of it, with or without braces around.

    Values of variables never enter the settings: their names do, and the person is told to set them.

    Raises:
        SlopError: it is no such JSON, or names no server.
    """
    try:
        value = read_json(text if text.lstrip().startswith("{") else "{" + text.strip().rstrip(",") + "}")
    except ValueError as error:
        raise SlopError(
            tr("This is not JSON: {error}", error=error),
            remedy=tr("Paste the whole block, from { to its last }"),
        ) from error
    table: Any = next((value[name] for name in _TABLES if isinstance(value.get(name), dict)), value)
    entries = {name: one for name, one in table.items() if isinstance(one, dict) and _is_server(one)}
    if not entries:
        remedy = tr(
            'Use this form: {"mcpServers": {"files": {"command": "npx", "args": ["-y", "@some/server", "/folder"]}}}'
        )
        raise SlopError(tr("This JSON names no MCP server"), remedy=remedy)
    notes: list[str] = []
    servers = tuple(_server(name, entry, notes) for name, entry in entries.items())
    notes += [
        tr("{name} was left out: it has neither a command nor an address.", name=name)
        for name in table
        if name not in entries and table is not value
    ]
    return PastedServers(servers, tuple(notes))


def _is_server(entry: Mapping[str, Any]) -> bool:
    return any(
        isinstance(entry.get(name), str) and entry[name]
        for name in ("command", "url", "httpUrl", "serverUrl")
    )


def _server(name: str, entry: Mapping[str, Any], notes: list[str]) -> McpServerSettings:
    fitting = _UNFIT.sub("-", name).strip("-")[:_LONGEST].strip("-") or "server"
    if fitting != name:
        notes.append(
            tr(
                "{name} is called {server} here: a server's name has only letters, digits and -.",
                name=name,
                server=fitting,
            )
        )
    address = next(
        (entry[key] for key in ("url", "httpUrl", "serverUrl") if isinstance(entry.get(key), str)), ""
    )
    arguments = entry.get("args")
    words = tuple(str(one) for one in arguments) if isinstance(arguments, list) else ()
    variables = entry.get("env")
    names = tuple(map(str, variables)) if isinstance(variables, dict) else ()
    if names:
        notes.append(
            tr(
                "Settings store no values. {server} still needs {variables}: set each in your environment, or run `manual-slop key mcp.{key}`.",
                server=fitting,
                variables=", ".join(names),
                key=names[0].lower().replace("_", "-"),
            )
        )
    if entry.get("headers"):
        notes.append(
            tr(
                "The headers of {server} were left out. Store the server's key with `manual-slop key`, and name that key as `key`.",
                server=fitting,
            )
        )
    command = (str(entry["command"]), *words) if entry.get("command") and not address else ()
    if fetcher := fetcher_of(command):
        notes.append(
            tr(
                "{server} may use the network, because {fetcher} downloads the server's program.",
                server=fitting,
                fetcher=fetcher,
            )
        )
    return McpServerSettings(
        name=fitting,
        command=command,
        network=bool(fetcher),
        environment=() if address else names,
        url=address,
        is_enabled=entry.get("disabled") is not True,
    )
