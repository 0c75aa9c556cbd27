"""Writes presets into the project's `manual_slop.toml`; comments, order and unknown keys of the person stay."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from core.base.errors import ConfigError
from core.base.paths import project_file
from core.settings.asked_values import Shown
from core.settings.checks import setting_for, value_flaw
from core.settings.file_edit import edit_file, with_value
from core.settings.preset_rows import PresetRow, array_text, is_unchanged, plan_rows, tables_text
from core.settings.preset_table import name_flaw, read_preset
from core.settings.project_facts import written_values
from core.settings.project_tables import ProjectTables
from core.settings.schema import SettingScope, Value
from core.settings.toml_edit import inline, line_end, remove_table, rename_table, set_value
from core.settings.toml_places import Place, Statement, line_of, statements
from core.settings.toml_text import parse, read_text
from core.settings.trust import count_as_shown, follow_rename, trust
from core.values.curation import Preset

NEW_FILE_HEAD = """\
# Manual Slop's settings for this project. Your comments and order stay when the program writes here.
"""


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
        raise ConfigError(f"{key!r} is no setting of a project", remedy="See docs/settings.md")
    if reason := value_flaw(setting, value):
        raise ConfigError(f"{key} {reason}")
    place = tuple(key.split("."))
    is_new = edit_file(
        project_file(root),
        lambda text: set_value(text, place, inline(value)),
        lambda data: with_value(data, place, value),
        head=NEW_FILE_HEAD,
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

    is_new = edit_file(path, change, expect, head=NEW_FILE_HEAD, new_mode=0o644)
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
            raise ConfigError(f"There is no preset {old_name!r} in the file", where=str(path))
        if new_name in presets and new_name != old_name:
            raise ConfigError(
                f"There is a preset {new_name!r} already", remedy="Choose another name", where=str(path)
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
        raise ConfigError(f"{name!r} cannot name a preset: {reason}")


def _presets(path: Path, data: dict[str, Any]) -> dict[str, Any]:
    presets = data.get("presets", {})
    if not isinstance(presets, dict):
        raise ConfigError(
            "presets must be tables ([presets.<name>])", remedy="Correct the file", where=str(path)
        )
    return presets


def _refuse_broken(path: Path, data: dict[str, Any], name: str) -> None:
    """A preset that the program cannot read is not overwritten: what stands there is the person's."""
    presets = _presets(path, data)
    flaws = read_preset(name, presets[name])[1] if name in presets else []
    grave = next((flaw for flaw in flaws if flaw.is_grave), None)
    if grave is not None:
        line = line_of(read_text(path) or "", grave.place)
        raise ConfigError(grave.reason, remedy="Correct the file first", where=str(path), line=line)


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
