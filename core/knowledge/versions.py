"""Versions of a category file: how it was before each of the last ten merges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk, make_dirs, remove_file, write_file

FOLDER = "versions"
KEPT_VERSIONS = 10
"""Of each file. Source: 40-facts.md, "Merge"."""


def version_path(home: Path, name: str, apply_id: str) -> Path:
    """Path of a category file as it was before an apply."""
    return paths.knowledge_dir(home) / FOLDER / Path(name).stem / f"{apply_id}.md"


def versions(home: Path, name: str) -> tuple[Path, ...]:
    """Kept versions of a file, the newest first."""
    folder = version_path(home, name, "").parent
    return tuple(sorted(folder.glob("*.md"), reverse=True)) if folder.is_dir() else ()


def version_names(home: Path) -> Iterator[tuple[str, str]]:
    """Every kept version: its name below the knowledge directory, and the category file that it was."""
    for path in sorted((paths.knowledge_dir(home) / FOLDER).glob("*/*.md")):
        yield f"{FOLDER}/{path.parent.name}/{path.name}", f"{path.parent.name}.md"


def keep_version(home: Path, name: str, apply_id: str, data: bytes, *, disk: Disk = OS_DISK) -> Path:
    """Keep a file as it is now; of older ones the last ten stay.

    Raises:
        StorageError: it was not kept.
    """
    path = version_path(home, name, apply_id)
    make_dirs(path.parent, disk=disk)
    write_file(path, data, disk=disk)
    for old in versions(home, name)[KEPT_VERSIONS:]:
        remove_file(old, disk=disk)
    return path
