"""Desk days at Gemini and OpenAI: what the program says was stored and paid is what the vendor's engine bills."""

from __future__ import annotations

import pytest

from bench import cache_gemini, cache_openai
from bench.cache_days import DESK, Ask, make_day
from core.caching.decision import Decision
from core.values.provider import ContentsReport
from core.values.usage import Usage

WIRE_TOKENS = 200
"""Most that tools and settings take on the wire besides their texts."""


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


@pytest.mark.parametrize("way", ["by the gaps", "12 h"])
def test_what_a_plan_expects_openai_to_read_is_what_its_engine_reads(
    monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Breakpoints look back at nothing. The engine counts what the wire adds to the texts as well."""
    expected: list[tuple[int, int]] = []
    send = cache_openai.OpenAI.send

    def told(
        vendor: cache_openai.OpenAI, ask: Ask, decision: Decision
    ) -> tuple[Usage, ContentsReport | None]:
        usage, contents = send(vendor, ask, decision)
        expected.append((decision.plan.read_tokens, usage.cache_read_tokens or 0))
        return usage, contents

    monkeypatch.setattr(cache_openai.OpenAI, "send", told)
    cache_openai.replayed(make_day(DESK, 101, tool_turns=False)[:40], "gpt-6.1-sol", cache_openai.WAYS[way])

    assert len(expected) == 40
    assert sum(read > 0 for _, read in expected) > 20
    assert [pair for pair in expected if abs(pair[0] - pair[1]) > WIRE_TOKENS] == []
