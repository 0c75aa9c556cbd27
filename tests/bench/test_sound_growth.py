"""The bench of hostile texts tells a square from a line, and has a row for each reader."""

from __future__ import annotations

import time
from itertools import accumulate

import pytest

from tests.bench import sound_growth
from tests.bench.sound_growth import BAR, CHARS, TIMES


@pytest.mark.parametrize(("power", "holds"), [(1, True), (2, False)])
def test_a_square_misses_the_bar(monkeypatch: pytest.MonkeyPatch, power: int, holds: bool) -> None:
    spent_s = [0.0]

    def act(size: int) -> None:
        spent_s[0] += (size / CHARS) ** power

    monkeypatch.setattr(time, "thread_time", lambda: spent_s[0])

    assert (sound_growth._ratio(act) <= BAR) is holds
    assert sound_growth._ratio(act) == pytest.approx(TIMES**power)


def test_every_reader_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_growth, "CHARS", 400)
    monkeypatch.setattr(sound_growth, "RUNS", 1)
    ticks = accumulate(iter(lambda: 0.001, None))
    monkeypatch.setattr(time, "thread_time", ticks.__next__)

    rows = sound_growth.rows()

    assert len(rows) == 23
    assert all(row["holds"] and row["unit"] == "times" for row in rows)
