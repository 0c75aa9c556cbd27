"""Prompt files, found by one rule: the person's own, then the project's, then the shipped; writes the person's own."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec

from core.kernel.disk import reported
from core.kernel.errors import ConfigError
from core.kernel.frame import clean, one_line
from core.kernel.language import tr
from core.kernel.opener import read_start
from core.kernel.paths import knowledge_dir, project_file
from core.kernel.values.curation import NamedText, TextTable
from core.kernel.values.settings import PromptTemplate
from core.services.settings.project import MAX_CONTEXT_FILE_BYTES, read_source, written_values
from core.services.settings.project_tables import ProjectTables, TextSource, name_flaw
from core.services.settings.settings_file import edit_file, locked, parse, read_text, replace_file
from core.services.settings.settings_writer import NEW_PROJECT_HEAD, has_header
from core.services.settings.toml_document import (
    inline,
    remove_key,
    remove_table,
    rename_table,
    set_value,
    text_value,
)
from core.services.settings.trust import count_as_shown, follow_rename, trust

MAX_PROMPT_BYTES = 200_000
"""A longer file is no prompt, and the next in line counts."""

_FOLDER = "prompts"


def prompt_names() -> tuple[str, ...]:
    """Names of the prompts that come with the program (`role.md`), sorted."""
    files = resources.files(_FOLDER).iterdir()
    return tuple(sorted(file.name for file in files if file.name.endswith(".md")))


def project_prompts(root: Path) -> dict[str, str]:
    """Texts of a project's own prompt files (`prompts/<name>`) by name, those left out that say what the shipped say."""
    found = {}
    for name in prompt_names():
        text = _text(root / _FOLDER / name)
        if text is not None and text != _text(_shipped(name)):
            found[name] = text
    return found


def read_prompts(home: Path, of_project: Mapping[str, str]) -> dict[str, str]:
    """The text of every prompt by its name: the person's own, else the project's, else the shipped.

    Args:
        of_project: texts of the project's that count (`Project.prompts`).
    """
    found = {}
    for name in prompt_names():
        own = own_prompt(home, name)
        found[name] = of_project.get(name, _text(_shipped(name)) or "") if own is None else own
    return found


def prompt_sources(home: Path, root: Path, of_project: Collection[str]) -> dict[str, str]:
    """The file of every prompt that stands in for the shipped one, empty where none does.

    Args:
        of_project: names of the project's prompts that count.
    """
    found = {}
    for name in prompt_names():
        place = prompt_file(name, home, root, of_project)
        found[name] = "" if place == _shipped(name) else str(place)
    return found


def own_prompt(home: Path, name: str) -> str | None:
    """The person's own text of a prompt, None if it is missing or unreadable."""
    return _text(knowledge_dir(home) / _FOLDER / name)


def own_prompt_path(home: Path, name: str) -> Path:
    """Path of the person's own text of a prompt, there or not. Raises ConfigError: the program has no such prompt."""
    if name not in prompt_names():
        raise ConfigError(
            tr("The program has no prompt {name!r}", name=name),
            remedy=tr("Known: {prompt_names}", prompt_names=", ".join(prompt_names())),
        )
    return knowledge_dir(home) / _FOLDER / name


def make_own_prompt(home: Path, name: str, of_project: Mapping[str, str]) -> Path:
    """Make the person's own copy of a prompt, of what counts now, where they have none.

    Args:
        of_project: texts of the project's that count (`Project.prompts`).

    Returns:
        Its path.

    Raises:
        ConfigError: no such prompt, or what stands there is none. StorageError: it could not be written.
    """
    path = own_prompt_path(home, name)
    if own_prompt(home, name) is None:
        write_prompt(home, name, read_prompts(home, of_project)[name])
    return path


