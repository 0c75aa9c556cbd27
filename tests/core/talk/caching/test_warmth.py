"""Standing of a cache as one value, and the note before a send that pays for a prefix once more."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.kernel.values.state import AppState
from core.talk.caching.warmth import OFFERED_FROM_USD, CacheStatus, cold_send, cold_words, standing_of
from tests.panels import states
from tests.panels.caching.cache_states import cached, caching, plan
from tests.state_fields import with_fields

ENDED = states.NOW - timedelta(hours=2)


def cold(amount: float | None, *, cost_usd: float | None = 0.9, read_tokens: int = 0) -> AppState:
    """A cache that ended two hours ago, and a plan that writes it again."""
    planned = plan(
        read_tokens=read_tokens,
        write_tokens=120_000,
        fresh_tokens=300,
        cost_usd=cost_usd,
        read_cost_usd=0.1 if read_tokens else 0.0,
    )
    state = caching(
        caches={"d1": cached("d1", "anthropic", expires_at=ENDED)}, plans={"d1": planned}, reports={}
    )
    settings = state.config.settings
    return with_fields(
        state, settings=replace(settings, caching=replace(settings.caching, cold_send_usd=amount))
    )


@pytest.mark.parametrize(
    ("amount", "cost_usd", "is_said"),
    [
        (0.5, 0.9, True),
        (0.9, 0.9, False),
        (1.0, 0.9, False),
        (0.0, 0.9, False),
        (0.01, 0.02, True),
        (0.5, None, True),
    ],
)
def test_a_cold_send_is_said_from_the_amount_of_the_person_on(
    amount: float, cost_usd: float | None, is_said: bool
) -> None:
    found = cold_send(cold(amount, cost_usd=cost_usd), "d1")

    assert (found is not None) is is_said
    assert found is None or (found.tokens == 120_300 and not found.is_offer)


def test_who_never_chose_an_amount_is_offered_the_note_from_a_quarter_dollar_on() -> None:
    offered = cold_send(cold(None, cost_usd=OFFERED_FROM_USD + 0.01), "d1")

    assert offered is not None
    assert offered.is_offer
    assert cold_send(cold(None, cost_usd=OFFERED_FROM_USD), "d1") is None
    assert cold_send(cold(None, cost_usd=None), "d1") is None


def test_what_another_discussion_keeps_alive_is_not_paid_again() -> None:
    found = cold_send(cold(0.5, read_tokens=40_000), "d1")

    assert found is not None
    assert found.tokens == 120_300
    assert found.usd == pytest.approx(0.8)


def test_nothing_is_said_while_something_is_held_or_the_provider_manages_it() -> None:
    state = cold(0.01)
    for held in (cached("d1", "anthropic"), cached("d1", "openai", expires_at=None)):
        assert cold_send(with_fields(state, caches={"d1": held}), "d1") is None
    assert cold_send(with_fields(state, caches={}), "d1") is None


def test_the_note_says_when_it_ended_how_many_tokens_and_dollars() -> None:
    state = cold(0.5)
    found = cold_send(state, "d1")
    assert found is not None

    said = cold_words(state, found)

    assert "≈120k tokens again, for about $0.90" in said
    assert said.startswith("The cache went cold at ")
    unknown = replace(found, usd=None)
    assert cold_words(state, unknown).endswith("at an unknown price.")


def test_the_larger_part_ends_first_in_the_list_and_no_token_is_told_twice() -> None:
    two = cached(
        "d1", "anthropic", tokens_cached=1_600, long_until=states.NOW + timedelta(hours=1), long_tokens=1_600
    )
    state = caching(caches={"d1": two})

    whole = standing_of(state, "d1")
    parts = standing_of(with_fields(state, caches={"d1": replace(two, long_tokens=1_000)}), "d1")

    assert [(one.at, one.tokens) for one in whole.ends] == [(two.long_until, 1_600)]
    assert [(one.at, one.tokens) for one in parts.ends] == [(two.long_until, 1_000), (two.expires_at, 600)]
    assert whole.status is CacheStatus.HELD
