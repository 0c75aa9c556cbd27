"""Start of a command or an MCP server: bare below its sandbox, or below a guard where there is none."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.base.bounds import CommandBounds, Keeper, SandboxMounts
from core.base.child_process import start_child, start_program
from core.base.mount_gate import MountGate
from core.base.session_keys import leave_session_keys

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
    process = start_child(_GUARD, stderr=subprocess.STDOUT)
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
        mounts: of its sandbox, None where `keeper` is none.
    """
    if keeper is Keeper.GUARD:
        process = start_child(_GUARD, stderr=subprocess.PIPE, kept_descriptors=(HOST_LIFELINE,))
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
