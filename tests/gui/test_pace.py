"""Pace of the window: frames for input and for what moves, rests for all else."""

from __future__ import annotations

from itertools import count

import pytest

from gui.loop import ACTIVE_FOR_S, ACTIVE_FPS, EARLY_REST_S, LONGEST_REST_S, QUIET_AFTER_S, Pace

NEVER = float("inf")


def frames_in(
    pace: Pace, start_s: float, end_s: float, *, wants_s: float = NEVER, is_away: bool = False
) -> int:
    """Frames that a loop at this pace draws when nothing happens."""
    now = start_s
    for frames in count():
        pace.note_frame(now, wants_s=wants_s, is_away=is_away)
        now = max(now, pace.next_frame_s(now))
        if now >= end_s:
            return frames
    raise AssertionError


@pytest.mark.parametrize(
    ("hears_input", "is_away", "most"),
    [(True, False, 0), (True, True, 0), (False, False, 4 * 60), (False, True, 60)],
)
def test_a_minute_of_rest(hears_input: bool, is_away: bool, most: int) -> None:
    pace = Pace(hears_input=hears_input)
    pace.note_input(0.0)
    assert frames_in(pace, QUIET_AFTER_S, QUIET_AFTER_S + 60, is_away=is_away) <= most


@pytest.mark.parametrize("hears_input", [True, False])
def test_frames_follow_each_other_after_input(hears_input: bool) -> None:
    pace = Pace(hears_input=hears_input)
    pace.note_input(100.0)
    assert frames_in(pace, 100.0, 100.0 + ACTIVE_FOR_S) >= ACTIVE_FOR_S * ACTIVE_FPS - 1


@pytest.mark.parametrize("hears_input", [True, False])
def test_what_moves_gets_its_frames(hears_input: bool) -> None:
    pace = Pace(hears_input=hears_input)
    assert frames_in(pace, 1000.0, 1010.0, wants_s=0.1) >= 98


def test_a_system_without_waits_is_looked_at_often_while_the_person_is_there() -> None:
    pace = Pace()
    pace.note_input(0.0)
    assert frames_in(pace, ACTIVE_FOR_S, QUIET_AFTER_S) > 15 * (QUIET_AFTER_S - ACTIVE_FOR_S)


def test_a_rest_ends_at_the_next_frame_and_never_lasts_for_ever() -> None:
    pace = Pace(hears_input=True)
    pace.note_frame(10.0, wants_s=0.25, is_away=False)
    assert pace.rest_s(10.0, is_early=False) == 0.25
    assert pace.rest_s(10.2, is_early=False) == pytest.approx(0.05)
    assert pace.rest_s(11.0, is_early=False) == 0.0
    pace.note_frame(11.0, wants_s=NEVER, is_away=False)
    assert pace.rest_s(11.0, is_early=False) == LONGEST_REST_S
    assert pace.rest_s(11.0, is_early=True) == EARLY_REST_S
