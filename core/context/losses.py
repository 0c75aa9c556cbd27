"""Losses of globs since they follow `.gitignore`: counted and said once for each glob of a project."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterable
from pathlib import Path

from core.base.disk import make_dirs
from core.base.errors import StorageError
from core.base.opener import open_descriptor, read_file
from core.context.file_reader import look_up_glob
from core.context.globs import expand, glob_base
from core.context.messages import GlobLoss
from core.context.places import Places
from core.values.curation import FileItem, FileSnapshot, ItemFiles
from core.values.settings import FileLimits

log = logging.getLogger(__name__)


class LossesSaid:
    """Record of the losses that were said, so that none is said twice. One thread at a time.

    Args:
        file: one line for each glob of which it was said; safe to delete, it is then said once more.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._looked: set[str] = set()

    def fresh(
        self, root: str, items: Iterable[ItemFiles], limits: FileLimits, allowed_roots: tuple[str, ...]
    ) -> tuple[GlobLoss, ...]:
        """The losses that were not said yet; they count as said from now on.

        Args:
            root: the project's, absolute; items: as they were just read.
        """
        losses = []
        for found in items:
            key = hashlib.sha256(f"{root}\n{found.item.path}".encode("utf-8", "surrogateescape")).hexdigest()
            if not found.ignored or key in self._looked:
                continue
            self._looked.add(key)
            if not self._is_said(key) and (loss := _loss(root, found, limits, allowed_roots)).files:
                self._note(key)
                losses.append(loss)
        return tuple(losses)

    def fresh_in(
        self, root: str, items: Iterable[FileItem], limits: FileLimits, allowed_roots: tuple[str, ...]
    ) -> tuple[GlobLoss, ...]:
        """As `fresh`, of items that were not read: their globs are looked up, no file is opened."""
        places = Places(root, allowed_roots)
        globs = (item for item in items if item.enabled and item.is_glob and not item.include_ignored)
        return self.fresh(root, [_looked_up(places, item, limits) for item in globs], limits, allowed_roots)

    def _is_said(self, key: str) -> bool:
        try:
            return key in read_file(self._file).decode("ascii").split()
        except (OSError, ValueError):
            return False

    def _note(self, key: str) -> None:
        try:
            make_dirs(self._file.parent)
            descriptor = open_descriptor(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with os.fdopen(descriptor, "a", encoding="ascii") as file:
                file.write(f"{key}\n")
        except (OSError, StorageError) as fault:
            log.warning("What .gitignore leaves out will be said again: %s", fault)


def _looked_up(places: Places, item: FileItem, limits: FileLimits) -> ItemFiles:
    """A glob's files by name alone."""
    absolute = places.absolute(item.path)
    try:
        found = None if os.path.lexists(absolute) else look_up_glob(places, item, absolute, limits)
    except (OSError, ValueError):
        found = None  # said by whoever reads it
    if found is None:
        return ItemFiles(item, ())
    return ItemFiles(item, tuple(FileSnapshot(path, path) for path in found.paths), ignored=found.ignored)


def _loss(root: str, found: ItemFiles, limits: FileLimits, allowed_roots: tuple[str, ...]) -> GlobLoss:
    """Number of files that the glob would take more without the rules, up to the limit of files."""
    base, parts = glob_base(Places(root, allowed_roots).absolute(found.item.path).replace(os.sep, "/"))
    everything = expand(os.path.realpath(base), parts, limits.max_glob_files)
    if everything.is_too_many:
        return GlobLoss(found.item.path, limits.max_glob_files - len(found.files), is_more=True)
    return GlobLoss(found.item.path, len(everything.paths) - len(found.files))
