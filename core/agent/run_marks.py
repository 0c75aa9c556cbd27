"""Marks of runs of the program that started commands: what carries the mark of a run that is over has survived it."""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from core.agent.guarded_places import drop_left
from core.kernel import paths
from core.kernel.decoders import read_json
from core.kernel.disk import make_dirs, remove_whole, write_file
from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.patterns import late

VARIABLE = "MANUAL_SLOP_COMMAND"
"""Environment variable that every command carries, with the mark of the run that started it."""
MOST_NAMED = 10
_SCRATCH = "manual-slop-"
_NAME = late(r"[0-9a-f]{16}")


class RunMark:
    """The mark of this run, on disk from the first command to the orderly end. Thread-safe."""

    def __init__(self, home: Path) -> None:
        self.name = secrets.token_hex(8)
        self._file = paths.commands_dir(home) / f"{self.name}.json"
        self._lock = threading.Lock()
        self._is_written = False
        self._held: frozenset[str] = frozenset()

    def note(self) -> None:
        """Write the mark, once. Raises OSError."""
        with self._lock:
            if not self._is_written:
                self._write()

    def note_held(self, names: Iterable[str]) -> None:
        """Note names that are held in a project from now on: the next start takes away what a kill leaves of them. Total."""
        with self._lock, suppress(OSError, StorageError):
            if not self._held.issuperset(names := frozenset(names)):
                self._held |= names
                self._write()

    def _write(self) -> None:
        make_dirs(self._file.parent)
        told = {"pid": os.getpid(), "began": _began(os.getpid()), "held": sorted(self._held)}
        write_file(self._file, json.dumps(told).encode())
        self._is_written = True

    def scratch(self, whose: str) -> str:
        """Make a folder of this run below the system's temporary one: the next start removes what a kill leaves of it.

        Args:
            whose: word of its name. Returns its path, links resolved. Raises OSError.
        """
        self.note()
        return os.path.realpath(tempfile.mkdtemp(prefix=f"{_SCRATCH}{whose}-{self.name}-"))

    def drop(self) -> None:
        """Take the mark away, unless something of this run is left. Idempotent."""
        if self._is_written and not _carriers({self.name}):
            with suppress(OSError):
                self._file.unlink(missing_ok=True)


def survivors(home: Path) -> tuple[str, ...]:
    """Name what earlier runs of the program started and is still there, a sentence each; marks without any go, and with
    them the scratch folders of their commands and the names that they held in projects, unless another program is at work.

    Linux alone names them: elsewhere the environment of a process cannot be read.
    """
    folder = paths.commands_dir(home)
    try:
        marks = [folder / name for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return ()
    over = {mark.stem: mark for mark in marks if not _is_alive(mark)}
    left = _carriers(set(over))
    for name, mark in over.items():
        held = _held(mark)
        if left.get(name) or (held and len(over) < len(marks)):  # another's command may hold them by now
            continue
        drop_left(held)
        _drop_scratch(name)
        with suppress(OSError):
            mark.unlink()
    found = [each for name in sorted(left) for each in left[name]]
    return tuple(
        tr(
            "A command of an earlier run is still running: process {pid} ({name}). To end it: kill {pid}",
            pid=pid,
            name=name,
        )
        for pid, name in found[:MOST_NAMED]
    )


def _drop_scratch(name: str) -> None:
    """Remove what commands of a run that is over left in its scratch folders: words of conversations may stand there."""
    if sys.platform != "linux" or not _NAME.fullmatch(name):
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*-{name}-*"):
        if not folder.is_symlink():
            with suppress(OSError):
                remove_whole(folder)


def _is_alive(mark: Path) -> bool:
    """True if the program that wrote a mark runs."""
    try:
        said = read_json(read_file(mark))
        return bool(_began(int(said["pid"])) == said["began"] != "")
    except (OSError, ArithmeticError, ValueError, KeyError, TypeError):
        return False


def _held(mark: Path) -> tuple[str, ...]:
    """Names that the run of a mark held. Linux alone tells for sure that it is over."""
    try:
        held = read_json(read_file(mark))["held"]
    except (OSError, ArithmeticError, ValueError, KeyError, TypeError):
        return ()
    is_sure = sys.platform == "linux" and isinstance(held, list)
    return tuple(one for one in held if isinstance(one, str)) if is_sure else ()


def _began(pid: int) -> str:
    """Begin of a process, in ticks of the system, empty where it is gone or the system does not say."""
    try:
        return read_file(f"/proc/{pid}/stat").decode("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _carriers(marks: set[str]) -> dict[str, list[tuple[int, str]]]:
    """Processes of this user by the mark that their environment carries."""
    found: dict[str, list[tuple[int, str]]] = {}
    if sys.platform != "linux" or not marks:
        return found
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            variables = read_file(f"/proc/{name}/environ").decode("utf-8", "replace").split("\0")
            program = read_file(f"/proc/{name}/comm").decode("utf-8", "replace").strip()
        except OSError:
            continue
        mark = next((each.partition("=")[2] for each in variables if each.startswith(f"{VARIABLE}=")), "")
        if mark in marks:
            found.setdefault(mark, []).append((int(name), program))
    return found
