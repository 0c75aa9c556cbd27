"""A crash of the window leaves a report without words of a person, and the next start tells of it."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.app.app_messages import HomeOpened
from core.app.crash_report import MOST_REPORTS, CrashWatch, reports, take_reports
from core.app.lifecycle import home_opened
from core.kernel import paths
from core.kernel.values.state import AppState

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
PROGRAM = """
import os, sys, threading
from pathlib import Path
from core.app.crash_report import CrashWatch
watch = CrashWatch(Path(sys.argv[1]))
watch.begin()
def fall():
    raise ValueError("a secret word")
if sys.argv[2] == "thread":
    thread = threading.Thread(target=fall, name="disk"); thread.start(); thread.join()
elif sys.argv[2] == "error":
    fall()
elif sys.argv[2] == "abort":
    os.abort()
watch.end()
"""


def run(home: Path, how: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(home), how], stderr=subprocess.DEVNULL, check=False
    ).returncode


@pytest.mark.parametrize(
    ("how", "words"),
    [("error", "ValueError in thread MainThread"), ("thread", "in thread disk"), ("abort", "Fatal")],
)
def test_a_crash_leaves_a_report_of_places_and_no_words(tmp_path: Path, how: str, words: str) -> None:
    run(tmp_path, how)
    path = take_reports(tmp_path, NOW)

    text = Path(path).read_text()
    assert words in text
    assert "secret" not in text
    assert reports(tmp_path) == (Path(path),)
    assert take_reports(tmp_path, NOW) == ""


def test_an_end_as_usual_leaves_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, "well") == 0
    assert list(paths.crashes_dir(tmp_path).iterdir()) == []
    assert take_reports(tmp_path, NOW) == ""
    assert take_reports(tmp_path / "none", NOW) == ""


def test_the_newest_reports_are_kept_and_this_run_takes_none_of_its_own(tmp_path: Path) -> None:
    folder = paths.crashes_dir(tmp_path)
    folder.mkdir()
    for number in range(MOST_REPORTS + 5):
        (folder / f"live-{900_000 + number}.txt").write_text("x")
    watch = CrashWatch(tmp_path)
    watch.begin()
    take_reports(tmp_path, NOW)

    assert len(reports(tmp_path)) == MOST_REPORTS
    assert len(list(folder.iterdir())) == MOST_REPORTS + 1
    watch.end()
    watch.end()
    assert len(list(folder.iterdir())) == MOST_REPORTS


def test_the_next_start_says_so() -> None:
    state, _ = home_opened(AppState(), HomeOpened(home="/h", crash="/h/crashes/one.txt"))

    (notice,) = state.program.notices
    assert notice.text == "The program ended unexpectedly last time. What you wrote is kept."
    assert "/h/crashes/one.txt" in notice.detail
    assert home_opened(AppState(), HomeOpened(home="/h"))[0].program.notices == ()
