"""Writes user settings into `config.toml`; comments and order of a person who edits it too stay."""

from __future__ import annotations

import copy
import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core.kernel.disk import reported, sync_dir
from core.kernel.errors import ConfigError
from core.kernel.language import spliced, tr
from core.kernel.paths import project_file
from core.kernel.values.curation import Preset
from core.kernel.values.mcp import McpServerSettings
from core.kernel.values.settings import SettingsFault
from core.services.settings.asked_values import Shown
from core.services.settings.project import written_values
from core.services.settings.project_tables import (
    PresetRow,
    ProjectTables,
    array_text,
    is_unchanged,
    item_table,
    name_flaw,
    plan_rows,
    read_preset,
    read_presets,
    tables_text,
)
from core.services.settings.settings_checks import did_you_mean, place_of, setting_for, value_flaw
from core.services.settings.settings_file import edit_file, locked, parse, read_text, replace_file, with_value
from core.services.settings.settings_schema import (
    BY_KEY,
    MCP_NAME_PATTERN,
    NAME_PATTERN,
    VENDORS,
    SettingScope,
    Value,
)
from core.services.settings.toml_document import (
    Place,
    Statement,
    inline,
    line_end,
    line_of,
    remove_key,
    remove_table,
    rename_table,
    set_value,
    statements,
)
from core.services.settings.trust import count_as_shown, follow_rename, trust

NEW_FILE_HEAD = tr(
    "# Your own settings of Manual Slop. docs/settings.md describes every key. Never write keys of providers here.\n"
)


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
        raise ConfigError(
            tr("{key!r} is not a user setting{key2}", key=key, key2=did_you_mean(key, tuple(BY_KEY)))
        )
    if value is not None and (reason := value_flaw(setting, value)):
        raise ConfigError(spliced("{} {}", key, reason))
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
            raise ConfigError(tr("The field {field} of the provider {problem}", field=name, problem=reason))
    if not base_url:
        raise ConfigError(
            tr("A provider needs an address"), remedy=tr("Write the address as http://host:port/v1")
        )
    with locked(config_file):
        _write(config_file, {(*place, "label"): label or None, (*place, "base_url"): base_url})


