"""Start of a command or an MCP server: bare below its sandbox, or below a guard where there is none."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from core.kernel import figures
from core.kernel.child_process import kill_with_below, leave_session_keys, start_child, start_program
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.kernel.values.mcp import CommandBounds, Keeper, SandboxMounts

MADE_WITHIN_S = 10.0
CHANGED = "a place of the project became another one while the sandbox was made: nothing ran. Try again"
_LOOK_S = 0.0005
_UNMADE = "/newroot"
"""Place of the sandbox while it is made. Source: bubblewrap.c, `main`, 0.8 to 0.11 (read 2026-11-24)."""
_ESCAPED = late(rb"\\([0-7]{3})")
_CHILD = late(rb'"child-pid"\s*:\s*([0-9]+)[^0-9]')


class _Shown(msgspec.Struct, frozen=True):
    """File or folder at a place: a path of a file system. A row of `mountinfo`. Source: proc(5) (read 2026-11-24)."""

    place: str
    device: str
    path: str


class MountGate:
    """Gate of one sandbox of bubblewrap, which follows paths by itself: another command that runs in the project could put a
    link where a folder was judged, and have all that it leads to mounted, neither hidden nor read-only.

    So its mounts are looked at before the command begins: each place shows what it shows here, by a way without links.
    Whatever the project holds, nothing of it has run in the sandbox by then.
    """

    def __init__(self, mounts: SandboxMounts) -> None:
        """Raises OSError: a place is gone, or there are no descriptors left."""
        table = _mounts("self")
        self._kept = tuple(_shown_here(place, table) for place in mounts.kept)
        self._masked = mounts.masked
        self._scratch = _shown_here(mounts.scratch, table)
        self._pipes = [*os.pipe(), *os.pipe()]

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the sandbox, before its others."""
        _, telling, blocked, _ = self._pipes
        return ("--info-fd", str(telling), "--block-fd", str(blocked))

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Descriptors that it is handed."""
        return tuple(self._pipes[1:3])

    def close(self) -> None:
        """Close the pipes. Idempotent. A sandbox that waits goes on."""
        pipes, self._pipes = self._pipes, []
        for descriptor in pipes:
            os.close(descriptor)

    def let_begin(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until all is mounted, and let the command begin. A sandbox that cannot be made ends, and says why itself.

        Raises:
            OSError: something else is mounted than what was judged; the process is ended.
        """
        told, telling, blocked, opening = self._pipes
        self._pipes = [told, opening]
        os.close(telling)
        os.close(blocked)
        try:
            self._look(process, told)
        except BaseException:
            kill_with_below(process)
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            raise

    def _look(self, process: subprocess.Popen[bytes], told: int) -> None:
        pid = _first_pid(told)
        deadline = time.monotonic() + MADE_WITHIN_S
        while process.poll() is None:
            shown = (
                {one for one in _mounts(pid).values() if not one.place.startswith(_UNMADE)} if pid else set()
            )
            if any((one.device, one.path) == (self._scratch.device, self._scratch.path) for one in shown):
                places = {one.place for one in shown}
                if not shown.issuperset(self._kept) or not places.issuperset(self._masked):
                    raise OSError(CHANGED)
                return
            if time.monotonic() > deadline:
                raise OSError(f"its sandbox was not made within {MADE_WITHIN_S:.0f} s")
            time.sleep(_LOOK_S)


def _first_pid(told: int) -> str:
    """Id of the sandbox's first process, empty where it ended before there was one."""
    said = b""
    while (found := _CHILD.search(said)) is None:
        piece = os.read(told, 4_096)
        if not piece:
            return ""
        said += piece
    return found[1].decode()


def _mounts(pid: str) -> dict[str, _Shown]:
    """Mounts of a process by their ids; none where it is gone."""
    rows = []
    with suppress(OSError):
        rows = read_file(f"/proc/{pid}/mountinfo").split(b"\n")
    fields = (row.split(b" ", 5) for row in rows)
    return {
        row[0].decode(): _Shown(place=_text(row[4]), device=row[2].decode(), path=_text(row[3]))
        for row in fields
        if len(row) > 5
    }


