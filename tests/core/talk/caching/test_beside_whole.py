"""Turns of a command beside the window: the window's list, its day and what it knows of caches follow them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.kernel.values.state import AppState
from core.talk.caching.cache_file import HomeCacheStore
from core.talk.discussion.discussion_messages import CreateDiscussion, ReadDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.core.app.programs import until
from tests.core.talk.caching.test_whole import MODEL, World, ask, last_usage
from tests.patience import PATIENCE_S
from tests.vendors.anthropic_server import KEY, AnthropicServer


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        world = World(tmp_path, server)
        yield world
        world.stop()


def _beside(world: World, chosen: str) -> AppState:
    """A turn by a program that does not own the home; it ends."""
    command = world.start(owns_home=False)
    command.send(ReadDiscussion(chosen))
    until(command, lambda s: chosen in s.discussions.open)
    ask(command, chosen, "and by the command?")
    command.stop()
    return command.snapshot()  # with what became known of the cache behind the reply


def _day(state: AppState) -> float:
    return round(state.spending.spent_today_usd or 0.0, 9)


def test_a_turn_in_a_discussion_that_is_not_open_is_listed_counted_and_known_to_be_cached(
    world: World,
) -> None:
    first = world.start()
    chosen = world.discussion(first)
    ask(first, chosen, "one")
    first.send(CreateDiscussion("Other", "anthropic", MODEL))
    until(first, lambda s: s.discussions.selected_id != chosen)
    first.stop()
    window = _window(world)
    before = until(window, lambda s: s.spending.spent_today_usd is not None and chosen in s.caching.caches)
    assert chosen not in before.discussions.open

    there = _beside(world, chosen)

    state = until(window, lambda s: s.discussions.summaries[chosen].turns == 2)
    assert state.discussions.summaries[chosen].updated_at > before.discussions.summaries[chosen].updated_at
    assert _day(there) > _day(before)
    until(window, lambda s: _day(s) == _day(there))
    until(window, lambda s: s.caching.caches[chosen].expires_at == there.caching.caches[chosen].expires_at)


def test_after_a_turn_of_a_command_the_window_goes_on_where_that_one_left_the_cache(world: World) -> None:
    window = _window(world)
    chosen = world.discussion(window)
    mine = ask(window, chosen, "one")

    there = _beside(world, chosen)

    state = until(
        window,
        lambda s: s.caching.caches[chosen].expires_at == there.caching.caches[chosen].expires_at,
    )
    assert _day(until(window, lambda s: _day(s) == _day(there))) > _day(mine)
    assert state.caching.caches[chosen].expires_at != mine.caching.caches[chosen].expires_at
    held = there.caching.caches[chosen].tokens_cached
    assert last_usage(ask(window, chosen, "and by the window?"), chosen).cache_read_tokens >= held


def test_a_cache_that_a_command_writes_after_its_reply_is_known_to_the_window(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log tells of the reply first; what the window reads of the cache then is from before."""
    window = _window(world)
    chosen = world.discussion(window)
    mine = ask(window, chosen, "one")
    command = world.start(owns_home=False)
    command.send(ReadDiscussion(chosen))
    until(command, lambda s: chosen in s.discussions.open)
    locked, is_shown, saves = HomeCacheStore.held, threading.Event(), Counter[int]()

    def late(store: HomeCacheStore, discussion_id: str) -> AbstractContextManager[None]:
        """Wait before the lock is taken: the reply is appended under the same one."""
        saves[id(store)] += 1  # by program: the window may still write its own turn
        assert saves[id(store)] == 1 or is_shown.wait(PATIENCE_S)  # the first: its answer begins
        return locked(store, discussion_id)

    monkeypatch.setattr(HomeCacheStore, "held", late)
    before = mine.spending.spent_today_usd or 0.0
    command.send(SendPrompt(chosen, "and by the command?"))
    until(window, lambda s: len(s.discussions.open[chosen].messages) == 4 and _day(s) > before)
    is_shown.set()

    held = until(command, lambda s: s.caching.caches[chosen].hit_count == 1).caching.caches[chosen]
    until(window, lambda s: s.caching.caches[chosen].expires_at == held.expires_at)


def _window(world: World) -> AppController:
    return world.start(watches=True)
