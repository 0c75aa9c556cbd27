"""Child that keeps an unconfined command: all it starts stays below, and ends with it, or with the program."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from core.agent.process_tree import end_below
from core.base.child_process import start_program

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2): orphans below come here instead of to the system's first process."""


def main() -> int:
    """Run the command that the first line of standard input names, to its end or that of standard input."""
    order = json.loads(sys.stdin.buffer.readline())
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    awake, waker = os.pipe()
    os.set_blocking(waker, False)
    os.set_blocking(awake, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    try:
        process = start_program(
            Path(order["program"]),
            order["arguments"],
            environment=order["environment"],
            folder=Path(order["folder"]),
            stdin=subprocess.DEVNULL,
            stdout=None,
            stderr=None,
        )
    except OSError as error:
        print(error.strerror or error, file=sys.stderr)
        return 127
    code = _wait(process.pid, awake)
    end_below(os.getpid(), order["grace_s"] if code is None else 0.0)
    if sys.platform != "linux":
        _end_group(process.pid)
    return 137 if code is None else code


def _wait(pid: int, awake: int) -> int | None:
    """Exit code of the command as a shell gives it, None where standard input ended before."""
    stdin = sys.stdin.fileno()
    while True:
        while True:
            try:
                gone, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if gone == pid:
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else 128 - code
            if gone == 0:
                break
        ready, _, _ = select.select([stdin, awake], [], [], 1.0)
        if awake in ready:
            os.read(awake, 512)
        if stdin in ready and not os.read(stdin, 512):
            return None


def _end_group(pid: int) -> None:
    """Where the system does not name descendants: the group of the command, and no more."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    sys.exit(main())
