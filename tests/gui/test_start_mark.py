"""A start that ended while its window opened: the next one draws by software, the one after begins anew."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gui.startup import SOFTWARE, mark_of, opening
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]
OPENS = "import os\nfrom gui.startup import opening\nwith opening(os.environ):"
ENDS_INSIDE = f"{OPENS}\n    os._exit(6)"
"""A harmless stand-in for a driver that ends the process."""


def ended_inside(runtime: Path) -> str:
    return ran(ENDS_INSIDE, runtime)


def ran(program: str, runtime: Path) -> str:
    """What a start said on standard error, its exit code 6 where it ended inside."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**{k: v for k, v in os.environ.items() if k != SOFTWARE}, "XDG_RUNTIME_DIR": str(runtime)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode == 6) == program.endswith("os._exit(6)"), done.stderr
    return done.stderr


def test_a_window_that_opened_leaves_no_mark(tmp_path: Path) -> None:
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    with opening(environ):
        assert [*tmp_path.iterdir()] == [mark_of(environ)]

    assert not [*tmp_path.iterdir()]
    assert SOFTWARE not in environ


def test_after_a_driver_that_failed_the_processor_draws_and_no_later_start_is_refused(tmp_path: Path) -> None:
    assert "LIBGL_ALWAYS_SOFTWARE=1" in ended_inside(tmp_path)
    second = ended_inside(tmp_path)
    assert "This time the processor draws" in second
    assert "Repair the graphics driver" in second
    assert "This time the processor draws" not in ended_inside(tmp_path)
    assert "This time the processor draws" in ended_inside(tmp_path)

    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    with opening(environ):  # the driver may be repaired by now
        assert SOFTWARE not in environ


def test_a_first_start_that_the_driver_ends_says_so_and_offers_the_processor(tmp_path: Path) -> None:
    said = ended_inside(tmp_path / "no place for a mark")
    assert "manual-slop: The program ended while its window opened" in said
    assert "Let the processor draw the window: `LIBGL_ALWAYS_SOFTWARE=1 manual-slop`" in said


def test_where_mesa_does_not_draw_its_way_to_draw_is_not_offered(tmp_path: Path) -> None:
    elsewhere = ENDS_INSIDE.replace("import os", "import os, sys, gui.startup\nsys.platform = 'darwin'")
    said = ran(elsewhere, tmp_path)
    assert "Repair the graphics driver" in said
    assert SOFTWARE not in said


def test_a_window_that_opened_or_cannot_open_is_told_about_by_nobody_else(tmp_path: Path) -> None:
    for inside in ("pass", "raise SystemExit(1)"):
        assert ran(f"{OPENS}\n    {inside}", tmp_path) == ""


def test_one_that_opens_beside_another_takes_it_for_no_failure(tmp_path: Path) -> None:
    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    with opening(environ), opening(environ):
        assert SOFTWARE not in environ


def test_without_a_place_for_the_mark_the_window_just_opens() -> None:
    with opening({}):
        assert mark_of({}) is None


def test_a_root_shell_without_a_folder_of_a_login_keeps_the_mark_in_the_home(tmp_path: Path) -> None:
    environ = {"XDG_RUNTIME_DIR": str(tmp_path / "gone"), "HOME": str(tmp_path)}
    with opening(environ):
        assert [*tmp_path.iterdir()] == [mark_of(environ)]

    (tmp_path / ".cache").mkdir()
    assert mark_of(environ) == tmp_path / ".cache" / ".manual-slop-opening"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_start_that_somebody_ended_is_no_failure_of_the_driver(tmp_path: Path, name: str) -> None:
    said = ended_by(tmp_path, name)
    assert said == ""

    environ = {"XDG_RUNTIME_DIR": str(tmp_path)}
    with opening(environ):
        assert SOFTWARE not in environ


def ended_by(runtime: Path, name: str) -> str:
    """What a start said that a signal ended while its window opened."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import signal\nsignal.signal(signal.{name}, signal.SIG_DFL)\n{OPENS}\n    os.kill(os.getpid(), signal.{name})\n    os._exit(6)",
        ],
        cwd=ROOT,
        env={**{k: v for k, v in os.environ.items() if k != SOFTWARE}, "XDG_RUNTIME_DIR": str(runtime)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == -signal.Signals[name], done
    return done.stderr
