"""Paths that a model names in notes on files: found below the folders that a conversation was about."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath

from msgspec.structs import replace

from core.values.harvest import HarvestItem
from core.values.knowledge import Category


def with_found_paths(
    items: Iterable[HarvestItem],
    folders: Iterable[str],
    user: str,
    exists: Callable[[str], bool] = os.path.exists,
) -> tuple[HarvestItem, ...]:
    """Items whose notes name absolute paths, as far as there are such files; the others are as they were.

    Args:
        folders: absolute; that of the conversation first; user: the person's own folder, for `~`.
    """
    places = tuple(folder for folder in folders if os.path.isabs(folder))
    return tuple(
        replace(item, head=found_path(item.head, places, user, exists))
        if item.category is Category.FILES
        else item
        for item in items
    )


def found_path(path: str, folders: Iterable[str], user: str, exists: Callable[[str], bool]) -> str:
    """The absolute path of a file as it was named, or the name where there is none. What climbs (`..`) is not looked for."""
    if is_plain_path(path) or climbs(path):
        return path
    if path.startswith(("~/", "~\\")):
        return os.path.join(user, path[2:])
    found = (os.path.normpath(os.path.join(folder, path)) for folder in folders)
    return next((place for place in found if path and exists(place)), path)


def is_plain_path(path: str) -> bool:
    """True if a path is absolute on some platform and climbs nowhere."""
    windows = PureWindowsPath(path)
    if climbs(path):
        return False
    return PurePosixPath(path).is_absolute() or (windows.is_absolute() and not path.startswith("\\\\"))


def climbs(path: str) -> bool:
    """True if a path leads up again somewhere (`..`)."""
    return ".." in PureWindowsPath(path).parts or ".." in PurePosixPath(path).parts


def working_folders(path: Path, folder: str, root: str) -> tuple[str, ...]:
    """Folders that relative paths of a conversation are looked for in, in that order.

    Args:
        path: of the conversation's file; folder: that it says it worked in, empty where it does not.
        root: the opened project's.
    """
    beside = [str(parent.parent) for parent in path.parents if parent.name == ".specstory"]
    return tuple(dict.fromkeys(filter(None, (folder, *beside, root))))
