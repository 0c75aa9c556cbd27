"""What is said of a request is what it is billed, though its vendor shows little of its thinking."""

from __future__ import annotations

import pytest

from tests.bench.cache_estimates import BAR, played
from tests.bench.cache_thinking import (
    WITH_GAPS,
)
from tests.bench.cache_vendors import (
    VENDORS,
)


@pytest.mark.parametrize("model", VENDORS)
def test_a_day_with_hidden_thinking_is_billed_as_it_was_said(model: str) -> None:
    figures = played((model, WITH_GAPS, 3))

    assert abs(figures.said / figures.billed - 1) < BAR
    assert figures.worst < 0.02
