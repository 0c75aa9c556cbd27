"""Child that keeps an unconfined command or MCP server: all it starts stays below, and ends with it, or with the program."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from core.kernel.child_process import adopt_orphans, end_below, start_program


def main() -> int:
    """Run the command that the first line of standard input names, to its end or that of its lifeline.

    The lifeline is standard input, which the command has not; or a descriptor that the order names, and then the command has
    our streams.
    """
    order = json.loads(_first_line())
    lifeline = order["lifeline"]
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
            stdin=subprocess.DEVNULL if lifeline is None else None,
            stdout=None,
            stderr=None,
        )
    except OSError as error:
        print(error.strerror or error, file=sys.stderr)
        return 127
    if lifeline is not None:
        _let_streams_go()
    code = _wait(process.pid, awake, sys.stdin.fileno() if lifeline is None else lifeline)
    end_below(os.getpid(), order["grace_s"] if code is None else 0.0)
    if sys.platform != "linux":
        _end_group(process.pid)
    return 137 if code is None else code


def _first_line() -> bytes:
    """The first line of standard input, and not a byte more: what follows is the command's."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    return line


def _let_streams_go() -> None:
    """Leave standard input and output to the command alone, so that their other ends see when it closes them."""
    for unused, descriptor in zip(os.pipe(), (0, 1), strict=True):
        os.dup2(unused, descriptor)
        os.close(unused)


def _wait(pid: int, awake: int, lifeline: int) -> int | None:
    """Exit code of the command as a shell gives it, None where the lifeline ended before."""
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
        ready, _, _ = select.select([lifeline, awake], [], [], 1.0)
        if awake in ready:
            os.read(awake, 512)
        if lifeline in ready and not os.read(lifeline, 512):
            return None


def _end_group(pid: int) -> None:
    """End the group of the command: no more can be done on a system that does not name descendants."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


if __name__ == "__main__":
    sys.exit(main())
