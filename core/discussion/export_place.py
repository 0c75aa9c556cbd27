"""Places for an export: nothing of ours is written over, nor a file that stands there, unless that was said."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

import msgspec

from core.base.errors import StorageError


class ExportPlace(msgspec.Struct, frozen=True):
    """A place as it was found.

    Args:
        target: where the bytes would go, links followed; kept: what of ours it is or lies in, empty for nothing.
        is_there: something has this name, be it a link that leads nowhere; is_file: it is a file, or a link to one.
    """

    target: Path
    kept: str = ""
    is_there: bool = False
    is_folder: bool = False
    is_file: bool = False


def check_place(place: ExportPlace, *, replaces: bool) -> None:
    """Raise where an export may not go.

    Args:
        replaces: the person said that a file that stands there may go.

    Raises:
        StorageError: it lies in what is ours, is no file, or stands there and nobody said that it may go.
    """
    if place.kept:
        raise _refused(place, f"it belongs to Manual Slop ({place.kept})", "Choose a place outside")
    if place.is_folder:
        raise _refused(place, "it is a folder", "Name a file in it")
    if place.is_there and not place.is_file:
        raise _refused(place, "it is no file", "Choose another name")
    if place.is_there and not replaces:
        raise _refused(place, "it is there already", "Choose another name, or say that it may be replaced")


def look_at(path: str, kept: Iterable[Path]) -> ExportPlace:
    """Look at a place, by what the file system says: links, and names that differ in case alone, are seen through.

    Args:
        path: as the person gave it, `~` for their own folder.
        kept: folders and files of ours; they need not be there.

    Raises:
        StorageError: it is not an absolute path, or leads in a circle.
    """
    try:
        given = Path(path).expanduser()
    except RuntimeError as error:
        raise _refused(ExportPlace(Path(path)), str(error), "Choose another place") from error
    if not given.is_absolute():
        raise _refused(ExportPlace(given), "it is not a whole path", "Begin it with / or ~")
    try:
        target = given.parent.resolve() / given.name
        real = target.resolve()
        found = real.stat() if real.exists() else None
    except (OSError, RuntimeError, ValueError) as error:
        raise _refused(ExportPlace(Path(path)), str(error), "Choose another place") from error
    ours = next((str(one) for one in kept for place in (target, real) if _is_within(place, one)), "")
    return ExportPlace(
        real if found is not None else target,
        ours,
        is_there=os.path.lexists(target),
        is_folder=found is not None and stat.S_ISDIR(found.st_mode),
        is_file=found is not None and stat.S_ISREG(found.st_mode),
    )


def _is_within(place: Path, kept: Path) -> bool:
    """True if a place is something of ours or lies in it."""
    try:
        ours = kept.stat()
    except OSError:
        return _spelt(place).is_relative_to(_spelt(kept.absolute()))  # not there: its name alone can tell
    for folder in (place, *place.parents):
        try:
            found = folder.stat()
        except OSError:
            continue
        if os.path.samestat(found, ours):
            return True
    return False


def _spelt(path: Path) -> Path:
    return Path(str(path).casefold())


def _refused(place: ExportPlace, why: str, remedy: str) -> StorageError:
    return StorageError(
        f"Nothing is exported to {place.target.name!r}: {why}", remedy=remedy, where=str(place.target)
    )
