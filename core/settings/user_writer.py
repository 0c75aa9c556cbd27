"""Writes user settings into `config.toml`; comments and order of a person who edits it too stay."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from core.base.errors import ConfigError
from core.settings.checks import did_you_mean, place_of, setting_for, value_flaw
from core.settings.file_edit import edit_file, with_value
from core.settings.schema import BY_KEY, MCP_NAME_PATTERN, NAME_PATTERN, VENDORS, SettingScope, Value
from core.settings.small_file import locked
from core.settings.toml_edit import inline, remove_key, remove_table, set_value
from core.settings.toml_places import statements
from core.values.mcp import McpServerSettings

NEW_FILE_HEAD = """\
# Your own settings of Manual Slop. Every key is described in docs/settings.md; keys of providers never stand here.
"""


def write_setting(config_file: Path, key: str, value: Value | None) -> None:
    """Set one key of user settings, or remove it.

    Args:
        key: dotted (`appearance.theme`, `providers.ollama.label`); value: None takes the key out.

    Raises:
        ConfigError: no such setting for user settings, a value that it cannot have, or a broken file.
        StorageError, LockedError: the file could not be written. Nothing was changed.
    """
    setting = setting_for(key)
    if setting is None or setting.scope is SettingScope.PROJECT:
        raise ConfigError(f"{key!r} is not a user setting{did_you_mean(key, tuple(BY_KEY))}")
    if value is not None and (reason := value_flaw(setting, value)):
        raise ConfigError(f"{key} {reason}")
    place = place_of(key)
    with locked(config_file):
        _write(config_file, {place: value})


def save_server(config_file: Path, server_id: str, label: str, base_url: str) -> None:
    """Add or change an OpenAI-compatible server; other keys of it stay.

    Args:
        server_id: small letters, digits, `-`, `_`; base_url: http or https.

    Raises:
        ConfigError: an id or an address that cannot be, or a broken file.
        StorageError, LockedError: the file could not be written.
    """
    _check_server_id(server_id)
    place = ("providers", server_id)
    for name, value in (("label", label), ("base_url", base_url)):
        if reason := value_flaw(BY_KEY[f"providers.<id>.{name}"], value):
            raise ConfigError(f"The {name} of the server {reason}")
    if not base_url:
        raise ConfigError("A server needs an address", remedy="Give it as http://host:port/v1")
    with locked(config_file):
        _write(config_file, {(*place, "label"): label or None, (*place, "base_url"): base_url})


def remove_server(config_file: Path, server_id: str) -> None:
    """Take a server out of user settings; one that is not there is no error. Its key is `core.providers.keys`'s.

    Raises:
        ConfigError: a vendor's id, or a broken file. StorageError, LockedError: it could not be written.
    """
    _check_server_id(server_id)
    with locked(config_file):
        _remove(config_file, ("providers", server_id))


def save_mcp_server(config_file: Path, name: str, server: McpServerSettings | None) -> None:
    """Add or change an MCP server, or take it out; one that is not there is no error. What is as by default is not written.

    Raises:
        ConfigError: a name or a value that cannot be, or a broken file.
        StorageError, LockedError: the file could not be written.
    """
    if not re.fullmatch(MCP_NAME_PATTERN, name):
        raise ConfigError(
            f"{name!r} is no name for an MCP server",
            remedy="Use letters, digits, - and single _ (30 at most)",
        )
    place = ("mcp", "servers", name)
    with locked(config_file):
        if server is None:
            _remove(config_file, place)
            return
        given: dict[str, Any] = {
            "command": server.command[0] if server.command else "",
            "args": server.command[1:],
            "environment": server.environment,
            "url": server.url,
            "key_name": server.key,
            "network": server.network,
            "timeout_s": server.timeout_s,
            "enabled": server.is_enabled,
        }
        for key, value in given.items():
            if reason := value_flaw(BY_KEY[f"mcp.servers.<name>.{key}"], value):
                raise ConfigError(f"The {key} of the MCP server {reason}")
        kept: dict[tuple[str, ...], Value | None] = {
            (*place, key): None if value == BY_KEY[f"mcp.servers.<name>.{key}"].default else value
            for key, value in given.items()
        }
        _write(config_file, kept)


def _check_server_id(server_id: str) -> None:
    if server_id in VENDORS:
        raise ConfigError(f"{server_id!r} is a vendor", remedy="Choose another id for the server")
    if not re.fullmatch(NAME_PATTERN, server_id):
        raise ConfigError(f"{server_id!r} is no id", remedy="Use small letters, digits, - and _ (40 at most)")


def _remove(config_file: Path, place: tuple[str, ...]) -> None:
    if config_file.exists():
        edit_file(
            config_file,
            lambda text: _pruned(remove_table(text, place), place),
            lambda data: _without(data, place),
        )


def _write(config_file: Path, values: dict[tuple[str, ...], Value | None]) -> None:
    def expect(data: dict[str, Any]) -> dict[str, Any]:
        for place, value in values.items():
            data = _without(data, place) if value is None else with_value(data, place, value)
        return data

    def change(text: str) -> str:
        for place, value in values.items():
            text = (
                _pruned(remove_key(text, place), place)
                if value is None
                else set_value(text, place, inline(value))
            )
        return text

    if config_file.exists() or any(value is not None for value in values.values()):
        edit_file(config_file, change, expect, head=NEW_FILE_HEAD)


def _without(data: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    """The data without a key, and without the tables that are empty then."""
    head, *rest = place
    if head not in data:
        return data
    inner = _without(data[head], tuple(rest)) if rest and isinstance(data[head], dict) else None
    return {k: (inner if k == head else v) for k, v in data.items() if k != head or inner}


def _pruned(text: str, place: tuple[str, ...]) -> str:
    """Take out the headers of tables around a place that hold nothing any more."""
    for length in range(len(place) - 1, 0, -1):
        around = place[:length]
        below = [s for s in statements(text) if s.place[:length] == around]
        if any(s.place != around for s in below):
            break
        text = remove_table(text, around)
    return text
