"""Approvals of MCP servers: `approved_servers.json` beside the user settings, by name and by the project that names it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from core.base.decoders import from_json
from core.base.errors import ConfigError
from core.settings.small_file import locked, replace_file
from core.settings.toml_text import read_text
from core.values.mcp import McpApproved, McpOrigin, McpServerSettings

FORMAT = 1
_NAME = "approved_servers.json"


class _Approvals(msgspec.Struct, frozen=True):
    """The file."""

    format: int = FORMAT
    servers: tuple[McpApproved, ...] = ()


def approvals_file(trust_file: Path) -> Path:
    """The file of approvals, beside the list of trusted folders."""
    return trust_file.with_name(_NAME)


def approved_servers(
    file: Path, root: str, servers: Mapping[str, McpServerSettings]
) -> Mapping[str, McpApproved]:
    """The approvals of these servers by name. A file that cannot be read approves nothing.

    Args:
        root: of the project, links resolved: its servers have approvals of their own in each project.
    """
    if not servers:
        return {}
    try:
        kept = _read(file)
    except ConfigError:
        return {}
    found = ((name, kept.get((root_of(server, root), name))) for name, server in servers.items())
    return {name: one for name, one in found if one is not None}


def root_of(server: McpServerSettings, root: str) -> str:
    """The root under which a server's approval is kept: empty for the person's own."""
    return root if server.origin is McpOrigin.PROJECT else ""


def keep_approval(file: Path, name: str, root: str, approved: McpApproved | None) -> None:
    """Keep the approval of a server, or forget it.

    Raises:
        ConfigError, StorageError, LockedError: nothing was changed.
    """
    with locked(file):
        kept = _read(file)
        kept.pop((root, name), None)
        if approved is not None:
            kept[root, name] = approved
        rows = tuple(kept[place] for place in sorted(kept))
        replace_file(file, msgspec.json.format(msgspec.json.encode(_Approvals(servers=rows)), indent=1))


def _read(file: Path) -> dict[tuple[str, str], McpApproved]:
    text = read_text(file)
    if text is None:
        return {}
    try:
        found = from_json(text, _Approvals)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _unreadable(file) from error
    if found.format != FORMAT:
        raise _unreadable(file)
    return {(one.root, one.approval.name): one for one in found.servers}


def _unreadable(file: Path) -> ConfigError:
    return ConfigError(
        "The list of approved MCP servers is not one this version can read",
        remedy="Remove it to approve nothing, or use the version that wrote it",
        where=str(file),
    )
