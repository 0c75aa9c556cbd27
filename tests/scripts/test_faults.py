"""The fault script: real kills of real children, its table and its log. `make faults` tries every point, in CI too."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import faults
from tests.core.app.fault_programs import Acknowledged, Noted, ProgramStage, decisive_points
from tests.core.knowledge.fault_disks import Point
from tests.core.knowledge.harvest.fault_runs import RUNS, Stage, memory_folder


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=memory_folder()) as name:
        yield Path(name)


@pytest.mark.parametrize("run_name", RUNS)
def test_a_killed_process_leaves_a_home_that_the_next_start_makes_whole(folder: Path, run_name: str) -> None:
    stage = Stage(folder, run_name)
    points = stage.prepare()

    writes = [at for at, point in enumerate(points) if point.kind == "write"]
    chosen = (len(points) // 4, writes[len(writes) * 3 // 4], len(points) - 2)
    wrong = [faults.try_kill(stage, at, points[at]) for at in chosen]

    assert wrong == ["", "", ""]


def test_a_short_run_kills_a_program_where_it_is_decided_what_is_left() -> None:
    """`make faults --kills-only`, as continuous integration runs it; the whole run kills at every point."""
    calls = [
        ("write", "d/.queue.json.1.tmp"),
        ("rename", "d/queue.json"),
        ("write", "d/log.jsonl"),
        ("fsync", "d/log.jsonl"),
    ]

    assert decisive_points("queue", [Point(*call) for call in (*calls, *calls)]) == [5, 6]


def test_words_that_a_killed_program_lost_fail_the_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = ProgramStage(folder, "first start")
    points = stage.prepare()
    monkeypatch.setattr(Noted, "read", lambda _: Acknowledged({"words that nobody kept"}, set()))

    assert stage.try_kill(len(points) // 2) == "words are lost: {'words that nobody kept'}"


def test_a_child_that_lives_is_said(folder: Path) -> None:
    stage = Stage(folder, "undo")
    points = stage.prepare()

    assert "not killed but ended with 0" in faults.try_kill(stage, len(points) + 5, points[0])


def test_its_table_has_a_row_for_each_point_and_stands_in_the_log(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = folder / "log" / "faults.log"

    code = faults.main(["--every", "80", "--log", str(log), "--runs", *RUNS])

    lines = log.read_text("utf-8").splitlines()
    assert code == 0
    assert capsys.readouterr().out.splitlines() == lines
    assert lines[0].split()[:3] == ["run", "call", "of"]
    assert all(len(line) <= 160 for line in lines)
    assert [line.count("holds") in {5, 6} for line in lines[1:-1]] == [True] * (len(lines) - 2)
    assert "all held" in lines[-1]


def test_a_point_at_which_something_is_lost_fails_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stage, "judge", lambda *_: "an item is doubled")

    code = faults.main(["--every", "100", "--kills-only", "--log", str(folder / "log"), "--runs", *RUNS])

    assert code == 1
    assert "an item is doubled" in (folder / "log").read_text("utf-8")
    assert "FAILED" in (folder / "log").read_text("utf-8").splitlines()[-1]
