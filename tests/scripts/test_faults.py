"""The fault script with real kills, at a few points: `make faults` tries all."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.faults import points, try_point


@pytest.mark.parametrize("run_name", ["harvest", "undo"])
def test_a_killed_process_leaves_a_home_that_the_next_start_makes_whole(
    tmp_path: Path, run_name: str
) -> None:
    asked = points(tmp_path / "listed", run_name)

    wrong = [
        try_point(tmp_path / str(at), run_name, at)
        for at in (len(asked) // 4, len(asked) // 2, len(asked) - 2)
    ]

    assert wrong == ["", "", ""]


def test_the_points_are_writes_syncs_renames_and_removals(tmp_path: Path) -> None:
    kinds = {what.partition(" ")[0] for what in points(tmp_path, "harvest")}

    assert kinds >= {"open", "write", "fsync", "rename", "unlink", "make"}
