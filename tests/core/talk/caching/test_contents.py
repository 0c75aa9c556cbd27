"""Gemini's stored contents: worth their rent while someone is likely to come back, known by name, told as orphans."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import (
    CacheLedger,
    CacheSettings,
    ContentsUse,
    DiscussionCacheState,
    LedgerScope,
)
from core.kernel.values.provider import ContentsReport, ProviderKind, StoredContent
from core.kernel.values.usage import Usage
from core.talk.caching.accounts import adopted, after_contents
from core.talk.caching.cache_ledger import adopt, drop_named, live_entries
from core.talk.caching.contents import LEASE_S, contents_plan, hold_of, living, orphan_of, read_of
from core.talk.caching.economy import own_odds
from core.talk.caching.offers import cache_prices
from tests.core.talk.caching.requests import NOW, QUICK, SLOW, after, gap_stats, wire

MODEL = "gemini-3.8-flash"
PRICES = cache_prices("gemini", ProviderKind.GEMINI, MODEL, NOW)
SCOPE = LedgerScope("gemini", "key", MODEL, '{"effort":"auto"}')
CONTENT = StoredContent("cachedContents/1", MODEL, "h1", "d1", 20_000, NOW, after(3600))
STATE = DiscussionCacheState("d1", "gemini", NOW, after(3600), hit_count=2, tokens_cached=20_000)


def test_an_orphan_tells_its_rent_by_the_hour() -> None:
    orphan = orphan_of(CONTENT, "gemini", PRICES)

    assert (orphan.provider, orphan.name, orphan.discussion_id) == ("gemini", "cachedContents/1", "d1")
    assert (orphan.tokens, orphan.expires_at) == (20_000, after(3600))
    assert orphan.usd_per_hour == pytest.approx(20_000 * 0.5e-6)


def test_a_rent_that_nobody_knows_is_unknown() -> None:
    unknown = cache_prices("gemini", ProviderKind.GEMINI, "gemini-9", NOW)
    assert orphan_of(replace(CONTENT, model="gemini-9"), "gemini", unknown).usd_per_hour is None


def test_what_has_expired_is_no_orphan_any_more() -> None:
    orphan = orphan_of(CONTENT, "gemini", PRICES)
    assert living((orphan,), after(3599)) == (orphan,)
    assert living((orphan,), after(3600)) == ()
    assert living((orphan,), None) == (orphan,)


def test_an_adopted_content_is_read_by_its_name_and_kept_as_long_as_it_lives() -> None:
    laid = wire()
    known = replace(CONTENT, prefix_hash=laid.hashes[1], tokens=laid.ends[1])
    ledger = adopt(CacheLedger(), SCOPE, known, "d1")

    live = live_entries(ledger, SCOPE, NOW)
    plan = contents_plan(laid, PRICES, live, own_odds(QUICK), CacheSettings(), NOW)

    assert plan.read_tokens == laid.ends[1]
    assert plan.contents is not None
    assert (plan.contents.name, plan.contents.ttl_s) == ("cachedContents/1", 0)


def test_one_that_would_end_before_the_person_returns_is_asked_for_again_with_the_request() -> None:
    laid = wire()
    short = replace(CONTENT, prefix_hash=laid.hashes[1], expires_at=after(60))
    live = live_entries(adopt(CacheLedger(), SCOPE, short, "d1"), SCOPE, NOW)

    plan = contents_plan(laid, PRICES, live, own_odds(SLOW), CacheSettings(), NOW)

    assert plan.contents is not None
    assert 1200 <= plan.contents.ttl_s <= 1900


def test_a_new_one_holds_the_turns_so_far_and_lives_as_long_as_it_is_held() -> None:
    laid = wire("900 m0", "900 m1")
    plan = contents_plan(laid, PRICES, {}, own_odds(QUICK), CacheSettings(), NOW)

    assert plan.contents is not None
    assert (plan.contents.use, plan.contents.through_key) == (ContentsUse.CREATE, "11/m1")
    assert plan.contents.ttl_s == pytest.approx(hold_of(PRICES, own_odds(QUICK), 3600).until_s(), abs=1)
    assert plan.outlook < plan.outlook_without


def test_a_command_that_ends_at_once_reads_what_is_stored_and_makes_nothing() -> None:
    laid, chosen = wire(), CacheSettings(may_store=False)
    stored = adopt(CacheLedger(), SCOPE, replace(CONTENT, prefix_hash=laid.hashes[1]), "d1")

    none = contents_plan(laid, PRICES, {}, own_odds(QUICK), chosen, NOW)
    used = contents_plan(laid, PRICES, live_entries(stored, SCOPE, NOW), own_odds(QUICK), chosen, NOW)

    assert none.contents is None
    assert "the command ends after the reply" in none.sentences[0]
    assert used.contents is not None
    assert used.contents.name == CONTENT.name


def test_a_longer_hold_is_asked_for_by_the_hour() -> None:
    """A crash leaves an hour's rent at most, however long the person may be away."""
    long = gap_stats(*[5 * 3600.0] * 100)
    cheap = replace(PRICES, storage_usd=PRICES.storage_usd / 100)
    plan = contents_plan(wire(), cheap, {}, own_odds(long), CacheSettings(longest_ttl_s=86_400), NOW)

    assert plan.contents is not None
    assert plan.contents.ttl_s == LEASE_S


