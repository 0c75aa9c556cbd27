"""Files of a home, its caches and logs: which there are, and how those go that are made anew by themselves."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

from core.base import paths
from core.base.diagnostics import LOG_NAME
from core.base.disk import Disk, remove_file
from core.base.opener import open_descriptor
from core.forgetting.places import Folder, Place, place_of


def files_of(folder: Path, left_out: Collection[Path] = ()) -> Iterator[Path]:
    """Every file below a folder, a folder at a time, by name. `left_out`: folders in it that are passed over."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if Path(place, one) not in left_out)
        yield from (Path(place, name) for name in sorted(names))


def is_of_home(home: Path, root: Folder, name: str) -> bool:
    """True for a file of this home: the folder of caches is of all homes. `name`: below the root."""
    if root is not Folder.CACHE or not name.startswith(("catalog-", "facts-", "index-")):
        return True
    return paths.catalog_file(home).stem.partition("-")[2] in name


def drop_place(home: Path, place: Place, disk: Disk) -> int:
    """Remove every file of a derived place, of this home. Returns how many. Raises StorageError: one is still there."""
    folder = {Folder.HOME: home, Folder.CACHE: paths.cache_dir(), Folder.LOG: paths.log_dir()}[place.root]
    names = ((path, path.relative_to(folder).as_posix()) for path in files_of(folder))
    found = [
        path
        for path, name in names
        if place_of(place.root, name) is place and is_of_home(home, place.root, name)
    ]
    for path in found:
        remove_file(path, disk=disk)
    return len(found)


def empty_logs(folder: Path) -> int:
    """Empty the log in place, for others may have it open, and remove those that were turned over.

    Returns:
        How many there were.

    Raises:
        OSError: one could not be opened or removed.
    """
    count = 0
    for path in sorted(folder.glob(f"{LOG_NAME}*")) if folder.is_dir() else []:
        if path.name == LOG_NAME:
            descriptor = open_descriptor(path, os.O_RDWR)
            try:
                os.ftruncate(descriptor, 0)
            finally:
                os.close(descriptor)
        else:
            path.unlink(missing_ok=True)
        count += 1
    return count
