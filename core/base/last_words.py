"""Last words of a child process on standard error, told whole once it has ended."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import IO

_PIECE_BYTES = 1 << 16
_KEPT_BYTES = 32_000
END_S = 1.0
"""So long a process that has ended is waited for: what it left behind may hold its standard error open for ever."""


class LastWords:
    """Reads a child's standard error in a thread of its own, and keeps its end. Closes it.

    Args:
        stderr: its pipe.
        name: of the thread.
    """

    def __init__(self, stderr: IO[bytes], name: str) -> None:
        self._end = b""
        self._thread = threading.Thread(target=self._read, args=(stderr,), name=name, daemon=True)
        self._thread.start()

    def lines(self, wait_s: float = 0.0) -> list[str]:
        """Its last lines, without blank ones, 32,000 bytes at most.

        Args:
            wait_s: how long the end is waited for, of a process that has ended: `END_S`, or the reason of its end is
                missed where this thread comes late.
        """
        if wait_s:
            self._thread.join(wait_s)
        text = self._end.decode("utf-8", "replace")
        return [line.rstrip() for line in text.splitlines() if line.strip()]

    def _read(self, stderr: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stderr:  # another thread may close it
            while data := os.read(stderr.fileno(), _PIECE_BYTES):
                self._end = (self._end + data)[-_KEPT_BYTES:]


def exit_words(code: int | None) -> str:
    """End of a process in words. `code`: as `subprocess` has it, None where it did not end."""
    if code is None:
        return "still running"
    return f"signal {-code}" if code < 0 else f"exit code {code}"
