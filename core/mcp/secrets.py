"""Secrets of MCP servers: values of the variables and keys that settings name, from the environment or the keyring."""

from __future__ import annotations

from collections.abc import Mapping

from core.providers.keys import KeyStore
from core.values.mcp import McpServerSettings

PREFIX = "mcp."
"""Of the names under which they are kept; no provider's id holds a dot."""


def key_of(name: str) -> str:
    """Name under which a variable's value, or a key, is kept: `mcp.github-token` for `GITHUB_TOKEN`."""
    return PREFIX + name.lower().replace("_", "-")


def named_keys(servers: Mapping[str, McpServerSettings]) -> tuple[str, ...]:
    """Names of all keys that servers use, as `key_of` gives them, in order."""
    names = (name for one in servers.values() for name in (*one.environment, *filter(None, (one.key,))))
    return tuple(sorted(set(map(key_of, names))))


def mcp_secrets(keys: KeyStore, environ: Mapping[str, str], settings: McpServerSettings) -> Mapping[str, str]:
    """Values by the names in `environment`, and of `key`. What is set nowhere is left out.

    A variable's value is the person's own where it is set, else what is kept for it; a key is only what is kept.
    """
    found = {
        name: environ.get(name, "") or keys.find(key_of(name), ()).value for name in settings.environment
    }
    if settings.key:
        found[settings.key] = keys.find(key_of(settings.key), ()).value
    return {name: value for name, value in found.items() if value}
