"""What was spent is counted against the day, which ends at the person's midnight."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from core.kernel.figures import midnight
from core.kernel.values.records import UsageRecord
from core.kernel.values.updates import Tick
from core.kernel.values.usage import Payment, Usage, UsageKind
from core.services.spending.limits import add_spent
from core.services.spending.spending_messages import PaymentsSeen, SpentCounted
from tests.core.app.playbook import START, Playbook


def test_a_day_begins_with_what_was_counted_and_the_next_one_with_nothing() -> None:
    book = Playbook()

    start = midnight(START)
    book.play(SpentCounted(start, 3.5))
    book.play(Tick())
    assert book.state.spending.spent_today_usd == 3.5

    book.at = start + timedelta(days=2, hours=1)
    book.play(Tick())
    assert book.state.spending.spent_today_usd == 0.0
    assert book.state.spending.day_start == start + timedelta(days=2)


@pytest.mark.parametrize(
    ("start", "hours"),
    [(datetime(2026, 3, 28, 23, tzinfo=UTC), 23), (datetime(2026, 10, 24, 22, tzinfo=UTC), 25)],
)
def test_a_day_on_which_the_clock_changes_lasts_until_the_next_midnight(
    start: datetime, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = Playbook()
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        book.at = start + timedelta(hours=12)
        book.play(SpentCounted(start, 3.5))
        book.at = start + timedelta(hours=hours, seconds=-1)
        book.play(Tick())
        assert book.state.spending.spent_today_usd == 3.5

        book.at = start + timedelta(hours=hours)
        book.play(Tick())
        assert book.state.spending.spent_today_usd == 0.0
        assert book.state.spending.day_start == book.at
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("kind", list(UsageKind))
def test_what_was_paid_on_another_day_is_no_part_of_this_ones_sum(kind: UsageKind) -> None:
    """Rent of the day before comes into the log when its discussion is back from the trash."""
    book = Playbook()
    book.play(SpentCounted(START, 3.5))
    late, now = (
        UsageRecord(name, at, kind.value, Usage(cost_usd=0.25))
        for name, at in (("late", START - timedelta(minutes=5)), ("now", START))
    )

    state = add_spent(book.state, (late, now))
    assert state.spending.spent_today_usd == 3.75
    set_back = replace(book.state, now=START - timedelta(hours=1))
    assert add_spent(set_back, (late,)).spending.spent_today_usd == 3.75, (
        "the clock was put back: limits hold"
    )


def test_what_is_paid_before_the_next_days_first_tick_is_paid_on_that_day() -> None:
    """A machine wakes from its sleep: a reply may be in its log before the clock's next tick."""
    book = Playbook()
    book.play(SpentCounted(START, 3.5))

    book.at = START + timedelta(days=1, seconds=1)
    book.play(PaymentsSeen({"first of the day": Payment(0.25)}))
    assert book.state.spending.spent_today_usd == 0.25
    book.play(Tick())
    assert book.state.spending.spent_today_usd == 0.25


def test_what_turns_out_to_be_an_estimate_marks_the_day_though_nothing_more_is_paid() -> None:
    """Rent was booked of a prefix that somebody else had deleted, nobody knows when."""
    book = Playbook()
    book.play(SpentCounted(midnight(START), 3.5))
    free = UsageRecord("free", START, UsageKind.TURN.value, Usage(cost_usd=0.0))
    assert not add_spent(book.state, (free,)).spending.has_estimate
    found = UsageRecord("found", START, UsageKind.RENT.value, Usage(cost_usd=0.0, is_estimate=True))

    spending = add_spent(book.state, (found,)).spending
    assert (spending.spent_today_usd, spending.has_estimate) == (3.5, True)
