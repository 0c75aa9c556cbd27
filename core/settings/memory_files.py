"""Memory files: the Markdown files of the person's own folder and of those that a project names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from core.base.figures import count
from core.settings.identity_files import HOME_PREFIX
from core.settings.project_texts import ContextFile, is_inside, read_context_file
from core.values.curation import NamedText
from core.values.settings import SettingsFault

MEMORY_FOLDER = "memory"
"""Of the home."""

MAX_MEMORY_FILES = 200
"""Of one folder; of more the first by name count, and that is said."""


def memory_folders(home: Path, root: Path, named: Iterable[str]) -> tuple[tuple[Path, str], ...]:
    """Folders of memory files with the prefix of their files' names, the home's first.

    Args:
        named: as the project's file has them, those alone that count.
    """
    own = (home / MEMORY_FOLDER, f"{HOME_PREFIX}{MEMORY_FOLDER}/")
    others = (
        (Path(os.path.abspath(root / os.path.expanduser(name))), f"{Path(name).as_posix().rstrip('/')}/")
        for name in dict.fromkeys(named)
    )
    return (own, *others)


def find_memory(
    folders: Sequence[tuple[Path, str]], home: Path, root: Path, allowed_roots: tuple[Path, ...]
) -> tuple[tuple[NamedText, ...], tuple[SettingsFault, ...], tuple[Path, ...]]:
    """Read the memory files that exist; a link may lead no further than the folder that it stands in.

    Args:
        folders: from `memory_folders`; allowed_roots: folders outside the project that its own may lie in.

    Returns:
        The texts sorted by name, what could not be read by file, and the paths that were looked at.
    """
    texts: list[NamedText] = []
    faults: list[SettingsFault] = []
    paths: list[Path] = []
    seen: set[str] = set()
    for folder, prefix in folders:
        paths.append(folder)
        allowed = (home,) if prefix.startswith(HOME_PREFIX) else (root, *allowed_roots)
        if not is_inside(folder, allowed):
            reason = (
                "leads out of the project; name its folder in [project] allowed_roots of a trusted project"
            )
            faults.append(SettingsFault(str(folder), None, f"The memory folder {prefix} {reason}"))
            continue
        names, fault = _names(folder, prefix)
        faults += fault
        for name in names:
            path = folder / name
            paths.append(path)
            found = read_context_file(ContextFile(path, f"{prefix}{name}", inside=folder), ())
            real = os.path.realpath(path)
            if isinstance(found, SettingsFault):
                faults.append(found)
            elif real not in seen and found.text.strip():
                seen.add(real)
                texts.append(found)
    return tuple(sorted(texts, key=lambda text: text.name)), tuple(faults), tuple(paths)


def _names(folder: Path, prefix: str) -> tuple[list[str], list[SettingsFault]]:
    """Names of a folder's Markdown files, sorted; none where it is not there. No folder below it is looked into."""
    try:
        found = sorted(
            name for name in os.listdir(folder) if name.endswith(".md") and not name.startswith(".")
        )
    except FileNotFoundError:
        return [], []
    except OSError as error:
        reason = f"The memory folder {prefix} cannot be read ({error.strerror})"
        return [], [SettingsFault(str(folder), None, reason)]
    found = [name for name in found if not (folder / name).is_dir()]
    if len(found) <= MAX_MEMORY_FILES:
        return found, []
    more = len(found) - MAX_MEMORY_FILES
    reason = f"The memory folder {prefix} has {count(more, 'file')} more than count; the first by name do"
    return found[:MAX_MEMORY_FILES], [SettingsFault(str(folder), None, reason, is_grave=False)]
