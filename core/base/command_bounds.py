"""Bounds of memory and disk of a running command: found out by looking, and said where they end it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Sequence

from core.base import figures
from core.base.bounds import CommandBounds
from core.base.opener import read_file

_MIB = 1_048_576
MOST_PROCESSES = 512
_OWN_SHARE = 0.75
"""Of this machine's memory, where no bound is set: a build may take most of it, and the rest stays for the person."""
TMPFS_BYTES = 1_073_741_824
"""Of each of the sandbox's own folders in memory (`/run`, `/var/tmp`, `/dev/shm`), which no process is charged with."""
_TOO_LARGE = frozenset({128 + signal.SIGXFSZ, -signal.SIGXFSZ})
"""Exit codes of what was ended by the bound of a file's size."""


class BoundWatch:
    """Watch over one command, or one MCP server.

    Args:
        most_processes: of it at once; folders: that it may fill, absolute; where one has less left than the bound when it begins, that is not its doing.
    """

    def __init__(
        self, bounds: CommandBounds, folders: Sequence[str], most_processes: int = MOST_PROCESSES
    ) -> None:
        self._bounds = bounds
        self._most_processes = most_processes
        self._memory_bytes = bounds.memory_mib * _MIB or round(_machine_bytes() * _OWN_SHARE)
        least = bounds.free_disk_mib * _MIB
        self._disks = [(folder, least) for folder in folders if _free_bytes(folder) > least]

    def exceeded(self, pids: Sequence[int]) -> str:
        """Bound that the processes of a command go over, as the end of a sentence (`it …`); empty for none."""
        if len(pids) > self._most_processes:
            return f"it started more than {self._most_processes} processes"
        if self._memory_bytes and _memory_bytes(pids, self._memory_bytes) > self._memory_bytes:
            return f"it took more than {figures.size(self._memory_bytes)} of memory"
        for folder, least in self._disks:
            if _free_bytes(folder) < least:
                return f"it left less than {figures.size(least)} free on the disk of {folder}"
        return ""

    def note(self, exit_code: int | None) -> str:
        """Sentence about how it ended, for person and model; may be empty."""
        if exit_code not in _TOO_LARGE:
            return ""
        return f"A file grew to {figures.size(self._bounds.file_mib * _MIB)}, the most that a command may write into one"


def _memory_bytes(pids: Iterable[int], bound: int) -> int:
    """Memory that processes hold together. What they share counts once, looked up only where it would matter: that is slow."""
    pids = tuple(pids)
    quick = sum(_quick_bytes(pid) for pid in pids)
    return quick if quick <= bound else sum(map(_shared_once_bytes, pids))


def _quick_bytes(pid: int) -> int:
    """Resident memory of a process that no file stands behind. Source: proc(5), `statm` (read 2026-11-23)."""
    fields = _proc(f"/proc/{pid}/statm").split()
    if len(fields) < 3:
        return 0
    return max(0, int(fields[1]) - int(fields[2])) * os.sysconf("SC_PAGE_SIZE")


def _shared_once_bytes(pid: int) -> int:
    """Its part of memory without a file behind it. Source: proc(5), `smaps_rollup` (read 2026-11-23)."""
    rows = (line.split() for line in _proc(f"/proc/{pid}/smaps_rollup").splitlines())
    told = {row[0]: int(row[1]) for row in rows if len(row) == 3 and row[1].isdecimal()}
    return 1_024 * told.get("Pss_Anon:", told.get("Pss:", 0))


def _proc(path: str) -> str:
    try:
        return read_file(path).decode("utf-8", "replace")
    except OSError:  # it has ended, or the system has no such file
        return ""


def _machine_bytes() -> int:
    """Memory of this machine, 0 where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 0


def _free_bytes(folder: str) -> int:
    """Bytes that a person's program may still write there; many where nobody knows."""
    try:
        status = os.statvfs(folder)
    except (OSError, AttributeError):
        return 1 << 62
    return status.f_bavail * status.f_frsize
