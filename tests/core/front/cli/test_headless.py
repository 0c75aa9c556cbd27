"""`--headless`: a signal ends it well from the moment at which it says that it is up."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.app.app_messages import Command
from core.front.cli.arguments import parse
from core.front.cli.output import Console
from core.front.cli.session import run_headless
from core.kernel.values.settings import Project
from core.kernel.values.spec import StackSpec
from core.kernel.values.state import AppState, ConfigState, ProgramState


class Front:
    """A controller that is ready at once and never asked to close."""

    def __init__(self) -> None:
        self.is_stopped = False
        self.waits = 0

    def start(self) -> None: ...

    def send(self, command: Command) -> None:
        raise AssertionError(command)

    def snapshot(self) -> AppState:
        return AppState(
            program=ProgramState(home="/home/me", is_loading=False),
            config=ConfigState(project=Project(root="/project")),
        )

    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        self.waits += 1
        state = self.snapshot()
        if predicate(state):
            return state
        raise KeyboardInterrupt

    def stack_spec(self, discussion_id: str = "") -> StackSpec:
        raise AssertionError(discussion_id)

    def stop(self) -> None:
        self.is_stopped = True


class Hasty(io.StringIO):
    """An output whose reader sends a signal as soon as a line is there."""

    def write(self, text: str) -> int:
        super().write(text)
        raise KeyboardInterrupt


@pytest.mark.parametrize("out", [io.StringIO(), Hasty()])
def test_a_signal_ends_it_well_however_soon_it_comes_after_the_line(out: Any, tmp_path: Path) -> None:
    front, err = Front(), io.StringIO()

    code = run_headless(parse(["--headless", "--home", str(tmp_path)]), front, Console(out, err))

    assert (code, err.getvalue()) == (0, "Stopping.\n")
    assert out.getvalue().startswith("Running without a window on /home/me")
    assert front.is_stopped
