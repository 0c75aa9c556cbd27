"""A forked command is the command: the same output and end as of the real one, in its surroundings, and it can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_forks import FORKS, ROOT, Forks
from tests.patience import PATIENCE_S


@pytest.fixture
def forks() -> Forks:
    """Those of all tests: a template of its own would load the program once more, for three seconds."""
    return FORKS


@pytest.mark.parametrize(
    "arguments",
    [("--bogus",), ("--help",), ("knowledge", "status"), ("--json", "send"), ("search", "x", "--json")],
)
def test_it_says_and_ends_as_the_real_command(
    forks: Forks, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    real = subprocess.run(
        [sys.executable, "-m", "core.front.cli", *arguments],
        env=env, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    forked = forks.start("core.front.cli", *arguments, cwd=tmp_path, env=env)

    assert forked.communicate(PATIENCE_S) == (real.stdout, real.stderr)
    assert forked.returncode == real.returncode


def test_it_can_be_killed_and_others_go_on(forks: Forks, tmp_path: Path) -> None:
    """The server of knowledge waits for its client: for ever, with a pipe that nobody writes to."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    first = forks.start("http.server", "0", "--bind", "127.0.0.1", cwd=tmp_path, env=env)
    second = forks.start("core.front.cli", "--version", cwd=tmp_path, env=env)

    assert second.communicate(PATIENCE_S)[0]
    assert first.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        first.wait(0.01)
    first.kill()
    assert first.wait(PATIENCE_S) == -signal.SIGKILL
    first.stdout.close()
    first.stderr.close()
