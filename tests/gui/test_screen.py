"""The virtual screen: there for every client that comes and goes, gone with the process that started it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest
from Xlib.display import Display

from gui.screen import ScreenError, virtual_screen
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
WAIT_S = PATIENCE_S
HOLD = """
import sys
from gui.screen import virtual_screen
with virtual_screen(320, 200) as name:
    print(name, flush=True)
    sys.stdin.read()
"""


def test_it_is_the_display_while_it_lasts_and_outlives_its_clients() -> None:
    before = os.environ.get("DISPLAY")
    with virtual_screen(320, 200) as name:
        assert os.environ["DISPLAY"] == name
        for _ in range(2):
            client = Display(name)
            assert client.screen().width_in_pixels == 320
            client.close()
    assert os.environ.get("DISPLAY") == before


def test_it_ends_with_a_process_that_was_killed() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline().startswith(b":")
        (screen,) = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
        watched = os.pidfd_open(int(screen))
        child.kill()
    try:
        assert select.select([watched], [], [], WAIT_S)[0], "Xvfb was left behind"
    finally:
        os.close(watched)


def test_where_there_is_no_xvfb_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ScreenError) as caught, virtual_screen():
        pass
    assert "xvfb" in caught.value.remedy
