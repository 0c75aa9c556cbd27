"""The bench of set-up measures a check that finds nothing to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench import app_set_up


def test_the_figure_has_its_bar_and_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_set_up, "RUNS", 1)
    (row,) = app_set_up.rows()

    assert (row["bar"], row["unit"], row["runs"]) == ("at most 1", "s", 1)
    assert row["holds"] is (row["value"] <= 1)


def test_the_checkout_is_this_one_with_a_stamp_for_its_own_place(tmp_path: Path) -> None:
    app_set_up.make_checkout(tmp_path)
    stamp = (tmp_path / ".venv/set-up.sha256").read_text()
    again = tmp_path / "again"
    again.mkdir()
    app_set_up.make_checkout(again)

    assert len(stamp) == 64
    assert (again / ".venv/set-up.sha256").read_text() != stamp, "the place is a part of it"
    assert (tmp_path / "requirements.lock").read_bytes() == (
        app_set_up.ROOT / "requirements.lock"
    ).read_bytes()
