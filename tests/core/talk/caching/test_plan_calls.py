"""What a plan does, counted: its time is a row of the benchmarks."""

from __future__ import annotations

from statistics import median

import pytest

from tests.bench.cache_speed import calls

MOST = 1_550
"""Functions of Python that a plan of a discussion with tools and thinking calls; of one whose files change a seventh more."""


@pytest.mark.parametrize(("thinks", "most"), [(True, MOST), (False, MOST * 8 // 7)])
def test_a_plan_calls_no_more_functions_than_it_did_and_no_more_in_a_longer_discussion(
    thinks: bool, most: int
) -> None:
    made = calls(120, thinks=thinks)

    assert median(made[40:80]) <= most
    if thinks:
        assert median(made[-20:]) <= 1.05 * median(made[40:60])
