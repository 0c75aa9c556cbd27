"""Rent in the books: what was stored, from making to deletion or expiry, once."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.kernel.values.cache import CachePrices, DiscussionCache
from core.kernel.values.provider import ProviderKind, StoredContent
from core.talk.caching.cache_file import decode_cache, encode_cache
from core.talk.caching.contents import BOOKED_EVERY, RentDue, settled, with_content, without
from core.talk.caching.offers import cache_prices
from tests.core.talk.caching.requests import NOW, after

MODEL = "gemini-3.8-flash"
CONTENT = StoredContent("cachedContents/1", MODEL, "h1", "d1", 20_000, NOW, after(3600))
HOUR_USD = 20_000 * 0.5e-6
ROWS = with_content((), "gemini", CONTENT, NOW)


def prices(provider: str, model: str) -> CachePrices:
    return cache_prices(provider, ProviderKind.GEMINI, model, NOW)


def paid(due: tuple[RentDue, ...]) -> float:
    return sum(one.cost_usd or 0.0 for one in due)


def test_one_that_expires_is_booked_to_its_end_and_never_again() -> None:
    rows, due = settled("d1", ROWS, prices, after(9000))
    assert paid(due) == pytest.approx(HOUR_USD)
    assert settled("d1", rows, prices, after(9999)) == ((), ())


def test_one_that_is_deleted_is_booked_for_what_it_was_stored() -> None:
    rows, due = settled("d1", without(ROWS, {CONTENT.name}, after(240)), prices, after(900))
    assert rows == ()
    assert paid(due) == pytest.approx(HOUR_USD * 240 / 3600)


def test_what_is_booked_in_parts_is_the_whole() -> None:
    """Used twice, extended once, deleted: no second is booked twice and none is left out."""
    rows, total = ROWS, 0.0
    for at_s, ends_s in ((100, 3600), (700, 3600), (2000, 5600)):
        ends = StoredContent(CONTENT.name, MODEL, "h1", "d1", 20_000, NOW, after(ends_s))
        rows, due = settled("d1", with_content(rows, "gemini", ends, after(at_s)), prices, after(at_s + 1))
        total += paid(due)
    rows, due = settled("d1", without(rows, {CONTENT.name}, after(4000)), prices, after(4000))
    assert total + paid(due) == pytest.approx(HOUR_USD * 4000 / 3600)


def test_one_that_is_held_for_long_is_booked_while_it_is() -> None:
    assert settled("d1", ROWS, prices, NOW + BOOKED_EVERY - timedelta(seconds=1))[1] == ()
    rows, due = settled("d1", ROWS, prices, NOW + BOOKED_EVERY)
    assert paid(due) == pytest.approx(HOUR_USD * BOOKED_EVERY / timedelta(hours=1))
    assert rows[0].paid_until == NOW + BOOKED_EVERY


def test_what_is_not_booked_survives_a_restart() -> None:
    again = decode_cache(encode_cache(DiscussionCache(rents=ROWS)), "d1").cache
    assert again.rents == ROWS


def test_a_file_from_before_has_no_rents() -> None:
    old = encode_cache(DiscussionCache()).replace(b',"rents":[]', b"")
    assert b"rents" not in old
    assert decode_cache(old, "d1").cache == DiscussionCache()


def test_a_rent_that_nobody_knows_is_unknown() -> None:
    row = with_content((), "gemini", StoredContent("n", "gemini-9", "h", "d1", 9, NOW, after(60)))
    _, due = settled("d1", row, lambda p, m: cache_prices(p, ProviderKind.GEMINI, m, NOW), after(99))
    assert [one.cost_usd for one in due] == [None]
