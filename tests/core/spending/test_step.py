"""What was spent is counted against the day, which ends at the person's midnight."""

from __future__ import annotations

from datetime import timedelta

from core.base.reports import Tick
from core.spending.messages import SpentCounted
from tests.core.app.playbook import START, Playbook


def test_a_day_begins_with_what_was_counted_and_the_next_one_with_nothing() -> None:
    book = Playbook()

    book.play(SpentCounted(START, 3.5))
    book.play(Tick())
    assert book.state.spending.spent_today_usd == 3.5

    book.at = START + timedelta(days=2, hours=1)
    book.play(Tick())
    assert book.state.spending.spent_today_usd == 0.0
    assert book.state.spending.day_start == START + timedelta(days=2)
