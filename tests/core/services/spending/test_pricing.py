"""Prices: known ones by hand, unknown ones None."""

from __future__ import annotations

import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from genai_prices.data import providers
from genai_prices.types import ClauseAnd, ClauseContains, ClauseEquals, ClauseOr, ClauseStartsWith

from core.kernel.values.provider import ModelPrice
from core.kernel.values.usage import Usage
from core.services.spending.pricing import (
    PRICED_NAMES,
    cost,
    input_usd_per_token,
    model_price,
    token_prices,
)
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[4]

AT = datetime(2026, 11, 20, tzinfo=UTC)
MIXED = Usage(
    input_tokens=10_000,
    output_tokens=500,
    cache_read_tokens=6_000,
    cache_write_tokens=3_000,
    cache_write_5m_tokens=2_000,
    cache_write_1h_tokens=1_000,
)


@pytest.mark.parametrize("provider", ["anthropic", "claude_code"])
def test_cache_reads_and_writes_are_parts_of_the_input(provider: str) -> None:
    """1,000 fresh at 4, 6,000 read at 0.2, 2,000 written at 5 and 1,000 at 8, 500 out at 20, a million each."""
    by_hand = (1_000 * 4 + 6_000 * 0.2 + 2_000 * 5 + 1_000 * 8 + 500 * 20) / 1e6

    assert cost(provider, "claude-opus-5-5", MIXED, AT) == pytest.approx(by_hand)


def test_vendors_are_found_by_our_names() -> None:
    usage = Usage(input_tokens=1_000, output_tokens=1_000)

    assert cost("gemini", "gemini-2.5-pro", usage, AT) == pytest.approx((1.25 + 10) / 1e3)
    assert cost("openai", "gpt-4o", usage, AT) == pytest.approx((2.5 + 10) / 1e3)
    assert cost("openrouter", "anthropic/claude-sonnet-4", usage, AT) == pytest.approx((3 + 15) / 1e3)


def test_a_dated_name_costs_what_its_model_costs() -> None:
    assert cost("anthropic", "claude-opus-5-5-20261001", MIXED, AT) == cost(
        "anthropic", "claude-opus-5-5", MIXED, AT
    )


@pytest.mark.parametrize(
    ("provider", "model"),
    [("anthropic", "nobody-knows"), ("ollama", "llama3"), ("compatible", "gpt-4o"), ("my-server", "gpt-4o")],
)
def test_an_unknown_price_is_none_never_0(provider: str, model: str) -> None:
    assert cost(provider, model, MIXED, AT) is None
    assert input_usd_per_token(provider, model, AT) is None
    assert model_price(provider, model, AT) is None


def test_the_embedded_model_costs_nothing() -> None:
    assert cost("embedded", "smollm2", Usage(), AT) == 0.0
    assert input_usd_per_token("embedded", "smollm2", AT) == 0.0
    assert model_price("embedded", "smollm2", AT) == ModelPrice(input_usd=0.0, output_usd=0.0)


def test_a_token_of_a_reply_has_its_own_price() -> None:
    assert input_usd_per_token("anthropic", "claude-opus-5-5", AT) == pytest.approx(4 / 1e6)
    price = model_price("anthropic", "claude-opus-5-5", AT)
    assert price is not None
    assert price.output_usd == pytest.approx(20)


def test_usage_that_was_not_reported_has_no_price() -> None:
    assert cost("anthropic", "claude-opus-5-5", Usage(), AT) is None


def test_impossible_usage_has_no_price() -> None:
    assert cost("anthropic", "claude-opus-5-5", Usage(input_tokens=10, cache_read_tokens=50), AT) is None


def test_a_fresh_input_token() -> None:
    assert input_usd_per_token("anthropic", "claude-opus-5-5", AT) == pytest.approx(4e-6)


def test_no_connection_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a price was asked for over the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert cost("openai", "gpt-4o", Usage(input_tokens=1), AT) is not None


def test_writing_for_twelve_hours_costs_twice_what_writing_for_thirty_minutes_does() -> None:
    def writes(long: int | None = None) -> float:
        usage = Usage(
            input_tokens=10_000,
            output_tokens=0,
            cache_read_tokens=0,
            cache_write_tokens=10_000,
            cache_write_12h_tokens=long,
        )
        found = cost("openai", "gpt-6.1-sol", usage, AT)
        assert found is not None
        return found

    assert writes(10_000) == pytest.approx(2 * writes())
    assert writes(5_000) == pytest.approx(1.5 * writes())
    assert writes(0) == writes()


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini", "deepseek"])
def test_a_price_that_was_asked_for_before_is_the_price_of_its_own_time(provider: str) -> None:
    models = {
        "anthropic": "claude-sonnet-4-5",
        "openai": "gpt-5",
        "gemini": "gemini-2.5-pro",
        "deepseek": "deepseek-chat",
    }
    times = [
        datetime(2026, month, 3, hour, 29, 59, tzinfo=UTC) for month in (1, 11) for hour in (0, 8, 16, 23)
    ]
    asked = {at: token_prices(provider, models[provider], at) for at in times}
    for at in reversed(times):
        of_call = cost(provider, models[provider], Usage(input_tokens=1_000, output_tokens=0), at)
        known = token_prices(provider, models[provider], at)
        assert known == asked[at]
        assert of_call == pytest.approx(None if known is None else 1_000 * known.input_usd)


def test_each_server_that_the_price_data_know_is_looked_up() -> None:
    """The data load for no other: each clause of theirs asks for a word that stands in our table."""
    asked: list[str] = []
    for one in providers:
        asked.append(one.id)
        asked += _words(one.provider_match)

    assert [word for word in asked if not any(name in word for name in PRICED_NAMES)] == []


def _words(clause: object) -> list[str]:
    """Words of a clause, one of which stands in each id that it matches."""
    if clause is None:
        return []
    if isinstance(clause, ClauseOr):
        return [word for one in clause.or_ for word in _words(one)]
    if isinstance(clause, ClauseAnd):
        return _words(clause.and_[0])
    assert isinstance(clause, ClauseContains | ClauseEquals | ClauseStartsWith), clause
    return [
        next(
            str(getattr(clause, name))
            for name in ("contains", "equals", "starts_with")
            if hasattr(clause, name)
        )
    ]


def test_a_server_of_ones_own_loads_no_price_data() -> None:
    code = (
        "import sys, datetime\n"
        "from core.services.spending.pricing import model_price\n"
        "assert model_price('workshop', 'm', datetime.datetime.now(datetime.UTC)) is None\n"
        "assert 'genai_prices' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=PATIENCE_S)


def test_a_price_loads_no_client_that_fetches_newer_ones() -> None:
    code = (
        "import sys, datetime\n"
        "from core.services.spending.price_files import _snapshot\n"
        "from core.services.spending.pricing import model_price\n"
        "assert model_price('openai', 'gpt-4.1', datetime.datetime.now(datetime.UTC)) is not None\n"
        "try:\n"
        "    _snapshot(b'[]')\n"
        "except ValueError:\n"
        "    pass\n"
        "assert not {'asyncio', 'httpx2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=PATIENCE_S)
