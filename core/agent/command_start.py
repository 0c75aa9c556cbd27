"""Start of a command: bare below its sandbox, or below a guard where there is none."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from core.base.child_process import start_child, start_program

_GUARD = Path(__file__).with_name("command_guard.py")

IF_WE_LIVE = (
    "for ((n = 0; n < 20000; n++)); do read -r _ _ state _ </proc/1/stat; [[ $state == S ]] && break; done; "
    "lifeline=$4; read -t 0 -u $lifeline && exit 125; exec {lifeline}<&-; "
)
"""Words before a command in bubblewrap; `$4`: of `Lifeline`. The first process of a sandbox asks the kernel to end with us only when it
begins to wait for the command: were we killed before that, nobody would end either. The command waits for that moment, then
sees if we are still there.

Source: bubblewrap.c, `do_init` and `handle_die_with_parent`, 0.8 to 0.11 (read 2026-11-23).
"""


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
    program: Path, arguments: tuple[str, ...], environment: dict[str, str], lifeline: int
) -> subprocess.Popen[bytes]:
    """Start a command that its sandbox ends. `lifeline`: of `Lifeline`, handed on. Raises OSError."""
    return start_program(
        program,
        arguments,
        environment=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        kept_descriptors=(lifeline,),
    )


def start_guarded(
    program: Path, arguments: tuple[str, ...], environment: dict[str, str], folder: str, grace_s: float
) -> subprocess.Popen[bytes]:
    """Start an unconfined command below a guard, which ends it and all below it with this program. Raises OSError."""
    process = start_child(_GUARD, stderr=subprocess.STDOUT)
    order = {
        "program": str(program),
        "arguments": arguments,
        "environment": environment,
        "folder": folder,
        "grace_s": grace_s,
    }
    assert process.stdin is not None
    process.stdin.write(json.dumps(order).encode() + b"\n")
    process.stdin.flush()
    return process
