"""Removal of a folder that commands wrote in: however deep it is, and whatever they closed in it."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def remove_whole(top: str | Path) -> None:
    """Remove a folder with all that is in it; links go, what they point to stays.

    A tree may be deeper than a path is long, or than Python calls itself: each folder is moved up before it is emptied.
    Nothing may run in it any more.

    Raises:
        OSError: some of it is left; as much went as could.
    """
    top = os.fspath(top)
    problems: list[OSError] = []
    with suppress(OSError):
        os.chmod(top, 0o700)
    shelf = tempfile.mkdtemp(dir=top)
    waiting, number = [top], 0
    while waiting:
        folder = waiting.pop()
        try:
            entries = tuple(os.scandir(folder))
        except OSError as error:
            problems.append(error)
            continue
        for entry in entries:
            if entry.path == shelf:
                continue
            try:
                if entry.is_dir(follow_symlinks=False):
                    moved = os.path.join(shelf, str(number))
                    os.chmod(entry.path, 0o700)
                    os.rename(entry.path, moved)
                    waiting.append(moved)
                    number += 1
                else:
                    os.unlink(entry.path)
            except OSError as error:
                problems.append(error)
        if folder != top:
            _remove_folder(folder, problems)
    _remove_folder(shelf, problems)
    _remove_folder(top, problems)
    if problems:
        raise problems[0]


def _remove_folder(path: str, problems: list[OSError]) -> None:
    try:
        os.rmdir(path)
    except OSError as error:
        problems.append(error)