def write_prompt(home: Path, name: str, text: str, base: str | None = None) -> None:
    """Write the person's own text of a prompt.

    Args:
        base: the text that the person began with; None writes over whatever text stands there.

    Raises:
        ConfigError: no such prompt, a text that would not be read, or something else stands there by now: another
            text than `base`, or what cannot be read as one.
        StorageError: it could not be written. Nothing was changed.
    """
    path, data = own_prompt_path(home, name), text.encode("utf-8", "replace")
    if len(data) > MAX_PROMPT_BYTES:
        raise ConfigError(
            tr(
                "A prompt has at most {MAX_PROMPT_BYTES:,} bytes, not {data:,}",
                MAX_PROMPT_BYTES=MAX_PROMPT_BYTES,
                data=len(data),
            ),
            remedy=tr("Shorten the text"),
        )
    _check_base(path, base, text)
    replace_file(path, data)


def remove_prompt(home: Path, name: str, base: str | None = None) -> None:
    """Remove the person's own text of a prompt; where there is none nothing happens. Raises as `write_prompt`."""
    path = own_prompt_path(home, name)
    _check_base(path, base, None)
    with reported("remove", path):
        path.unlink(missing_ok=True)


def _check_base(path: Path, base: str | None, text: str | None) -> None:
    """Refuse to write over a person's save in an editor meanwhile, and over what nobody here could read."""
    now = _text(path)
    if now is None and os.path.lexists(path):
        raise ConfigError(
            tr("The program cannot read your prompt file as a prompt"),
            remedy=tr(
                "Make the file UTF-8 text of {MAX_PROMPT_BYTES:,} bytes at most, or move it away",
                MAX_PROMPT_BYTES=MAX_PROMPT_BYTES,
            ),
            where=str(path),
        )
    if now is not None and base is not None and now not in (base, text):
        raise ConfigError(
            tr("The prompt's file has changed meanwhile"),
            remedy=tr("Look at the present text, then save again, or use that text"),
            where=str(path),
        )


def prompt_file(name: str, home: Path, root: Path, of_project: Collection[str]) -> Traversable:
    """Path that a prompt is read from.

    Args:
        name: of a prompt that comes with the program; home: the person's home directory; root: of the project.
        of_project: names of the project's prompts that count.

    Returns:
        `<home>/knowledge/prompts/<name>` where that can be read as text, else the project's, else our own.
    """
    if own_prompt(home, name) is not None:
        return knowledge_dir(home) / _FOLDER / name
    return root / _FOLDER / name if name in of_project else _shipped(name)


def _shipped(name: str) -> Traversable:
    return resources.files(_FOLDER) / name


def read_place(place: Traversable) -> bytes:
    """The bytes of a prompt file, at most one over `MAX_PROMPT_BYTES`. Raises OSError."""
    if isinstance(place, Path):
        return read_start(place, MAX_PROMPT_BYTES + 1)
    return place.read_bytes()


