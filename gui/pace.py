"""Pace of the window: when a frame is due and how long to rest, from what happened and when. Pure."""

from __future__ import annotations

import msgspec

ACTIVE_FPS = 60.0
ACTIVE_FOR_S = 0.7
"""Time after input in which frames follow each other: hovering, focus and tooltips take some to settle."""
BLIND_FPS = 20.0
QUIET_FPS = 4.0
AWAY_FPS = 1.0
QUIET_AFTER_S = 5.0
LONGEST_REST_S = 1.0
"""A rest that nothing ends costs nothing but a look at the clock."""
EARLY_REST_S = 0.02
"""Rest while the controller, which will tell of changes, is not there yet."""


class Pace(msgspec.Struct):
    """Times of the last input and of the last frame, in seconds of one clock.

    Args:
        hears_input: True if input ends a rest; False: only a frame finds out about it.
    """

    hears_input: bool = False
    input_s: float = float("-inf")
    frame_s: float = float("-inf")
    due_s: float = float("inf")
    is_away: bool = False

    def note_input(self, now_s: float) -> None:
        """The person did something."""
        self.input_s = now_s

    def note_frame(self, now_s: float, *, wants_s: float, is_away: bool) -> None:
        """A frame was drawn. `wants_s`: the next one is wanted after so long, infinity for never."""
        self.frame_s = now_s
        self.due_s = now_s + wants_s
        self.is_away = is_away

    def is_active(self, now_s: float) -> bool:
        """True shortly after input."""
        return now_s < self.input_s + ACTIVE_FOR_S

    def next_frame_s(self, now_s: float) -> float:
        """Time of the next frame, if nothing happens before."""
        if self.is_active(now_s):
            return self.frame_s + 1 / ACTIVE_FPS
        if self.hears_input:
            return self.due_s
        is_quiet = now_s >= self.input_s + QUIET_AFTER_S
        fps = BLIND_FPS if not is_quiet else AWAY_FPS if self.is_away else QUIET_FPS
        return min(self.due_s, self.frame_s + 1 / fps)

    def rest_s(self, now_s: float, *, is_early: bool) -> float:
        """Longest rest now."""
        longest = EARLY_REST_S if is_early else LONGEST_REST_S
        return min(longest, max(0.0, self.next_frame_s(now_s) - now_s))
