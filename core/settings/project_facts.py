"""Facts of the disk that a project's file leads to: resolved paths, and texts in files that it names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from core.settings.asked_values import ProjectFacts, Shown, asked_values, shown_as
from core.settings.checks import is_mcp_key
from core.settings.project import read_sources
from core.settings.project_tables import ProjectTables
from core.settings.project_texts import is_inside
from core.settings.schema import VENDORS, Value
from core.values.curation import NamedText, TextTable
from core.values.settings import SettingsFault

ReadTexts = Mapping[tuple[TextTable, str], NamedText | SettingsFault]
"""Texts of personas and system prompts by table and name, or why one cannot be read."""


def read_texts(tables: ProjectTables, root: Path) -> ReadTexts:
    """Read personas and system prompts, from folders that are only asked for too: a person is to see what they say."""
    allowed = tuple(path for path in map(Path, _folders(tables, root).values()) if path != Path())
    return {
        (table, name): text
        for table, sources in (
            (TextTable.PERSONAS, tables.personas),
            (TextTable.SYSTEM_PROMPTS, tables.system_prompts),
        )
        for name, text in zip(sources, read_sources(sources.values(), root, allowed), strict=True)
    }


def project_facts(
    tables: ProjectTables,
    root: Path,
    texts: ReadTexts,
    values: Mapping[str, Value] | None = None,
    own_servers: frozenset[str] = frozenset(),
) -> ProjectFacts:
    """Facts about what a project's file names.

    Args:
        texts: from `read_texts`; values: the person's settings by dotted key, for the addresses of providers.
        own_servers: those that these define, as `server_of` names them.
    """
    named = [item.path for preset in tables.presets.values() for item in preset.items]
    named += [source.file for source in tables.context if source.file]
    named += tables.memory
    outside = {path: _leads_to(path, root) for path in dict.fromkeys(named)}
    servers = {str(vendor): "" for vendor in VENDORS} | dict.fromkeys(
        (name for name in own_servers if not is_mcp_key(name)), ""
    )
    for key, value in (values or {}).items():
        if key.startswith("providers.") and key.endswith(".base_url"):
            servers[key.split(".")[1]] = str(value)
    return ProjectFacts(
        folders=_folders(tables, root),
        outside={path: real for path, real in outside.items() if real},
        texts={
            (table.value, name): found.text
            for (table, name), found in texts.items()
            if isinstance(found, NamedText)
        },
        servers=servers,
        own_servers=own_servers,
    )


def named_files(tables: ProjectTables, root: Path) -> tuple[Path, ...]:
    """Files that a project's texts stand in, absolute, whether they exist or not."""
    sources = (*tables.context, *tables.personas.values(), *tables.system_prompts.values())
    return tuple(
        Path(os.path.abspath(root / os.path.expanduser(source.file))) for source in sources if source.file
    )


def written_values(tables: ProjectTables, root: Path) -> tuple[Shown, ...]:
    """Values of tables that a person wrote into the project's file with this program: they are shown by that."""
    facts = project_facts(tables, root, read_texts(tables, root))
    return tuple(map(shown_as, asked_values(tables, facts)))


def _folders(tables: ProjectTables, root: Path) -> dict[str, str]:
    return {written: _leads_to(written, root) for written in tables.allowed_roots}


def _leads_to(path: str, root: Path) -> str:
    """The resolved path of what leads out of the project, empty for what does not or can be no path."""
    try:
        whole = root / os.path.expanduser(path)
        return "" if is_inside(whole, (root,)) else os.path.realpath(whole)
    except ValueError:
        return ""
