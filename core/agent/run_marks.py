"""Marks of runs of the program that started commands: what carries the mark of a run that is over has survived it."""

from __future__ import annotations

import json
import os
import re
import secrets
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from core.base import paths
from core.base.disk import make_dirs, write_file
from core.base.json_text import read_json
from core.base.opener import read_file
from core.base.removal import remove_whole

VARIABLE = "MANUAL_SLOP_COMMAND"
"""Environment variable that every command carries, with the mark of the run that started it."""
MOST_NAMED = 10
_SCRATCH = "manual-slop-"
_NAME = re.compile(r"[0-9a-f]{16}")


class RunMark:
    """The mark of this run, on disk from the first command to the orderly end."""

    def __init__(self, home: Path) -> None:
        self.name = secrets.token_hex(8)
        self._file = paths.commands_dir(home) / f"{self.name}.json"
        self._is_written = False

    def note(self) -> None:
        """Write the mark, once. Raises OSError."""
        if not self._is_written:
            make_dirs(self._file.parent)
            write_file(self._file, json.dumps({"pid": os.getpid(), "began": _began(os.getpid())}).encode())
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
    them the scratch folders of their commands.

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
        if not left.get(name):
            _drop_scratch(name)
            with suppress(OSError):
                mark.unlink()
    found = [each for name in sorted(left) for each in left[name]]
    return tuple(
        f"A command of an earlier run is still there: process {pid} ({name}). End it if you do not need it: kill {pid}"
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
