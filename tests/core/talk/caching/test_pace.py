"""The pace of an autonomous discussion: caches count on its interval, and learn nothing of the person from it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from core.talk.caching.cache_book import BookPage, CacheBook, gaps_of, paced, turn_begun, with_page
from core.talk.caching.economy import own_odds
from core.talk.caching.pings import due_pings
from tests.core.talk.caching.cache_play import PINGING, CachePlay
from tests.core.talk.caching.requests import after, habits_of

START = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)


def test_the_next_turn_is_expected_after_the_interval_until_the_person_sets_the_pace_again() -> None:
    book = with_page(CacheBook(), "a", BookPage())
    before = gaps_of(book, "a")
    working, resting = paced(book, "a", 3.0), paced(book, "a", 300.0)

    assert own_odds(gaps_of(working, "a")).within(60.0) > 0.95
    assert own_odds(gaps_of(resting, "a")).within(250.0) < 0.1
    assert own_odds(gaps_of(resting, "a")).within(450.0) > 0.95
    assert own_odds(gaps_of(resting, "a")).go_on > 0.9
    assert gaps_of(resting, "b") == gaps_of(book, "b")
    assert gaps_of(paced(resting, "a", None), "a") == before


@pytest.mark.parametrize("held_s", [300.0, 3600.0])
def test_what_lives_just_as_long_as_the_interval_is_gone_when_its_turn_comes(held_s: float) -> None:
    """The interval counts from the end of a turn, what a provider holds from the start of its request."""
    book = paced(with_page(CacheBook(), "a", BookPage()), "a", held_s)

    assert own_odds(gaps_of(book, "a")).within(held_s) < 0.5


def test_a_rest_of_five_minutes_outlives_no_mark_of_five_minutes_and_is_pinged_before() -> None:
    play = CachePlay()
    play.market = replace(play.market, settings=PINGING)
    play.book = paced(play.book, "d", 300.0)
    play.turn("1", 0)

    assert len(due_pings(play.book, lambda _: PINGING, after(290))) == 1


def test_its_turns_teach_nothing_of_the_persons_gaps() -> None:
    book = paced(with_page(CacheBook(), "a", BookPage()), "a", 300.0)
    for number in range(20):
        book = turn_begun(book, "a", START + timedelta(seconds=300 * number))

    assert book.habits == CacheBook().habits
    assert book.pages["a"].cache.gaps == ()
    assert book.pages["a"].cache.turns == 20


def test_a_task_teaches_nothing_of_the_person_and_nobody_is_expected_behind_it() -> None:
    empty = with_page(CacheBook(), "a", BookPage())
    task = turn_begun(empty, "a", START, is_task=True)
    talked = turn_begun(task, "a", START + timedelta(hours=1))

    assert task.habits == CacheBook().habits
    assert own_odds(gaps_of(task, "a")).within(86_400.0) < 0.1
    assert talked.habits == turn_begun(empty, "a", START + timedelta(hours=1)).habits
    assert (talked.pages["a"].cache.gaps, talked.pages["a"].cache.turns) == ((), 1)
    assert gaps_of(talked, "a") == gaps_of(turn_begun(empty, "a", START + timedelta(hours=1)), "a")


def test_what_a_task_left_is_not_kept_warm() -> None:
    def pings(*, is_task: bool) -> int:
        play = CachePlay()
        play.book = replace(play.book, habits=habits_of(1200.0))
        play.market = replace(play.market, settings=PINGING)
        play.turn("1", 0, is_task=is_task)
        return len(due_pings(play.book, lambda _: PINGING, after(290)))

    assert (pings(is_task=False), pings(is_task=True)) == (1, 0)
