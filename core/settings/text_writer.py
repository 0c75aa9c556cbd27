"""Writes personas and system prompts: into the project's `manual_slop.toml`, or into the file that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from core.base.errors import ConfigError
from core.base.paths import project_file
from core.settings.file_edit import edit_file
from core.settings.preset_table import name_flaw
from core.settings.project import read_source
from core.settings.project_facts import written_values
from core.settings.project_tables import ProjectTables, TextSource
from core.settings.project_texts import MAX_CONTEXT_FILE_BYTES
from core.settings.project_writer import NEW_FILE_HEAD, has_header
from core.settings.small_file import locked, replace_file
from core.settings.toml_edit import inline, remove_key, remove_table, rename_table, set_value, text_value
from core.settings.toml_text import parse, read_text
from core.settings.trust import count_as_shown, follow_rename, trust
from core.values.curation import NamedText, TextTable

DEFAULTS = {TextTable.PERSONAS: "persona", TextTable.SYSTEM_PROMPTS: "system_prompt_preset"}
"""Key of `[ai_settings]` that names one of a table for new discussions."""


class TextProject(msgspec.Struct, frozen=True):
    """Project whose texts are written. `allowed`: folders outside it that it may name; `trust_file`: trusted folders."""

    root: Path
    allowed: tuple[Path, ...]
    trust_file: Path


def read_text_of(project: TextProject, table: TextTable, name: str) -> NamedText | None:
    """A persona or system prompt as its file has it now; None where there is none that can be read.

    Raises:
        ConfigError: the project's file is broken.
    """
    path = project_file(project.root)
    row = _table(path, _data(path), table).get(name)
    source = _source(name, row)
    found = None if source is None else read_source(source, project.root, project.allowed)
    return found if isinstance(found, NamedText) else None


def save_text(
    project: TextProject, table: TextTable, text: NamedText, old_name: str = "", base: str | None = None
) -> None:
    """Write a persona or a system prompt; the project's file is made, and its folder trusted, where there was none.

    What is written counts as shown.

    Args:
        text: LF and clean; its `source` is not looked at.
        old_name: of the one in whose place it stands, which keeps its comments; empty for a new one.
        base: what the person began with; None writes over whatever stands there.

    Raises:
        ConfigError: the name cannot be one or is taken, another text stands there by now, or the file is broken.
        StorageError, LockedError: it could not be written. Nothing was changed.
    """
    if reason := name_flaw(text.name):
        raise ConfigError(f"{text.name!r} cannot name a {table.word}: {reason}")
    path = project_file(project.root)
    with locked(project.trust_file.with_name("project-texts")):
        old = read_text_of(project, table, old_name) if old_name else None
        if old_name:
            _check_base(path, table, old, base, text.text)
        is_file = old is not None and bool(old.source)
        if old is not None and is_file and old.text != text.text:
            _write_named_file(Path(old.source), text.text)
        is_new = edit_file(
            path,
            lambda now: _changed(now, path, table, text, old_name),
            lambda data: _expected(data, path, table, text, old_name),
            head=NEW_FILE_HEAD,
            new_mode=0o644,
        )
        shown = written_values(_one_text(table, TextSource(text.name, text=text.text)), project.root)
        (trust if is_new else count_as_shown)(project.root, project.trust_file, shown)
        if old_name and old_name != text.name:
            _follow_default(project, DEFAULTS[table], old_name, text.name)


def _one_text(table: TextTable, source: TextSource) -> ProjectTables:
    rows = {source.name: source}
    return ProjectTables(personas=rows) if table is TextTable.PERSONAS else ProjectTables(system_prompts=rows)


def _follow_default(project: TextProject, key: str, old_name: str, new_name: str) -> None:
    """Let the default of new discussions count under the new name, where it did under the old one."""
    old, new = (
        written_values(ProjectTables(values={f"ai_settings.{key}": name}), project.root)[0]
        for name in (old_name, new_name)
    )
    follow_rename(project.root, project.trust_file, lambda shown: new if shown == old else None)


def delete_text(project: TextProject, table: TextTable, name: str, base: str | None = None) -> None:
    """Take one out of the project's file; a file that it named stays. One that is not there is no error.

    Raises:
        ConfigError: another text than `base` stands there by now, or the file is broken. StorageError, LockedError.
    """
    path = project_file(project.root)
    with locked(project.trust_file.with_name("project-texts")):
        if name not in _table(path, _data(path), table):
            return
        _check_base(path, table, read_text_of(project, table, name), base, None)
        place = ("ai_settings", DEFAULTS[table])
        text = read_text(path) or ""

        def expect(data: dict[str, Any]) -> dict[str, Any]:
            rows = {key: row for key, row in _table(path, data, table).items() if key != name}
            new = {**data, table.value: rows}
            if not rows and not has_header(text, table.value):
                del new[table.value]
            if _default(data, table) == name:
                new["ai_settings"] = {k: v for k, v in data["ai_settings"].items() if k != place[1]}
                if not new["ai_settings"] and not has_header(text, "ai_settings"):
                    del new["ai_settings"]
            return new

        def change(now: str) -> str:
            is_default = _default(parse(now, path), table) == name
            now = remove_table(now, (table.value, name))
            return remove_key(now, place) if is_default else now

        edit_file(path, change, expect)


def _data(path: Path) -> dict[str, Any]:
    return parse(read_text(path) or "", path)


def _table(path: Path, data: dict[str, Any], table: TextTable) -> dict[str, Any]:
    rows = data.get(table.value, {})
    if not isinstance(rows, dict):
        raise ConfigError(
            f"{table.value} must be tables ([{table.value}.<name>])",
            remedy="Correct the file",
            where=str(path),
        )
    return rows


def _default(data: dict[str, Any], table: TextTable) -> object:
    settings = data.get("ai_settings")
    return settings.get(DEFAULTS[table]) if isinstance(settings, dict) else None


def _source(name: str, row: Any) -> TextSource | None:
    if isinstance(row, str):
        return TextSource(name, text=row)
    if isinstance(row, dict) and isinstance(row.get("text"), str):
        return TextSource(name, text=row["text"])
    if isinstance(row, dict) and isinstance(row.get("file"), str):
        return TextSource(name, file=row["file"])
    return None


def _check_base(
    path: Path, table: TextTable, now: NamedText | None, base: str | None, text: str | None
) -> None:
    """Refuse to write over what somebody wrote in an editor meanwhile."""
    if base is None or (now is not None and now.text in (base, text)):
        return
    where = str(path) if now is None or not now.source else now.source
    what = "was changed in its file" if now is not None else "is gone from its file"
    raise ConfigError(
        f"The {table.word} {what} meanwhile",
        remedy="Look at what stands there now, then save again or take it",
        where=where,
    )


def _write_named_file(path: Path, text: str) -> None:
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_CONTEXT_FILE_BYTES:
        raise ConfigError(
            f"The text is over {MAX_CONTEXT_FILE_BYTES:,} bytes and would be left out",
            remedy="Shorten it",
            where=str(path),
        )
    replace_file(path.resolve(), data, new_mode=0o644)


def _new_row(row: Any, text: str) -> Any:
    if isinstance(row, str):
        return text
    return row if isinstance(row, dict) and "file" in row else {**(row or {}), "text": text}


def _expected(
    data: dict[str, Any], path: Path, table: TextTable, text: NamedText, old_name: str
) -> dict[str, Any]:
    rows = _table(path, data, table)
    if old_name and old_name not in rows:
        raise ConfigError(f"There is no {table.word} {old_name!r} in the file", where=str(path))
    if text.name in rows and text.name != old_name:
        raise ConfigError(
            f"There is a {table.word} {text.name!r} already", remedy="Choose another name", where=str(path)
        )
    if old_name and _source(old_name, rows[old_name]) is None:
        raise ConfigError(
            f"{table.value}.{old_name} must have either a text or a file",
            remedy="Correct the file first",
            where=str(path),
        )
    if old_name:
        rows = {
            (text.name if key == old_name else key): (_new_row(row, text.text) if key == old_name else row)
            for key, row in rows.items()
        }
    else:
        rows = {**rows, text.name: {"text": text.text}}
    new = {**data, table.value: rows}
    if old_name and old_name != text.name and _default(data, table) == old_name:
        new["ai_settings"] = {**data["ai_settings"], DEFAULTS[table]: text.name}
    return new


def _changed(now: str, path: Path, table: TextTable, text: NamedText, old_name: str) -> str:
    data = parse(now, path)
    row = _table(path, data, table).get(old_name) if old_name else None
    if old_name and old_name != text.name:
        now = rename_table(now, (table.value, old_name), text.name)
        if _default(data, table) == old_name:
            now = set_value(now, ("ai_settings", DEFAULTS[table]), inline(text.name))
    source = _source(old_name, row)
    if source is not None and (source.file or source.text == text.text):
        return now
    place = (table.value, text.name) if isinstance(row, str) else (table.value, text.name, "text")
    return set_value(now, place, text_value(text.text))
