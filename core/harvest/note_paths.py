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

    A model names any path, and a conversation from elsewhere has it do so: a file outside of these folders is never
    looked at, so that its note is bound to no file.

    Args:
        folders: absolute; that of the conversation first; user: the person's own folder, for `~`.
    """
    places = tuple(folder for folder in folders if os.path.isabs(folder) and not _is_broad(folder, user))
    return tuple(
        _found(item, places, user, exists) if item.category is Category.FILES else item for item in items
    )


def _found(
    item: HarvestItem, places: tuple[str, ...], user: str, exists: Callable[[str], bool]
) -> HarvestItem:
    path = found_path(item.head, places, user, exists)
    return replace(item, head=path, is_outside=os.path.isabs(path) and not is_inside(path, places))


def is_inside(path: str, folders: Iterable[str]) -> bool:
    """True if a file lies in one of these folders, links followed."""
    real = os.path.realpath(path)
    return any(real.startswith(os.path.realpath(folder).rstrip(os.sep) + os.sep) for folder in folders)


def _is_broad(folder: str, user: str) -> bool:
    """True for a folder that holds the person's own one, or is it: what lies in it belongs to no project."""
    real = os.path.realpath(folder).rstrip(os.sep) + os.sep
    return (os.path.realpath(user).rstrip(os.sep) + os.sep).startswith(real)


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
