"""Streams of `send`: text that comes by standard input, and a reply on a terminal or into a pipe."""

from __future__ import annotations

import io
import os
import pty
import select
import subprocess

import pytest

from core.front.cli.arguments import UsageError
from core.front.cli.output import Console
from core.front.cli.send import read_text
from tests.command_forks import Forked
from tests.core.front.cli.conftest import WAIT_S, World
from tests.vendors.compatible_server import Said


def test_standard_input_that_is_no_text_is_refused_with_what_to_do(world: World) -> None:
    ended = world.run("send", given=b"\xff\xfe\x00")

    assert ended.code == 2
    assert "--attach" in ended.err


def test_escape_sequences_of_a_model_reach_a_pipe_as_they_are_and_a_terminal_only_visibly(
    world: World,
) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2Jred\u202e"
    world.server.replies += [Said(hostile), Said(hostile)]

    assert world.run("send", "x").out == hostile + "\n"
    shown = _in_terminal(world, "send", "x")
    assert "␛]0;owned␇␛[2Jred\ufffd" in shown
    assert "\x1b]0;owned" not in shown
    assert "\u202e" not in shown


def test_a_terminal_shows_that_it_waits_and_a_pipe_does_not(world: World) -> None:
    world.server.replies += [Said("Yes."), Said("Yes.")]

    assert "Reading settings" in _in_terminal(world, "send", "x")
    assert "Reading settings" not in world.run("send", "x").err


@pytest.mark.slow
def test_an_odd_terminal_takes_any_text(world: World) -> None:
    world.server.replies.append(Said("naïve 日本 🙂"))
    shown = _in_terminal(world, "send", "x", starts=True, PYTHONIOENCODING="ascii", PYTHONUTF8="0")

    assert "na?ve ?? ?" in shown
    assert "Traceback" not in shown


def _in_terminal(world: World, *arguments: str, starts: bool = False, **environ: str) -> str:
    """Run a command on a terminal of its own; what the person would have received.

    Args:
        starts: with the start of the interpreter, which goes by some of `environ`.
    """
    leader, follower = pty.openpty()
    environ = {"TERM": "xterm", **environ}
    child: Forked | subprocess.Popen[bytes]
    if starts:
        child = subprocess.Popen(
            world.command(*arguments), stdin=follower, stdout=follower, stderr=follower, cwd=world.project,
            env={**world.environ, **environ}, start_new_session=True,
        )  # fmt: skip
    else:
        child = world.fork(*arguments, ends=dict.fromkeys(range(3), follower), **environ)
    os.close(follower)
    seen = b""
    while select.select([leader], [], [], WAIT_S)[0]:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(leader)
    assert child.wait(WAIT_S) == 0, seen
    return seen.decode("utf-8", "replace")


def _pipe(data: bytes) -> io.BufferedReader:
    read, write = os.pipe()
    os.write(write, data)
    os.close(write)
    return os.fdopen(read, "rb")


def _console() -> Console:
    return Console(io.StringIO(), io.StringIO())


def test_text_and_pipe_are_joined_by_an_empty_line_and_cleaned() -> None:
    with _pipe(b"\xef\xbb\xbfb\r\nc\x00") as source:
        assert read_text(["a", "a"], source, _console()) == "a a\n\nb\nc"
    with _pipe(b" \n") as source:
        assert read_text(["a"], source, _console()) == "a"
    assert read_text(["a"], None, _console()) == "a"
    assert read_text([], None, _console()) == ""


def test_a_pipe_that_nobody_writes_to_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.front.cli.send.PATIENCE_S", 0.01)
    read, write = os.pipe()
    console = _console()

    class Late(io.BufferedReader):
        def read(self, size: int | None = -1) -> bytes:
            os.write(write, b"late")
            os.close(write)
            return super().read(size)

    with Late(io.FileIO(read)) as source:
        assert read_text([], source, console) == "late"
    assert "waiting for standard input" in console.err.getvalue()  # type: ignore[attr-defined]


def test_a_pipe_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.front.cli.send.MAX_INPUT_BYTES", 10)
    with _pipe(b"x" * 11) as source, pytest.raises(UsageError, match="more than 10 bytes"):
        read_text([], source, _console())
