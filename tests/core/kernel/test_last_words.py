"""Tests of what a child process last wrote to standard error, and of words for the case that this process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO

import pytest

from core.kernel.child_process import LastWords, exit_words
from tests.patience import PATIENCE_S

FLOOD = 5_000


@pytest.fixture
def pipe() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Both ends of a child's standard error: where it is read, where it is written."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", 0) as written:
        yield os.fdopen(reading, "rb"), written


def test_the_last_words_are_read_to_their_end_before_they_are_told(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    """Its thread may come later than the news that the process has ended: a reason would be missed."""
    read, written = pipe
    words = LastWords(read, "words")

    def flood() -> None:
        with written:
            for number in range(FLOOD):
                written.write(f"line {number}\n\n".encode())
            written.write(b"  why: \xff disk full \n")

    writer = threading.Thread(target=flood)
    writer.start()
    lines = words.lines(PATIENCE_S)
    writer.join()

    assert lines[-2:] == [f"line {FLOOD - 1}", "  why: \N{REPLACEMENT CHARACTER} disk full"]
    assert "line 0" not in lines
    assert read.closed


def test_what_a_child_left_behind_cannot_keep_its_last_words_back(pipe: tuple[BinaryIO, BinaryIO]) -> None:
    """A grandchild holds standard error open for ever."""
    read, written = pipe
    words = LastWords(read, "words")
    written.write(b"it is over\n")
    while not words.lines():
        threading.Event().wait(0.001)

    assert words.lines(0.01) == ["it is over"]


@pytest.mark.parametrize(("code", "told"), [(None, "still running"), (0, "exit code 0"), (-9, "signal 9")])
def test_the_end_of_a_process_in_words(code: int | None, told: str) -> None:
    assert exit_words(code) == told


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell")
@pytest.mark.parametrize(("act", "told"), [("pass", ""), ("os._exit(0)", "It ended.\n")])
def test_words_are_told_only_if_the_process_ends_also_where_it_was_started_without_news_of_children(
    act: str, told: str
) -> None:
    """Some launchers ignore SIGCHLD, and their programs inherit that."""
    code = (
        f"import os\nfrom core.kernel.last_words import told_if_ended\nwith told_if_ended('It ended.'): {act}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, told)
