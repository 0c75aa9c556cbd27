"""Wishes of a project's file that it does not get, in sentences."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core.base.text import one_line
from core.settings.checks import SECRET_NAMES, setting_for
from core.settings.project import ProjectTables, resolve_roots
from core.settings.project_texts import is_inside
from core.settings.schema import VENDORS, SettingScope, Value

_SHOWN = 5
_ASKING = frozenset({"ask", "deny", "never", "off", False})


def held_back(
    data: ProjectTables, root: Path, own_servers: Iterable[str], *, is_trusted: bool
) -> tuple[str, ...]:
    """Say what of a project's file does not count.

    Args:
        data: the file as read; own_servers: ids of the person's servers, which a project cannot change.
        is_trusted: whether the person trusts the folder; then only what a project may never do is said.
    """
    never = _never(data, frozenset(own_servers))
    return never if is_trusted else (*_until_trusted(data, root), *never)


def counting_values(data: ProjectTables, own_servers: Iterable[str]) -> dict[str, Value]:
    """The settings of a trusted project that it may set."""
    taken = frozenset(own_servers)
    return {key: value for key, value in data.values.items() if _may_set(key, taken)}


def _may_set(key: str, own_servers: frozenset[str]) -> bool:
    setting = setting_for(key)
    if setting is None or setting.scope is SettingScope.USER:
        return False
    name = key.split(".")[1] if key.startswith("providers.") else ""
    return not name or (name not in VENDORS and name not in own_servers)


def _until_trusted(data: ProjectTables, root: Path) -> tuple[str, ...]:
    said = [
        _named("Context presets", data.presets),
        _named("Files outside the project", _outside(data, root)),
        _named("Folders outside the project that it wants to read", data.allowed_roots),
        _named("Project context", (source.file or source.name for source in data.context)),
        _named("Personas", data.personas),
        _named("System prompts", data.system_prompts),
        _named("Settings", _shown_settings(data.values)),
        _named("Servers", _shown_servers(data.values)),
        "" if data.has_identity else "It turns identity files (CLAUDE.md, AGENTS.md, POC.md) off.",
        _named("MCP servers, which are commands", _table(data.raw, "mcp", "servers")),
        _named("Settings of tools", _table(data.raw, "tools")),
        _named("Settings of retrieval", _table(data.raw, "retrieval")),
    ]
    return tuple(sentence for sentence in said if sentence)


def _never(data: ProjectTables, own_servers: frozenset[str]) -> tuple[str, ...]:
    refused = [key for key in data.values if not _may_set(key, own_servers)]
    own = [key for key in refused if not key.startswith("providers.")]
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
    ]
    return tuple(sentence for sentence in said if sentence)


def _named(title: str, names: Iterable[str]) -> str:
    listed = [one_line(name, 120) for name in names]
    if not listed:
        return ""
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    count = f" ({len(listed)})" if len(listed) > 1 else ""
    return f"{title}{count}: {', '.join(listed[:_SHOWN])}{more}."


def _outside(data: ProjectTables, root: Path) -> list[str]:
    named = [item.path for preset in data.presets.values() for item in preset.items]
    texts = (*data.context, *data.personas.values(), *data.system_prompts.values())
    named += [source.file for source in texts if source.file]
    return sorted({path for path in named if not is_inside(root / Path(path).expanduser(), (root,))})


def _shown_settings(values: Mapping[str, Value]) -> list[str]:
    return [
        f"{key} = {one_line(str(value), 60)}"
        for key, value in values.items()
        if not key.startswith("providers.") and _may_set(key, frozenset())
    ]


def _shown_servers(values: Mapping[str, Value]) -> list[str]:
    ids = sorted({key.split(".")[1] for key in values if key.startswith("providers.")} - set(VENDORS))
    return [f"{name} at {values.get(f'providers.{name}.base_url', 'no address')}" for name in ids]


def _table(raw: Mapping[str, Any], *path: str) -> list[str]:
    node: Any = raw
    for part in path:
        node = node.get(part, {}) if isinstance(node, Mapping) else {}
    return (
        [f"{name} ({_command(row)})" if _command(row) else name for name, row in node.items()]
        if isinstance(node, Mapping)
        else [path[-1]]
    )


def _command(row: Any) -> str:
    if not isinstance(row, Mapping):
        return ""
    words = [row.get("command", ""), *(row["args"] if isinstance(row.get("args"), list) else [])]
    return one_line(" ".join(str(word) for word in words if word), 80)


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


def allowed_roots(data: ProjectTables, root: Path, *, is_trusted: bool) -> tuple[str, ...]:
    """The folders outside the root that presets may read: none until the folder is trusted."""
    return tuple(os.fspath(path) for path in resolve_roots(data.allowed_roots, root)) if is_trusted else ()
