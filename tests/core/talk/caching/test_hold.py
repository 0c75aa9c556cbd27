"""How long a stored content is held: as long as the next return is likely enough for the rent until then."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import GapStats
from core.kernel.values.provider import ProviderKind
from core.talk.caching.contents import hold_of
from core.talk.caching.economy import Odds, own_odds
from core.talk.caching.offers import cache_prices
from tests.core.talk.caching.requests import AWAY, NOW, QUICK, SLOW

PRICES = cache_prices("gemini", ProviderKind.GEMINI, "gemini-3.8-flash", NOW)
DEAR = cache_prices("gemini", ProviderKind.GEMINI, "gemini-2.5-pro", NOW)


@pytest.mark.parametrize(
    ("gaps", "idle_s", "holds"),
    [(QUICK, 30, True), (QUICK, 1800, False), (SLOW, 900, True), (SLOW, 2400, False), (AWAY, 300, False)],
)
def test_a_content_is_held_while_its_person_is_likely_to_come_back(
    gaps: GapStats, idle_s: float, holds: bool
) -> None:
    held = hold_of(PRICES, own_odds(gaps), 3600)
    assert (held.until_s(idle_s) > idle_s) is holds


def test_the_hour_that_is_left_is_not_weighed_against_one_return() -> None:
    """Rent is paid by the minute: a return within minutes is worth them, whatever the rest of the hour would cost."""
    assert 60 < hold_of(DEAR, own_odds(QUICK), 3600).until_s() < 300


@pytest.mark.parametrize("after_s", [200.0, 1000.0, 2000.0])
def test_it_is_held_until_the_gaps_that_pay_and_no_longer(after_s: float) -> None:
    """Of ten returns nine come within `after_s`, the tenth the day after."""
    odds = Odds((after_s, 86_400.0), (0.9, 1.0), 0.95)
    assert after_s <= hold_of(PRICES, odds, 3600).until_s() <= min(3600, after_s * 1.4)


def test_a_silence_is_sat_out_where_a_return_behind_it_is_worth_it() -> None:
    """Half come back at once, half after forty minutes: who is not back after one is worth waiting for."""
    odds = Odds((30.0, 2400.0), (0.5, 1.0), 0.97)
    assert hold_of(PRICES, odds, 3600).until_s() >= 2400
    assert hold_of(PRICES, odds, 3600).until_s(120) >= 2400
    assert hold_of(DEAR, odds, 3600).until_s(120) == 120


def test_never_longer_than_is_allowed() -> None:
    assert hold_of(PRICES, own_odds(SLOW), 300).until_s() <= 300
    assert hold_of(PRICES, own_odds(SLOW), 0).until_s() == 0


def test_without_a_price_of_input_rent_is_too_much() -> None:
    held = hold_of(replace(PRICES, input_usd=None), own_odds(QUICK), 3600)
    assert not held.pays
    assert held.until_s() == 0


def test_the_dearer_the_rent_the_shorter_the_hold_until_none_is_made() -> None:
    odds = own_odds(SLOW)
    holds = [
        hold_of(replace(PRICES, storage_usd=PRICES.storage_usd * times), odds, 3600) for times in (1, 3, 30)
    ]
    assert [one.pays for one in holds] == [True, True, False]
    assert holds[0].until_s() >= holds[1].until_s() >= holds[2].until_s() == 0


def test_one_that_stands_already_is_used_also_where_none_would_be_made() -> None:
    odds = Odds((60.0, 86_400.0), (0.1, 1.0), 0.9)
    held = hold_of(PRICES, odds, 3600)
    assert not held.pays
    assert held.stored < held.cold
