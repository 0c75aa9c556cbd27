"""Imports in the background, one at a time; stopped from another thread between two conversations."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, assert_never

from core.base.errors import SlopError
from core.imports.messages import (
    ImportEffect,
    ImportEnded,
    ImportEvent,
    ImportProgressed,
    RunImport,
    StopImport,
)
from core.imports.run import ImportRequest, run_import
from core.imports.sources import PIPE

Emit = Callable[[ImportEvent], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

TELL_S = 0.1
"""Seconds between two words on how far a run is."""

STOPPED = "You stopped it"
ENDING = "The program is ending"


class ImportHandler:
    """Carries out the import worker's effects.

    Args:
        home: the person's data; clock: UTC; emit: the inbox.
        pipe: gives the standard input of a command, None for a program that serves others.
    """

    def __init__(
        self,
        home: Path,
        clock: Callable[[], datetime],
        emit: Emit,
        pipe: Callable[[], BinaryIO] | None = None,
    ) -> None:
        self._home, self._clock, self._emit, self._pipe = home, clock, emit, pipe
        self._stop = threading.Event()
        self._why = ""
        self._is_closing = False
        self._told_at = 0.0

    def prepare(self) -> None:
        """A run is about to be queued: from now on it can be stopped. On the controller's thread."""
        if not self._is_closing:
            self._stop.clear()

    def cancel(self) -> None:
        """Stop the run that is queued or under way. Thread-safe."""
        self._why = STOPPED
        self._stop.set()

    def close(self) -> None:
        """The program ends: stop the run, and every one that may still come. Thread-safe."""
        self._is_closing, self._why = True, ENDING
        self._stop.set()

    def handle(self, effect: ImportEffect) -> None:
        """Carry out one effect. A run ends with an event of its own, also where it fails."""
        match effect:
            case RunImport():
                self._run(effect)
            case StopImport():
                self.cancel()
            case _:
                assert_never(effect)

    def _run(self, effect: RunImport) -> None:
        grown: list[str] = []
        request = ImportRequest(
            self._home,
            effect.paths,
            self._clock(),
            effect.provider,
            effect.model,
            is_dry=effect.is_dry,
            without=effect.without,
        )
        try:
            report = run_import(
                request, pipe=self._piped(effect.paths), on_progress=self._progressed, on_written=grown.append
            )
        except SlopError as error:
            detail = ". ".join(filter(None, (error.remedy.removesuffix("."), error.where)))
            self._emit(ImportEnded(None, error.what, detail))
        except Exception as error:  # the run is over, and is told so; the queue tells the rest
            self._emit(ImportEnded(None, f"The import failed: {error}", "See the log file."))
            raise
        else:
            self._emit(ImportEnded(report, written=tuple(grown)))

    def _piped(self, paths: tuple[str, ...]) -> BinaryIO | None:
        if PIPE not in paths:
            return None
        if self._pipe is None:
            raise SlopError("A window has no standard input", remedy="Name a file or a folder")
        return self._pipe()

    def _progressed(self, count: int, doing: str) -> None:
        if self._stop.is_set():
            raise SlopError(self._why, remedy="Import again: what is here already adds nothing")
        if time.monotonic() - self._told_at > TELL_S:
            self._told_at = time.monotonic()
            self._emit(ImportProgressed(count, doing))
