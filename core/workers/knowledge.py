"""Reads knowledge for the window and makes the digest when asked, on one thread."""

from __future__ import annotations

import threading
from pathlib import Path

from core.errors import LockedError, SlopError
from core.knowledge.apply import recover_home
from core.knowledge.digest import digest_file, regenerate_digest
from core.knowledge.layer import layer_inputs
from core.knowledge.reading import KnowledgeReader
from core.values import effects as f
from core.values import events as e
from core.values.curation import ItemFiles, NamedText
from core.values.effects import Effect, StackSpec
from core.values.settings import KnowledgeSettings
from core.workers.queue import Emit


class KnowledgeHandler:
    """Carries out the knowledge worker's effects.

    Args:
        home: the person's data; emit: the inbox; is_read_only: the home cannot be written.
    """

    def __init__(self, home: Path, emit: Emit, *, is_read_only: bool = False) -> None:
        self._home = home
        self._emit = emit
        self._reader = KnowledgeReader(home)
        self._may_recover = not is_read_only

    def handle(self, effect: Effect) -> None:
        """Carry out one effect. Raises SlopError for what could not be done."""
        match effect:
            case f.ReadKnowledge():
                self._recover()
                self._read(effect.settings, effect.candidates)
            case f.MakeDigest():
                done = regenerate_digest(self._home)
                self._read(effect.settings, ())
                self._emit(e.OperationDone("digest", f"Digest {done.write.value}"))
            case _:
                raise AssertionError(effect)

    def _read(self, settings: KnowledgeSettings, candidates: tuple[str, ...]) -> None:
        """Tell the switch and the digest at once, then all the items."""
        self._emit(e.KnowledgeRead(self._reader.read(settings, candidates, with_categories=False)))
        self._emit(e.KnowledgeRead(self._reader.read(settings, candidates)))

    def _recover(self) -> None:
        """Once: finish what a crash interrupted."""
        if not self._may_recover:
            return
        self._may_recover = False
        try:
            found = recover_home(self._home)
        except LockedError:
            return
        except SlopError as error:
            self._emit(e.OperationFailed("knowledge", error.what, f"{error.remedy} {error.where}".strip()))
            return
        if found:
            text = f"A harvest that was interrupted is whole now: {len(found)} conversations"
            self._emit(e.OperationDone("knowledge", text, "\n".join(found)))


class Layer7:
    """Reads the digest and the notes on files in scope fresh for every assembly: `rm` counts at once. Thread-safe."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._reader = KnowledgeReader(home)

    def read(self, spec: StackSpec, items: tuple[ItemFiles, ...]) -> tuple[str, tuple[NamedText, ...]]:
        """The digest's text and notes of a preset's files, both empty while knowledge is off."""
        if not spec.knowledge.digest_enabled or not digest_file(self._home).is_file():
            return "", ()
        candidates = [file.absolute_path for item in items for file in item.files]
        with self._lock:
            found = self._reader.read(spec.knowledge, candidates, with_categories=False)
        return layer_inputs(found, items, spec.knowledge.budget_bytes)


def supersedes(newer: Effect, older: Effect) -> bool:
    """A later reading makes an earlier one needless."""
    return isinstance(newer, f.ReadKnowledge) and isinstance(older, f.ReadKnowledge)
