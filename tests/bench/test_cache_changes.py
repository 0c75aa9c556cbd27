"""Days of switches, tasks and compaction: nothing that is warm is paid for twice, and what may be added is added."""

from __future__ import annotations

from itertools import product

import pytest

from tests.bench.cache_before import SEEDS
from tests.bench.cache_changes import KINDS, played
from tests.bench.cache_thinking import (
    OFF,
    ON,
    PLAIN,
)
from tests.bench.cache_vendors import (
    VENDORS,
)


@pytest.mark.parametrize(("model", "kind", "way"), [*product(VENDORS, KINDS, (OFF, ON))])
def test_nothing_warm_is_paid_for_twice(model: str, kind: str, way: str) -> None:
    assert played((model, kind, way, SEEDS[0])).twice == 0


@pytest.mark.parametrize("model", ["claude-opus-5-5", "gpt-6.1-sol"])
def test_switches_break_nothing_where_the_vendor_takes_them_and_cost_less_than_at_the_head(
    model: str,
) -> None:
    (kind,) = (name for name in KINDS if name.startswith("switches"))
    ours, plain = (played((model, kind, way, SEEDS[1])) for way in (OFF, PLAIN))
    assert ours.breaks == 0
    assert plain.breaks > 0
    assert ours.tokens <= 0.8 * plain.tokens
