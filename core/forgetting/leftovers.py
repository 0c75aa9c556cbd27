"""Words that stand in a home beside the places: temporary files that a crash left, and files that are not ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from core.base import paths
from core.base.database_bytes import pieces_of
from core.base.disk import Disk, remove_file
from core.forgetting import intent as store
from core.forgetting import places
from core.forgetting.files import files_of, is_of_home
from core.forgetting.words import Words, holds

_WRITTEN = ("knowledge", store.FOLDER)
"""Folders of the home in which a write that was cut short leaves words behind."""

_SAID = 5


def drop_leftovers(home: Path, disk: Disk) -> int:
    """Remove temporary files of writes that a crash cut short. Our own locks keep others from writing meanwhile.

    Returns:
        How many there were. Raises StorageError: one is still there.
    """
    count = 0
    below = (path for top in _WRITTEN for path in (home / top).glob("**") if path.is_dir())
    mark = paths.index_dir(home).name.partition("-")[2]
    derived = paths.cache_dir().glob(f".*{mark}*.tmp")
    for path in (*(one for folder in (home, *below) for one in folder.glob(".*.tmp")), *derived):
        remove_file(path, disk=disk)
        count += 1
    return count


def words_left(home: Path, words: Words) -> dict[str, str]:
    """Reasons why words may be left, by place: files of knowledge and caches that hold one still, and files that are not ours."""
    found: dict[str, str] = {}
    strangers = []
    for root, folder, path in _files(home):
        name = path.relative_to(folder).as_posix()
        place = places.place_of(root, name)
        if place is not None and (place.is_wordless or place.is_unread or not is_of_home(home, root, name)):
            continue
        with suppress(OSError):
            if not holds(b"".join(pieces_of(path)), words):
                continue
            if place is not None:
                found.setdefault(place.id, f"words of it stand in {name} still, in another's text")
            elif root is places.Folder.HOME:
                strangers.append(name)
    if strangers:
        more = f" and {len(strangers) - _SAID:,} more" if len(strangers) > _SAID else ""
        said = ", ".join(strangers[:_SAID]) + more
        found["strangers"] = (
            f"words of it stand in {said}: no file of the program, so it stays; delete it by hand"
        )
    return found


def _files(home: Path) -> Iterator[tuple[places.Folder, Path, Path]]:
    """Files of the home but for conversations and the trash, and of the caches, with the folder that each is below."""
    left_out = (paths.discussions_dir(home), paths.trash_dir(home), store.folder(home))
    for root, folder, out in (
        (places.Folder.HOME, home, left_out),
        (places.Folder.CACHE, paths.cache_dir(), ()),
    ):
        for path in files_of(folder, out):
            yield root, folder, path
