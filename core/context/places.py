"""Places of files: paths resolved before they are judged, and how they are shown."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Sequence

from core.base.text import clean

_PLAIN = re.compile(r"(?:[\w-][\w.-]*/)*[\w-][\w.-]*") if os.sep == "/" else re.compile("(?!)")
"""Relative paths that need no folding: most of them, and folding takes longer than reading."""


class Places:
    """The folders that items may read: the project's root and those that the person allowed.

    Symbolic links are resolved before a path is judged. Folders that were resolved are remembered, so one
    instance serves one reading and is then dropped.

    Args:
        root: the project's root, absolute; allowed_roots: absolute folders outside it.
    """

    def __init__(self, root: str, allowed_roots: Sequence[str] = ()) -> None:
        self.root = os.path.realpath(root)
        self._allowed = tuple(os.path.realpath(folder) for folder in (root, *allowed_roots))
        self._shown_root = os.path.abspath(root)
        self._folders: dict[str, str] = {}

    def absolute(self, path: str) -> str:
        """An item's path as an absolute one, `..` folded, links not yet resolved."""
        if _PLAIN.fullmatch(path):
            return f"{self.root}{os.sep}{path}"
        return os.path.normpath(os.path.join(self.root, os.path.expanduser(path)))

    def resolve(self, absolute: str) -> tuple[str, os.stat_result | None]:
        """The path with links resolved, and its status (None where nothing is there).

        Raises:
            OSError: it cannot be asked for (permission, a loop of links), FileNotFoundError apart.
        """
        folder, name = os.path.split(absolute)
        resolved = self._folders.get(folder)
        if resolved is None:
            resolved = self._folders[folder] = os.path.realpath(folder)
        path = os.path.join(resolved, name)
        try:
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                path = os.path.realpath(path)
                status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return path, None
        return path, status

    def is_allowed(self, resolved: str) -> bool:
        """True if a resolved path lies in the project or in an allowed folder."""
        return any(is_inside(resolved, folder) for folder in self._allowed)

    def root_of(self, resolved: str) -> str:
        """The folder among those that may be read in which a resolved path lies, the path itself where none is."""
        return next((folder for folder in self._allowed if is_inside(resolved, folder)), resolved)

    def shown(self, absolute: str) -> str:
        """The path as it is shown and sent: POSIX, relative to the project's root where it lies inside."""
        for root in (self.root, self._shown_root):
            if is_inside(absolute, root):
                return clean(absolute[len(root) :].lstrip(os.sep).replace(os.sep, "/")) or "."
        return clean(absolute.replace(os.sep, "/"))


def is_inside(path: str, folder: str) -> bool:
    """True if `path` is `folder` or lies in it. Both absolute and normal."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def is_below(path: str, places: Collection[str]) -> bool:
    """True if a path is one of some places, or lies in one."""
    return any(is_inside(path, place) for place in places)
