"""A home, a project and a model server on loopback, with the command line run on them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.cli import main
from tests.core.forgetting.day import unplaced
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer

ROOT = Path(__file__).parents[3]
WAIT_S = PATIENCE_S


class _Terminal(io.TextIOWrapper):
    """Standard input that a person types into."""

    def isatty(self) -> bool:
        return True


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
        return [sys.executable, "-m", "core.cli", *arguments]

    def run(self, *arguments: str, given: bytes = b"", types: bool = False, **environ: str) -> Ended:
        """Run a command in this process, on streams of its own: a process each would take minutes together.

        Args:
            given: what standard input holds; types: a person types it, on a terminal.
        """
        read, write = os.pipe()
        os.write(write, given)
        os.close(write)
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
        with pytest.MonkeyPatch.context() as patch, os.fdopen(read, "rb") as source:
            for name, value in {**self.environ, **environ}.items():
                patch.setenv(name, value)
            patch.chdir(self.project)
            stdin = _Terminal if types else io.TextIOWrapper
            patch.setattr(sys, "stdin", stdin(source, encoding="utf-8"))
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
