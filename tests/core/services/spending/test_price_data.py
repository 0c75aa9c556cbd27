"""Prices by our reading of the price data are those of the library, for each model that it names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import pytest
from genai_prices import Usage as LibraryUsage
from genai_prices.data import providers
from genai_prices.data_snapshot import DataSnapshot, get_snapshot
from genai_prices.types import ModelInfo, StartDateConstraint, _providers_from_raw

from core.kernel.codecs import from_builtins, read_json
from core.kernel.values.usage import Usage
from core.services.spending import price_data
from core.services.spending.price_data import FILE, PriceData, read_prices
from scripts.build_prices import prices_text
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[4]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
PLAIN = {"input_tokens": 1_000, "output_tokens": 77}
USAGES: list[dict[str, int]] = [
    PLAIN,
    {"input_tokens": 1_000_001, "output_tokens": 3},
    {"input_tokens": 90_000, "output_tokens": 5, "cache_read_tokens": 60_000, "cache_write_tokens": 20_000},
    {
        "input_tokens": 9_000,
        "output_tokens": 5,
        "cache_read_tokens": 1_000,
        "cache_write_tokens": 3_000,
        "cache_write_5m_tokens": 1_000,
        "cache_write_1h_tokens": 1_500,
    },
    {"input_tokens": 10, "output_tokens": 0, "cache_read_tokens": 50},
    {"input_tokens": 100, "output_tokens": 0, "cache_write_1h_tokens": 50},
    {"input_tokens": 100, "output_tokens": 0, "cache_write_tokens": 40, "cache_write_1h_tokens": 50},
    {"input_tokens": 0, "output_tokens": 0},
]
Prices = tuple[object, ...] | None


def by_library(data: DataSnapshot, vendor: str, model: str, usage: dict[str, int], at: datetime) -> Prices:
    try:
        found = data.calc(LibraryUsage(**usage), model, vendor, None, at)
    except (LookupError, ValueError):
        return None
    prices = found.model_price
    return (
        found.input_price,
        found.output_price,
        found.total_price,
        getattr(prices.input_mtok, "base", prices.input_mtok),
        getattr(prices.cache_read_mtok, "base", prices.cache_read_mtok),
    )


def by_us(data: PriceData, vendor: str, model: str, usage: dict[str, int], at: datetime) -> Prices:
    found = data.calculate(vendor, model, from_builtins(usage, Usage), at)
    if found is None:
        return None
    prices = found.rates
    return (
        found.input_price,
        found.output_price,
        found.total_price,
        getattr(prices.input_mtok, "base", prices.input_mtok),
        getattr(prices.cache_read_mtok, "base", prices.cache_read_mtok),
    )


def texts(value: object) -> Iterator[str]:
    """All words of a clause."""
    for one in vars(value).values():
        if isinstance(one, str):
            yield one
        else:
            yield from chain.from_iterable(map(texts, one))


def times(model: ModelInfo) -> Iterator[datetime]:
    """Now, the days around each change of a price, and the hours of a day where one depends on them."""
    yield NOW
    conditions = model.prices if isinstance(model.prices, list) else []
    for one in conditions:
        if isinstance(one.constraint, StartDateConstraint):
            start = datetime.combine(one.constraint.start_date, datetime.min.time(), UTC)
            yield from (start - timedelta(seconds=1), start)
        elif one.constraint is not None:
            yield from (NOW.replace(hour=hour, minute=30) for hour in range(24))


def test_the_file_is_what_the_library_that_is_installed_says() -> None:
    assert prices_text() == FILE.read_bytes(), "run `python -m scripts.build_prices`"


def test_each_model_of_the_library_costs_what_it_costs_by_the_library() -> None:
    ours, theirs = read_prices(FILE.read_bytes()), get_snapshot()
    different, priced = [], 0
    for vendor in providers:
        for model in vendor.models:
            names = {model.id, *texts(model.match)}
            asked = [(name, PLAIN, NOW) for name in names]
            asked += [(model.id, usage, at) for usage in USAGES for at in times(model)]
            for ask in asked:
                expected = by_library(theirs, vendor.id, *ask)
                priced += expected is not None
                if by_us(ours, vendor.id, *ask) != expected:
                    different.append((vendor.id, *ask))
    assert different == []
    assert priced > 10_000


@pytest.mark.parametrize(
    ("vendor", "model"),
    [
        ("azure", "claude-opus-5-5"),
        ("azure-openai", "gpt-5"),
        (" Google ", "claude-sonnet-4-5"),
        ("google-vertex", "gemini-2.5-pro"),
        ("litellm", "claude-opus-5-5"),
        ("litellm", "anthropic/claude-opus-5-5"),
        ("litellm", "nobody/gpt-5"),
        ("litellm", "/gpt-5"),
        ("litellm", "openai/"),
        ("LiteLLM", "Bedrock/amazon.nova-lite-v1:0"),
        ("openai", "GPT-5"),
        ("openai", "gpt-5.2-20251211"),
        ("openai", "gpt-5.2-20251399"),
        ("openrouter", "openai/gpt-5.2-20251211:free"),
        ("openai", ""),
        ("nobody", "gpt-5"),
        ("", "gpt-5"),
    ],
)
def test_a_name_means_the_model_that_it_means_to_the_library(vendor: str, model: str) -> None:
    ours, theirs = read_prices(FILE.read_bytes()), get_snapshot()
    assert by_us(ours, vendor, model, PLAIN, NOW) == by_library(theirs, vendor, model, PLAIN, NOW)


ODD = b"""[{"id": "shop", "name": "Shop", "api_pattern": "https://shop", "future": {"a": [1]}, "models": [
 {"id": "night", "match": {"and": [{"regex": "^ni.*t$"}, {"ends_with": "T"}]}, "prices": [
   {"prices": {"input_mtok": 2, "output_mtok": 4.5}},
   {"constraint": {"start_time": "22:00:00+02:00", "end_time": "04:00:00Z"}, "prices": {"input_mtok": 0.1}}]},
 {"id": "tiers", "match": {"starts_with": "tiers"}, "prices": {"input_mtok":
   {"base": 1, "tiers": [{"start": 500, "price": 3}, {"start": 100, "price": 2}]}, "requests_kcount": 5}},
 {"id": "orphan", "match": {"equals": "orphan"}, "prices": {"cache_read_mtok": 1, "output_mtok": 2}},
 {"id": "none", "match": {"equals": "none"}, "prices": []}
]}]"""


def test_rules_that_no_model_has_today_are_read_as_the_library_reads_them() -> None:
    ours = read_prices(ODD)
    theirs = DataSnapshot(_providers_from_raw(read_json(ODD)), from_auto_update=True)
    for hour in range(24):
        at = NOW.replace(hour=hour)
        for sent in (0, 100, 101, 500, 501):
            usage = {"input_tokens": sent, "output_tokens": 1}
            for model in ("night", "nit", "nitro", "tiers-1", "orphan"):
                assert by_us(ours, "shop", model, usage, at) == by_library(theirs, "shop", model, usage, at)


def test_another_release_of_the_library_is_gone_by_where_one_is_installed() -> None:
    code = (
        "import sys\n"
        "from core.services.spending.price_data import packaged_prices\n"
        "first = packaged_prices(sys.argv[1])\n"
        "assert ('genai_prices' in sys.modules) is (sys.argv[2] == 'loads')\n"
        "assert len(first.providers) > 40\n"
    )
    for version, loads in (("0.2.3", "reads"), ("0.2.2", "loads")):
        subprocess.run([sys.executable, "-c", code, version, loads], cwd=ROOT, check=True, timeout=PATIENCE_S)
    assert price_data.library_prices().providers == read_prices(FILE.read_bytes()).providers