def _text(field: bytes) -> str:
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), field))


def _shown_here(place: str, table: dict[str, _Shown]) -> _Shown:
    """View of a place by a way without links. Raises OSError: it is gone."""
    try:
        descriptor = os.open(place, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        raise OSError(CHANGED) from None
    try:
        said = read_file(f"/proc/self/fdinfo/{descriptor}")
    finally:
        os.close(descriptor)
    mount = table.get(said.partition(b"mnt_id:")[2].split()[0].decode())
    if mount is None or not f"{place}/".startswith(f"{mount.place.rstrip('/')}/"):
        raise OSError(CHANGED)
    below = place[len(mount.place.rstrip("/")) :]
    return _Shown(place=place, device=mount.device, path=f"{mount.path.rstrip('/')}{below}" or "/")


_GUARD = Path(__file__).with_name("command_guard.py")

IF_WE_LIVE = (
    "for ((n = 0; n < 20000; n++)); do read -r _ _ state _ </proc/1/stat; [[ $state == S ]] && break; done; "
    "lifeline=$3; read -t 0 -u $lifeline && exit 125; exec {lifeline}<&-; "
)
"""Words before a command in bubblewrap; `$3`: of `Lifeline`. The first process of a sandbox asks the kernel to end with us only when it
begins to wait for the command: were we killed before that, nobody would end either. The command waits for that moment, then
sees if we are still there.

Source: bubblewrap.c, `do_init` and `handle_die_with_parent`, 0.8 to 0.11 (read 2026-11-23).
"""


_KERNEL_BOUNDS = (
    'ulimit -c 0; ulimit -f "$2" 2>/dev/null; ulimit -u "$1" 2>/dev/null; { echo 800 >/proc/self/oom_score_adj; } 2>/dev/null; '
    'shift 3; exec "$@"'
)
"""Bounds of the kernel. Where memory runs out it ends the command before the person's own programs."""
_SPARE_PROCESSES = 100
"""The kernel's bound is so far over the one at which we end them: it counts by namespace, and not for the system's own user."""
HOST_LIFELINE = 198
"""Descriptor at which the host of MCP servers holds its lifeline: what it starts is worded by another process."""


def bounded(
    bash: Path,
    command: Sequence[str],
    bounds: CommandBounds,
    *,
    most_processes: int | None,
    lifeline: int | None,
) -> tuple[str, ...]:
    """A command as a shell starts it: under the bounds of the kernel, and not where this program is gone meanwhile.

    Args:
        command: its program absolute; most_processes: None where the kernel does not count them for it alone.
        lifeline: of `Lifeline`, of what bubblewrap holds; None where a guard keeps it.
    """
    words = _KERNEL_BOUNDS if lifeline is None else IF_WE_LIVE + _KERNEL_BOUNDS
    most = "unlimited" if most_processes is None else str(most_processes + _SPARE_PROCESSES)
    held = "" if lifeline is None else str(lifeline)
    return (
        *(str(bash), "--norc", "--noprofile", "-c", words, str(bash)),
        *(most, str(bounds.file_mib * 1_024), held),
        *command,
    )


def hold_host_lifeline() -> None:
    """Open the lifeline of this process, the host, at its fixed descriptor. It ends with the process. Raises OSError."""
    read, _ours = os.pipe()
    os.dup2(read, HOST_LIFELINE, inheritable=False)
    os.close(read)


class Lifeline:
    """Pipe of which only this program holds the end that is written: where the other is at its end, the program is gone."""

    def __init__(self) -> None:
        self._ends: tuple[int, int] | None = None

    def open(self) -> int:
        """Descriptor that commands read; the pipe is made unless it is there. Not thread-safe. Raises OSError."""
        if self._ends is None:
            self._ends = os.pipe()
        return self._ends[0]

    def close(self) -> None:
        """Close both ends. Idempotent."""
        ends, self._ends = self._ends or (), None
        for descriptor in ends:
            os.close(descriptor)


def counts_by_namespace() -> bool:
    """True if the kernel counts a user's processes in each namespace by itself: Linux 5.14 and newer."""
    numbers = re.match(r"(\d+)\.(\d+)", os.uname().release)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (5, 14)


def start_bare(
    program: Path,
    arguments: tuple[str, ...],
    environment: dict[str, str],
    lifeline: int,
    mounts: SandboxMounts,
) -> subprocess.Popen[bytes]:
    """Start a command that its sandbox ends. `lifeline`: of `Lifeline`, handed on. Raises OSError."""
    return _start_gated(
        program,
        arguments,
        mounts,
        (lifeline,),
        environment=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _start_gated(
    program: Path, arguments: Sequence[str], mounts: SandboxMounts, handed: tuple[int, ...], **how: Any
) -> subprocess.Popen[bytes]:
    """Start a sandbox of bubblewrap; its command begins when what is mounted is what was judged, and holds no key of ours."""
    leave_session_keys()
    gate = MountGate(mounts)
    try:
        given = (*gate.arguments, *arguments)
        process = start_program(program, given, kept_descriptors=(*handed, *gate.descriptors), **how)
        gate.let_begin(process)
        return process
    finally:
        gate.close()


def start_guarded(
    program: Path, arguments: Sequence[str], environment: Mapping[str, str], folder: str, grace_s: float
) -> subprocess.Popen[bytes]:
    """Start an unconfined command below a guard, which ends it and all below it with this program. Raises OSError."""
    process = start_child(_GUARD, stderr=subprocess.STDOUT, is_private=False)
    _order(process, program, arguments, environment, folder, grace_s)
    return process


def start_server(
    program: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    keeper: Keeper,
    mounts: SandboxMounts | None,
) -> subprocess.Popen[bytes]:
    """Start an MCP server in its host, with pipes, so that it ends with the host however that ends. Raises OSError.

    Args:
        mounts: of its sandbox, None where `keeper` mounts nothing.
    """
    if keeper is Keeper.GUARD:
        process = start_child(
            _GUARD, stderr=subprocess.PIPE, kept_descriptors=(HOST_LIFELINE,), is_private=False
        )
        _order(process, program, arguments, environment, folder, 0.0, lifeline=HOST_LIFELINE)
        return process
    how: dict[str, Any] = {"environment": environment, "folder": Path(folder)}
    how |= dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    if mounts is not None:
        return _start_gated(program, arguments, mounts, (HOST_LIFELINE,), **how)
    return start_program(program, arguments, **how)


def _order(
    process: subprocess.Popen[bytes],
    program: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    folder: str,
    grace_s: float,
    lifeline: int | None = None,
) -> None:
    """Tell a guard what to run. `lifeline`: whose end ends it; None: that of its standard input, which the command has not."""
    order = {
        "program": str(program),
        "arguments": list(arguments),
        "environment": dict(environment),
        "folder": folder,
        "grace_s": grace_s,
        "lifeline": lifeline,
    }
    assert process.stdin is not None
    process.stdin.write(json.dumps(order).encode() + b"\n")
    process.stdin.flush()


# Bounds of memory and disk of a running command: found out by looking, and said where they end it.

_MIB = 1_048_576
MOST_PROCESSES = 512
_OWN_SHARE = 0.75
"""Share of this machine's memory for a command, where no bound is set: a build may take most, the person keeps the rest."""
_LEFT_SHARE = 1 / 32
"""Share of this machine's memory that a command must leave: the kernel holds files in memory and pipes, on no process's account."""
_BYTES_OF_A_FILE = 16_384
"""Share of a disk that comes with a file: by it the bound of bytes is one of files. Empty ones take no bytes.

Source: mke2fs.conf(5), `inode_ratio` (read 2026-11-24).
"""
_MANY = 1 << 62
TMPFS_BYTES = 1_073_741_824
"""Bytes of each of the sandbox's own folders in memory (`/run`, `/var/tmp`, `/dev/shm`), which no process is charged with."""
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
