"""When time is told each second: while anything is under way, counted down or owed, and only then."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import StartAutonomy
from core.app.lifecycle import is_calm
from core.kernel.values.cache import DiscussionCacheState
from core.kernel.values.harvest import HarvestPhase
from core.kernel.values.state import AppState
from core.kernel.values.updates import Tick
from core.kernel.values.usage import Reservation
from tests.core.app.playbook import Playbook


def resting() -> tuple[Playbook, str]:
    """A discussion in which a reply came some time ago."""
    book = Playbook().ready()
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "Why?"), "So.")
    for _ in range(3):
        book.later(60).play(Tick())
    return book, chosen


def test_a_window_at_rest_is_calm_and_a_call_ends_that_until_its_reply_is_there() -> None:
    book, chosen = resting()
    assert is_calm(book.state)
    call = book.ask(chosen, "And then?")
    assert not is_calm(book.state)
    book.answer(call, "Nothing.")
    book.later(60).play(Tick())
    book.later(60).play(Tick())
    assert is_calm(book.state)


def test_a_program_that_loads_is_not_calm() -> None:
    assert not is_calm(AppState())


def test_an_autonomous_discussion_is_told_each_second() -> None:
    book, chosen = resting()
    book.play(StartAutonomy(chosen))
    assert not is_calm(book.state)


def _cached(state: AppState) -> AppState:
    cache = DiscussionCacheState(
        discussion_id="d",
        provider="anthropic",
        cached_at=Playbook().at,
        expires_at=Playbook().at + timedelta(1),
    )
    return replace(state, caching=replace(state.caching, caches={"d": cache}))


def _reserved(state: AppState) -> AppState:
    return replace(state, spending=replace(state.spending, reserved={"k": Reservation(usd=1.0)}))


def _harvesting(state: AppState) -> AppState:
    phase = next(one for one in HarvestPhase if one is not HarvestPhase.IDLE)
    return replace(state, harvest=replace(state.harvest, phase=phase))


def _unsettled(state: AppState) -> AppState:
    return replace(state, config=replace(state.config, asked=state.config.settled + 1))


@pytest.mark.parametrize("begin", [_cached, _reserved, _harvesting, _unsettled])
def test_what_is_counted_down_or_owed_is_told_each_second(begin: object) -> None:
    book, _ = resting()
    assert callable(begin)
    assert not is_calm(begin(book.state))


def test_a_cache_that_has_ended_counts_nothing_down() -> None:
    book, _ = resting()
    state = _cached(book.state)
    ended = {name: replace(one, expires_at=book.at) for name, one in state.caching.caches.items()}
    assert is_calm(replace(state, caching=replace(state.caching, caches=ended)))


def test_keepalive_is_told_each_second_only_while_a_provider_holds_what_it_would_keep() -> None:
    book, _ = resting()
    caching = replace(book.state.config.settings.caching, keepalive=True)
    settings = replace(book.state.config.settings, caching=caching)
    state = replace(book.state, config=replace(book.state.config, settings=settings))
    managed = DiscussionCacheState(
        discussion_id="d", provider="openai", cached_at=book.at, tokens_cached=2_000, expires_at=None
    )
    cold = replace(managed, expires_at=book.at)

    def with_cache(one: DiscussionCacheState) -> AppState:
        return replace(state, caching=replace(state.caching, caches={"d": one}))

    assert is_calm(with_cache(cold))
    assert not is_calm(with_cache(managed))
