"""Keeps the Context view and the preset's files up to date, latest wins, off the frame loop."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import assert_never

from msgspec.structs import replace

from core.kernel.disk import make_dirs
from core.kernel.errors import StorageError
from core.kernel.opener import open_descriptor, read_file
from core.kernel.values.curation import FileItem, FileMode, FileSnapshot, ItemFiles
from core.kernel.values.settings import FileLimits
from core.kernel.values.updates import Report
from core.talk.context.assembly import Assembler, TokenCounter
from core.talk.context.context_messages import (
    AssembleContext,
    ContextAssembled,
    ContextEffect,
    ContextEvent,
    FileInspected,
    FilesRead,
    GlobLoss,
    InspectOnDisk,
    LeaveStack,
)
from core.talk.context.difference import Assembly, some_uncounted
from core.talk.context.file_reader import Outliner, look_up_glob, read_item
from core.talk.context.globs import Places, expand, glob_base

# Losses of globs since they follow `.gitignore`: counted and said once for each glob of a project.

log = logging.getLogger(__name__)


class LossesSaid:
    """The losses that the program has reported, so that it reports none twice. One thread at a time.

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
        return ItemFiles(item=item, files=())
    return ItemFiles(
        item=item,
        files=tuple(FileSnapshot(path=path, absolute_path=path) for path in found.paths),
        ignored=found.ignored,
    )


def _loss(root: str, found: ItemFiles, limits: FileLimits, allowed_roots: tuple[str, ...]) -> GlobLoss:
    """Number of files that the glob would take more without the rules, up to the limit of files."""
    base, parts = glob_base(Places(root, allowed_roots).absolute(found.item.path).replace(os.sep, "/"))
    everything = expand(os.path.realpath(base), parts, limits.max_glob_files)
    if everything.is_too_many:
        return GlobLoss(path=found.item.path, files=limits.max_glob_files - len(found.files), is_more=True)
    return GlobLoss(path=found.item.path, files=len(everything.paths) - len(found.files))


Emit = Callable[[ContextEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""


class ContextHandler:
    """Carries out the context worker's effects.

    Args:
        assembler: builds and measures; outline, counter: for the structure view; emit: the inbox.
        losses: which losses to .gitignore were said; None says none.
    """

    def __init__(
        self,
        assembler: Assembler,
        outline: Outliner,
        counter: TokenCounter,
        emit: Emit,
        losses: LossesSaid | None = None,
    ) -> None:
        self._assembler = assembler
        self._outline = outline
        self._counter = counter
        self._emit = emit
        self._losses = losses
        self._uncounted: dict[str, Assembly] = {}

    def handle(self, effect: ContextEffect) -> None:
        """Carry out one effect."""
        match effect:
            case AssembleContext():
                self._assemble(effect)
            case LeaveStack():
                self._uncounted.pop(effect.discussion_id, None)
                self._assembler.forget(effect.discussion_id)
            case InspectOnDisk():
                self._inspect(effect)
            case _:
                assert_never(effect)

    def _assemble(self, effect: AssembleContext) -> None:
        """Report at once with estimates; `count_on` reports again when the tokens are counted."""
        spec = effect.spec
        assembly = self._assembler.assemble(spec)
        self._emit(FilesRead(preset=spec.preset.name, items=assembly.items, losses=self._lost(assembly)))
        self._report(assembly)
        self._uncounted.pop(spec.discussion_id, None)
        if not assembly.is_counted:
            self._uncounted[spec.discussion_id] = assembly

    def count_on(self, is_asked: Callable[[], bool]) -> None:
        """Count what was only estimated and report it, the newest discussion first.

        Args:
            is_asked: whether other effects wait: counting lets them go first, and goes on behind them.
        """
        while self._uncounted and not is_asked():
            newest, assembly = self._uncounted.popitem()
            if some := some_uncounted(assembly, self._counter.known()):
                self._counter.count(some)
                self._uncounted[newest] = assembly
            else:
                self._report(self._assembler.recount(assembly))

    def _lost(self, assembly: Assembly) -> tuple[GlobLoss, ...]:
        if self._losses is None:
            return ()
        spec = assembly.spec
        return self._losses.fresh(spec.root, assembly.items, spec.limits, tuple(spec.allowed_roots))

    def _report(self, assembly: Assembly) -> None:
        planned = self._assembler.plan(assembly)
        report = self._assembler.report(assembly, planned)
        plan = None if planned is None else planned.plan
        self._emit(ContextAssembled(discussion_id=assembly.spec.discussion_id, report=report, plan=plan))

    def _inspect(self, effect: InspectOnDisk) -> None:
        """Report the file with its outline, then again with its tokens."""
        item = replace(effect.item, mode=FileMode.OUTLINE)
        found = read_item(
            effect.root, item, effect.limits, effect.allowed_roots, outline=self._outline, shown=effect.shown
        )
        if not found.files:
            self._emit(FileInspected(FileSnapshot(path=item.path, absolute_path="", problem=found.problem)))
            return
        file = found.files[0]
        self._emit(FileInspected(file))
        if file.problem is None:
            self._counter.count({file.text_sha256: file.text})
            tokens = self._counter.known().get(file.text_sha256)
            self._emit(FileInspected(replace(file, tokens=tokens)))


def supersedes(newer: ContextEffect, older: ContextEffect) -> bool:
    """A later assembly of the same discussion makes an earlier one needless; so does a later look at a file."""
    if isinstance(newer, AssembleContext) and isinstance(older, AssembleContext):
        return newer.spec.discussion_id == older.spec.discussion_id
    return isinstance(newer, InspectOnDisk) and isinstance(older, InspectOnDisk)
