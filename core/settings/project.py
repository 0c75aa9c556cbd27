"""The project's file: where the root is, what `manual_slop.toml` says, and what of it counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from core.base.domains import GLOBAL, is_domain
from core.base.paths import project_file
from core.base.text import clean
from core.settings.checks import Flaw, check_settings, unknown_keys, value_flaw
from core.settings.preset_table import name_flaw, read_presets
from core.settings.project_tables import ProjectTables, TextSource
from core.settings.project_texts import ContextFile, fault, read_context_file
from core.settings.schema import BY_KEY
from core.settings.toml_places import Place
from core.values.curation import NamedText
from core.values.settings import SettingsFault

MAX_TEXTS, MAX_ROOTS = 500, 100
"""Texts of one kind (context, personas, system prompts), and folders, that a file may name: what it asks for is read
before anybody trusts it."""
MAX_TEXTS_CHARS = 16_000_000
"""Of texts of one kind in files, together."""


def find_root(start: Path) -> Path:
    """The project's root: the nearest folder at or above `start` with `manual_slop.toml`, else with `.git`, else it.

    Args:
        start: an existing folder or not, any spelling.

    Returns:
        An absolute path, links resolved.
    """
    start = Path(os.path.realpath(start))
    folders = (start, *start.parents)
    for folder in folders:
        if project_file(folder).is_file():
            return folder
    for folder in folders:
        if (folder / ".git").exists():
            return folder
    return start


def read_project_data(data: Mapping[str, Any]) -> tuple[ProjectTables, list[Flaw]]:
    """Check a parsed `manual_slop.toml`. Pure.

    Returns:
        What holds of it, and the flaws in the order of their tables.
    """
    values, flaws = check_settings(data, is_project=True)
    head = data.get("project", {})
    if not isinstance(head, Mapping):
        flaws.append(Flaw(("project",), "project must be a table ([project])"))
        head = {}
    context, context_flaws = _read_context(head.get("context", []))
    roots, root_flaws = _read_folders("allowed_roots", head.get("allowed_roots", []))
    memory, memory_flaws = _read_folders("memory", head.get("memory", []))
    presets, preset_flaws = read_presets(data.get("presets", {}))
    personas, persona_flaws = _read_texts("personas", data.get("personas", {}))
    prompts, prompt_flaws = _read_texts("system_prompts", data.get("system_prompts", {}))
    head_flaws = _head_flaws(head)
    bad = {str(flaw.place[-1]) for flaw in head_flaws}
    found = ProjectTables(
        name="" if "name" in bad else clean(head.get("name", "")),
        domain="" if "domain" in bad else str(head.get("domain", "")),
        context=context,
        has_identity=True if "identity" in bad else head.get("identity", True),
        memory=memory,
        allowed_roots=roots,
        presets=presets,
        personas=personas,
        system_prompts=prompts,
        values=values,
        raw=data,
    )
    return found, [
        *flaws, *head_flaws, *context_flaws, *root_flaws, *memory_flaws, *preset_flaws, *persona_flaws, *prompt_flaws
    ]  # fmt: skip


def _head_flaws(head: Mapping[str, Any]) -> list[Flaw]:
    flaws = [
        Flaw(("project", key), f"project.{key} {reason}")
        for key, value in head.items()
        if key in {"name", "identity"} and (reason := value_flaw(BY_KEY[f"project.{key}"], value))
    ]
    domain = head.get("domain", "")
    if not (domain == "" or _may_name(domain)):
        said = f"must be of a-z, 0-9, dots, hyphens and underscores, begin with a letter or digit, and not be {GLOBAL!r}"
        flaws.append(Flaw(("project", "domain"), f"project.domain {said}"))
    return flaws + unknown_keys(
        head, ("name", "domain", "context", "identity", "memory", "allowed_roots"), ("project",), "project"
    )


def _may_name(value: Any) -> bool:
    return isinstance(value, str) and is_domain(value) and value != GLOBAL


def _read_context(value: Any) -> tuple[tuple[TextSource, ...], list[Flaw]]:
    """A text alone is a text; in a list, a text names a file, and a table says which of both it is."""
    place: Place = ("project", "context")
    if isinstance(value, str):
        return ((TextSource("project context", text=clean(value)),) if value.strip() else ()), []
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list) or len(value) > MAX_TEXTS:
        what = f"project.context must be a text, or a list of at most {MAX_TEXTS} files and texts"
        return (), [Flaw(place, what)]
    sources: list[TextSource] = []
    flaws: list[Flaw] = []
    for index, row in enumerate(value):
        table = {"file": row} if isinstance(row, str) else row
        source, reason = _read_source(f"project context {index + 1}", table)
        if source is None:
            flaws.append(Flaw((*place, index), f"project.context[{index}] {reason}"))
        else:
            sources.append(replace(source, name=source.file or source.name))
    return tuple(dict.fromkeys(sources)), flaws


def _read_source(name: str, row: Any) -> tuple[TextSource | None, str]:
    """A table with either `text` or `file`."""
    if not isinstance(row, Mapping) or len(row.keys() & {"text", "file"}) != 1:
        return None, "must have either a text or a file"
    key = "text" if "text" in row else "file"
    if not isinstance(row[key], str) or (key == "file" and not row[key].strip()):
        return None, f"must have a {key} in quotes"
    if key == "text":
        return TextSource(name, text=clean(row["text"])), ""
    return TextSource(name, file=clean(row["file"])), ""


def _read_folders(key: str, value: Any) -> tuple[tuple[str, ...], list[Flaw]]:
    is_list = isinstance(value, list) and len(value) <= MAX_ROOTS
    if not is_list or not all(isinstance(root, str) and root.strip() for root in value):
        what = f"project.{key} must be a list of at most {MAX_ROOTS} folders"
        return (), [Flaw(("project", key), what)]
    return tuple(value), []


def _read_texts(table: str, data: Any) -> tuple[dict[str, TextSource], list[Flaw]]:
    if not isinstance(data, Mapping):
        return {}, [Flaw((table,), f"{table} must be tables ([{table}.<name>])")]
    if len(data) > MAX_TEXTS:
        return {}, [Flaw((table,), f"{table} are {len(data):,}, and at most {MAX_TEXTS} count; remove some")]
    found: dict[str, TextSource] = {}
    flaws: list[Flaw] = []
    for name, row in data.items():
        source, reason = _read_source(name, {"text": row} if isinstance(row, str) else row)
        reason = name_flaw(name) or reason
        if source is None or reason:
            flaws.append(Flaw((table, name), f"{table}.{name} {reason}"))
        else:
            found[name] = source
    return found, flaws


def read_source(source: TextSource, root: Path, allowed: tuple[Path, ...]) -> NamedText | SettingsFault:
    """As `read_sources`, of one."""
    return read_sources((source,), root, allowed)[0]


def read_sources(
    sources: Iterable[TextSource], root: Path, allowed: tuple[Path, ...]
) -> tuple[NamedText | SettingsFault, ...]:
    """Texts of sources in their order: as they stand, or read from files, each file once.

    Args:
        root: paths are relative to it; allowed: folders outside that files may stand in.

    Returns:
        A text for each, or why there is none: behind `MAX_TEXTS_CHARS` of files no more are read.
    """
    read: dict[str, NamedText | SettingsFault] = {}
    found: list[NamedText | SettingsFault] = []
    left = MAX_TEXTS_CHARS
    for source in sources:
        if not source.file:
            found.append(NamedText(source.name, source.text, ""))
            continue
        if source.file not in read:
            path = Path(os.path.abspath(root / os.path.expanduser(source.file)))
            file = ContextFile(path, source.name, inside=root)
            text = fault(file, "is left out: the files before it are too much text") if left < 0 else None
            read[source.file] = one = text or read_context_file(file, allowed)
            left -= len(one.text) if isinstance(one, NamedText) else 0
        one = read[source.file]
        found.append(replace(one, name=source.name) if isinstance(one, NamedText) else one)
    return tuple(found)
