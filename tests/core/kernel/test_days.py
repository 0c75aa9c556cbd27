"""A day of the person begins at their midnight, also where it has 23 or 25 hours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pytest

from core.kernel.figures import day_start, midnight

BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
HAVANA = "CST5CDT,M3.2.0/0,M11.1.0/1"
"""Where the clock goes from midnight to one, and back from one to midnight."""
BEIRUT = "EET-2EEST,M3.5.0/0,M10.5.0/0"
"""Where the clock goes from midnight to one, and back to eleven in the evening."""


@pytest.fixture
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("zone", "day", "start", "hours"),
    [
        (BERLIN, date(2026, 3, 29), datetime(2026, 3, 28, 23, tzinfo=UTC), 23),
        (BERLIN, date(2026, 10, 25), datetime(2026, 10, 24, 22, tzinfo=UTC), 25),
        (BERLIN, date(2026, 11, 20), datetime(2026, 11, 19, 23, tzinfo=UTC), 24),
        (HAVANA, date(2026, 3, 8), datetime(2026, 3, 8, 5, tzinfo=UTC), 23),
        (HAVANA, date(2026, 11, 1), datetime(2026, 11, 1, 4, tzinfo=UTC), 25),
        (BEIRUT, date(2026, 3, 29), datetime(2026, 3, 28, 22, tzinfo=UTC), 23),
        (BEIRUT, date(2026, 10, 24), datetime(2026, 10, 23, 21, tzinfo=UTC), 25),
    ],
    indirect=["zone"],
)
@pytest.mark.usefixtures("zone")
def test_every_moment_of_a_day_has_its_midnight(day: date, start: datetime, hours: int) -> None:
    assert day_start(day) == start
    assert day_start(day + timedelta(days=1)) == start + timedelta(hours=hours)
    moments = (start + timedelta(minutes=number) for number in range(hours * 60))
    assert {midnight(moment) for moment in moments} == {start}
    assert midnight(start - timedelta(seconds=1)) < start
