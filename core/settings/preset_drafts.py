"""Unsaved work on presets: kept in the home until it is saved, so that a crash takes nothing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from core.base.disk import reported, sync_dir
from core.base.errors import ConfigError
from core.settings.preset_table import item_table, read_presets
from core.settings.small_file import replace_file
from core.settings.toml_text import parse, read_text
from core.values.curation import Preset
from core.values.settings import SettingsFault

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
            SettingsFault(str(path), error.line, f"Unsaved work on presets cannot be read: {error.what}"),
        )
    presets, flaws = read_presets(data.get("presets", {}))
    faults = (SettingsFault(str(path), None, f"Unsaved work: {flaw.reason}") for flaw in flaws)
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
