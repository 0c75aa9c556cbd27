"""Walk through the project's files for `glob` and `grep`: bounded, by the rules of `.gitignore`, inside the folders."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

import msgspec

from core.agent.guarded_files import Fence, ToolPath
from core.agent.tool import ToolPlaces
from core.context.globs import expand, glob_base
from core.context.ignores import ignores_at

MAX_WALKED = 50_000
"""Files that one walk finds before it is cut."""


class Walk(msgspec.Struct, frozen=True):
    """Finds of a walk.

    Args:
        files: sorted by path, none of them ours; ignored: matches that `.gitignore` left out; is_cut: there are more.
    """

    files: tuple[ToolPath, ...] = ()
    ignored: int = 0
    is_cut: bool = False


def walk(start: ToolPath, pattern: str, places: ToolPlaces, *, with_ignored: bool = False) -> Walk | str:
    """Find the files below a folder whose path matches.

    Args:
        start: a folder that was judged; pattern: with `/`; one without is looked for at any depth.

    Returns:
        The files, or why there are none, a sentence for the model.
    """
    if "\0" in pattern or len(pattern) > 1_000 or ".." in pattern.split("/"):
        return "The pattern is too long, or leaves its folder."
    if pattern.startswith("/"):
        return "The pattern is relative: name the folder by `folder`."
    parts = pattern if "/" in pattern else f"**/{pattern}"
    fence = Fence(places)
    if not any(mark in parts for mark in "*?["):
        return _one(fence.judge(os.path.join(start.path, parts)))
    below, wild = glob_base(parts)
    place = fence.judge(os.path.join(start.path, below)) if below else start
    if place.problem:
        return place.problem
    if not os.path.isdir(place.path):
        return f"There is no folder {place.shown!r}."
    rules = None if with_ignored else ignores_at(place.path, place.root)
    found = expand(place.path, wild, MAX_WALKED, rules)
    files = tuple(entry for entry in map(fence.entry, found.paths) if not entry.problem)
    return Walk(files, found.ignored, found.is_too_many)


def _one(place: ToolPath) -> Walk | str:
    if place.problem:
        return place.problem
    with suppress(OSError):
        if stat.S_ISREG(os.lstat(place.path).st_mode):
            return Walk((place,))
    return Walk()
