"""A child process that is given its whole input and read line by line, in a process group of its own."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from core.base.child_process import end_tree, start_program
from core.base.last_words import END_S, LastWords, exit_words

_LAST_LINES = 20


class SilenceError(Exception):
    """The child said nothing for too long. It was ended."""


class ChildLines:
    """Starts at once. Standard input is written by a thread of its own, so that a child that answers early, or never
    reads, blocks nobody.

    Args:
        program: absolute; arguments: paths among them absolute; text: its whole standard input.
        folder: where it works; env: its whole environment.

    Raises:
        OSError: the program cannot be started.
    """

    def __init__(
        self, program: Path, arguments: Sequence[str], text: str, *, folder: Path, env: Mapping[str, str]
    ) -> None:
        self._process = start_program(
            program,
            arguments,
            environment=env,
            folder=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        assert self._process.stderr is not None
        self._last_words = LastWords(self._process.stderr, "child-words")
        self._threads = [
            threading.Thread(target=work, args=args, name="child-io", daemon=True)
            for work, args in ((self._write, (text,)), (self._read, ()))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The child's process id, which is its group's too."""
        return self._process.pid

    @property
    def ending(self) -> str:
        """End of the process in words: exit code or signal, and what it last wrote to standard error."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        words = " ".join(line.strip() for line in self._last_words.lines(END_S)[-_LAST_LINES:])
        return ": ".join(filter(None, (exit_words(self._process.returncode), words)))

    def lines(self, timeout_s: float) -> Iterator[str]:
        """Its lines as they come, until it closes its output.

        Raises:
            SilenceError: nothing came for `timeout_s` seconds.
        """
        while True:
            try:
                line = self._lines.get(timeout=timeout_s)
            except Empty:
                self.kill()
                raise SilenceError from None
            if line is None:
                return
            yield line

    def kill(self) -> None:
        """End the child and everything that it started, without waiting. Idempotent, thread-safe."""
        end_tree(self._process)

    def close(self) -> None:
        """End the child and wait until nothing of it is left here."""
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        for thread in self._threads:
            thread.join(1)
        self._last_words.lines(END_S)

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        with suppress(OSError), self._process.stdin:
            self._process.stdin.write(text.encode("utf-8", "replace"))

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout:
            for line in self._process.stdout:
                self._lines.put(line.decode("utf-8", "replace"))
        self._lines.put(None)
