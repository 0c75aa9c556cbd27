"""Prices and rules by model, the state that the panel shows, and spend limits."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.cache.state import DiscussionCacheState
from core.kernel.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CacheMark,
    CachePlan,
    DiscussionCache,
    Mechanism,
    PlannedWrite,
)
from core.kernel.values.provider import ProviderKind
from core.kernel.values.usage import Usage
from core.talk.caching.accounts import after_usage, held_tokens, invalidated, is_warm
from core.talk.caching.offers import cache_prices
from tests.core.talk.caching.requests import NOW, SCOPE, after
from tests.vendors.billing.anthropic_models import MODELS
from tests.vendors.billing.prices import Prices

AT = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.mark.parametrize("model", sorted(MODELS))
def test_minimum_sizes_are_those_of_the_documents(model: str) -> None:
    assert (
        cache_prices("anthropic", ProviderKind.ANTHROPIC, model, AT).minimum_tokens == MODELS[model].minimum
    )


@pytest.mark.parametrize(
    "model", ["claude-opus-5-5", "claude-opus-5", "claude-fable-5-2", "claude-haiku-4-5"]
)
def test_multiples_are_those_that_a_bill_is_made_by(model: str) -> None:
    ours = cache_prices("anthropic", ProviderKind.ANTHROPIC, model, AT)
    bill = Prices().rates("anthropic", model, AT.timestamp(), 1000)

    assert ours.input_usd == pytest.approx(float(bill.plain))
    assert ours.input_usd is not None
    assert ours.read * ours.input_usd == pytest.approx(float(bill.read))
    assert [offer.write * ours.input_usd for offer in ours.writes] == pytest.approx(
        [float(bill.write or 0), float(bill.write_long or 0)]
    )


@pytest.mark.parametrize(
    ("provider", "kind", "model", "mechanism"),
    [
        ("openai", ProviderKind.OPENAI, "gpt-6.1-sol", Mechanism.BREAKPOINTS),
        ("openai", ProviderKind.OPENAI, "gpt-5.5", Mechanism.IMPLICIT),
        ("gemini", ProviderKind.GEMINI, "gemini-3.8-flash", Mechanism.CONTENTS),
        ("gemini", ProviderKind.GEMINI, "gemini-2.5-pro", Mechanism.CONTENTS),
        ("gemini", ProviderKind.GEMINI, "gemini-4-argon", Mechanism.IMPLICIT),
        ("ollama", ProviderKind.COMPATIBLE, "qwen", Mechanism.IMPLICIT),
        ("embedded", ProviderKind.EMBEDDED, "smollm2", Mechanism.IMPLICIT),
    ],
)
def test_each_provider_is_asked_in_its_own_way(
    provider: str, kind: ProviderKind, model: str, mechanism: Mechanism
) -> None:
    assert cache_prices(provider, kind, model, AT).mechanism is mechanism


def test_an_unknown_price_is_unknown_and_not_nothing() -> None:
    assert cache_prices("anthropic", ProviderKind.ANTHROPIC, "claude-never-was", AT).input_usd is None
    assert cache_prices("ollama", ProviderKind.COMPATIBLE, "qwen", AT).input_usd is None
    assert cache_prices("embedded", ProviderKind.EMBEDDED, "smollm2", AT).input_usd == 0.0


def test_rent_at_gemini_goes_by_model_and_day() -> None:
    def rent(model: str, at: datetime = AT) -> float:
        return cache_prices("gemini", ProviderKind.GEMINI, model, at).storage_usd * 1e6

    assert rent("gemini-3.8-flash") == pytest.approx(0.5)
    assert rent("gemini-3.8-flash", datetime(2027, 2, 1, tzinfo=UTC)) == pytest.approx(1.0)
    assert rent("gemini-2.5-pro") == pytest.approx(4.5)
    assert rent("gemini-4-argon") == 0


# --- State --------------------------------------------------------------------------------------------------------

MARKED = CachePlan(marks=(CacheMark("12/text", 300),), writes=(PlannedWrite("h", 900, 300),))


def test_the_first_write_makes_a_state_that_expires_from_the_start_of_the_request() -> None:
    found = after_usage(
        None, "d", "anthropic", MARKED, Usage(cache_read_tokens=0, cache_write_tokens=900), NOW
    )

    assert found == DiscussionCacheState("d", "anthropic", NOW, after(300), 0, 900)


def test_a_hit_is_counted_and_moves_the_end() -> None:
    first = DiscussionCacheState("d", "anthropic", NOW, after(300), 2, 900)
    usage = Usage(cache_read_tokens=900, cache_write_tokens=0)
    found = after_usage(first, "d", "anthropic", MARKED, usage, after(100))

    assert found == DiscussionCacheState("d", "anthropic", NOW, after(400), 3, 900)


LAYERED = CachePlan(
    marks=(CacheMark("7/digest", 3600), CacheMark("12/text", 300)),
    read_tokens=800,
    write_tokens=200,
    hit_ttl_s=3600,
    writes=(PlannedWrite("a", 800, 3600), PlannedWrite("h", 1000, 300)),
)


def test_what_outlives_the_last_mark_is_told_beside_it_with_its_tokens_as_reported() -> None:
    found = after_usage(
        None, "d", "anthropic", LAYERED, Usage(cache_read_tokens=880, cache_write_tokens=220), NOW
    )

    assert found is not None
    assert (found.expires_at, found.tokens_cached) == (after(300), 1100)
    assert (found.long_until, found.long_tokens) == (after(3600), 880)
    assert [held_tokens(found, after(s)) for s in (299, 300, 3599, 3600)] == [1100, 880, 880, 0]
    assert [is_warm(found, after(s)) for s in (299, 300, 3599, 3600)] == [True, True, True, False]


def test_where_everything_ends_at_once_nothing_is_told_beside_it() -> None:
    found = after_usage(
        None, "d", "anthropic", MARKED, Usage(cache_read_tokens=0, cache_write_tokens=900), NOW
    )

    assert found is not None
    assert (found.long_until, found.long_tokens) == (None, 0)
    assert not is_warm(found, after(300))


def test_where_the_provider_manages_it_there_is_no_end() -> None:
    found = after_usage(None, "d", "openai", CachePlan(), Usage(cache_read_tokens=500), NOW)

    assert found is not None
    assert found.expires_at is None


@pytest.mark.parametrize("usage", [Usage(input_tokens=5), Usage(cache_read_tokens=0, cache_write_tokens=0)])
def test_a_report_without_figures_changes_no_state(usage: Usage) -> None:
    assert after_usage(None, "d", "x", MARKED, usage, NOW) is None


def test_invalidating_forgets_what_was_held_and_counts_the_salt_up() -> None:
    entry = CacheLedgerEntry("h", 900, 300, after(300), "d")
    cache = DiscussionCache(
        DiscussionCacheState("d", "anthropic", NOW, after(300), 2, 900), CacheLedger({SCOPE: {"h": entry}})
    )
    found = invalidated(cache, after(10))

    assert found.ledger == CacheLedger()
    assert found.epoch == 1
    assert found.state is not None
    assert (found.state.expires_at, found.state.tokens_cached) == (after(10), 0)
    assert found.state.last_invalidated_at == after(10)
    assert invalidated(found, after(20)).epoch == 2
