"""Merging: the same key from several sources, the strongest wins, into `Settings`. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from core.kernel.codecs import TomlError, read_toml
from core.kernel.language import tr
from core.kernel.values.mcp import McpServerSettings
from core.kernel.values.provider import ProviderKind
from core.kernel.values.settings import (
    AgentSettings,
    AiSettings,
    Appearance,
    CachingSettings,
    ChannelSettings,
    FileLimits,
    HookSettings,
    ImportSettings,
    KnowledgeSettings,
    NotificationSettings,
    RetrievalSettings,
    ServerSettings,
    Settings,
    SettingsFault,
    ToolSettings,
)
from core.kernel.values.signals import MAX_CHANNELS
from core.services.providers.key_names import kind_of_address
from core.services.settings.settings_checks import (
    FOLDERS,
    did_you_mean,
    is_mcp_key,
    place_of,
    setting_for,
    value_flaw,
)
from core.services.settings.settings_schema import SETTINGS, VENDORS, Kind, Setting, Value

PROVIDER_KEY = "ai_settings.provider"
EMBEDDER_KEY = "retrieval.embedder"
MODEL_KEY = "ai_settings.model"


class SettingSource(msgspec.Struct, frozen=True):
    """One source of settings.

    Args:
        name: how the person knows it: a file's path, `environment`, `command line`.
        values: checked values by dotted key; labels: a closer name for single keys (the variable's).
    """

    name: str
    values: Mapping[str, Value]
    labels: Mapping[str, str]


def environment_source(environ: Mapping[str, str]) -> tuple[SettingSource, tuple[SettingsFault, ...]]:
    """Settings that environment variables give. An empty variable gives nothing; a wrong one is a fault."""
    values: dict[str, Value] = {}
    labels: dict[str, str] = {}
    faults: list[SettingsFault] = []
    for setting, key, variable in _variables():
        text = environ.get(variable, "")
        if not text:
            continue
        value = from_text(setting, text)
        if reason := value_flaw(setting, value):
            faults.append(
                SettingsFault(
                    path=variable,
                    line=None,
                    reason=tr(
                        "The program ignores the variable {variable}: {reason}",
                        variable=variable,
                        reason=reason,
                    ),
                )
            )
        else:
            values[key] = value
            labels[key] = tr("environment {variable}", variable=variable)
    return SettingSource(name="environment", values=values, labels=labels), tuple(faults)


def _variables() -> Iterator[tuple[Setting, str, str]]:
    for setting in SETTINGS:
        for name, variable in setting.env:
            yield setting, setting.key.replace("<id>", name), variable


def from_text(setting: Setting, text: str) -> Value:
    """Value of a text of the environment or the command line; the text itself where it is not of the kind."""
    try:
        match setting.kind:
            case Kind.WHOLE:
                return int(text)
            case Kind.NUMBER:
                return float(text)
            case Kind.SWITCH:
                return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}.get(
                    text.lower(), text
                )
            case Kind.TEXTS:
                return _texts(text)
            case _:
                return text
    except ValueError:
        return text


def _texts(text: str) -> Value:
    """A list of texts as TOML writes it, else the text as its only one."""
    if not text.startswith("["):
        return (text,) if text else ()
    try:
        listed = read_toml(f"texts = {text}")["texts"]
    except TomlError:
        return (text,)
    return tuple(listed) if all(isinstance(one, str) for one in listed) else (text,)


def merge(sources: Sequence[SettingSource]) -> tuple[Settings, tuple[SettingsFault, ...]]:
    """Merge sources into settings.

    Args:
        sources: weakest first.

    Returns:
        The settings, with where each key came from, and faults that only the whole shows: a provider that
        nobody defines, a server without an address.
    """
    winners = {
        key: (value, _label(source, key)) for source in sources for key, value in source.values.items()
    }
    servers, faults = _servers(winners)
    mcp, mcp_faults = _mcp_servers(winners)
    chosen, provider_faults = _choose_provider(sources, servers)
    winners.pop(PROVIDER_KEY, None)
    winners |= chosen
    _drop_foreign_model(sources, winners)
    channels, channel_faults = _channels(winners)
    groups: dict[str, dict[str, Any]] = {}
    for key, (value, _) in winners.items():
        setting = setting_for(key)
        if setting is not None and setting.field and not key.startswith(("providers.", "mcp.", "channels.")):
            group, _, name = setting.field.rpartition(".")
            groups.setdefault(group, {})[name] = _typed(setting, value)
    settings = Settings(
        ai=AiSettings(**groups.get("ai", {})),
        knowledge=KnowledgeSettings(**groups.get("knowledge", {})),
        retrieval=RetrievalSettings(**groups.get("retrieval", {})),
        caching=CachingSettings(**groups.get("caching", {})),
        servers=servers,
        appearance=Appearance(**groups.get("appearance", {})),
        files=FileLimits(**groups.get("files", {})),
        hooks=HookSettings(**groups.get("hooks", {})),
        tools=ToolSettings(**groups.get("tools", {}), folders=_folders(winners)),
        mcp=mcp,
        notifications=NotificationSettings(**groups.get("notifications", {})),
        channels=channels,
        agent=AgentSettings(**groups.get("agent", {})),
        imports=ImportSettings(**groups.get("imports", {})),
        sources={key: label for key, (_, label) in sorted(winners.items())},
        **groups.get("", {}),
    )
    embedder_faults = _embedder_faults(winners, servers)
    return settings, (*faults, *mcp_faults, *provider_faults, *embedder_faults, *channel_faults)


def _folders(winners: Mapping[str, tuple[Value, str]]) -> dict[str, dict[str, Any]]:
    """Policies by folder, as the person wrote it."""
    found: dict[str, dict[str, Any]] = {}
    for key, (value, _) in winners.items():
        place = place_of(key)
        if place[:2] == FOLDERS and setting_for(key) is not None:
            found.setdefault(place[2], {})[place[3]] = value
    return found


def _channels(
    winners: Mapping[str, tuple[Value, str]],
) -> tuple[dict[str, ChannelSettings], tuple[SettingsFault, ...]]:
    """Channels by name; one without a server or a room is left out, and so are those over `MAX_CHANNELS`."""
    fields: dict[str, dict[str, Any]] = {}
    origins: dict[str, str] = {}
    for key, (value, label) in winners.items():
        setting, parts = setting_for(key), key.split(".")
        if parts[0] == "channels" and setting is not None:
            fields.setdefault(parts[1], {})[setting.field.removeprefix("channels.")] = value
            origins.setdefault(parts[1], label)
    channels: dict[str, ChannelSettings] = {}
    faults: list[SettingsFault] = []
    for name, given in fields.items():
        reason = ""
        if not given.get("host") or not given.get("room"):
            reason = tr(
                "The program does not use the IRC channel {name!r}: set its host and its room", name=name
            )
        elif len(channels) == MAX_CHANNELS:
            reason = tr(
                "The program does not use the IRC channel {name!r}: at most {most} channels count",
                name=name,
                most=MAX_CHANNELS,
            )
        else:
            channels[name] = ChannelSettings(**{**given, "name": name})
        if reason:
            faults.append(SettingsFault(path=origins[name], line=None, reason=reason))
    return channels, tuple(faults)


def _label(source: SettingSource, key: str) -> str:
    return source.labels.get(key, source.name)


def _typed(setting: Setting, value: Value) -> Value:
    return float(value) if setting.kind is Kind.NUMBER and isinstance(value, int) else value


def _servers(
    winners: Mapping[str, tuple[Value, str]],
) -> tuple[dict[str, ServerSettings], tuple[SettingsFault, ...]]:
    fields: dict[str, dict[str, Any]] = {vendor.value: {} for vendor in VENDORS}
    origins: dict[str, str] = {}
    for key, (value, label) in winners.items():
        parts = key.split(".")
        setting = setting_for(key)
        if parts[0] == "providers" and setting is not None:
            fields.setdefault(parts[1], {})[setting.field.removeprefix("servers.")] = _typed(setting, value)
            origins.setdefault(parts[1], label)
    servers: dict[str, ServerSettings] = {}
    faults: list[SettingsFault] = []
    for name, given in fields.items():
        is_vendor = name in VENDORS
        kind = name if is_vendor else given.get("kind") or kind_of_address(given.get("base_url", ""))
        label = given.get("label") or (VENDORS[ProviderKind(name)] if is_vendor else name)
        if not is_vendor and not given.get("base_url"):
            faults.append(
                SettingsFault(
                    path=origins[name],
                    line=None,
                    reason=tr(
                        "The program leaves out the provider {name!r}: set the provider's address (base_url)",
                        name=name,
                    ),
                )
            )
            continue
        if kind == ProviderKind.ANTHROPIC and not is_vendor:
            given["base_url"] = (
                given["base_url"].rstrip("/").removesuffix("/v1")
            )  # the client names the version
        servers[name] = ServerSettings(**{**given, "id": name, "kind": kind, "label": label})
    return servers, tuple(faults)


def _mcp_servers(
    winners: Mapping[str, tuple[Value, str]],
) -> tuple[dict[str, McpServerSettings], tuple[SettingsFault, ...]]:
    """MCP servers by name. One that has neither a command nor an address, or both, is left out."""
    fields: dict[str, dict[str, Any]] = {}
    origins: dict[str, str] = {}
    for key, (value, label) in winners.items():
        setting = setting_for(key)
        if is_mcp_key(key) and setting is not None:
            name = key.split(".")[2]
            fields.setdefault(name, {})[setting.field.removeprefix("mcp.")] = _typed(setting, value)
            origins.setdefault(name, label)
    servers: dict[str, McpServerSettings] = {}
    faults: list[SettingsFault] = []
    for name, given in sorted(fields.items()):
        program, arguments = given.pop("program", ""), given.pop("arguments", ())
        if bool(program) == bool(given.get("url")):
            reason = (
                tr(
                    "The program leaves out the MCP server {name!r}: keep its command or its url, not both",
                    name=name,
                )
                if program
                else tr(
                    "The program leaves out the MCP server {name!r}: give it a command or a url", name=name
                )
            )
            faults.append(SettingsFault(path=origins[name], line=None, reason=reason))
            continue
        servers[name] = McpServerSettings(
            name=name, command=(program, *arguments) if program else (), **given
        )
    return servers, tuple(faults)


def _choose_provider(
    sources: Sequence[SettingSource], servers: Mapping[str, ServerSettings]
) -> tuple[dict[str, tuple[Value, str]], tuple[SettingsFault, ...]]:
    """The strongest source whose provider exists. A name that nobody defines never falls to another vendor."""
    faults: list[SettingsFault] = []
    for source in reversed(sources):
        name = source.values.get(PROVIDER_KEY)
        if name is None:
            continue
        if name in servers:
            return {PROVIDER_KEY: (name, _label(source, PROVIDER_KEY))}, tuple(faults)
        near = did_you_mean(str(name), tuple(servers))
        faults.append(
            SettingsFault(
                path=_label(source, PROVIDER_KEY),
                line=None,
                reason=tr(
                    "There is no provider {name!r}{near} (known: {servers})",
                    name=name,
                    near=near,
                    servers=", ".join(servers),
                ),
            )
        )
    return {}, tuple(faults)


def _embedder_faults(
    winners: Mapping[str, tuple[Value, str]], servers: Mapping[str, ServerSettings]
) -> tuple[SettingsFault, ...]:
    """An embedder that nobody defines. Its name stays: another one's vectors would be another index, made unasked."""
    name, label = winners.get(EMBEDDER_KEY, ("", ""))
    if not name or name in servers:
        return ()
    reason = tr(
        "Search finds by words alone: `retrieval.embedder` names no provider {name!r}{near} (known: {servers})",
        name=name,
        near=did_you_mean(str(name), tuple(servers)),
        servers=", ".join(servers),
    )
    return (SettingsFault(path=label, line=None, reason=reason),)


def _drop_foreign_model(sources: Sequence[SettingSource], winners: dict[str, tuple[Value, str]]) -> None:
    """A model belongs to the provider that its source speaks of; a stronger source's other provider takes it away."""
    if MODEL_KEY not in winners:
        return
    at = max(index for index, source in enumerate(sources) if MODEL_KEY in source.values)
    meant = next(
        (s.values[PROVIDER_KEY] for s in reversed(sources[: at + 1]) if PROVIDER_KEY in s.values), None
    )
    chosen = winners.get(PROVIDER_KEY, (AiSettings().provider, ""))[0]
    is_named_later = any(PROVIDER_KEY in source.values for source in sources[at + 1 :])
    if is_named_later and chosen != (meant or AiSettings().provider):
        del winners[MODEL_KEY]
