"""Expands a glob by a walk that is bounded, deterministic and stays out of folders nobody curates."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__"})
"""Folders that `*` and `**` do not enter, beside those whose name starts with a dot (`.git`, `.venv`)."""

MAX_VISITED = 300_000
"""Entries that one walk looks at before it gives up."""

_ANY_DEPTH = "**"


@dataclass(frozen=True, slots=True)
class GlobFound:
    """What a walk found.

    Args:
        paths: absolute, sorted; empty when there were more than allowed.
        is_too_many: the limit was passed and the walk stopped; visited: entries it had looked at.
    """

    paths: tuple[str, ...]
    visited: int
    is_too_many: bool = False


@dataclass(frozen=True, slots=True)
class _Step:
    """One part of a pattern: a name to match, or any number of folders."""

    name: re.Pattern[str] | None
    is_hidden_asked: bool
    skipped_asked: str


def glob_base(pattern: str) -> tuple[str, tuple[str, ...]]:
    """Split a pattern into the folder it starts from and the parts from the first wildcard on."""
    parts = pattern.split("/")
    first = next(i for i, part in enumerate(parts) if any(mark in part for mark in "*?["))
    return "/".join(parts[:first]) or ("/" if pattern.startswith("/") else ""), tuple(parts[first:])


def expand(base: str, parts: tuple[str, ...], limit: int) -> GlobFound:
    """Find the files under `base` that match.

    As in a shell, names that start with a dot match only a part that does; `**` is any number of folders.
    Links to folders are not followed. `SKIPPED_FOLDERS` are entered only where a part names them.

    Args:
        base: absolute folder, links resolved; parts: as `glob_base` gives them; limit: files, at least 1.
    """
    steps = tuple(_step(part) for part in parts)
    found: list[str] = []
    visited = 0
    waiting = [(base, _closed({0}, steps))]
    while waiting:
        folder, places = waiting.pop()
        for entry in _entries(folder):
            visited += 1
            after = _advanced(entry.name, places, steps)
            if not after:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append((entry.path, after))
            elif len(steps) in after and not _is_folder_link(entry):
                found.append(entry.path)
            if len(found) > limit or visited >= MAX_VISITED:
                return GlobFound((), visited, is_too_many=True)
    return GlobFound(tuple(sorted(found)), visited)


def _step(part: str) -> _Step:
    if part == _ANY_DEPTH:
        return _Step(None, is_hidden_asked=False, skipped_asked="")
    pattern = re.compile(fnmatch.translate(part))
    return _Step(pattern, is_hidden_asked=part.startswith("."), skipped_asked=part)


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """The entries of a folder, none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return


def _is_folder_link(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_symlink() and entry.is_dir()
    except OSError:
        return False


def _closed(places: set[int], steps: tuple[_Step, ...]) -> frozenset[int]:
    """Places in the pattern, those after a `**` that stands for no folder included."""
    closed = set(places)
    for place in sorted(places):
        at = place
        while at < len(steps) and steps[at].name is None:
            at += 1
            closed.add(at)
    return frozenset(closed)


def _advanced(name: str, places: frozenset[int], steps: tuple[_Step, ...]) -> frozenset[int]:
    """Where the pattern may stand after a name."""
    is_hidden = name.startswith(".")
    after = set()
    for place in places:
        if place == len(steps):
            continue
        step = steps[place]
        if step.name is None:
            if not is_hidden and name not in SKIPPED_FOLDERS:
                after.add(place)
        elif step.name.match(name) and _is_asked(step, name, is_hidden=is_hidden):
            after.add(place + 1)
    return _closed(after, steps)


def _is_asked(step: _Step, name: str, *, is_hidden: bool) -> bool:
    if is_hidden:
        return step.is_hidden_asked
    return name not in SKIPPED_FOLDERS or step.skipped_asked == name