def test_an_adopted_content_keeps_the_scope_that_its_prefix_is_known_by() -> None:
    high = replace(SCOPE, settings='{"effort":"high"}')
    once = adopt(CacheLedger(), high, CONTENT, "d1")
    again = adopt(once, SCOPE, replace(CONTENT, name="cachedContents/2"), "d1")

    assert list(again.entries) == [high]
    assert again.entries[high]["h1"].name == "cachedContents/2"


def test_what_is_gone_is_dropped_by_name_and_nothing_else() -> None:
    ledger = adopt(adopt(CacheLedger(), SCOPE, CONTENT, "d1"), SCOPE, replace(
        CONTENT, name="cachedContents/2", prefix_hash="h2"), "d2")  # fmt: skip
    left = drop_named(ledger, {"cachedContents/1", ""})
    assert [entry.name for entry in left.entries[SCOPE].values()] == ["cachedContents/2"]


def test_use_does_not_put_off_the_end_of_a_stored_prefix() -> None:
    used = ContentsReport(stored=replace(CONTENT, expires_at=after(900)))
    found = after_contents(STATE, used, after(60))
    assert found is not None
    assert found.expires_at == after(900)


def test_one_that_somebody_deleted_is_held_no_longer() -> None:
    lost = ContentsReport("It was gone", lost_name="cachedContents/1")
    found = after_contents(STATE, lost, after(60))
    assert found is not None
    assert (found.expires_at, found.tokens_cached) == (after(60), 0)


def test_a_report_that_says_nothing_of_contents_changes_nothing() -> None:
    assert after_contents(STATE, ContentsReport("too small"), after(60)) is STATE
    assert after_contents(None, ContentsReport(stored=CONTENT), after(60)) is None


def test_what_is_found_after_a_start_is_what_the_panel_shows() -> None:
    fresh = adopted(None, "gemini", CONTENT)
    assert (fresh.discussion_id, fresh.tokens_cached, fresh.expires_at) == ("d1", 20_000, after(3600))

    known = adopted(replace(STATE, expires_at=NOW, tokens_cached=0), "gemini", CONTENT)
    assert (known.hit_count, known.tokens_cached, known.expires_at) == (2, 20_000, after(3600))


def test_what_a_turn_is_expected_to_cost_follows_what_became_of_its_stored_prefix() -> None:
    """A plan that makes one reads nothing yet, and one that reads may find it gone."""
    makes = Usage(input_tokens=21_000, cache_read_tokens=0)
    uses = replace(makes, cache_read_tokens=20_000)

    made = read_of(makes, ContentsReport(stored=CONTENT, is_new=True))
    gone = read_of(uses, ContentsReport("It was gone", lost_name="cachedContents/1"))

    assert (made.input_tokens, made.cache_read_tokens) == (21_000, 20_000)
    assert (gone.input_tokens, gone.cache_read_tokens) == (21_000, 0)
    assert read_of(uses, None) == uses
    assert read_of(Usage(), ContentsReport(stored=CONTENT)) == Usage()
