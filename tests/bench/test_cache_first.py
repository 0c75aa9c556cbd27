"""A first turn that is not marked: it costs discussions of one turn nothing, and longer ones and days more."""

from __future__ import annotations

import pytest

from tests.bench.cache_days import BUSY
from tests.bench.cache_first import WAYS, play_day, play_serial
from tests.bench.cache_replay import OFF

OURS, _, NEVER = WAYS


def test_a_first_turn_that_is_never_marked_spares_discussions_of_one_turn_and_charges_those_of_two() -> None:
    ones, twos = play_serial((1, NEVER, 101)), play_serial((2, NEVER, 101))
    assert ones == pytest.approx([1.0] * len(ones))
    assert max(twos) >= 1.0
    assert sum(twos) > sum(play_serial((2, OURS, 101)))


def test_a_day_is_dearer_for_it() -> None:
    assert play_day((BUSY, OFF, NEVER, 101)) > play_day((BUSY, OFF, OURS, 101))
