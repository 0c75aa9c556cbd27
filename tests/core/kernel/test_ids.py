"""Ids: a readable second and six letters that derive from a seed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from core.kernel.ids import is_id, make_id, time_of_id
from tests.core.records import NOW, times


def test_an_id_is_the_second_and_six_letters() -> None:
    found = make_id(NOW, "seed")

    assert found.startswith("20261120-073000-")
    assert is_id(found)
    assert len(found) == 22


def test_the_same_second_and_seed_give_the_same_id_and_another_seed_another() -> None:
    assert make_id(NOW, "a") == make_id(NOW + timedelta(milliseconds=900), "a")
    assert make_id(NOW, "a") != make_id(NOW, "b")


def test_times_of_other_zones_are_taken_to_utc() -> None:
    berlin = NOW.astimezone(timezone(timedelta(hours=1)))

    assert make_id(berlin, "a") == make_id(NOW, "a")
    assert make_id(NOW.replace(tzinfo=None), "a") == make_id(NOW, "a")


def test_ten_thousand_seeds_of_one_second_do_not_clash() -> None:
    assert len({make_id(NOW, f"{n}") for n in range(10_000)}) == 10_000


@given(times, st.text())
def test_every_time_and_seed_makes_an_id_that_tells_its_second(at: datetime, seed: str) -> None:
    """The year 0001 keeps its zeros; a seed may even hold lone surrogates."""
    found = make_id(at, seed)

    assert is_id(found)
    assert time_of_id(found) == at.replace(microsecond=0)


def test_what_is_no_id_has_no_time() -> None:
    assert not is_id("20261120-073000-ABCDEF")
    assert not is_id("20261120-073000-abcdef/..")
    assert time_of_id("notes") is None
    assert time_of_id("20261399-073000-abcdef") is None
    assert time_of_id("20261120-073000-abcdef") == datetime(2026, 11, 20, 7, 30, tzinfo=UTC)
