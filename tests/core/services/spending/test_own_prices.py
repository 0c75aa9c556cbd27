"""Prices that a person gives, and newer ones that they have taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import genai_prices
import pytest

from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.values.provider import ProviderKind
from core.kernel.values.usage import Usage
from core.services.providers.model_data import load_models
from core.services.spending import price_files, pricing
from core.services.spending.price_files import take_newer_prices, use_known_prices
from core.services.spending.pricing import PACKAGED, cost, model_price, token_prices, use_prices
from core.talk.caching.offers import cache_prices
from tests.vendors.loopback import Captured, LoopbackServer, Reply, json_reply

AT = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
SOL = ("openai", "gpt-6.2-sol")


@pytest.fixture(autouse=True)
def _config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(paths, "config_dir", lambda: tmp_path)
    yield
    use_prices(PACKAGED)


def given(text: str, **kinds: str) -> None:
    paths.models_file().write_text(text, encoding="utf-8")
    use_known_prices(load_models(paths.models_file()), kinds)


def entry(provider: str, model: str, lines: str) -> str:
    return f'[[model]]\nprovider = "{provider}"\nid = "{model}"\n{lines}\n'


def test_the_version_that_prices_are_said_to_be_of_is_the_installed_one() -> None:
    assert genai_prices.__version__ == pricing.PACKAGED_VERSION


def test_a_persons_price_makes_a_call_priced_to_the_token() -> None:
    assert cost(*SOL, Usage(1_000, 10), AT) is None
    given(entry(*SOL, "input_usd = 2\noutput_usd = 10\ncache_read_usd = 0.1\nprices_as_of = 2026-11-18"))

    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cache_read_tokens=400_000)
    assert cost(*SOL, usage, AT) == pytest.approx(0.6 * 2 + 0.4 * 0.1 + 0.1 * 10)
    found = model_price(*SOL, AT)
    assert found is not None
    assert found.origin == "your models.toml, 2026-11-18"
    assert model_price("openai", "gpt-6.2-sol-2026-12-01", AT) is not None, "a dated name is the same model"


def test_what_is_not_given_costs_the_full_price_and_writing_the_vendors_usual_multiple() -> None:
    given(entry("anthropic", "claude-new", "input_usd = 4\noutput_usd = 20"))
    million = Usage(input_tokens=1_000_000, cache_read_tokens=1_000_000)
    assert cost("anthropic", "claude-new", million, AT) == pytest.approx(4.0)
    written = Usage(
        input_tokens=1_000_000,
        cache_write_tokens=1_000_000,
        cache_write_5m_tokens=500_000,
        cache_write_1h_tokens=500_000,
    )
    assert cost("anthropic", "claude-new", written, AT) == pytest.approx(0.5 * 5 + 0.5 * 8)


def test_prices_of_writing_by_lifetime_are_those_of_the_plan_and_of_the_bill() -> None:
    lines = "input_usd = 4\noutput_usd = 20\ncache_write_5m_usd = 6\ncache_write_1h_usd = 12"
    given(entry("anthropic", "claude-new", lines))

    plan = cache_prices("anthropic", ProviderKind.ANTHROPIC, "claude-new", AT)
    assert [(one.ttl_s, one.write) for one in plan.writes] == [(300, 1.5), (3600, 3.0)]
    written = Usage(input_tokens=1_000_000, cache_write_tokens=1_000_000, cache_write_1h_tokens=1_000_000)
    assert cost("anthropic", "claude-new", written, AT) == pytest.approx(12.0)


def test_a_persons_price_stands_before_the_data_and_one_for_any_model_behind_them() -> None:
    given(
        entry("openai", "gpt-5.5", "input_usd = 1\noutput_usd = 2")
        + entry("openai", "*", "input_usd = 7\noutput_usd = 8")
    )
    for model, usd in (("gpt-5.5", 1.0), ("gpt-6.1-sol", 2.0), ("gpt-9", 7.0)):
        found = model_price("openai", model, AT)
        assert found is not None
        assert found.input_usd == usd, model


def test_a_server_of_ones_own_is_free_by_its_kind() -> None:
    given(entry("compatible", "*", "input_usd = 0\noutput_usd = 0"), local="compatible")

    assert cost("local", "qwen3:8b", Usage(1_000, 10), AT) == 0.0
    assert token_prices("local", "qwen3:8b", AT) is not None
    assert cost("elsewhere", "qwen3:8b", Usage(1_000, 10), AT) is None


class PriceServer(LoopbackServer):
    """Answers with what it was given."""

    given: Reply = json_reply(404, {})

    def answer(self, captured: Captured) -> Reply:
        return self.given


def data(usd: float) -> list[dict[str, object]]:
    """Price data in the form of the library's own address, with one model that it does not have."""
    return [
        {
            "id": provider,
            "name": provider,
            "api_pattern": f"https://{provider}",
            "models": [
                {
                    "id": model,
                    "match": {"equals": model},
                    "prices": {"input_mtok": usd, "output_mtok": 5 * usd},
                }
            ],
        }
        for provider, model in (("anthropic", "claude-new"), ("google", "gemini-new"), SOL)
    ]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PriceServer]:
    with PriceServer() as made:
        monkeypatch.setenv(price_files.URL_VARIABLE, f"{made.url}/data.json")
        yield made


