"""Crash reports of the window: where it stood when it ended unexpectedly, kept in the home, told at the next start."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from core.kernel import paths
from core.kernel.errors import StorageError
from core.kernel.opener import open_descriptor

if TYPE_CHECKING:
    import traceback

MOST_REPORTS = 10
_LIVE = "live-"


class CrashWatch:
    """Writes down where the program stands when it crashes. No word of a person: frames and kinds of errors alone.

    Args:
        home: reports lie below it.
    """

    def __init__(self, home: Path) -> None:
        self._path = paths.crashes_dir(home) / f"{_LIVE}{os.getpid()}.txt"
        self._descriptor = -1

    def begin(self) -> None:
        """Watch from now on. A home that takes no file is not watched."""
        from core.kernel.disk import make_dirs

        try:
            make_dirs(self._path.parent)
            self._descriptor = open_descriptor(
                self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            )
        except (StorageError, OSError):
            return
        faulthandler.enable(self._descriptor)
        sys.excepthook = self._uncaught
        threading.excepthook = self._uncaught_in_thread

    def end(self) -> None:
        """The program ends as it should: an empty report goes. Idempotent."""
        if self._descriptor < 0:
            return
        sys.excepthook, threading.excepthook = sys.__excepthook__, threading.__excepthook__
        faulthandler.disable()
        os.close(self._descriptor)
        self._descriptor = -1
        with suppress(OSError):
            if not self._path.stat().st_size:
                self._path.unlink()

    def note(self, kind: type[BaseException], trace: TracebackType | None, thread: str) -> None:
        """Write down an error that nobody caught."""
        import traceback

        frames = "".join(traceback.format_list(_without_lines(trace)))
        text = f"{kind.__module__}.{kind.__qualname__} in thread {thread}\n{frames}\n"
        with suppress(OSError):
            os.write(self._descriptor, text.encode("utf-8", "replace"))

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            self.note(kind, trace, threading.current_thread().name)
        sys.__excepthook__(kind, error, trace)

    def _uncaught_in_thread(self, given: threading.ExceptHookArgs) -> None:
        if not issubclass(given.exc_type, SystemExit):
            self.note(given.exc_type, given.exc_traceback, given.thread.name if given.thread else "?")
        threading.__excepthook__(given)


def take_reports(home: Path, now: datetime) -> str:
    """Put by what earlier runs left. The home must be ours.

    Returns:
        The path of the newest new report, empty where no run crashed.
    """
    folder, newest = paths.crashes_dir(home), ""
    for path in _live(folder):
        with suppress(OSError):
            if not path.stat().st_size:
                path.unlink()
                continue
            target = path.with_name(f"{now:%Y%m%d-%H%M%S}-{path.stem.removeprefix(_LIVE)}.txt")
            path.replace(target)
            newest = str(target)
    for old in reports(home)[:-MOST_REPORTS]:
        with suppress(OSError):
            old.unlink()
    return newest


def reports(home: Path) -> tuple[Path, ...]:
    """Reports that are kept, oldest first."""
    return tuple(path for path in _named(paths.crashes_dir(home)) if not path.name.startswith(_LIVE))


def _live(folder: Path) -> tuple[Path, ...]:
    """Reports of runs that are not this one."""
    own = f"{_LIVE}{os.getpid()}.txt"
    return tuple(path for path in _named(folder) if path.name.startswith(_LIVE) and path.name != own)


def _named(folder: Path) -> tuple[Path, ...]:
    try:
        return tuple(folder / name for name in sorted(os.listdir(folder)) if name.endswith(".txt"))
    except OSError:
        return ()


def _without_lines(trace: TracebackType | None) -> list[traceback.FrameSummary]:
    """Frames without source lines: where the program stood says enough."""
    import traceback

    found = traceback.extract_tb(trace)
    return [traceback.FrameSummary(one.filename, one.lineno, one.name, line="") for one in found]
