"""Rules for what a project's file may never have, and what it asks for in spite of them, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from core.base.text import one_line
from core.settings.checks import SECRET_NAMES, is_mcp_key, setting_for
from core.settings.project_tables import ProjectTables
from core.settings.schema import VENDORS, SettingScope

_SHOWN = 5
_ASKING = frozenset({"ask", "refuse", "deny", "never", "off", False})


def held_back(data: ProjectTables, own_servers: Iterable[str]) -> tuple[str, ...]:
    """Say what of a project's file never counts, trusted or not. What it may have is in `asked_values`.

    Args:
        data: the file as read; own_servers: the person's servers as `server_of` names them, which a project cannot change.
    """
    taken = frozenset(own_servers)
    refused = [key for key in data.values if not may_set(key, taken) and not _may_tighten(key)]
    twins = sorted({key.split(".")[2] for key in refused if is_mcp_key(key) and server_of(key) in taken})
    own = [key for key in refused if server_of(key) not in taken and not key.startswith("providers.")]
    servers = sorted({key.split(".")[1] for key in refused if key.startswith("providers.")})
    said = [
        "It asks to turn the Hook API on or to change it; a project never can."
        if "hooks" in data.raw
        else "",
        "It holds a key; a project never can, and the key is not used. Remove it from the file."
        if _holds_secret(data.raw)
        else "",
        "It loosens approvals of tools; a project never can." if _loosens(data.raw.get("tools")) else "",
        _named("It sets what only your own settings may", own),
        _named("It changes providers that are yours or a vendor's; a project never can", servers),
        _named("It has MCP servers by a name of yours; yours count", twins),
    ]
    return tuple(sentence for sentence in said if sentence)


def may_set(key: str, own_servers: frozenset[str]) -> bool:
    """True if a project may set this key, once a person was shown it."""
    setting = setting_for(key)
    if setting is None or setting.scope in {SettingScope.USER, SettingScope.TIGHTENED}:
        return False
    name = server_of(key)
    return not name or (name not in VENDORS and name not in own_servers)


def server_of(key: str) -> str:
    """The server that a key is of: a provider's id, `mcp.servers.NAME` of an MCP server, empty for other keys."""
    parts = key.split(".")
    if parts[0] == "providers":
        return parts[1]
    return ".".join(parts[:3]) if is_mcp_key(key) else ""


def _may_tighten(key: str) -> bool:
    """True if a project's word for this key counts where it is the stricter one."""
    setting = setting_for(key)
    return setting is not None and setting.scope is SettingScope.TIGHTENED


def _named(title: str, names: Iterable[str]) -> str:
    listed = [one_line(name, 120) for name in names]
    if not listed:
        return ""
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    count = f" ({len(listed)})" if len(listed) > 1 else ""
    return f"{title}{count}: {', '.join(listed[:_SHOWN])}{more}."


def _holds_secret(node: Any) -> bool:
    """True if a key that names a secret holds a text, below the tables that hold settings."""
    if isinstance(node, Mapping):
        return any(
            (name.lower() in SECRET_NAMES and isinstance(value, str) and value != "") or _holds_secret(value)
            for name, value in node.items()
            if name not in {"presets", "personas", "system_prompts"}
        )
    return isinstance(node, list) and any(_holds_secret(item) for item in node)


def _loosens(tools: Any) -> bool:
    """True if a `[tools]` table holds a policy that is not one of asking or refusing."""
    if isinstance(tools, Mapping):
        return any(_loosens(value) for value in tools.values())
    return isinstance(tools, str | bool) and tools not in _ASKING
