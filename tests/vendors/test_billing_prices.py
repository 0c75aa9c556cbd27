"""Money: the fast rates agree with the library, with hand totals, and with the documents' formulas."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from genai_prices import Usage, calc_price, extract_usage
from hypothesis import given
from hypothesis import strategies as st

from tests.vendors.billing.anthropic import AnthropicTicket
from tests.vendors.billing.clock import START_S
from tests.vendors.billing.openai import OpenAITicket
from tests.vendors.billing.prices import Prices, UnknownPriceError
from tests.vendors.billing.values import Parts

PRICES = Prices()
AT = datetime.fromtimestamp(START_S, UTC)
sizes = st.integers(0, 400_000)


def test_a_bill_with_both_lifetimes_is_the_hand_total() -> None:
    """Opus 5.5: 1,000 plain at $4, 20,000 read at $0.20, 3,000 at $5, 4,000 at $8, 500 out at $20 a million."""
    parts = Parts(1_000, 20_000, 3_000, 4_000)
    usd = PRICES.cost("anthropic", "claude-opus-5-5", parts, START_S, output_tokens=500)

    assert usd == Decimal("0.004") + Decimal("0.004") + Decimal("0.015") + Decimal("0.032") + Decimal("0.01")


def test_openai_is_billed_by_the_guide_s_formula() -> None:
    """Weighted = ordinary + cached * 0.05 + written * 1.25, times $2 a million for GPT-6.1 Sol."""
    parts = Parts(plain=500, read=12_000, write=3_000)

    assert PRICES.cost("openai", "gpt-6.1-sol", parts, START_S) == Decimal(4850) * 2 / 1_000_000


def test_twelve_hours_at_openai_cost_two_and_a_half_times_the_input() -> None:
    assert PRICES.cost("openai", "gpt-6-astra", Parts(0, 0, 0, 1_000), START_S) == Decimal("0.025")


@pytest.mark.parametrize(
    ("provider", "model", "read"),
    [
        ("anthropic", "claude-opus-5", "0.1"),
        ("anthropic", "claude-opus-5-5", "0.05"),
        ("anthropic", "claude-sonnet-5-5", "0.05"),
        ("anthropic", "claude-fable-5-1", "0.025"),
        ("anthropic", "claude-mythos-5-2", "0.025"),
        ("anthropic", "claude-haiku-5-5", "0.1"),
        ("openai", "gpt-6.1-terra", "0.05"),
        ("openai", "gpt-5.6-sol", "0.1"),
        ("google", "gemini-4-argon", "0.05"),
        ("google", "gemini-3.8-flash", "0.1"),
    ],
)
def test_reading_costs_a_share_that_differs_by_model(provider: str, model: str, read: str) -> None:
    rates = PRICES.rates(provider, model, START_S, 1_000)

    assert rates.read / rates.plain == Decimal(read)


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-4-5"])
@given(plain=sizes, read=sizes, write=sizes, long=sizes, output=sizes)
def test_anthropic_s_usage_costs_the_same_through_the_library(
    model: str, plain: int, read: int, write: int, long: int, output: int
) -> None:
    parts = Parts(plain, read, write, long)
    usage = AnthropicTicket(parts, START_S).usage(output)
    raw = {"model": model, "usage": {k: v for k, v in usage.items() if not isinstance(v, str)}}

    expected = extract_usage(raw, provider_id="anthropic").calc_price(genai_request_timestamp=AT).total_price

    assert PRICES.cost("anthropic", model, parts, START_S, output_tokens=output) == expected


@pytest.mark.parametrize("model", ["gpt-6.1-sol", "gpt-5.6-luna"])
@given(plain=sizes, read=sizes, write=sizes, output=sizes)
def test_openai_s_usage_costs_the_same_through_the_library(
    model: str, plain: int, read: int, write: int, output: int
) -> None:
    parts = Parts(plain, read, write)
    raw = {"model": model, "usage": OpenAITicket(parts, START_S).usage(output)}
    extracted = extract_usage(raw, provider_id="openai", api_flavor="responses")

    expected = extracted.calc_price(genai_request_timestamp=AT).total_price

    assert PRICES.cost("openai", model, parts, START_S, output_tokens=output) == expected


@pytest.mark.parametrize("total", [199_999, 200_000, 200_001])
def test_a_threshold_counts_as_the_library_counts_it(total: int) -> None:
    usage = Usage(input_tokens=total, cache_read_tokens=1_000)
    expected = calc_price(usage, "gemini-3.1-pro-preview", provider_id="google", genai_request_timestamp=AT)

    parts = Parts(total - 1_000, 1_000)
    assert PRICES.cost("google", "gemini-3.1-pro-preview", parts, START_S) == expected.total_price


@pytest.mark.parametrize(
    ("day", "plain", "stored"),
    [("2026-12-31T23:59:59+00:00", "0.75", "0.5"), ("2027-01-01T00:00:00+00:00", "1.5", "1")],
)
def test_prices_change_on_their_day(day: str, plain: str, stored: str) -> None:
    at_s = datetime.fromisoformat(day).timestamp()

    assert PRICES.cost("google", "gemini-3.8-flash", Parts(1_000_000), at_s) == Decimal(plain)
    assert PRICES.storage("models/gemini-3.8-flash", 1e6, at_s) == Decimal(stored)


@pytest.mark.parametrize(
    ("model", "usd"),
    [("gemini-2.5-flash", "1"), ("gemini-3.1-pro-preview", "4.5"), ("gemini-3.5-flash-lite", "0.5")],
)
def test_storing_has_its_price(model: str, usd: str) -> None:
    assert PRICES.storage(model, 1e6, START_S) == Decimal(usd)


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    with pytest.raises(UnknownPriceError):
        PRICES.cost("anthropic", "smollm2-135m", Parts(1), START_S)
    with pytest.raises(UnknownPriceError):
        PRICES.storage("gemini-4-argon", 1.0, START_S)
    with pytest.raises(UnknownPriceError):
        PRICES.cost("google", "gemini-3.8-flash", Parts(0, 0, 5), START_S)  # nothing is sold there
