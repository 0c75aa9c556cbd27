"""What was spent and its limits, where the money is shown."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.settings import Settings
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import ChangeSetting
from panels.caching.caching_room import CachingView
from tests.panels.caching import cache_states
from tests.panels.screen import Screen
from tests.panels.views import view_of


def _screen(state: AppState | None = None) -> Screen:
    return Screen(state or cache_states.caching(), view_of(CachingView(), panel="usage"))


@pytest.mark.parametrize(
    ("label", "typed", "key", "value"),
    [
        ("Limit per discussion ($)", "$7.5", "ai_settings.spend_limit_usd", 7.5),
        ("Limit per discussion ($)", "", "ai_settings.spend_limit_usd", None),
        ("Limit per day ($)", "20", "ai_settings.caching.day_limit_usd", 20.0),
    ],
)
def test_limits_are_typed_where_the_money_is_shown(
    label: str, typed: str, key: str, value: float | None
) -> None:
    screen = _screen()

    screen.ui.type(label, typed)

    assert screen.asked == [ChangeSetting(key, value)]


def test_the_sums_stand_beside_their_limits() -> None:
    words = _screen().ui.texts()

    assert "This discussion: $0.42, limit $5.00" in words
    assert "Today: $1.25, limit $10.00" in words
    unknown = _screen(cache_states.caching(spent_today_usd=None, settings=Settings())).ui.texts()
    assert "Today: not added up yet, no limit" in unknown


def test_the_figure_of_what_caching_saved_has_the_digits_of_the_sentence() -> None:
    state = cache_states.caching()
    (provider, total), *_ = state.caching.totals.items()
    total = replace(total, saved_usd=0.0794)
    state = replace(state, caching=replace(state.caching, totals={provider: total}))
    screen = Screen(state, view_of(CachingView(), panel="caching"))
    assert screen.ui.shows("$0.079")
    assert screen.ui.shows("Caching saved you $0.079")