def _text(place: Traversable) -> str | None:
    """The text of a prompt file; None where there is none to be had."""
    try:
        if not place.is_file():
            return None
        data = read_place(place)
        return None if len(data) > MAX_PROMPT_BYTES else clean(data.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        return None


# Templates: texts that a person begins a message with.

MAX_TEMPLATES = 500
_TEMPLATE_ENDINGS = (".md", ".txt")


def template_folders(home: Path, root: str) -> tuple[Path, ...]:
    """Folders that templates are read from, the person's own first; the project's where one is open."""
    own = knowledge_dir(home) / _FOLDER / "templates"
    return (own, Path(root) / _FOLDER / "templates") if root else (own,)


def read_templates(home: Path, root: str) -> tuple[dict[str, PromptTemplate], tuple[str, ...]]:
    """Read every template. Of two with one name the person's own counts.

    Returns:
        Templates by name, sorted, and a sentence for each file that is no template.
    """
    found: dict[str, PromptTemplate] = {}
    flaws: list[str] = []
    for folder in template_folders(home, root):
        for path in _template_files(folder):
            text = _text(path)
            if text is None:
                flaws.append(
                    tr(
                        "{name!r} is no template: it is not UTF-8 text of at most {MAX_PROMPT_BYTES:,} bytes. Shorten or convert the file: {path}",
                        name=path.name,
                        MAX_PROMPT_BYTES=MAX_PROMPT_BYTES,
                        path=path,
                    )
                )
                continue
            name = one_line(clean(path.stem), 60)
            found.setdefault(name, PromptTemplate(name=name, text=text.rstrip("\n"), source=str(path)))
    return dict(sorted(found.items())), tuple(flaws)


def _template_files(folder: Path) -> list[Path]:
    try:
        names = sorted(
            name
            for name in os.listdir(folder)
            if name.endswith(_TEMPLATE_ENDINGS) and not name.startswith(".")
        )
    except OSError:
        return []
    return [folder / name for name in names[:MAX_TEMPLATES]]


# Writes personas and system prompts: into the project's `manual_slop.toml`, or into the file that it names.

DEFAULTS = {TextTable.PERSONAS: "persona", TextTable.SYSTEM_PROMPTS: "system_prompt_preset"}
"""Key of `[ai_settings]` that names one of a table for new discussions."""


class TextProject(msgspec.Struct, frozen=True):
    """Project whose texts the program writes. `allowed`: outside folders it may name; `trust_file`: trusted folders."""

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
        raise ConfigError(
            tr(
                "{name!r} cannot be the name of a {kind}: {reason}",
                name=text.name,
                kind=table.word,
                reason=reason,
            )
        )
    path = project_file(project.root)
    with locked(project.trust_file.with_name("project-texts")):
        old = read_text_of(project, table, old_name) if old_name else None
        if old_name:
            _text_writer_check_base(path, table, old, base, text.text)
        is_file = old is not None and bool(old.source)
        if old is not None and is_file and old.text != text.text:
            _write_named_file(Path(old.source), text.text)
        is_new = edit_file(
            path,
            lambda now: _changed(now, path, table, text, old_name),
            lambda data: _expected(data, path, table, text, old_name),
            head=NEW_PROJECT_HEAD,
            new_mode=0o644,
        )
        shown = written_values(_one_text(table, TextSource(name=text.name, text=text.text)), project.root)
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
        _text_writer_check_base(path, table, read_text_of(project, table, name), base, None)
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
            tr("{value} must be tables ([{value}.<name>])", value=table.value),
            remedy=tr("Correct the file"),
            where=str(path),
        )
    return rows


def _default(data: dict[str, Any], table: TextTable) -> object:
    settings = data.get("ai_settings")
    return settings.get(DEFAULTS[table]) if isinstance(settings, dict) else None


def _source(name: str, row: Any) -> TextSource | None:
    if isinstance(row, str):
        return TextSource(name=name, text=row)
    if isinstance(row, dict) and isinstance(row.get("text"), str):
        return TextSource(name=name, text=row["text"])
    if isinstance(row, dict) and isinstance(row.get("file"), str):
        return TextSource(name=name, file=row["file"])
    return None


def _text_writer_check_base(
    path: Path, table: TextTable, now: NamedText | None, base: str | None, text: str | None
) -> None:
    """Refuse to write over what somebody wrote in an editor meanwhile."""
    if base is None or (now is not None and now.text in (base, text)):
        return
    where = str(path) if now is None or not now.source else now.source
    raise ConfigError(
        tr("This text has changed in its file ({kind})", kind=table.word)
        if now is not None
        else tr("This text is no longer in its file ({kind})", kind=table.word),
        remedy=tr("Look at the present text, then save again, or use that text"),
        where=where,
    )


def _write_named_file(path: Path, text: str) -> None:
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_CONTEXT_FILE_BYTES:
        raise ConfigError(
            tr(
                "The text is over {MAX_CONTEXT_FILE_BYTES:,} bytes, so the program would leave the text out",
                MAX_CONTEXT_FILE_BYTES=MAX_CONTEXT_FILE_BYTES,
            ),
            remedy=tr("Shorten the text"),
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
        raise ConfigError(
            tr("The file no longer has a {kind} {name!r}", kind=table.word, name=old_name), where=str(path)
        )
    if text.name in rows and text.name != old_name:
        raise ConfigError(
            tr("There is already a {kind} {name!r}", kind=table.word, name=text.name),
            remedy=tr("Choose another name"),
            where=str(path),
        )
    if old_name and _source(old_name, rows[old_name]) is None:
        raise ConfigError(
            tr("{value}.{old_name} must have either a text or a file", value=table.value, old_name=old_name),
            remedy=tr("Correct the file first"),
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
