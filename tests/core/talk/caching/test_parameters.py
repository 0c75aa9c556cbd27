"""The person's switches as the planner takes them: lifetimes on offer, by vendor."""

from __future__ import annotations

import pytest

from core.kernel.values.cache import CacheLedger, CachePrices, GapStats, LedgerScope
from core.kernel.values.provider import ProviderKind
from core.kernel.values.settings import CachingSettings
from core.talk.caching.offers import cache_prices, settings_for
from core.talk.caching.planner import PlanInputs, plan
from tests.core.talk.caching.requests import NOW, QUICK, gap_stats, wire

SOL = cache_prices("openai", ProviderKind.OPENAI, "gpt-6.1-sol", NOW)
FLASH = cache_prices("gemini", ProviderKind.GEMINI, "gemini-3.8-flash", NOW)
SCOPE = LedgerScope("openai", "key", "gpt-6.1-sol")
HOURS = gap_stats(*[3 * 3600.0] * 100)
"""Someone who comes back three hours later."""


def lifetimes(prices: CachePrices, gaps: GapStats, chosen: CachingSettings) -> set[int]:
    """Lifetimes that a request is marked with."""
    found = settings_for(ProviderKind.OPENAI, prices, chosen, is_enabled=True)
    inputs = PlanInputs(wire("900 m0"), SCOPE, prices, CacheLedger(), gaps, found, NOW)
    return {mark.ttl_s for mark in plan(inputs).marks}


def test_openai_keeps_for_twelve_hours_where_returns_take_hours_and_for_thirty_minutes_else() -> None:
    assert lifetimes(SOL, HOURS, CachingSettings()) == {43_200}
    assert lifetimes(SOL, QUICK, CachingSettings()) == {1_800}


@pytest.mark.parametrize(("chosen", "ttl_s"), [("30m", 1_800), ("12h", 43_200)])
def test_a_lifetime_that_is_chosen_is_the_only_one(chosen: str, ttl_s: int) -> None:
    assert lifetimes(SOL, QUICK, CachingSettings(openai_ttl=chosen)) == {ttl_s}


def test_a_model_before_breakpoints_has_no_long_lifetime() -> None:
    old = cache_prices("openai", ProviderKind.OPENAI, "gpt-5.5", NOW)
    assert [offer.ttl_s for offer in old.writes] == [300]


@pytest.mark.parametrize(
    ("minutes", "is_long", "longest_s"), [(60, False, 3600), (600, False, 3600), (600, True, 36_000)]
)
def test_the_minutes_of_gemini_are_the_longest_that_it_is_held(
    minutes: int, is_long: bool, longest_s: int
) -> None:
    chosen = CachingSettings(gemini_ttl_minutes=minutes, gemini_allow_long=is_long)
    found = settings_for(ProviderKind.GEMINI, FLASH, chosen, is_enabled=True)
    assert (found.ttl_s, found.longest_ttl_s) == (None, longest_s)
