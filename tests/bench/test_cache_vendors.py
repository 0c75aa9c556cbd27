"""Desk days at Gemini and OpenAI: what the program says was stored and paid is what the vendor's engine bills."""

from __future__ import annotations

import pytest

from bench import cache_gemini, cache_openai


@pytest.mark.parametrize("model", cache_gemini.MODELS)
def test_holding_by_the_rule_costs_no_more_than_the_best_fixed_hold_and_its_rent_is_the_vendors(
    model: str,
) -> None:
    played = cache_gemini.play((model, 102))
    assert played.ours < 1.0
    assert played.ours <= cache_gemini.BAR * min(played.held.values())
    assert played.rent == pytest.approx(1.0, abs=cache_gemini.RENT_BAR)


def test_a_desk_day_at_openai_keeps_to_its_bar_with_default_settings() -> None:
    cost, pings = cache_openai.play(("gpt-6.1-sol", 101, "by the gaps"))
    assert cost <= cache_openai.BAR
    assert pings == 0
    assert cost < cache_openai.play(("gpt-6.1-sol", 101, "30 min"))[0]
