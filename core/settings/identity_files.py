"""Identity and memory files: where CLAUDE.md, AGENTS.md and POC.md may stand, and what they say."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from core.settings.project_texts import ContextFile, is_inside, read_context_file
from core.values.curation import NamedText
from core.values.settings import SettingsFault

IDENTITY_NAMES = ("CLAUDE.md", "AGENTS.md", "POC.md")
HOME_PREFIX = "home:"
"""Prefix of the name of a file of the home: its path would differ between machines."""


def repository_root(start: Path, otherwise: Path) -> Path:
    """The nearest folder at or above `start` that holds a `.git` with something in it, else `otherwise`."""
    for folder in (start, *start.parents):
        git = folder / ".git"
        if git.exists() and not is_empty_folder(git):
            return folder
    return otherwise


def identity_paths(root: Path, start: Path, homes: Iterable[Path]) -> tuple[ContextFile, ...]:
    """Paths where identity files may stand, most general first: homes, then from the repository's root down
    to `start`.

    A link may not leave the folder that it stands in: the repository around an opened folder may hold all that a
    person has, and what a stranger put there must not reach for it.

    Args:
        root: the project's root, resolved; start: the working directory, inside root; homes: person's own folders.
    """
    top = repository_root(start, root)
    folders = [folder for folder in reversed((start, *start.parents)) if folder.is_relative_to(top)]
    places = [
        ContextFile(home / name, f"{HOME_PREFIX}{name}", inside=home)
        for home in homes
        for name in IDENTITY_NAMES
    ]
    for folder in folders:
        shown = Path(os.path.relpath(folder, root)).as_posix()
        prefix = "" if shown == "." else f"{shown}/"
        places += [ContextFile(folder / name, f"{prefix}{name}", inside=folder) for name in IDENTITY_NAMES]
    return tuple(places)


def is_strange(text: NamedText) -> bool:
    """True for one of the opened folder or its repository: a person is asked for it, those of their home always count."""
    return not text.name.startswith(HOME_PREFIX)


def find_identity(
    places: Iterable[ContextFile], allowed_roots: tuple[Path, ...], taken: Iterable[str] = ()
) -> tuple[tuple[NamedText, ...], tuple[SettingsFault, ...]]:
    """Read the identity files that exist.

    Args:
        places: from `identity_paths`; allowed_roots: folders outside that links may lead to. A link from one place to
            another says nothing new and is passed over.
        taken: absolute paths already in the project's context, which are left out.

    Returns:
        The texts in the order of `places`, and what could not be read, by file.
    """
    texts: list[NamedText] = []
    faults: list[SettingsFault] = []
    seen = {os.path.realpath(path) for path in taken}
    places = [place for place in places if os.path.lexists(place.path) and not is_empty_folder(place.path)]
    itself = {real for place in places if (real := os.path.realpath(place.path)) == _unlinked(place.path)}
    for place in places:
        real = os.path.realpath(place.path)
        if real in itself and real != _unlinked(place.path) and not is_inside(place.path, (place.inside,)):
            continue
        found = read_context_file(place, allowed_roots)
        if isinstance(found, SettingsFault):
            faults.append(found)
        elif real not in seen and found.text.strip():
            seen.add(real)
            texts.append(found)
    return tuple(texts), tuple(faults)


def is_empty_folder(path: Path) -> bool:
    """True for a folder with nothing in it: it says nothing, and may only hold a name while a command runs."""
    try:
        return not path.is_symlink() and path.is_dir() and not os.listdir(path)
    except OSError:
        return False


def _unlinked(path: Path) -> str:
    """Path of a file whose folder's links are resolved, its own not."""
    return os.path.join(os.path.realpath(path.parent), path.name)
