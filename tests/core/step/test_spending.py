"""The spend limits of a discussion and of the day."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.step.spending import limit_reached
from core.values.discussion import DiscussionMeta, DiscussionSummary
from core.values.settings import AiSettings, CachingSettings, Settings
from core.values.state import AppState
from core.values.usage import Usage
from tests.core.step.playbook import START


def state(*, spent: float | None = None, today: float | None = None, own: float | None = None) -> AppState:
    summary = DiscussionSummary(
        DiscussionMeta("a", "Tides", START, "anthropic", "claude-opus-5-5", spend_limit_usd=own), START
    )
    settings = replace(
        Settings(), ai=AiSettings(spend_limit_usd=2.0), caching=CachingSettings(day_limit_usd=5.0)
    )
    return AppState(
        summaries={"a": replace(summary, usage=Usage(cost_usd=spent))},
        settings=settings,
        spent_today_usd=today,
    )


@pytest.mark.parametrize(
    ("now", "discussion", "day"),
    [
        (state(), "", ""),
        (state(spent=1.99, today=4.99), "", ""),
        (state(spent=2.0), "$2.00 for this discussion", ""),
        (state(spent=2.5, own=3.0), "", ""),
        (state(spent=0.5, own=0.25), "$0.25 for this discussion", ""),
        (state(today=5.0), "$5.00 for today", "$5.00 for today"),
    ],
)
def test_a_limit_is_reached_when_so_much_is_spent_and_an_own_one_stands_before_the_general(
    now: AppState, discussion: str, day: str
) -> None:
    for found, expected in ((limit_reached(now, "a"), discussion), (limit_reached(now), day)):
        assert expected in found
        assert bool(found) is bool(expected)


def test_without_limits_nothing_stops() -> None:
    assert not limit_reached(replace(state(spent=99.0, today=99.0), settings=Settings()), "a")
