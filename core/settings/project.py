"""The project's file: where the root is, what `manual_slop.toml` says, and what of it counts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from core.base.domains import GLOBAL, is_domain
from core.base.paths import project_file
from core.base.text import clean
from core.settings.checks import Flaw, check_settings, did_you_mean, value_flaw
from core.settings.preset_table import name_flaw, read_presets
from core.settings.project_tables import ProjectTables, TextSource
from core.settings.project_texts import ContextFile, read_context_file
from core.settings.schema import BY_KEY
from core.settings.toml_places import Place
from core.values.curation import NamedText
from core.values.settings import SettingsFault


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
    roots, root_flaws = _read_roots(head.get("allowed_roots", []))
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
        allowed_roots=roots,
        presets=presets,
        personas=personas,
        system_prompts=prompts,
        values=values,
        raw=data,
    )
    return found, [
        *flaws, *head_flaws, *context_flaws, *root_flaws, *preset_flaws, *persona_flaws, *prompt_flaws
    ]  # fmt: skip


def _head_flaws(head: Mapping[str, Any]) -> list[Flaw]:
    flaws = []
    known = ("name", "domain", "context", "identity", "allowed_roots")
    for key, value in head.items():
        if key in {"name", "identity"} and (reason := value_flaw(BY_KEY[f"project.{key}"], value)):
            flaws.append(Flaw(("project", key), f"project.{key} {reason}"))
        elif key == "domain" and not (value == "" or _may_name(value)):
            said = f"must be of a-z, 0-9, dots, hyphens and underscores, begin with a letter or digit, and not be {GLOBAL!r}"
            flaws.append(Flaw(("project", key), f"project.domain {said}"))
        elif key not in known:
            near = did_you_mean(key, known)
            flaws.append(
                Flaw(("project", key), f"project.{key} is not a setting{near}; it is ignored", is_grave=False)
            )
    return flaws


def _may_name(value: Any) -> bool:
    return isinstance(value, str) and is_domain(value) and value != GLOBAL


def _read_context(value: Any) -> tuple[tuple[TextSource, ...], list[Flaw]]:
    """A text alone is a text; in a list, a text names a file, and a table says which of both it is."""
    place: Place = ("project", "context")
    if isinstance(value, str):
        return ((TextSource("project context", text=clean(value)),) if value.strip() else ()), []
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list):
        return (), [Flaw(place, "project.context must be a text, or a list of files and texts")]
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


def _read_roots(value: Any) -> tuple[tuple[str, ...], list[Flaw]]:
    if not isinstance(value, list) or not all(isinstance(root, str) and root.strip() for root in value):
        return (), [Flaw(("project", "allowed_roots"), "project.allowed_roots must be a list of folders")]
    return tuple(value), []


def _read_texts(table: str, data: Any) -> tuple[dict[str, TextSource], list[Flaw]]:
    if not isinstance(data, Mapping):
        return {}, [Flaw((table,), f"{table} must be tables ([{table}.<name>])")]
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
    """The text of a source: as it stands, or read from its file (relative to the root)."""
    if not source.file:
        return NamedText(source.name, source.text, "")
    path = root / os.path.expanduser(source.file)
    return read_context_file(ContextFile(Path(os.path.abspath(path)), source.name, inside=root), allowed)
