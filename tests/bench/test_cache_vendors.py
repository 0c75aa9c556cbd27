"""Desk days at Gemini and OpenAI: what the program says was stored and paid is what the vendor's engine bills."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from itertools import accumulate

import pytest

from core.kernel.values.cache import CacheSettings
from core.kernel.values.provider import ContentsReport, ProviderKind
from core.kernel.values.usage import Usage
from core.talk.caching.accounts import MOST_LOST
from core.talk.caching.decision import Decision
from core.talk.caching.offers import cache_prices
from tests.bench import cache_gemini, cache_openai
from tests.bench.cache_book import BookDriver
from tests.bench.cache_days import DESK, Ask, make_day, make_discussion
from tests.vendors.billing.clock import moment

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


def test_a_run_of_long_gaps_makes_stakes_at_gemini_smaller_and_never_ends_them() -> None:
    """All returns of a while come a little later than it was worth waiting, at the dearest rent; then all come soon."""
    late_s = [102.0, 1641.0, 145.0, 1724.0, 1358.0, 2404.0, 2128.0, 58_554.0, 290.0, 300.0, 310.0]
    gaps_s = late_s + [100.0] * 30
    asks = make_discussion(DESK, 101, len(gaps_s) + 1)
    times = accumulate(gaps_s, initial=asks[0].at_s)
    day = [dataclasses.replace(ask, at_s=at_s) for ask, at_s in zip(asks, times, strict=True)]
    model = "gemini-2.5-pro"
    prices = cache_prices(cache_gemini.PROVIDER, ProviderKind.GEMINI, model, moment(day[0].at_s))
    vendor = Watched(model)
    driver = BookDriver(vendor, prices, CacheSettings(), tick_s=10.0)
    vendor.driver = driver
    driver.replay(day)

    assert min(vendor.lost) < -0.5 * MOST_LOST
    assert min(vendor.lost) >= -MOST_LOST
    assert sum(vendor.stored[len(late_s) :]) >= 20
    assert driver.book.pages[day[0].discussion].cache.balance.saved > 0


@dataclass(slots=True)
class Watched(cache_gemini.Gemini):
    """Of each request: what caching had lost by then, in its largest requests; and whether a content held its head."""

    driver: BookDriver | None = None
    lost: list[float] = field(default_factory=list)
    stored: list[bool] = field(default_factory=list)

    def send(self, ask: Ask, decision: Decision) -> tuple[Usage, ContentsReport | None]:
        """See `Vendor.send`."""
        assert self.driver is not None
        balance = self.driver.book.pages[ask.discussion].cache.balance
        self.lost.append(balance.saved / max(balance.largest_tokens, decision.wire.total_tokens))
        self.stored.append(decision.plan.contents is not None)
        return cache_gemini.Gemini.send(self, ask, decision)


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
