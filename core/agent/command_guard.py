"""Child that keeps an unconfined command: all it starts stays below, and ends with it, or with the program."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from core.base.child_process import start_program
from core.base.process_tree import adopt_orphans, end_below


def main() -> int:
    """Run the command that the first line of standard input names, to its end or that of standard input."""
    order = json.loads(sys.stdin.buffer.readline())
    if sys.platform == "linux":
        adopt_orphans()
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
    """End the group of the command: no more can be done on a system that does not name descendants."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    sys.exit(main())
