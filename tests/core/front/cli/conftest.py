"""A home, a project and a model server on loopback, with the command line run on them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import pytest

from core.front.cli import main
from tests.command_forks import FORKS, Forked
from tests.core.app.forgetting.day import unplaced
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer

ROOT = Path(__file__).parents[4]
WAIT_S = PATIENCE_S

ASKED = re.compile(r"(\[y(/a)?/N\]|to confirm:) $")
"""End of a question: from here on an answer counts."""


EARLY = b"y\nyes\na\nall\nforget\nclean\nundo\nremove\nrestore\nsk-early\ny"
"""Every yes there is, pressed before a question stands there; behind the last no Enter."""


class Screen(io.TextIOWrapper):
    """Standard error on a terminal, before which a person sits: answers each question once it stands there, presses every
    yes at once again, and ends the input in the end.
    """

    def __init__(self, answers: bytes, keyboard: int) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")
        self._answers = iter(answers.splitlines(keepends=True))
        self._keyboard = keyboard

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if ASKED.search(text):
            os.write(self._keyboard, next(self._answers, b"\x04") + EARLY)
        return super().write(text)


@contextmanager
def terminal() -> Iterator[tuple[TextIO, int]]:
    """A terminal's end to read from, and what types into it. Every yes there is was pressed before anything was asked."""
    keyboard, end = os.openpty()
    os.write(keyboard, EARLY)
    with os.fdopen(end, encoding="utf-8") as source, os.fdopen(keyboard, "wb", buffering=0):
        yield source, keyboard


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class World:
    """Runs commands as a person would: a process of its own, with pipes."""

    def __init__(self, base: Path, server: CompatibleServer) -> None:
        self.home = base / "home"
        self.project = base / "project"
        self.project.mkdir()
        self.config = base / "config.toml"
        self.server = server
        self.config.write_text(
            f'[providers.local]\nbase_url = "{server.url}/v1"\n'
            f'[ai_settings]\nprovider = "local"\nmodel = "{MODEL}"\n',
            encoding="utf-8",
        )

    @property
    def environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "MANUAL_SLOP_CONFIG": str(self.config),
            "MANUAL_SLOP_HOME": str(self.home),
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "error",
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "core.front.cli", *arguments]

    def run(self, *arguments: str, given: bytes = b"", types: bool = False, **environ: str) -> Ended:
        """Run a command in this process, on streams of its own: a process each would take minutes together.

        Args:
            given: what standard input holds; types: a person types it on a terminal, a line after each question, and has
                pressed every yes before the first.
        """
        if types:
            with terminal() as (source, keyboard):
                return self._run(arguments, source, Screen(given, keyboard), {"TERM": "dumb", **environ})
        read, write = os.pipe()
        os.write(write, given)
        os.close(write)
        with os.fdopen(read, encoding="utf-8") as source:
            return self._run(arguments, source, _stream(), environ)

    def _run(
        self, arguments: Sequence[str], source: TextIO, err: io.TextIOWrapper, environ: dict[str, str]
    ) -> Ended:
        out = _stream()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**self.environ, **environ}.items():
                patch.setenv(name, value)
            patch.chdir(self.project)
            patch.setattr(sys, "stdin", source)
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            try:
                code = main(arguments)
            except SystemExit as ended:
                code = int(str(ended.code))
        return Ended(code, _written(out), _written(err))

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=self.project,
            env=self.environ,
        )

    def fork(self, *arguments: str, ends: Mapping[int, int] | None = None, **environ: str) -> Forked:
        """A process of its own as `start` gives, without the second that its start takes.

        Args:
            ends: descriptors of the caller in place of the command's 0, 1 or 2.
        """
        env = {**self.environ, **environ}
        return FORKS.start("core.front.cli", *arguments, cwd=self.project, env=env, ends=ends)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with CompatibleServer(VLLM) as server:
        made = World(tmp_path, server)
        yield made
    assert unplaced(made.home) == []