def remove_server(config_file: Path, server_id: str) -> None:
    """Take a server out of user settings; one that is not there is no error. Its key is `core.services.providers.keys`'s.

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
            tr("{name!r} is not a name for an MCP server", name=name),
            remedy=tr("Use letters, digits, - and single _ (30 at most)"),
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
                raise ConfigError(
                    tr("The field {field} of the MCP server {problem}", field=key, problem=reason)
                )
        kept: dict[tuple[str, ...], Value | None] = {
            (*place, key): None if value == BY_KEY[f"mcp.servers.<name>.{key}"].default else value
            for key, value in given.items()
        }
        _write(config_file, kept)


def _check_server_id(server_id: str) -> None:
    if server_id in VENDORS:
        raise ConfigError(
            tr(
                "{server_id!r} is already the name of a provider that comes with the program",
                server_id=server_id,
            ),
            remedy=tr("Choose another id for the provider"),
        )
    if not re.fullmatch(NAME_PATTERN, server_id):
        raise ConfigError(
            tr("{server_id!r} is not a valid id", server_id=server_id),
            remedy=tr("Use small letters, digits, - and _ (40 at most)"),
        )


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


# Writes presets into the project's `manual_slop.toml`; comments, order and unknown keys of the person stay.

NEW_PROJECT_HEAD = tr(
    "# Settings of Manual Slop for this project. The program keeps your comments and your order.\n"
)


def save_setting(root: Path, key: str, value: Value, trust_file: Path) -> None:
    """Write a setting into the project's file; the file is made, and its folder trusted, where there was none.

    What is written counts as shown.

    Args:
        root: the project's root; key: dotted, of a setting that user settings and projects both may have.
        trust_file: the list of trusted folders.

    Raises:
        ConfigError: no such setting, a value that it cannot have, or a broken file.
        StorageError, LockedError: it could not be written. Nothing was changed.
    """
    setting = setting_for(key)
    if setting is None or setting.scope is not SettingScope.ANY:
        raise ConfigError(tr("{key!r} is not a project setting", key=key), remedy=tr("See docs/settings.md"))
    if reason := value_flaw(setting, value):
        raise ConfigError(spliced("{} {}", key, reason))
    place = tuple(key.split("."))
    is_new = edit_file(
        project_file(root),
        lambda text: set_value(text, place, inline(value)),
        lambda data: with_value(data, place, value),
        head=NEW_PROJECT_HEAD,
        new_mode=0o644,
    )
    shown = written_values(ProjectTables(values={key: value}), root)
    (trust if is_new else count_as_shown)(root, trust_file, shown)


def save_preset(root: Path, preset: Preset, trust_file: Path) -> bool:
    """Write a preset into the project's file; the file is made, and its folder trusted, where there was none.

    What is written counts as shown.

    Args:
        root: the project's root; trust_file: the list of trusted folders.

    Returns:
        Whether the file was made.

    Raises:
        ConfigError: the name cannot be one, or the file or the preset in it is broken (with the line).
        StorageError: it could not be written. Nothing was changed.
    """
    _check_name(preset.name)
    path = project_file(root)
    rows: tuple[PresetRow, ...] = ()
    old_rows: list[Any] = []

    def expect(data: dict[str, Any]) -> dict[str, Any]:
        nonlocal rows, old_rows
        _refuse_broken(path, data, preset.name)
        new = copy.deepcopy(data)
        table = new.setdefault("presets", {}).setdefault(preset.name, {})
        old_rows = table.get("items", [])
        rows = plan_rows(old_rows, preset.items)
        table["items"] = [row.data for row in rows]
        return new

    def change(text: str) -> str:
        return _with_items(text, preset.name, old_rows, rows)

    is_new = edit_file(path, change, expect, head=NEW_PROJECT_HEAD, new_mode=0o644)
    shown = written_values(ProjectTables(presets={preset.name: preset}), root)
    (trust if is_new else count_as_shown)(root, trust_file, shown)
    return is_new


def rename_preset(root: Path, old_name: str, new_name: str, trust_file: Path) -> None:
    """Give a preset another name; it keeps its place, its comments, and what of it was shown.

    Raises:
        ConfigError: no such preset, the new name is taken or cannot be one, or the file is broken.
        StorageError: it could not be written.
    """
    _check_name(new_name)
    path = project_file(root)

    def expect(data: dict[str, Any]) -> dict[str, Any]:
        presets = _presets(path, data)
        if old_name not in presets:
            raise ConfigError(tr("The file has no preset {old_name!r}", old_name=old_name), where=str(path))
        if new_name in presets and new_name != old_name:
            raise ConfigError(
                tr("There is already a preset {new_name!r}", new_name=new_name),
                remedy=tr("Choose another name"),
                where=str(path),
            )
        return {**data, "presets": {new_name if k == old_name else k: v for k, v in presets.items()}}

    def renamed(shown: Shown) -> Shown | None:
        place, value = shown
        return (("presets", new_name, *place[2:]), value) if place[:2] == ("presets", old_name) else None

    edit_file(path, lambda text: rename_table(text, ("presets", old_name), new_name), expect)
    follow_rename(root, trust_file, renamed)


def delete_preset(root: Path, name: str) -> None:
    """Take a preset out of the file; one that is not there is no error. Raises ConfigError or StorageError."""
    path = project_file(root)
    text = read_text(path)
    if text is None or name not in _presets(path, parse(text, path)):
        return

    def expect(data: dict[str, Any]) -> dict[str, Any]:
        presets = {key: value for key, value in _presets(path, data).items() if key != name}
        without = {key: value for key, value in data.items() if key != "presets"}
        is_open = has_header(read_text(path) or "", "presets")
        return {**data, "presets": presets} if presets or is_open else without

    edit_file(path, lambda text: remove_table(text, ("presets", name)), expect)


def has_header(text: str, table: str) -> bool:
    """True if a file opens a table itself (`[presets]`), so that it stays when the last of it goes."""
    return any(statement.is_header and statement.place == (table,) for statement in statements(text))


def _check_name(name: str) -> None:
    if reason := name_flaw(name):
        raise ConfigError(tr("{name!r} cannot be the name of a preset: {reason}", name=name, reason=reason))


def _presets(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    presets = data.get("presets", {})
    if not isinstance(presets, dict):
        raise ConfigError(
            tr("presets must be tables ([presets.<name>])"), remedy=tr("Correct the file"), where=str(path)
        )
    return presets


def _refuse_broken(path: Path, data: dict[str, Any], name: str) -> None:
    """A preset that the program cannot read is not overwritten: what stands there is the person's."""
    presets = _presets(path, data)
    flaws = read_preset(name, presets[name])[1] if name in presets else []
    grave = next((flaw for flaw in flaws if flaw.is_grave), None)
    if grave is not None:
        line = line_of(read_text(path) or "", grave.place)
        raise ConfigError(grave.reason, remedy=tr("Correct the file first"), where=str(path), line=line)


