"""Words to be said if this process ends where no code of ours runs any more, as in a library that aborts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_SHELL = "/bin/sh"
_SAYS = 'read -r _ || { [ -n "$2" ] && [ "$(wc -l <"$2")" -gt 0 ]; } 2>/dev/null || printf "%s\\n" "$1" >&2'
"""Says the words if its input ends without a line, and the file that may be named has none either."""


@contextmanager
def told_if_ended(words: str, unless: str = "") -> Iterator[None]:
    """Have a process beside this one write `words` to standard error if this process ends inside the block. Else it ends.

    Args:
        unless: path of a file; where it has a whole line, nothing is said.

    A shell without environment, started by the system's own call: `subprocess` would be loaded for the first frame.
    Nothing is told where there is no such shell.
    """
    if sys.platform == "win32":
        yield
        return
    reading, writing = os.pipe()
    pid = 0
    with suppress(OSError, NotImplementedError):  # some systems start no session in this call
        taken = [(os.POSIX_SPAWN_DUP2, reading, 0)]
        pid = os.posix_spawn(
            _SHELL, ("sh", "-c", _SAYS, "sh", words, unless), {}, file_actions=taken, setsid=True
        )
    os.close(reading)
    try:
        yield
    finally:
        with suppress(OSError):
            os.write(writing, b"\n")
        os.close(writing)
        if pid:
            with suppress(ChildProcessError):  # where SIGCHLD is ignored, there is no child to wait for
                os.waitpid(pid, 0)
