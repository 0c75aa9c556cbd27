"""The bench of the opener reads the same home both ways, and says whether it keeps to its bar."""

from __future__ import annotations

from pathlib import Path

from tests.bench import sound_openers


def test_each_way_reads_all_of_the_home(tmp_path: Path) -> None:
    seconds, ratio = sound_openers.rows(discussions=20, runs=2)

    assert seconds["value"] > 0
    assert ratio["bar"] == "at most 1.05"
    assert ratio["holds"] is (ratio["value"] <= 1.05)
    ids = sound_openers.make_home(tmp_path, 3)
    with sound_openers._bare():
        assert sound_openers._read(tmp_path, ids) == 3 * sound_openers.TURNS