def test_newer_prices_are_taken_kept_with_their_date_and_gone_by_at_the_next_start(
    server: PriceServer,
) -> None:
    server.given = json_reply(200, data(3.0))
    assert (
        take_newer_prices(AT) == "The program downloaded prices of 3 models of 3 providers, as of 2026-11-29."
    )

    before = use_known_prices((), {})
    assert (before.name, before.as_of) == ("updated prices", "2026-11-29")
    found = model_price(*SOL, AT)
    assert found is not None
    assert (found.input_usd, found.output_usd, found.origin) == (3.0, 15.0, "updated prices, 2026-11-29")

    server.given = json_reply(200, data(4.0))
    take_newer_prices(AT)
    after = use_known_prices((), {})
    newer = model_price(*SOL, AT)
    assert newer is not None
    assert newer.input_usd == 4.0
    assert after.mark != before.mark


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Reply(200, b"<html>"), "holds no prices"),
        (json_reply(200, {"a": 1}), "this is not a list of providers"),
        (json_reply(200, data(1.0)[:2]), "no models of openai"),
        (json_reply(200, [{"id": 3}]), "holds no prices"),
        (json_reply(503, {}), "The program could not download newer prices"),
    ],
)
def test_an_answer_that_holds_none_is_said_and_what_stood_stays(
    server: PriceServer, answer: Reply, words: str
) -> None:
    server.given = json_reply(200, data(3.0))
    take_newer_prices(AT)
    kept = paths.prices_file().read_bytes()

    server.given = answer
    with pytest.raises(SlopError) as caught:
        take_newer_prices(AT)

    assert words in str(caught.value)
    assert "The prices are unchanged" in caught.value.remedy
    assert paths.prices_file().read_bytes() == kept


def test_without_a_network_it_says_so(server: PriceServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price_files, "MOST_BYTES", 10)
    server.given = json_reply(200, data(3.0))
    with pytest.raises(SlopError, match="has more than 10 bytes"):
        take_newer_prices(AT)
    monkeypatch.setenv(price_files.URL_VARIABLE, "http://example.org/data.json")
    with pytest.raises(SlopError, match="The program downloads prices only over https"):
        take_newer_prices(AT)
    server.__exit__(None, None, None)
    monkeypatch.setenv(price_files.URL_VARIABLE, f"{server.url}/data.json")
    with pytest.raises(
        SlopError, match=r"The program could not download newer prices.*Try again when you are online"
    ):
        take_newer_prices(AT)
    assert not paths.prices_file().exists()


@pytest.mark.parametrize("day", ["2026-11-01", "2026-11-29"])
def test_kept_prices_count_where_they_are_newer_than_the_program_and_whole(
    server: PriceServer, day: str
) -> None:
    server.given = json_reply(200, data(3.0))
    take_newer_prices(datetime.fromisoformat(f"{day}T12:00:00+00:00"))
    use_known_prices((), {})
    is_newer = day > pricing.PACKAGED_DAY
    assert (model_price(*SOL, AT) is not None) is is_newer

    head, _, rest = paths.prices_file().read_bytes().partition(b"\n")
    paths.prices_file().write_bytes(head + b"\n" + rest.replace(b"3.0", b"0.1"))
    price_files._loader.cache_clear()
    use_known_prices((), {})
    assert model_price(*SOL, AT) is None, "it is not what was kept"
    assert model_price("openai", "gpt-6.1-sol", AT) is not None

    paths.prices_file().write_text(json.dumps({"taken_at": 3}), encoding="utf-8")
    assert use_known_prices((), {}).name == pricing.PACKAGED_SOURCE
