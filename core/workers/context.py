"""Keeps the Context view and the preset's files up to date, latest wins, off the frame loop."""

from __future__ import annotations

from dataclasses import replace

from core.files.read import Outliner, read_item
from core.values import effects as f
from core.values import events as e
from core.values.curation import FileMode, FileSnapshot
from core.values.effects import Effect
from core.workers.assembly import Assembler, Assembly, TokenCounter
from core.workers.queue import Emit


class ContextHandler:
    """Carries out the context worker's effects.

    Args:
        assembler: builds and measures; outline, counter: for the structure view; emit: the inbox.
    """

    def __init__(self, assembler: Assembler, outline: Outliner, counter: TokenCounter, emit: Emit) -> None:
        self._assembler = assembler
        self._outline = outline
        self._counter = counter
        self._emit = emit

    def handle(self, effect: Effect) -> None:
        """Carry out one effect."""
        match effect:
            case f.AssembleContext():
                self._assemble(effect)
            case f.InspectOnDisk():
                self._inspect(effect)
            case f.CheckRewrites():
                self._check(effect)
            case _:
                raise AssertionError(effect)

    def _assemble(self, effect: f.AssembleContext) -> None:
        """Report at once with estimates, then again when the tokens are counted."""
        spec = effect.spec
        assembly = self._assembler.assemble(spec)
        self._emit(e.FilesRead(spec.preset.name, assembly.items))
        self._report(assembly)
        if not assembly.is_counted:
            self._report(self._assembler.recount(assembly))

    def _report(self, assembly: Assembly) -> None:
        report, plan = self._assembler.report(assembly), self._assembler.plan(assembly)
        self._emit(e.ContextAssembled(assembly.spec.discussion_id, report, plan))

    def _check(self, effect: f.CheckRewrites) -> None:
        found = [self._assembler.rewrite(spec) for spec in effect.specs]
        ids = tuple(spec.discussion_id for spec in effect.specs)
        self._emit(e.RewritesChecked(ids, tuple(one for one in found if one is not None)))

    def _inspect(self, effect: f.InspectOnDisk) -> None:
        """Report the file with its outline, then again with its tokens."""
        item = replace(effect.item, mode=FileMode.OUTLINE)
        found = read_item(effect.root, item, effect.limits, effect.allowed_roots, outline=self._outline)
        if not found.files:
            self._emit(e.FileInspected(FileSnapshot(item.path, "", problem=found.problem)))
            return
        file = found.files[0]
        self._emit(e.FileInspected(file))
        if file.problem is None:
            self._counter.count({file.text_sha256: file.text})
            tokens = self._counter.known().get(file.text_sha256)
            self._emit(e.FileInspected(replace(file, tokens=tokens)))


def supersedes(newer: Effect, older: Effect) -> bool:
    """A later assembly of the same discussion makes an earlier one needless; so does a later look at a file or at layer 7."""
    match newer, older:
        case f.AssembleContext(), f.AssembleContext():
            return newer.spec.discussion_id == older.spec.discussion_id
        case f.InspectOnDisk(), f.InspectOnDisk():
            return True
        case f.CheckRewrites(), f.CheckRewrites():
            ids = {spec.discussion_id for spec in newer.specs}
            return all(spec.discussion_id in ids for spec in older.specs)
        case _:
            return False
