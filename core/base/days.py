"""Days of the person: when one begins. A day has 23 or 25 hours where the clock changes."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

SHORTEST_DAY = timedelta(hours=22)
"""No day is as short: what is less than this behind a midnight is of the same day."""


def day_start(day: date) -> datetime:
    """The first moment of a day where the person is, UTC: by the clock as it went then, not as it goes now.

    Where it goes forward at midnight there is no such hour, and where it goes back to midnight there are two.
    """
    both = [datetime.combine(day, time(fold=fold)).astimezone(UTC) for fold in (0, 1)]
    return min((at for at in both if at.astimezone().date() == day), default=both[-1])


def midnight(now: datetime) -> datetime:
    """The last midnight where the person is, UTC."""
    return day_start(now.astimezone().date())
