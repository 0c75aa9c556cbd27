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
_LEFT_SHARE = 1 / 32
"""Of this machine's memory that a command must leave: files in memory and pipes are held by the kernel, on no process's account."""
_BYTES_OF_A_FILE = 16_384
"""Share of a disk that comes with a file: by it the bound of bytes is one of files. Empty ones take no bytes.

Source: mke2fs.conf(5), `inode_ratio` (read 2026-11-24).
"""
_MANY = 1 << 62
TMPFS_BYTES = 1_073_741_824
"""Of each of the sandbox's own folders in memory (`/run`, `/var/tmp`, `/dev/shm`), which no process is charged with."""
_TOO_LARGE = frozenset({128 + signal.SIGXFSZ, -signal.SIGXFSZ})
"""Exit codes of what was ended by the bound of a file's size."""


class BoundWatch:
    """Watch over one command, or one MCP server.

    Args:
        most_processes: of it at once; folders: that it may fill, absolute. Where less memory, or less of a disk, is left than the bound when it begins, that is not its doing.
    """

    def __init__(
        self, bounds: CommandBounds, folders: Sequence[str], most_processes: int = MOST_PROCESSES
    ) -> None:
        self._bounds = bounds
        self._most_processes = most_processes
        self._memory_bytes = bounds.memory_mib * _MIB or round(_machine_bytes() * _OWN_SHARE)
        left_bytes = round(_machine_bytes() * _LEFT_SHARE)
        self._left_bytes = left_bytes if _available_bytes() > left_bytes else 0
        least = bounds.free_disk_mib * _MIB
        self._disks = [(folder, least) for folder in folders if _free_bytes(folder) > least]
        files = least // _BYTES_OF_A_FILE
        self._tables = [(folder, files) for folder in folders if _free_files(folder) > files]

    def exceeded(self, pids: Sequence[int]) -> str:
        """Bound that the processes of a command go over, as the end of a sentence (`it …`); empty for none."""
        if len(pids) > self._most_processes:
            return f"it started more than {self._most_processes} processes"
        if self._memory_bytes and _memory_bytes(pids, self._memory_bytes) > self._memory_bytes:
            return f"it took more than {figures.size(self._memory_bytes)} of memory"
        if _available_bytes() < self._left_bytes:
            return f"it left less than {figures.size(self._left_bytes)} of memory free"
        for folder, least in self._disks:
            if _free_bytes(folder) < least:
                return f"it left less than {figures.size(least)} free on the disk of {folder}"
        for folder, least in self._tables:
            if _free_files(folder) < least:
                return f"it left room for fewer than {least:,} files on the disk of {folder}"
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
    """Memory of a process that no file of a disk stands behind, what is shared and what is swapped out among it.

    Source: proc(5), `status` (read 2026-11-24).
    """
    return _sum_bytes(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:", "VmSwap:")) or 0


def _shared_once_bytes(pid: int) -> int:
    """Its part of that memory; all of it where it keeps its maps from us. Source: proc(5), `smaps_rollup` (read 2026-11-24)."""
    path = f"/proc/{pid}/smaps_rollup"
    part = _sum_bytes(path, ("Pss_Anon:", "Pss_Shmem:", "SwapPss:"), needs="Pss_Anon:")
    part = _sum_bytes(path, ("Pss:", "SwapPss:")) if part is None else part
    return _quick_bytes(pid) if part is None else part


def _sum_bytes(path: str, names: tuple[str, ...], needs: str = "") -> int | None:
    """Sum of some rows of a table in kB, None where there is none of them, or not the one that it needs."""
    rows = (line.split() for line in _proc(path).splitlines())
    told = {row[0]: int(row[1]) for row in rows if len(row) == 3 and row[1].isdecimal() and row[0] in names}
    return 1_024 * sum(told.values()) if told and (not needs or needs in told) else None


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


def _available_bytes() -> int:
    """Memory that a new program could have; much where nobody knows. Source: proc(5), `meminfo` (read 2026-11-24)."""
    found = _sum_bytes("/proc/meminfo", ("MemAvailable:",))
    return _MANY if found is None else found


def _free_bytes(folder: str) -> int:
    """Bytes that a person's program may still write there; many where nobody knows."""
    status = _disk_of(folder)
    return _MANY if status is None else status.f_bavail * status.f_frsize


def _free_files(folder: str) -> int:
    """Files that a person's program may still make there; many where nobody knows, or the file system sets no bound."""
    status = _disk_of(folder)
    return _MANY if status is None or not status.f_files else status.f_favail


def _disk_of(folder: str) -> os.statvfs_result | None:
    try:
        return os.statvfs(folder)
    except (OSError, AttributeError):
        return None
