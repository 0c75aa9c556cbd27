"""What caching may lose on a discussion: prewarms, rent and stored contents stand in the same balance as writes and pings."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import Balance, CacheSettings, StoredRent
from core.kernel.values.usage import Usage, UsageKind
from core.services.providers.blocks import MarkPlace
from core.talk.caching import cache_book as books
from core.talk.caching import pings
from core.talk.caching.accounts import MOST_LOST, after_rent, after_upkeep
from core.talk.caching.content_store import overdue
from core.talk.caching.contents import STAKE, contents_plan, hold_of, rent_share
from core.talk.caching.economy import own_odds
from tests.core.talk.caching.cache_play import CachePlay, cost
from tests.core.talk.caching.requests import ANTHROPIC, NOW, QUICK, after, wire
from tests.core.talk.caching.test_contents import PRICES

WROTE = Usage(input_tokens=1_000, cache_read_tokens=400, cache_write_tokens=600, cache_write_1h_tokens=100)
COST = 400 * 0.05 + 500 * 1.25 + 100 * 2.0


def with_balance(play: CachePlay, balance: Balance) -> None:
    page = play.book.pages["d"]
    play.book = books.with_page(play.book, "d", replace(page, cache=replace(page.cache, balance=balance)))


def test_a_prewarm_costs_the_balance_what_it_wrote_and_a_free_one_nothing() -> None:
    play = CachePlay()
    book, _ = pings.upkeep(play.book, "d", ANTHROPIC, WROTE, WROTE, cost, UsageKind.PREWARM)

    assert book.pages["d"].cache.balance.saved == pytest.approx(-COST)
    assert after_upkeep(Balance(5.0, 10), WROTE, replace(ANTHROPIC, input_usd=0.0)) == Balance(5.0, 10)


def test_a_prewarm_that_could_pass_the_most_that_may_be_lost_is_not_made() -> None:
    play = CachePlay()
    call = play.plan("1", 0)
    total = call.decision.wire.total_tokens
    assert pings.may_prewarm(play.book, call)

    with_balance(play, Balance(-(MOST_LOST - 1.0) * total, total))
    assert not pings.may_prewarm(play.book, call)
    free = replace(call, prices=replace(call.prices, input_usd=0.0))
    assert pings.may_prewarm(play.book, free)


def test_rent_is_taken_from_the_balance_at_the_price_of_input() -> None:
    play = CachePlay()
    row = StoredRent("gemini", "m", "cachedContents/1", 1_000_000, NOW, after(3_600))
    page = play.book.pages["d"]
    play.book = books.with_page(play.book, "d", replace(page, cache=replace(page.cache, rents=(row,))))
    book, due = overdue(play.book, "d", lambda _provider, _model: PRICES, after(3_600))
    (paid,) = due

    assert paid.cost_usd
    assert PRICES.input_usd
    assert book.pages["d"].cache.balance.saved == pytest.approx(-paid.cost_usd / PRICES.input_usd)
    assert after_rent(Balance(5.0, 10), None, 1e-3) == Balance(5.0, 10)


def test_nothing_is_stored_where_that_could_lose_more_than_caching_may() -> None:
    laid = wire("900 m0", "900 m1")
    odds = own_odds(QUICK)

    assert contents_plan(laid, PRICES, {}, odds, CacheSettings(), NOW, most=laid.total_tokens).contents
    assert contents_plan(laid, PRICES, {}, odds, CacheSettings(), NOW, most=0.0).contents is None


def test_a_stored_content_is_a_stake_within_what_caching_may_still_lose() -> None:
    """As much of the request as the stake allows; its making and its rent are at most half of the rest."""
    laid = wire("900 m0", "900 m1", stable="5000 stable")
    odds = own_odds(QUICK)
    hold = hold_of(PRICES, odds, 3_600)
    lost = PRICES.read + rent_share(PRICES, hold.until_s())
    stored = []
    for most in (laid.total_tokens, 2_000.0, 100.0):
        plan = contents_plan(laid, PRICES, {}, odds, CacheSettings(), NOW, most=most)
        tokens = plan.writes[0].tokens if plan.contents else 0
        assert tokens * lost <= STAKE * most
        stored.append(tokens)

    assert stored[0] == laid.ends[laid.last(MarkPlace.TALK) - 1]
    assert stored == sorted(stored, reverse=True)
    assert len(set(stored)) > 2
    assert stored[-1] == 0
