"""A window that the terminal interrupts ends as one that is closed: its place is kept, and no traceback is shown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.app.home import read_state
from core.front.cli.version import INTERRUPTED
from gui.app import look_of
from gui.screen import virtual_screen
from gui.window import Placement, fitting
from tests.patience import PATIENCE_S, until

ROOT = Path(__file__).parents[2]


@pytest.mark.gui
def test_a_window_that_is_interrupted_keeps_its_place_and_says_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with (
        virtual_screen(1000, 700),
        subprocess.Popen(
            [sys.executable, "-m", "gui.main", "--home", str(home)],
            cwd=ROOT,
            env={**os.environ, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
            stderr=subprocess.PIPE,
            text=True,
        ) as child,
    ):
        until(lambda: [*home.glob("discussions/2*")], "the first discussion")
        child.send_signal(signal.SIGINT)
        said = child.communicate(timeout=PATIENCE_S)[1]

    assert (child.returncode, said) == (INTERRUPTED, "")
    assert look_of(read_state(home)).placement == Placement(x=0, y=0, width=1000, height=700)


@pytest.mark.parametrize(
    ("screen", "placed"),
    [
        ((1920, 1080), Placement(x=80, y=60, width=1440, height=900)),
        ((1480, 1080), Placement(x=40, y=60, width=1440, height=900)),
        ((1366, 768), Placement(x=0, y=0, width=1366, height=768)),
        (None, Placement(x=80, y=60, width=1440, height=900)),
    ],
)
def test_a_window_fits_on_its_screen(screen: tuple[int, int] | None, placed: Placement) -> None:
    assert fitting(Placement(), screen) == placed
