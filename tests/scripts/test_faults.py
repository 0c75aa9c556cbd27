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

    writes = [at for at, what in enumerate(asked) if what == "write"]
    chosen = (len(asked) // 4, writes[len(writes) * 3 // 4], len(asked) - 2)
    wrong = [try_point(tmp_path / str(at), run_name, at) for at in chosen]

    assert wrong == ["", "", ""]


def test_the_points_are_writes_syncs_renames_and_removals(tmp_path: Path) -> None:
    kinds = {what.partition(" ")[0] for what in points(tmp_path, "harvest")}

    assert kinds >= {"open", "write", "fsync", "rename", "unlink", "make"}
