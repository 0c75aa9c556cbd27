"""The bench of the stack measures what it says, in the form that the suites share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import app_stack


def test_the_files_are_as_many_and_as_large_as_the_bar_says(tmp_path: Path) -> None:
    paths = app_stack.make_files(tmp_path)

    assert len(paths) == len({path.read_bytes() for path in paths}) == 1_000
    assert sum(path.stat().st_size for path in paths) == pytest.approx(10_000_000, rel=0.01)


def test_each_figure_has_its_bar_and_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_stack, "FILES", 20)
    monkeypatch.setattr(app_stack, "RUNS", 3)
    rows = app_stack.rows()

    assert [row["name"].split(",")[1].split()[0] for row in rows] == ["first", "first", "second", "second"]
    for row in rows:
        assert row["bar"] == "at most 5"
        assert row["holds"] is (row["value"] <= 5)
        assert row["runs"] == 3
