"""Keeps the Context view and the preset's files up to date, latest wins, off the frame loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from msgspec.structs import replace

from core.base.reports import Report
from core.context.assembly import Assembler, TokenCounter
from core.context.file_reader import Outliner, read_item
from core.context.losses import LossesSaid
from core.context.measure import Assembly, some_uncounted
from core.context.messages import (
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
from core.values.curation import FileMode, FileSnapshot

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
        self._emit(FilesRead(spec.preset.name, assembly.items, self._lost(assembly)))
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
        self._emit(ContextAssembled(assembly.spec.discussion_id, report, plan))

    def _inspect(self, effect: InspectOnDisk) -> None:
        """Report the file with its outline, then again with its tokens."""
        item = replace(effect.item, mode=FileMode.OUTLINE)
        found = read_item(
            effect.root, item, effect.limits, effect.allowed_roots, outline=self._outline, shown=effect.shown
        )
        if not found.files:
            self._emit(FileInspected(FileSnapshot(item.path, "", problem=found.problem)))
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
