"""The bench of the log measures what it says, in the form that the suites share."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.talk.discussion import log
from tests.bench import app_log


def test_the_log_is_as_large_as_the_bar_says_and_read_whole(tmp_path: Path) -> None:
    path = app_log.make_log(tmp_path, 1_000_000)
    content = log.read(tmp_path, path.parent.name)

    assert path.stat().st_size == pytest.approx(1_000_000, rel=0.05)
    assert content.foreign == ()
    assert len(content.records) == path.read_bytes().count(b"\n")


def test_each_figure_has_its_bar_and_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_log, "LOG_BYTES", 1_000_000)
    monkeypatch.setattr(app_log, "RUNS", 3)
    shown, ratio = app_log.rows()

    assert (shown["bar"], shown["unit"]) == ("", "s")
    assert ratio["bar"] == "at most 3"
    assert ratio["holds"] is (ratio["value"] <= 3)
    assert ratio["runs"] == 3