def _with_items(text: str, name: str, old_rows: list[Any], rows: tuple[PresetRow, ...]) -> str:
    place: Place = ("presets", name, "items")
    found = list(statements(text))
    tables = [s for s in found if s.is_header and s.place[:3] == place]
    assigned = next((s for s in found if not s.is_header and s.place == place), None)
    if (tables or assigned is not None) and is_unchanged(old_rows, rows):
        return text
    if tables:
        return _with_tables(text, name, tables, rows)
    old = "" if assigned is None else text[assigned.value_tokens[0].start : assigned.end]
    return set_value(text, place, array_text(old, rows))


def _with_tables(text: str, name: str, tables: list[Statement], rows: tuple[PresetRow, ...]) -> str:
    """Replace the run of `[[presets.<name>.items]]` tables; the last of them gone, the preset keeps an empty list."""
    ends = [start.start for start in tables[1:]]
    last = [s for s in statements(text) if s.table == tables[-1].place][-1]
    blocks = [
        text[table.start : end] for table, end in zip(tables, [*ends, line_end(text, last.end)], strict=True)
    ]
    head, tail = text[: tables[0].start], text[line_end(text, last.end) :]
    if rows:
        return head + tables_text(name, blocks, rows) + tail
    return set_value(head + tail, ("presets", name, "items"), "[]")


# Unsaved work on presets: kept in the home until it is saved, so that a crash takes nothing.

FORMAT = 1


def working_file(home: Path, root: Path) -> Path:
    """Path of a project's unsaved presets."""
    mark = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return home / "working" / f"{mark}.toml"


def read_working(home: Path, root: Path) -> tuple[tuple[Preset, ...], tuple[SettingsFault, ...]]:
    """Read the unsaved presets of a project.

    Returns:
        The presets, and what is wrong with the file. A broken file is left as it is.
    """
    path = working_file(home, root)
    try:
        text = read_text(path)
        data = {} if text is None else parse(text, path, None)
    except ConfigError as error:
        return (), (
            SettingsFault(
                path=str(path),
                line=error.line,
                reason=tr("The program cannot read your unsaved presets: {reason}", reason=error.what),
            ),
        )
    presets, flaws = read_presets(data.get("presets", {}))
    faults = (
        SettingsFault(path=str(path), line=None, reason=tr("Unsaved presets: {reason}", reason=flaw.reason))
        for flaw in flaws
    )
    return tuple(presets.values()), tuple(faults)


def keep_working(home: Path, root: Path, presets: Iterable[Preset]) -> None:
    """Keep the unsaved presets of a project; none removes the file. Raises StorageError."""
    import tomli_w

    path = working_file(home, root)
    tables = {preset.name: {"items": [item_table(item) for item in preset.items]} for preset in presets}
    if tables:
        data = {"format": FORMAT, "root": os.path.realpath(root), "presets": tables}
        replace_file(path, tomli_w.dumps(data).encode())
        return
    with reported("remove", path):
        path.unlink(missing_ok=True)
        if path.parent.is_dir():
            sync_dir(path.parent)


def merge_working(
    saved: Mapping[str, Preset], working: Iterable[Preset]
) -> tuple[dict[str, Preset], frozenset[str]]:
    """Lay unsaved presets over those of the file.

    Returns:
        All presets, those of the file in its order, and the names whose items differ from the file.
    """
    unsaved = {preset.name: preset for preset in working if saved.get(preset.name) != preset}
    return {**saved, **unsaved}, frozenset(unsaved)
