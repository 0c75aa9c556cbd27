"""The hours and days in which a person is there, learned from their turns: a clock that stands still at night."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate

import msgspec

from core.values.cache import TurnGap

_HOUR_S = 3600.0
_WEEK = 168
_HOUR_DAYS = 15.0
"""Weight of what is assumed of an hour of the day, in days: after as many quiet nights it is taken to be half as quiet."""
_DAY_WEEKS = 8.0
"""As `_HOUR_DAYS`, of a day of the week in weeks."""
_LEAST = 0.05
"""No hour is ever taken to be quieter than this, against the mean of all."""


class Hours(msgspec.Struct, frozen=True):
    """Presence of the person in each hour of a week, 1 on the mean.

    Args:
        up_to: of all hours of the week up to each, in seconds; 169 figures, the first is 0.
    """

    up_to: Sequence[float]

    @property
    def mean(self) -> float:
        """Seconds of presence in a second."""
        return self.up_to[-1] / (_WEEK * _HOUR_S)

    def between(self, start_s: float, end_s: float) -> float:
        """Seconds of presence between two Unix times."""
        return self._until(end_s) - self._until(start_s)

    def waiting(self, start_s: float) -> Callable[[float], float]:
        """From a Unix time on: how many of the clock's seconds hold so many of presence."""
        up_to, begin = self.up_to, self._until(start_s)
        week = up_to[-1]

        def after(waited: float) -> float:
            weeks, rest = divmod(begin + waited, week)
            slot = min(_WEEK - 1, bisect_right(up_to, rest) - 1)
            share = (rest - up_to[slot]) / (up_to[slot + 1] - up_to[slot])
            return max(0.0, ((weeks * _WEEK) + slot + share) * _HOUR_S - start_s)

        return after

    def _until(self, at_s: float) -> float:
        weeks, rest = divmod(at_s / _HOUR_S, _WEEK)
        slot = min(_WEEK - 1, int(rest))
        return (
            weeks * self.up_to[-1]
            + self.up_to[slot]
            + (rest - slot) * (self.up_to[slot + 1] - self.up_to[slot])
        )


@lru_cache(maxsize=4)
def hours_of(shared: tuple[TurnGap, ...], now_s: float) -> Hours:
    """Learn the hours from when turns came; those of which nothing is known yet are as the mean.

    Args:
        shared: between turns of any discussion, with when they ended; now_s: Unix time.
    """
    slots = frozenset([int(gap.ended_s // _HOUR_S) for gap in shared if gap.ended_s])
    return _hours_of(slots, int(now_s // _HOUR_S))


@lru_cache(maxsize=4)
def _hours_of(slots: frozenset[int], now_slot: int) -> Hours:
    """As `hours_of`, by the hours in which turns came: most turns come in the same one as the last."""
    if not slots:
        return Hours(array("d", [_HOUR_S * number for number in range(_WEEK + 1)]))
    first, last = min(slots), max(*slots, now_slot - 1)
    total = last - first + 1
    mean = len(slots) / total
    by_hour, by_day = Counter(slot % 24 for slot in slots), Counter(_day(slot) for slot in slots)
    hours = [
        (by_hour[hour] + _HOUR_DAYS * mean) / (_passed(first, last, hour, 24, 1) + _HOUR_DAYS)
        for hour in range(24)
    ]
    days = [
        (by_day[day] + _DAY_WEEKS * 24 * mean)
        / (_passed(first, last, day * 24, _WEEK, 24) + _DAY_WEEKS * 24)
        / mean
        for day in range(7)
    ]
    hours = [(hours[hour - 1] + 2 * hours[hour] + hours[(hour + 1) % 24]) / 4 for hour in range(24)]
    rates = [max(_LEAST, hours[slot % 24] * days[slot // 24] / mean) * _HOUR_S for slot in range(_WEEK)]
    return Hours(array("d", accumulate(rates, initial=0.0)))


def _day(slot: int) -> int:
    return slot % _WEEK // 24


def _passed(first: int, last: int, start: int, period: int, length: int) -> int:
    """Number of the hours `first` to `last` in a run of so many hours that comes back every period."""

    def up_to(end: int) -> int:
        whole, rest = divmod(end - start, period)
        return whole * length + min(length, rest)

    return up_to(last + 1) - up_to(first)
